"""Prints messages: on a terminal in its width, wrapped between words."""

from __future__ import annotations

import sys

import click

from negotiator.cli.table_layout import cell_len, terminal_size

_INDENT = 2  # of further lines, in columns


def message_width(*, err: bool) -> int | None:
    """Return the width of the terminal that standard error is, or standard output; None if it is none."""
    stream = sys.stderr if err else sys.stdout
    return terminal_size(stream)[0] if stream is not None and stream.isatty() else None


def print_message(text: str, *, err: bool) -> None:
    """Print a message of one line, which may have colours; on a terminal it may become several lines."""
    click.echo(wrapped_message(text, message_width(err=err)), err=err)


def wrapped_message(text: str, width: int | None) -> str:
    """Return a message in lines of a width, further ones indented; longer words are left whole. None leaves it in one line."""
    if width is None or _columns(text) <= width:
        return text
    first = " " * (len(text) - len(text.lstrip(" ")))
    lines, current = [], first
    for word in text.split(" "):
        longer = f"{current} {word}" if current.strip() else current + word
        if current.strip() and _columns(longer) > width:
            lines.append(current.rstrip())
            current = f"{first}{' ' * _INDENT}{word}"
        else:
            current = longer
    return "\n".join((*lines, current))


def _columns(text: str) -> int:
    return cell_len(click.unstyle(text))

"""Reads one ad in long form from a text, as HTCondor's ``parseNext`` does: up to a blank line, or to a line that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.syntax import ParseError, parse_old

if TYPE_CHECKING:
    from negotiator.classad.syntax import Expr

SPACES: Final = " \t\n\v\f\r"


def long_record(text: str, start: int) -> tuple[list[tuple[str, Expr]], int]:
    """Return the attributes of the ad that begins at ``start``, and the offset after it.

    As in HTCondor, a line that does not parse ends the ad, and the lines below it are skipped up to a blank one.
    """
    items: list[tuple[str, Expr]] = []
    at, skipping = start, False
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end].rstrip("\n")
        at = end
        if is_blank_line(line):
            break
        if skipping or line.lstrip(" \t").startswith("#"):
            continue
        item = _attribute(line)
        if item is None:
            skipping = True
        else:
            items.append(item)
    return items, at


def is_blank_line(line: str) -> bool:
    """True if a line ends an ad."""
    return not line.strip(SPACES)


def _attribute(line: str) -> tuple[str, Expr] | None:
    name, equals, text = line.partition("=")
    name = name.lstrip(SPACES).rstrip(" ")
    if not equals or not name:
        return None
    try:
        return name, parse_old(text.strip(" ").rstrip("\r"))
    except ParseError:
        return None

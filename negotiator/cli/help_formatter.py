"""The lines of ``--help``: what click prints as it is written is wrapped between words too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import click

#: A word, with the blanks in its quotes.
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s"']|["'])+""")
_TWO_COLUMNS = re.compile(r"\s*\S(?:.*\S)?\s{2,}(?=\S)")
_COMMANDS = ("negotiator ", "echo ")
_INDENT = 2  # columns


class HelpFormatter(click.HelpFormatter):
    """Writes examples and tables of help in the width of the terminal; an example stays a command of the shell."""

    def getvalue(self) -> str:
        """Return all lines."""
        return "\n".join(self._wrapped(super().getvalue().split("\n")))

    def _wrapped(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if len(line) <= self.width:
                yield line
            elif line.lstrip().startswith(_COMMANDS):
                yield from _folded(line, self.width, " \\")
            else:
                yield from _folded(line, self.width)


class HelpContext(click.Context):
    """A context whose help is wrapped."""

    formatter_class = HelpFormatter


def wrap_help(command: click.Command) -> None:
    """Make a command, and the commands below it, wrap their help."""
    command.context_class = HelpContext
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        wrap_help(below)


def _folded(line: str, width: int, end: str = "") -> Iterator[str]:
    """Yield the parts of a line in a width; the second column of a table stays a column."""
    indent = len(line) - len(line.lstrip())
    columns = None if end else _TWO_COLUMNS.match(line)
    part = line[: columns.end() if columns else indent]
    rest = line[len(part) :]
    hanging = len(part) if columns else indent + _INDENT
    if columns and hanging > width // 2:
        yield part.rstrip()
        hanging = indent + 2 * _INDENT
        part = " " * hanging
    begun = False
    for word in _WORD.findall(rest):
        longer = f"{part} {word}" if begun else part + word
        if begun and len(longer) + len(end) > width:
            yield part + end
            part = " " * hanging + word
        else:
            part = longer
        begun = True
    yield part

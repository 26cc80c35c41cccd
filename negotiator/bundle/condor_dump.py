"""Recognise the output of ``condor_config_val -dump``, and its values that were printed over several lines.

With ``-expand`` and ``-verbose`` a value that contains line ends is printed as it is: HTCondor itself can't read the result.
Names are sorted, which shows where the next definition begins (HTCondor 25.14).
"""

from __future__ import annotations

import re

import attrs

from negotiator.bundle.condor_lines import Definition, Uncertain
from negotiator.bundle.text import LocatedText, SourceText

_HEADER = "# Configuration from machine:"
_COMMENT = re.compile(r"^[ \t]*#", re.MULTILINE)


def is_dump(file: SourceText) -> bool:
    """True if the file begins as the output of ``condor_config_val -dump``."""
    return file.text.lstrip().startswith(_HEADER)


OUT_OF_ORDER = Uncertain(
    "it is out of order in the output of condor_config_val, perhaps a part of another value",
    "write your own definitions into another file",
)
_CUT = Uncertain("condor_config_val printed it over several lines", "write it between @=end and @end")


@attrs.define(eq=False)
class DumpedLines:
    """The lines of a dump: which of them begin a definition, and which belong to the value or the comment above."""

    file: SourceText
    last: Definition | None = None  # the definition that began last
    _in_comment: bool = False
    _name: str = ""
    _end: int = 0

    def starts(self, name: str, line: LocatedText) -> bool:
        """True if a line begins a definition of a name; an empty name never does."""
        above = self.file.text[self._end : line.at]
        self._end = line.index(len(line.text))
        parts = name.lower().split(".")
        later = [each for i in range(len(parts)) if (each := ".".join(parts[i:])) > self._name]
        if later:
            # Where a definition for the tool's own subsystem applies, TOOL.NAME is in the place of NAME.
            self._name, self._in_comment = min(later), False
            return True
        self._in_comment = self._in_comment or _COMMENT.search(above) is not None
        return False

    def cut(self) -> Definition | None:
        """Return the last definition as one of unknown value, once; None if the line belongs to a comment."""
        if self._in_comment or self.last is None or self.last.uncertain:
            return None
        self.last = attrs.evolve(self.last, uncertain=_CUT)
        return self.last

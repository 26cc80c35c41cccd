"""The differences of two texts, line by line, readable without colours."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

import attrs

from negotiator.records.text import printable

_CONTEXT: Final = 3  # lines before and after a change
_MOST: Final = 1_000_000  # comparisons: what differs more than that is replaced as a whole
_LONGEST: Final = 400  # characters of a line

_Code: TypeAlias = tuple[str, int, int, int, int]


class LineKind(enum.StrEnum):
    """What becomes of a line; lines between two changes are left out."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    LEFT_OUT = "left-out"


@attrs.frozen
class DifferenceLine:
    """A line with its numbers in both texts, 0 where it is not in one. Of lines that are left out ``text`` is how many."""

    kind: LineKind
    old: int
    new: int
    text: str

    @property
    def sign(self) -> str:
        """The sign at its beginning, as in patches."""
        return {LineKind.ADDED: "+", LineKind.REMOVED: "-"}.get(self.kind, " ")


def differences(before: str, after: str) -> list[DifferenceLine]:
    """Return the lines that differ and those around them; none if no line differs."""
    old, new = before.splitlines(), after.splitlines()
    found: list[DifferenceLine] = []
    for tag, i1, i2, j1, j2 in _codes(old, new):
        if tag != "equal":
            found += (DifferenceLine(LineKind.REMOVED, i + 1, 0, _shown(old[i])) for i in range(i1, i2))
            found += (DifferenceLine(LineKind.ADDED, 0, j + 1, _shown(new[j])) for j in range(j1, j2))
            continue
        head = min(i1 + (_CONTEXT if i1 or j1 else 0), i2)
        tail = max(i2 - (_CONTEXT if i2 < len(old) or j2 < len(new) else 0), head)
        found += (_same(i, j1 + i - i1, old) for i in range(i1, head))
        if tail > head:
            found.append(DifferenceLine(LineKind.LEFT_OUT, 0, 0, f"{tail - head:,}"))
        found += (_same(i, j1 + i - i1, old) for i in range(tail, i2))
    return found if any(each.kind in {LineKind.ADDED, LineKind.REMOVED} for each in found) else []


def _codes(old: Sequence[str], new: Sequence[str]) -> Iterator[_Code]:
    """Yield how to make one text of the other, as ``SequenceMatcher.get_opcodes``."""
    most = min(len(old), len(new))
    start = next((i for i in range(most) if old[i] != new[i]), most)
    end = next((i for i in range(most - start) if old[-1 - i] != new[-1 - i]), most - start)
    i2, j2 = len(old) - end, len(new) - end
    if start:
        yield "equal", 0, start, 0, start
    if (i2 - start) * (j2 - start) > _MOST:
        yield "replace", start, i2, start, j2
    elif i2 > start or j2 > start:
        for tag, a, b, c, d in SequenceMatcher(None, old[start:i2], new[start:j2]).get_opcodes():
            yield tag, a + start, b + start, c + start, d + start
    if end:
        yield "equal", i2, len(old), j2, len(new)


def _same(i: int, j: int, old: Sequence[str]) -> DifferenceLine:
    return DifferenceLine(LineKind.SAME, i + 1, j + 1, _shown(old[i]))


def _shown(line: str) -> str:
    text = printable(line)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

"""Reads ads of long form that have the same names line by line, many at once and by columns.

Most ads of a pool differ from their neighbours in a few values only. So the ads of a block with equally many lines are
compared with one of them, attribute by attribute, and a line is looked up only where it differs from that of the ad
before. What is not plain is left to the reader of lines: new names and expressions, secrets, comments, faults, and ads
that exceed the allowance of an ad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from negotiator.classad.tables import AlikeRows
from negotiator.pool.line_cost import width
from negotiator.pool.plain_constants import add_constants
from negotiator.pool.reading_budget import FREE, PLAIN_ATTRIBUTES, VALUE_BYTES
from negotiator.pool.text_block import WIDEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from negotiator.classad.tables import AdDictionary, AttributeSpelling, IndexArray
    from negotiator.pool.text_block import TextBlock

FEW: Final = 8
"""Fewer ads are read faster line by line."""

_ROUNDS: Final = 8
"""Sequences of names that are looked for among the ads of a block with equally many lines."""

_FAILURES: Final = 3
"""Ads after which no more are looked at if too few others have the names of any: somebody may have made them so."""

_WIDEST_COMPARED: Final = 1024
"""A longer line counts as different from that of the ad before."""


@attrs.frozen(eq=False)
class AdLines:
    """Ads of a block: the index of the first line of each, (N,), and the number of its lines, (N,)."""

    first: IndexArray
    count: IndexArray

    @classmethod
    def between_blank_lines(cls, block: TextBlock, *, from_start: bool) -> AdLines:
        """Return the ads that end in a block at a blank line; from its first line on if an ad begins there."""
        ends = np.flatnonzero(block.starts == block.ends)
        first = np.concatenate((_FIRST_LINE, ends[:-1] + 1))
        if not from_start:
            first, ends = first[1:], ends[1:]
        present = ends > first
        return cls(first[present], (ends - first)[present])

    @classmethod
    def joined(cls, parts: Iterable[AdLines]) -> AdLines:
        """Return the ads of these parts."""
        pairs = [(part.first, part.count) for part in parts]
        first, count = zip((_NONE, _NONE), *pairs, strict=True)
        return cls(np.concatenate(first), np.concatenate(count))

    def __len__(self) -> int:
        return len(self.first)

    def mask(self, size: int) -> NDArray[np.bool_]:
        """Return which of ``size`` lines are of these ads or the blank line below one, (size,)."""
        changes = np.zeros(size + 1, np.int64)
        changes[self.first] = 1
        changes[self.first + self.count + 1] -= 1
        mask: NDArray[np.bool_] = np.cumsum(changes[:-1]) > 0
        return mask


@attrs.frozen(eq=False)
class AlikeLines:
    """Ads with the same names, None if there are none, and their lines.

    ``waiting`` are ads that wait for one above them: they share a line that was not parsed yet.
    """

    rows: AlikeRows | None
    read: AdLines
    waiting: AdLines


def read_alike(block: TextBlock, ads: AdLines, dictionary: AdDictionary) -> Iterator[AlikeLines]:
    """Yield those of the ads that can be read by columns."""
    counts, sizes = np.unique(ads.count, return_counts=True)
    for count in counts[(sizes >= FEW) & (counts <= PLAIN_ATTRIBUTES)].tolist():
        first = ads.first[ads.count == count]
        failures = 0
        for _ in range(_ROUNDS):
            if len(first) < FEW or failures == _FAILURES:
                break
            lines = _LineMatrix.of(block, first, count, dictionary)
            if lines is not None:
                yield lines.read()
            failures += lines is None
            first = first[1:] if lines is None else first[~lines.named]


@attrs.frozen(eq=False)
class _LineMatrix:
    """The lines of ads that have the names of the first of them; ``named`` marks them among the ads given, (N,).

    ``starts`` and ``ends`` are the offsets of the lines, (L, M); in the ``varying`` lines the ads differ.
    """

    block: TextBlock
    dictionary: AdDictionary
    spellings: Sequence[AttributeSpelling]
    named: NDArray[np.bool_]
    first: IndexArray
    starts: IndexArray
    ends: IndexArray
    varying: frozenset[int]

    @classmethod
    def of(
        cls, block: TextBlock, first: IndexArray, count: int, dictionary: AdDictionary
    ) -> _LineMatrix | None:
        """Return the lines of the ads with the names of the first one; None if few have, or it has new or repeated names."""
        begins = block.starts[np.arange(count + 1)[:, None] + first]
        starts, ends = begins[:-1], begins[1:] - 1
        spellings = dictionary.line_spellings(block.texts(starts[:, 0], ends[:, 0]))
        if spellings is None:
            return None
        named, varying = np.ones(len(first), np.bool_), set()
        widths = ends[:, 0] - starts[:, 0] + 1  # with the newline
        for line, (spelling, length) in enumerate(zip(spellings, widths.tolist(), strict=True)):
            whole = block.fields(starts[line], min(length, WIDEST))
            if length > WIDEST or not bool((whole == whole[0]).all()):
                varying.add(line)
                names = block.fields(starts[line], spelling.value_offset)
                named &= names == names[0]
                if np.count_nonzero(named) < FEW:
                    return None
        return cls(
            block, dictionary, spellings, named, first[named], starts[:, named], ends[:, named], frozenset(varying)
        )  # fmt: skip

    def read(self) -> AlikeLines:
        """Return the ads within the allowance of an ad whose lines are plain constants, or known."""
        alike = [line for line in range(len(self.spellings)) if line not in self.varying]
        texts = self.block.texts(self.starts[alike, 0], self.ends[alike, 0])
        within = np.flatnonzero(self._cost(texts) <= FREE.text)
        if not len(within):
            return AlikeLines(None, self._lines(within), self._lines(within))
        codes = dict(zip(alike, self.dictionary.codes_of_lines(texts), strict=True))
        known = np.full(len(within), min(codes.values(), default=0) >= 0)
        first = ~known
        first[1:] = False
        for line in self.varying:
            codes[line], is_new = self._codes(line, within)
            unknown = codes[line] < 0
            if bool(unknown.any()):
                known &= ~unknown
                first[self._first_of(line, within, np.flatnonzero(is_new & unknown))] = True
        chosen = np.flatnonzero(known)
        names = tuple([spelling.name for spelling in self.spellings])
        columns = [codes[line] for line in range(len(names))]
        rows = (
            AlikeRows.of(self.dictionary, names, columns, len(within)).take(chosen) if len(chosen) else None
        )
        return AlikeLines(rows, self._lines(within[chosen]), self._lines(within[~(known | first)]))

    def _first_of(self, line: int, within: IndexArray, places: IndexArray) -> list[int]:
        """Return the places of the first ad with each text of a line."""
        rows = within[places]
        texts = self.block.texts(self.starts[line, rows], self.ends[line, rows])
        return list(dict(zip(reversed(texts), reversed(places.tolist()), strict=True)).values())

    def _lines(self, ads: IndexArray) -> AdLines:
        return AdLines(self.first[ads], np.full(len(ads), len(self.spellings)))

    def _cost(self, alike: list[str]) -> IndexArray:
        """Return the most that the lines of each ad may cost, given those in which the ads do not differ."""
        varying = sorted(self.varying)
        cost: IndexArray = (self.ends[varying] - self.starts[varying] + VALUE_BYTES).sum(axis=0)
        new = [text for text in alike if not self.dictionary.remembers(text)]
        return cost + sum(map(width, new)) + VALUE_BYTES * len(new)

    def _codes(self, line: int, rows: IndexArray) -> tuple[IndexArray, NDArray[np.bool_]]:
        """Return the code of the value that a line has in each ad, -1 if unknown, and if it differs from the ad before."""
        spelling, starts, ends = self.spellings[line], self.starts[line, rows], self.ends[line, rows]
        is_new = self._changes(starts, ends)
        starts, ends = starts[is_new], ends[is_new]
        codes = None
        if spelling.remembers_lines and len(starts) > len(rows) // 2:
            texts = self.block.texts(starts, ends)
            if len({text for text in texts if not self.dictionary.remembers(text)}) > len(rows) // 2:
                spelling.stop_remembering()
        if not spelling.remembers_lines:
            codes = add_constants(spelling.entries, self.block, starts + spelling.value_offset, ends)
        if codes is None:
            codes = self.dictionary.codes_of_lines(self.block.texts(starts, ends))
        return codes[np.cumsum(is_new) - 1], is_new

    def _changes(self, starts: IndexArray, ends: IndexArray) -> NDArray[np.bool_]:
        """Return for each line whether it may differ from the one before."""
        widths = ends - starts
        fields = self.block.fields(starts, min(int(widths.max()), _WIDEST_COMPARED))
        changes = np.ones(len(starts), np.bool_)
        changes[1:] = (
            (widths[1:] != widths[:-1]) | (fields[1:] != fields[:-1]) | (widths[1:] > _WIDEST_COMPARED)
        )
        return changes


_NONE: Final = np.zeros(0, np.int64)
_FIRST_LINE: Final = np.zeros(1, np.int64)

"""Which entry each row of a table has of one attribute: kept small, since a pool has attributes that few ads have.

Most attributes are the same in all ads, many are in a few ads only, and the rest have a number for each row.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from negotiator.classad.tables.column import IndexArray
from negotiator.classad.tables.distinct_values import ABSENT

Codes32: TypeAlias = NDArray[np.int32]

_SPARSE: Final = 8
"""An attribute that fewer than one in so many rows have is kept by the rows that have it."""


class CodeColumn:
    """The entries of one attribute, ``ABSENT`` where nothing was put.

    They are in one of three forms: one entry for a run of rows and ``ABSENT`` for all others; the rows that have
    the attribute, in order, and their entries; or an entry for each row.
    """

    __slots__ = ("_all", "_entry", "_found", "_rows", "_run")

    def __init__(self) -> None:
        self._run = range(0)
        self._entry = ABSENT
        self._rows: NDArray[np.int32] | None = None
        self._found: Codes32 = _NONE
        self._all: Codes32 | None = None

    def put(self, places: IndexArray, entries: Codes32, size: int) -> None:
        """Put entries into rows, each once, of a table that has ``size`` of them."""
        if not len(places) or self._joins(places, entries):
            return
        self._take_form(len(places), size)
        if self._all is not None:
            self._all[places] = entries
        else:
            self._insert(places, entries)

    def drop(self, places: IndexArray, size: int) -> None:
        """Let rows be without the attribute."""
        self.put(places, np.full(len(places), ABSENT, np.int32), size)

    def read(self, size: int) -> Codes32:
        """Return the entries of all rows: shape ``(size,)``, or ``()`` where all have the same."""
        if self._all is not None and len(self._all) >= size:
            return self._all[:size]
        if self._rows is None and self._run == range(size):
            return np.asarray(self._entry, np.int32)
        entries = np.full(size, ABSENT, np.int32)
        if self._all is not None:
            entries[: len(self._all)] = self._all
        elif self._rows is not None:
            entries[self._rows] = self._found
        else:
            entries[self._run.start : self._run.stop] = self._entry
        return entries

    def of(self, row: int) -> int:
        """Return the entry of one row."""
        if self._all is not None:
            return int(self._all[row]) if row < len(self._all) else ABSENT
        if self._rows is None:
            return self._entry if row in self._run else ABSENT
        place = int(np.searchsorted(self._rows, row))
        return int(self._found[place]) if place < len(self._rows) and self._rows[place] == row else ABSENT

    def _take_form(self, more: int, size: int) -> None:
        """Take the form for a table of ``size`` rows, of which ``more`` are about to have the attribute."""
        if self._all is not None and len(self._all) >= size:
            return
        if self._count() + more > size // _SPARSE:
            room = 0 if self._all is None else len(self._all) * 5 // 4  # it grows again and again
            entries = np.full(max(size, room), ABSENT, np.int32)
            entries[:size] = self.read(size)
            self._all, self._rows, self._found, self._run = entries, None, _NONE, range(0)
        elif self._all is not None:
            self._rows = np.flatnonzero(self._all != ABSENT).astype(np.int32)
            self._found, self._all = self._all[self._rows], None

    def _count(self) -> int:
        if self._all is not None:
            return int(np.count_nonzero(self._all != ABSENT))
        return len(self._run) if self._rows is None else len(self._rows)

    def _joins(self, places: IndexArray, entries: Codes32) -> bool:
        """Let the run grow, if that is all it takes; say whether it was."""
        if self._all is not None or self._rows is not None or bool((entries != entries[0]).any()):
            return False
        inside = (places >= self._run.start) & (places < self._run.stop)
        if entries[0] == ABSENT:
            return not inside.any()
        if self._run and entries[0] != self._entry:
            return False
        if self._run and inside.all():
            return True
        start = self._run.start if self._run else int(places[0])
        if bool((np.diff(places) != 1).any()) or (self._run and places[0] != self._run.stop):
            return False
        self._entry, self._run = int(entries[0]), range(start, int(places[-1]) + 1)
        return True

    def _insert(self, places: IndexArray, entries: Codes32) -> None:
        if self._rows is None:
            self._rows = np.array(self._run, np.int32)
            self._found = np.full(len(self._run), self._entry, np.int32)
        rows = np.concatenate((self._rows, places.astype(np.int32)))
        found = np.concatenate((self._found, entries))
        if not bool((rows[1:] > rows[:-1]).all()):  # else they are below all that have it
            order = np.argsort(rows, kind="stable")
            rows, found = rows[order], found[order]
            latest = np.append(rows[1:] != rows[:-1], True)
            rows, found = rows[latest], found[latest]
        present = found != ABSENT
        self._rows, self._found = rows[present], found[present]


_NONE: Final = np.zeros(0, np.int32)

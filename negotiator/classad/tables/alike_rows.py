"""Rows of one layout, by columns: what many ads with the same names are read into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.syntax import fold
from negotiator.classad.tables.dictionary import AdDictionary, AdLayout, Row, pack_row

if TYPE_CHECKING:
    from negotiator.classad.scalar import Ad
    from negotiator.classad.tables.column import IndexArray


@attrs.frozen(eq=False)
class AlikeRows:
    """Ads with the same names: for each attribute of the layout its codes, (N,), or () if all ads have the same."""

    dictionary: AdDictionary
    layout: AdLayout
    codes: tuple[NDArray[np.int32], ...]
    size: int

    def __len__(self) -> int:
        return self.size

    def row(self, place: int) -> Row:
        """Return one ad as a row."""
        codes = [int(codes[place]) if codes.ndim else int(codes) for codes in self.codes]
        return pack_row(self.layout.spellings, np.array(codes, np.int64))

    def ad(self, place: int) -> Ad:
        """Return one ad."""
        return self.dictionary.ad(self.row(place))

    def take(self, rows: IndexArray) -> Self:
        """Return these rows."""
        codes = tuple([codes[rows] if codes.ndim else codes for codes in self.codes])
        return attrs.evolve(self, codes=codes, size=len(rows))

    def column(self, name: str) -> NDArray[np.int32] | None:
        """Return the codes of an attribute, (N,) or (); None if the ads do not have it."""
        place = self.layout.shape.index.get(fold(name))
        return None if place is None else self.codes[place]

    def strings(self, name: str) -> list[str]:
        """Return the value of an attribute in each ad that is written as a string; "" for all others."""
        codes = self.column(name)
        if codes is None:
            return [""] * self.size
        entries = self.dictionary.entries[fold(name)]
        if codes.ndim:
            return entries.strings(codes)
        return entries.strings(codes.reshape(1)) * self.size

    def first_strings(self, *names: str) -> list[str]:
        """Return for each ad the first of these attributes that is a string other than "", "" if none is."""
        texts = self.strings(names[0])
        if len(names) == 1 or all(texts):
            return texts
        others = self.first_strings(*names[1:])
        return [text or other for text, other in zip(texts, others, strict=True)]

    def integers(self, name: str) -> tuple[IndexArray, NDArray[np.bool_]]:
        """Return the value of an attribute in each ad that is written as an integer, (N,), and which ads have one."""
        codes = self.column(name)
        if codes is None:
            return np.zeros(self.size, np.int64), np.zeros(self.size, np.bool_)
        values, valid = self.dictionary.entries[fold(name)].integers(np.atleast_1d(codes))
        return np.broadcast_to(values, (self.size,)), np.broadcast_to(valid, (self.size,))

"""The regular expression of ads that have the same names line by line, and differ in a few values only.

The lines in which the ads agree are part of the expression. Each other line is a group of it: the whole line, or, in
lines with a new value in most ads, a number or string of the form in which HTCondor prints it. So one call compares all
lines of an ad, and returns those of its values that are to be looked at.
"""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Final, Self

import attrs
import numpy as np

from negotiator.classad.tables import INTEGER_DIGITS, MAX_REMEMBERED_LINE
from negotiator.classad.values import Kind
from negotiator.pool.reading_budget import FREE, VALUE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from negotiator.classad.tables import (
        AdDictionary,
        AdLayout,
        AttributeSpelling,
        DistinctValues,
        IndexArray,
    )

FEW: Final = 8
"""Fewer ads are read faster line by line."""

_LONGEST_CONSTANT: Final = 1024
"""A longer line is a group of its own, so that expressions stay small."""

_LARGEST: Final = 32 << 10
"""Characters of the lines in which ads agree; ads that agree in more have no pattern."""


class LineForm(enum.Enum):
    """The form of a line in which ads differ."""

    FEW = enum.auto()
    """Any line; the dictionary remembers most of them."""
    ANY = enum.auto()
    """Any line."""
    INTEGER = enum.auto()
    REAL = enum.auto()
    STRING = enum.auto()

    @property
    def is_plain(self) -> bool:
        """True if the group is a constant, not a whole line."""
        return self in _VALUES

    def group(self, prefix: str) -> str:
        """Return the regular expression of a line that begins with ``prefix``."""
        start = re.escape(prefix)
        return start + _VALUES[self] if self.is_plain else rf"({start}[^\n]*+)"

    @classmethod
    def of_values(cls, texts: Sequence[str]) -> LineForm:
        """Return the form of lines with these values."""
        for form, value in _VALUES.items():
            if all(map(re.compile(value).fullmatch, texts)):
                return form
        return cls.ANY


_VALUES: Final[Mapping[LineForm, str]] = {
    LineForm.INTEGER: rf"(0|[1-9][0-9]{{0,{INTEGER_DIGITS - 1}}}+)",
    LineForm.REAL: r"(-?[0-9]{1,30}+\.[0-9]{1,30}+)",
    LineForm.STRING: rf'"([^"\\\n]{{0,{MAX_REMEMBERED_LINE - 2}}}+)"',
}
"""The regular expressions of constants, in the form in which HTCondor prints them."""


@attrs.frozen(eq=False)
class AdPattern:
    """Lines of ads with the same names: ``lines`` are those of one of the ads.

    ``forms`` has the form of each line in which the ads may differ, by its index, ascending. ``codes`` are the codes of
    the values of all other lines, as arrays of shape (), and ``constant`` is their length. An ad is ``free`` if all other
    lines are not longer. ``match`` finds an ad, and the blank line below it, at an offset of a text.
    """

    spellings: tuple[AttributeSpelling, ...]
    lines: tuple[str, ...]
    forms: Mapping[int, LineForm]
    codes: Mapping[int, NDArray[np.int32]]
    layout: AdLayout
    constant: int
    free: int
    match: Callable[[str, int], re.Match[str] | None]

    @classmethod
    def of_ads(cls, ads: Sequence[str], dictionary: AdDictionary) -> Self | None:
        """Return the pattern of the ads with the names of the first one; None if few have, or it has new or repeated names.

        It is None also if a line that all of them have is an expression that was not parsed yet, or the lines that they
        have in common are too long.
        """
        lines = ads[0].split("\n")
        spellings = dictionary.line_spellings(lines)
        columns = _columns(ads, spellings) if spellings is not None else None
        if spellings is None or columns is None:
            return None
        forms = {
            line: LineForm.FEW
            for line, column in enumerate(columns)
            if column.count(column[0]) < len(column) or len(column[0]) > _LONGEST_CONSTANT
        }
        return cls._of(spellings, lines, forms, dictionary)

    @classmethod
    def _of(
        cls,
        spellings: Sequence[AttributeSpelling],
        lines: Sequence[str],
        forms: Mapping[int, LineForm],
        dictionary: AdDictionary,
    ) -> Self | None:
        constant = [line for line in range(len(lines)) if line not in forms]
        texts = [lines[line] for line in constant]
        codes = dictionary.codes_of_lines(texts)
        if bool((codes < 0).any()) or sum(map(len, texts)) > _LARGEST:
            return None
        parts = [
            forms[line].group(spelling.prefix) if line in forms else re.escape(lines[line])
            for line, spelling in enumerate(spellings)
        ]
        return cls(
            tuple(spellings),
            tuple(lines),
            forms,
            dict(zip(constant, codes.astype(np.int32), strict=True)),
            dictionary.layout(tuple([spelling.name for spelling in spellings])),
            sum(map(len, texts)) + len(texts),
            FREE.text - VALUE_BYTES * len(forms),
            re.compile("\n".join([*parts, "", ""])).match,
        )

    def with_forms(self, forms: Mapping[int, LineForm], dictionary: AdDictionary) -> Self | None:
        """Return the pattern with other forms of some lines."""
        changed = dict(sorted({**self.forms, **forms}.items()))
        return self._of(self.spellings, self.lines, changed, dictionary)

    def widened(self, ads: Sequence[str], dictionary: AdDictionary) -> Self | None:
        """Return a pattern that matches also those of the ads that have the same names; None if few have."""
        columns = _columns(ads, self.spellings)
        if columns is None:
            return None
        forms = {}
        for line, (column, spelling) in enumerate(zip(columns, self.spellings, strict=True)):
            form = self.forms.get(line)
            if form is None and column.count(self.lines[line]) < len(column):
                forms[line] = LineForm.FEW
            elif form is not None and not all(map(re.compile(form.group(spelling.prefix)).fullmatch, column)):
                forms[line] = LineForm.ANY
        return self.with_forms(forms, dictionary)

    def has_names_of(self, ad: str) -> bool:
        """True if an ad has the names of this pattern."""
        return _begin_with(ad.split("\n"), [spelling.prefix for spelling in self.spellings])

    def longest(self, *, is_ascii: bool) -> int:
        """Return the length of ads that are free."""
        return self.constant + (self.free if is_ascii else self.free // 4)

    def is_free(self, text: str, start: int, end: int) -> bool:
        """True if the values of the ad between these offsets cost its owner nothing, unless they are expressions."""
        return end - start <= self.longest(is_ascii=text[start:end].isascii())


def add_plain(entries: DistinctValues, form: LineForm, texts: Sequence[str]) -> IndexArray:
    """Add the constants of these texts, all of one plain form; return their codes, (N,)."""
    if form is LineForm.STRING:
        return entries.extend_strings(texts)
    if form is LineForm.INTEGER:
        return entries.extend(Kind.INTEGER, np.fromstring(" ".join(texts), np.int64, sep=" "))
    reals = np.fromiter(map(float, texts), np.float64, len(texts))
    return entries.extend(Kind.REAL, reals.view(np.int64))


def _columns(ads: Sequence[str], spellings: Sequence[AttributeSpelling]) -> list[tuple[str, ...]] | None:
    """Return, line by line, the lines of those of the ads that have these names; None if few have."""
    prefixes = [spelling.prefix for spelling in spellings]
    rows = [lines for ad in ads if _begin_with(lines := ad.split("\n"), prefixes)]
    return list(zip(*rows, strict=True)) if len(rows) >= FEW else None


def _begin_with(lines: Sequence[str], prefixes: Sequence[str]) -> bool:
    return len(lines) == len(prefixes) and all(map(str.startswith, lines, prefixes))

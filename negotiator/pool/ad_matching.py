"""Finds the ads of a text, and those that have the same names line by line as many others, and differ in a few values only.

Such ads have a regular expression. The lines in which they agree are part of it. Each other line is a group of it: the whole line, or, in
lines with a new value in most ads, a number or string of the form in which HTCondor prints it. So one call compares all
lines of an ad, and returns those of its values that are to be looked at.
"""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import attrs
import numpy as np

from negotiator.classad.tables import INTEGER_DIGITS, MAX_REMEMBERED_LINE
from negotiator.classad.values import Kind
from negotiator.pool.reading_budget import FREE, PLAIN_ATTRIBUTES, VALUE_BYTES

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
_ENOUGH: Final = 32
"""Ads of a text with equally many lines that are worth a new pattern."""
_SAMPLE: Final = 256
"""Ads that a new pattern is made from."""
_NEW_PATTERNS: Final = 4
"""Patterns that are made for the ads of a text with equally many lines."""
_PATTERNS: Final = 16
"""Patterns of ads with equally many lines."""
_ALL_PATTERNS: Final = 256
"""Patterns of all ads of a pool: each may take some hundred kilobytes."""
_FAILURES: Final = 3
"""Ads after which no more are looked at if too few others have the names of any: somebody may have made them so."""


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


class AdSpan(NamedTuple):
    """The part of a text that is an ad, up to its last line end; the numbers of its first line and of its lines."""

    start: int
    end: int
    line: int
    lines: int


@attrs.frozen(eq=False)
class MatchingAds:
    """Ads of a text that match a pattern, the offset of each, and the number of its first line.

    Ads that are no longer than ``limit`` are free, see ``AdPattern``.
    """

    pattern: AdPattern
    limit: int
    matches: list[re.Match[str]] = attrs.field(factory=list)
    starts: list[int] = attrs.field(factory=list)
    lines: list[int] = attrs.field(factory=list)

    def __len__(self) -> int:
        return len(self.matches)

    def span(self, place: int) -> AdSpan:
        """Return where an ad is."""
        end = self.matches[place].end() - 1  # of the blank line below it
        return AdSpan(self.starts[place], end, self.lines[place], len(self.pattern.lines))

    def texts(self) -> dict[int, Sequence[str]]:
        """Return the texts of each line that is a group of the pattern."""
        columns = zip(*[match.groups() for match in self.matches], strict=True)
        return dict(zip(self.pattern.forms, columns, strict=True))


@attrs.frozen(eq=False)
class ScannedText:
    """The ads of a text: those that match a pattern, and all others; and where the lines below the last ad begin."""

    alike: Sequence[MatchingAds]
    others: Sequence[AdSpan]
    rest: int
    line: int


@attrs.define(eq=False)
class AdMatcher:
    """Finds ads with the same names; remembers the patterns of those that it has seen."""

    dictionary: AdDictionary
    _patterns: dict[int, list[AdPattern]] = attrs.field(factory=lambda: defaultdict(list), init=False)
    """By the number of lines."""

    def scan(self, text: str, start: int, line: int) -> ScannedText:
        """Find the ads of a text of whole lines, from an offset on, where the line with this number begins."""
        found = _Found(text)
        while True:
            while text.startswith("\n", start):
                start, line = start + 1, line + 1
            end = text.find("\n\n", start) + 1
            if not end:
                break
            lines = text.count("\n", start, end)
            matched = self._match(text, start, lines)
            if matched is None:
                found.unknown[lines].append(AdSpan(start, end, line, lines))
                start, line = end + 1, line + lines + 1
            else:
                start, line = found.add_run(*matched, start, line)
        others = found.others
        for lines, spans in found.unknown.items():
            learned = lines <= PLAIN_ATTRIBUTES
            others += self._learn_from(text, lines, spans, found.alike) if learned else spans
        many = [ads for ads in found.alike.values() if len(ads) >= FEW]
        few = [ads for ads in found.alike.values() if len(ads) < FEW]
        others += [ads.span(place) for ads in few for place in range(len(ads))]
        return ScannedText(many, others, start, line)

    def _match(self, text: str, start: int, lines: int) -> tuple[AdPattern, re.Match[str]] | None:
        """Return the pattern that an ad with so many lines matches."""
        for pattern in self._patterns.get(lines, ()):
            match = pattern.match(text, start)
            if match is not None:
                return pattern, match
        return None

    def _learn_from(
        self, text: str, lines: int, spans: list[AdSpan], alike: dict[AdPattern, MatchingAds]
    ) -> list[AdSpan]:
        """Add patterns for ads with equally many lines; return the ads that match none of them."""
        others: list[AdSpan] = []
        for _ in range(_NEW_PATTERNS):
            sample = [text[span.start : span.end - 1] for span in spans[:_SAMPLE]]
            pattern = self._learn(self._patterns[lines], sample) if len(sample) >= _ENOUGH else None
            if pattern is None:
                break
            ads = _ads_of(alike, pattern, text)
            rest = []
            for span in spans:
                match = pattern.match(text, span.start)
                if match is None:
                    rest.append(span)
                elif pattern.is_free(text, span.start, span.end):
                    ads.matches.append(match)
                    ads.starts.append(span.start)
                    ads.lines.append(span.line)
                else:
                    others.append(span)
            spans = rest
        return others + spans

    def _learn(self, patterns: list[AdPattern], ads: Sequence[str]) -> AdPattern | None:
        """Add to ``patterns``, and return, one that many of the ads match."""
        for start in range(_FAILURES):
            sample = ads[start:]
            known = next((each for each in patterns if each.has_names_of(sample[0])), None)
            if known is not None and (pattern := known.widened(sample, self.dictionary)) is not None:
                self.replace(known, pattern)
                return pattern
            if known is None and len(patterns) < _PATTERNS and self._has_room():
                pattern = AdPattern.of_ads(sample, self.dictionary)
                if pattern is not None:
                    patterns.append(pattern)
                    return pattern
        return None

    def _has_room(self) -> bool:
        return sum(map(len, self._patterns.values())) < _ALL_PATTERNS

    def replace(self, before: AdPattern, after: AdPattern) -> None:
        """Put a pattern in the place of another one with the same names, if that is one of those remembered."""
        patterns = self._patterns[len(before.lines)]
        if before in patterns:
            patterns[patterns.index(before)] = after


@attrs.frozen(eq=False)
class _Found:
    """The ads of a text that were found so far: ``unknown`` are those that match no pattern, by the number of lines."""

    text: str
    alike: dict[AdPattern, MatchingAds] = attrs.field(factory=dict)
    others: list[AdSpan] = attrs.field(factory=list)
    unknown: dict[int, list[AdSpan]] = attrs.field(factory=lambda: defaultdict(list))

    def add_run(
        self, pattern: AdPattern, match: re.Match[str] | None, start: int, line: int
    ) -> tuple[int, int]:
        """Add an ad, and all that match the same pattern below it; return the offset and the number of the next line."""
        text, ads, lines = self.text, _ads_of(self.alike, pattern, self.text), len(pattern.lines)
        while match is not None:
            end = match.end()
            if end - start <= ads.limit or pattern.is_free(text, start, end):
                ads.matches.append(match)
                ads.starts.append(start)
                ads.lines.append(line)
            else:
                self.others.append(AdSpan(start, end - 1, line, lines))
            start, line = end, line + lines + 1
            match = pattern.match(text, start)
        return start, line


def _ads_of(alike: dict[AdPattern, MatchingAds], pattern: AdPattern, text: str) -> MatchingAds:
    """Return the ads of a text that match a pattern, none at first."""
    found = alike.get(pattern)
    if found is None:
        found = alike[pattern] = MatchingAds(pattern, pattern.longest(is_ascii=text.isascii()))
    return found

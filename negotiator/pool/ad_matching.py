"""Finds the ads of a text, and which of them have the names of many others."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from negotiator.pool.ad_pattern import FEW, AdPattern
from negotiator.pool.reading_budget import PLAIN_ATTRIBUTES

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from negotiator.classad.tables import AdDictionary

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

"""Reads ads of long form that have the same names line by line, many at once and by columns.

Most ads of a pool differ from their neighbours in a few values only: regular expressions find these values (see
``ad_matching``). What is not plain is left to the reader of lines: new names, secrets, comments, faults, and ads that
exceed their owner's budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from negotiator.classad.tables import AlikeRows
from negotiator.pool.ad_matching import AdMatcher, AdPattern, AdSpan, LineForm, add_plain
from negotiator.pool.new_expressions import NEW, AlikeValues, WaitingAds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from negotiator.classad.tables import AdDictionary
    from negotiator.pool.parsed_ad import AlikeAds
    from negotiator.pool.reading_budget import ReadingBudget


@attrs.frozen(eq=False)
class AlikeText:
    """The ads of a text: those that are alike, and where all others are; and where the lines below the last ad begin.

    Ads that are alike may wait for the parsing of their values: ``alike`` has them when they are parsed.
    """

    values: Sequence[AlikeValues]
    waiting: WaitingAds
    others: Sequence[AdSpan]
    rest: int
    line: int

    def alike(self) -> tuple[AlikeAds, ...]:
        """Return the ads that are alike and wait no more."""
        return tuple([ads for values in self.values if (ads := values.known()) is not None])


class AlikeReader:
    """Reads the ads of one pool that are alike."""

    __slots__ = ("_matcher", "budget", "dictionary")

    def __init__(self, dictionary: AdDictionary, budget: ReadingBudget) -> None:
        self.dictionary = dictionary
        self.budget = budget
        self._matcher = AdMatcher(dictionary)

    def continued(self, budget: ReadingBudget) -> AlikeReader:
        """Return a reader for a later reading, which has found the patterns of ads already."""
        later = AlikeReader(self.dictionary, budget)
        later._matcher = self._matcher
        return later

    def read(self, text: str, start: int, line: int, file: str) -> AlikeText:
        """Find the ads of a text of whole lines, from an offset on, where the line with this number begins."""
        found = self._matcher.scan(text, start, line)
        values = []
        for ads in found.alike:
            texts = ads.texts()
            rows = self._rows(ads.pattern, texts, len(ads))
            values.append(AlikeValues(ads, rows, texts, file, self.budget))
            self._refine(ads.pattern, texts)
        return AlikeText(values, WaitingAds(values), sorted(found.others), found.rest, found.line)

    def _rows(self, pattern: AdPattern, texts: Mapping[int, Sequence[str]], size: int) -> AlikeRows:
        """Return the ads; the code of a value is ``NEW`` if it is neither a constant nor known."""
        codes: dict[int, NDArray[Any]] = dict(pattern.codes)
        for line, column in texts.items():
            codes[line] = self._codes(pattern, line, column)
        columns = tuple([codes[line] for line in range(len(codes))])
        return AlikeRows(self.dictionary, pattern.layout, columns, size)

    def _codes(self, pattern: AdPattern, line: int, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the codes of the values of a line, (N,); ``NEW`` if one is neither a constant nor known."""
        distinct = list(dict.fromkeys(texts))
        form, spelling = pattern.forms[line], pattern.spellings[line]
        if form.is_plain:
            codes = add_plain(spelling.entries, form, distinct)
        else:
            before = spelling.lines
            codes = self.dictionary.codes_of_lines(distinct)
            new = spelling.lines - before + np.count_nonzero(codes == NEW)
            if new > len(texts) // 2:
                spelling.stop_remembering()
        if len(distinct) == len(texts):
            return codes.astype(np.int32)
        code_of = dict(zip(distinct, codes.tolist(), strict=True))
        return np.fromiter(map(code_of.__getitem__, texts), np.int32, len(texts))

    def _refine(self, pattern: AdPattern, texts: Mapping[int, Sequence[str]]) -> None:
        """Change the form of lines with a new value in most ads, of which the dictionary remembers no more."""
        forms = {}
        for line, form in pattern.forms.items():
            spelling = pattern.spellings[line]
            if form is LineForm.FEW and not spelling.remembers_lines:
                forms[line] = LineForm.of_values([text[len(spelling.prefix) :] for text in texts[line]])
        refined = pattern.with_forms(forms, self.dictionary) if forms else None
        if refined is not None:
            self._matcher.replace(pattern, refined)

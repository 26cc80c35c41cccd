"""Reads ads of long form that have the same names line by line, many at once and by columns.

Most ads of a pool differ from their neighbours in a few values only: regular expressions find these values (see
``ad_pattern``). What is not plain is left to the reader of lines: new names, secrets, comments, faults, and ads that
exceed their owner's budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from negotiator.classad.tables import AlikeRows
from negotiator.pool.ad_matching import AdMatcher, AdSpan
from negotiator.pool.ad_pattern import AdPattern, LineForm, add_plain
from negotiator.pool.new_expressions import NEW, parse_new_values
from negotiator.pool.parsed_ad import AlikeAds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from negotiator.classad.tables import AdDictionary, IndexArray
    from negotiator.pool.reading_budget import ReadingBudget


@attrs.frozen(eq=False)
class ReadText:
    """The ads of a text: those that are alike, and where all others are; and where the lines below the last ad begin."""

    alike: Sequence[AlikeAds]
    others: Sequence[AdSpan]
    rest: int
    line: int


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

    def read(self, text: str, start: int, line: int, file: str) -> ReadText:
        """Read the ads of a text of whole lines, from an offset on, where the line with this number begins."""
        found = self._matcher.scan(text, start, line)
        others = list(found.others)
        alike = []
        for ads in found.alike:
            texts = ads.texts()
            rows, known = self._rows(ads.pattern, texts, len(ads), file)
            self._refine(ads.pattern, texts)
            others += [ads.span(place) for place in np.delete(np.arange(len(ads)), known).tolist()]
            if len(rows):
                alike.append(AlikeAds(rows, np.array(ads.lines, np.int64)[known]))
        return ReadText(alike, sorted(others), found.rest, found.line)

    def _rows(
        self, pattern: AdPattern, texts: Mapping[int, Sequence[str]], size: int, file: str
    ) -> tuple[AlikeRows, IndexArray]:
        """Return the ads whose values are constants, known, or within their owners' budgets, and which of them these are."""
        codes: dict[int, NDArray[Any]] = dict(pattern.codes)
        remembered = {line: pattern.spellings[line].lines for line in texts}
        for line, column in texts.items():
            codes[line] = self._codes(pattern, line, column)
        columns = tuple([codes[line] for line in range(len(codes))])
        rows = AlikeRows(self.dictionary, pattern.layout, columns, size)
        waiting = {line: column for line, column in texts.items() if bool((codes[line] == NEW).any())}
        known = parse_new_values(rows, waiting, file, self.budget)
        for line, before in remembered.items():
            if pattern.spellings[line].lines - before > size // 2:
                pattern.spellings[line].stop_remembering()
        return rows.take(known) if len(known) < size else rows, known

    def _codes(self, pattern: AdPattern, line: int, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the codes of the values of a line, (N,); ``NEW`` if one is neither a constant nor known."""
        distinct = list(dict.fromkeys(texts))
        form = pattern.forms[line]
        codes = (
            add_plain(pattern.spellings[line].entries, form, distinct)
            if form.is_plain
            else self.dictionary.codes_of_lines(distinct)
        )
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

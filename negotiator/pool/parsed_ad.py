"""The results of the reader of a format: ads, and problems with ads or files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from negotiator.classad import Ad, Expr, ParseError
from negotiator.pool.limits import MAX_ATTRIBUTES
from negotiator.pool.secrets import excerpt, is_safe_to_show
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad.tables import AlikeRows, IndexArray
    from negotiator.pool.vault import Secret

_SHORT: Final = 200


class ParsedAd(NamedTuple):
    """An ad without its secrets, where it begins, and its claim ids if the caller wants them."""

    ad: Ad
    source: Source
    claims: tuple[Secret, ...] = ()


class UnreadFile(NamedTuple):
    """The problem of a file that could not be read to its end: ads of the pool are missing, and nobody knows which."""

    problem: Problem


ReadResult: TypeAlias = ParsedAd | Problem


class AlikeAds(NamedTuple):
    """Ads with the same names, and the number of the first line of each, (N,)."""

    rows: AlikeRows
    lines: IndexArray


class AdBlock(NamedTuple):
    """The ads of a part of a file: those that are alike together, and the other results by line."""

    file: str
    alike: tuple[AlikeAds, ...]
    others: tuple[ReadResult, ...]

    @property
    def ads(self) -> int:
        """How many ads the block has."""
        alike = sum(len(each.rows) for each in self.alike)
        return alike + sum(isinstance(each, ParsedAd) for each in self.others)

    def results(self) -> list[ReadResult]:
        """Return the ads one by one, and the problems, by line."""
        results = list(self.others)
        for rows, lines in self.alike:
            numbers = enumerate(lines.tolist())
            results += [ParsedAd(rows.ad(place), Source(self.file, line)) for place, line in numbers]
        if self.alike:
            results.sort(key=lambda result: result.source.line)
        return results


FileResult: TypeAlias = ReadResult | UnreadFile | AdBlock


def ad_problem(source: Source, message: str, hint: str = "", line: str = "") -> Problem:
    """Return the problem of one ad that is set aside; ``line`` is quoted only if it is safe to show."""
    return Problem(
        Severity.ERROR, source, f"the ad is set aside: {message}", hint, excerpt(line, source.column)
    )


def abort_problem(source: Source, message: str, hint: str = "") -> Problem:
    """Return the problem that ends the reading of a file."""
    return Problem(Severity.ERROR, source, f"nothing is read from here on: {message}", hint)


def parse_message(name: str, error: ParseError) -> str:
    """Return why the expression of an attribute does not parse."""
    subject = shorten(name) if is_safe_to_show(name) else "an attribute"
    return f"{subject} does not parse: {printable(error.message)}"


def shorten(text: str) -> str:
    """Return a text in a form that fits into a message."""
    return printable(text if len(text) <= _SHORT else text[:_SHORT] + "...")


def parsed_ad(
    items: Iterable[tuple[str, Expr]], source: Source, claims: tuple[Secret, ...] = ()
) -> ReadResult:
    """Return the ad of these attributes, which are not secrets; a problem if there are too many."""
    attributes = tuple(items)
    if len(attributes) > MAX_ATTRIBUTES:
        return ad_problem(source, f"it has more than {MAX_ATTRIBUTES} attributes")
    return ParsedAd(Ad(attributes), source, claims)

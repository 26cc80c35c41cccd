"""What a reader of a format finds in a text, one after the other: ads, and problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from negotiator.classad import ClassAd, Expr, ParseError
from negotiator.pool.limits import MAX_ATTRIBUTES
from negotiator.pool.secrets import excerpt, is_safe_to_show, printable
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORT: Final = 200


class ParsedAd(NamedTuple):
    """An ad without its secrets, and where it begins."""

    ad: ClassAd
    source: Source


ReadResult: TypeAlias = ParsedAd | Problem


def ad_problem(source: Source, message: str, hint: str = "", line: str = "") -> Problem:
    """Tell of one ad that is left out; ``line`` is what the source points at, shown only where it may be."""
    return Problem(
        Severity.ERROR, source, f"the ad is set aside: {message}", hint, excerpt(line, source.column)
    )


def abort_problem(source: Source, message: str, hint: str = "") -> Problem:
    """Tell that nothing from here on to the end of the file was read."""
    return Problem(Severity.ERROR, source, f"nothing is read from here on: {message}", hint)


def parse_message(name: str, error: ParseError) -> str:
    """Say why the expression of an attribute does not parse."""
    told = shorten(name) if is_safe_to_show(name) else "an attribute"
    return f"{told} does not parse: {printable(error.message)}"


def shorten(text: str) -> str:
    """Give a text in a form that fits into a message."""
    return printable(text if len(text) <= _SHORT else text[:_SHORT] + "...")


def parsed_ad(items: Iterable[tuple[str, Expr]], source: Source) -> ReadResult:
    """Make an ad of attributes that are no secrets, unless they are too many."""
    attributes = tuple(items)
    if len(attributes) > MAX_ATTRIBUTES:
        return ad_problem(source, f"it has more than {MAX_ATTRIBUTES} attributes")
    return ParsedAd(ClassAd(attributes), source)

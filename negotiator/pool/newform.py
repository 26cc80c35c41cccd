"""The new syntax: ``[ a = 1; b = 2 ]``, one ad or many, with or without braces and commas around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad import ParseError, parse_ad
from negotiator.pool.brackets import Record, records
from negotiator.pool.found import Found, found_ad, set_aside
from negotiator.pool.jsonform import faulty, inner_source, line_of
from negotiator.pool.secrets import is_secret, may_tell, printable
from negotiator.records import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def read_new(text: Iterable[str], file: str) -> Iterator[Found]:
    """Read ads in the new syntax."""
    for record in records(text, "["):
        yield faulty(record, file) if record.fault else _ad(record, file)


def _ad(record: Record, file: str) -> Found:
    try:
        ad = parse_ad(record.text)
    except ParseError as error:
        message = printable(error.message) if may_tell(record.text) else "it does not parse"
        place = inner_source(record, file, error.line, error.column)
        hint = f"the ad begins at line {record.line}"
        return set_aside(place, message, hint, line_of(record, error.line))
    return found_ad(
        ((name, expr) for name, expr in ad.items() if not is_secret(name)),
        Source(file, record.line, record.column),
    )

"""Reads the new ClassAd syntax: ``[ a = 1; b = 2 ]``, one ad or many, with or without braces and commas around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad import ParseError, parse_ad
from negotiator.classad.syntax import Literal
from negotiator.pool.bracketed import BracketedRecord, split_records
from negotiator.pool.jsonform import excerpt_line, position_in_file, record_problem
from negotiator.pool.parsed_ad import ReadResult, ad_problem, parsed_ad
from negotiator.pool.secrets import is_safe_to_show, is_secret
from negotiator.pool.vault import claim_ids
from negotiator.records import Source
from negotiator.records.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def read_new(text: Iterable[str], file: str, *, keep_claims: bool = False) -> Iterator[ReadResult]:
    """Yield the ads of a text in the new syntax."""
    for record in split_records(text, "["):
        yield record_problem(record, file) if record.fault else _ad(record, file, keep_claims=keep_claims)


def _ad(record: BracketedRecord, file: str, *, keep_claims: bool) -> ReadResult:
    try:
        ad = parse_ad(record.text)
    except ParseError as error:
        message = printable(error.message) if is_safe_to_show(record.text) else "it does not parse"
        place = position_in_file(record, file, error.line, error.column)
        hint = f"the ad begins at line {record.line}"
        return ad_problem(place, message, hint, excerpt_line(record, error.line))
    constants = [(name, expr.value) for name, expr in ad.items() if keep_claims and isinstance(expr, Literal)]
    return parsed_ad(
        ((name, expr) for name, expr in ad.items() if not is_secret(name)),
        Source(file, record.line, record.column),
        tuple(claim for name, value in constants for claim in claim_ids(name, value)),
    )

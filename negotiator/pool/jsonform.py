"""Reads JSON as ``condor_status -json`` and ``condor_q -json`` print it: an array of objects.

Also reads a single object, one object a line, and Python literals (single quotes, ``True``, ``None``), which some tools
write into files called ``.json``. An expression is a string ``/Expr(...)/``.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import TYPE_CHECKING, Any, Final

from negotiator.classad import ParseError
from negotiator.classad.syntax import InvalidAdValueError, JsonObject, check_json_name, json_value
from negotiator.pool.bracketed import BracketedRecord, split_records
from negotiator.pool.limits import MAX_LITERAL
from negotiator.pool.parsed_ad import ReadResult, abort_problem, ad_problem, parse_message, parsed_ad, shorten
from negotiator.pool.secrets import is_safe_to_show, is_secret
from negotiator.pool.vault import claim_ids
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from negotiator.classad import Expr

_ESCAPED: Final = re.compile(r"\\[uUxN0-7]")  # may hide a letter of a secret's name from is_safe_to_show


def read_json(text: Iterable[str], file: str, *, keep_claims: bool = False) -> Iterator[ReadResult]:
    """Yield the ads of a text in JSON or Python literals."""
    for record in split_records(text, "{"):
        yield record_problem(record, file) if record.fault else _ad(record, file, keep_claims=keep_claims)


def record_problem(record: BracketedRecord, file: str) -> Problem:
    """Return the problem of a record that has a fault."""
    source = Source(file, record.line, record.column)
    if record.last:
        return abort_problem(source, record.fault)
    if record.stray:
        return Problem(Severity.WARNING, source, record.fault, "it is ignored, here and further down")
    return ad_problem(source, record.fault)


def position_in_file(record: BracketedRecord, file: str, line: int, column: int) -> Source:
    """Return the place in the file of a place in a record."""
    return Source(file, record.line + line - 1, column + record.column - 1 if line == 1 else column)


def excerpt_line(record: BracketedRecord, line: int) -> str:
    """Return a line of a record to be shown in a message; "" if the record may hold a secret."""
    if line == 1 or _ESCAPED.search(record.text) or not is_safe_to_show(record.text):
        return ""
    return record.text.split("\n", line)[line - 1].removesuffix("\r")


def _ad(record: BracketedRecord, file: str, *, keep_claims: bool) -> ReadResult:
    source = Source(file, record.line, record.column)
    try:
        pairs = _pairs(record.text)
    except json.JSONDecodeError as error:
        place = position_in_file(record, file, error.lineno, error.colno)
        message = f"{error.msg} (in the ad that begins at line {record.line})"
        return ad_problem(place, message, line=excerpt_line(record, error.lineno))
    except (ValueError, RecursionError):
        return ad_problem(source, "it holds a number too long, or is nested too deep")
    claims = [claim for name, value in pairs if keep_claims for claim in claim_ids(name, value)]
    try:
        attributes = [(name, _attribute(name, value)) for name, value in pairs if not is_secret(name)]
    except InvalidAdValueError as error:
        return ad_problem(source, str(error))
    return parsed_ad(attributes, source, tuple(claims))


def _pairs(text: str) -> list[tuple[str, Any]]:
    """Decode an object of JSON or a Python dict into pairs, since names may differ in case only."""
    try:
        pairs = json.loads(text, object_pairs_hook=JsonObject)
    except json.JSONDecodeError:
        python = _python(text)
        if python is None:
            raise
        pairs = python
    return list(pairs)


def _python(text: str) -> JsonObject | None:
    """Decode a dict literal of Python; return None if the text is something else."""
    if len(text) > MAX_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the pool's text are no concern of the user's
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return JsonObject(value.items()) if isinstance(value, dict) and all(map(_is_string, value)) else None


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _attribute(name: str, value: object) -> Expr:
    check_json_name(name)
    try:
        return json_value(value)
    except ParseError as error:
        raise InvalidAdValueError(parse_message(name, error)) from None
    except InvalidAdValueError as error:
        raise InvalidAdValueError(f"{shorten(name)}: {error}") from None

"""Whether what a plugin answered is what its hook asks for.

Each check returns the record that the core may keep, or raises ``WrongAnswerError`` with what was expected. Masks are
copied and set read-only, so that a plugin can't change its answer later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import attrs
import click
import numpy as np

from negotiator.classad import Expr
from negotiator.hooks.access import Access, AccessDecision, UserGroups
from negotiator.hooks.charges import Charge, Family, Grouping, KeyCharge, Quota
from negotiator.hooks.placement import PlacementRule
from negotiator.hooks.records import Constraint, ConstraintSide, Filter, Gate, Mask, Section
from negotiator.records import Mode, Source, Verdict

T = TypeVar("T")
Check = Callable[[Any], T]

MAX_RECORDS = (
    10_000  # of one answer, unless more was asked: a generator that never ends must not fill the memory
)
MAX_PATTERNS = 100  # of the files of a Section
MAX_NAME = 200  # characters of a rule or a code
MAX_TEXT = 2_000  # characters of a text

_UNCOUNTABLE = 2**63

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}", re.ASCII)
_RULE = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


class WrongAnswerError(TypeError):
    """An answer that is not of the type that the hook asks for."""


def nothing(answer: object) -> tuple[()]:
    """The answer of a hook that returns nothing."""
    if answer is not None:
        raise WrongAnswerError(f"expected None, got {kind_of(answer)}")
    return ()


def one(check: Check[T]) -> Check[tuple[T, ...]]:
    """The answer of a hook that returns a record."""
    return lambda answer: (check(answer),)


def many(check: Check[T], expected: str, limit: int = MAX_RECORDS) -> Check[tuple[T, ...]]:
    """The answer of a hook that returns an iterable of at most ``limit`` records, or yields them."""

    def checked(answer: Any) -> tuple[T, ...]:
        records = _taken(answer, check, expected, limit)
        if len(records) > limit:
            raise WrongAnswerError(f"expected at most {limit} records, got more")
        return records

    return checked


def each_of(check: Check[T], count: int, expected: str) -> Check[tuple[T, ...]]:
    """The answer of a hook that returns one record for each thing it was asked about."""

    def checked(answer: Any) -> tuple[T, ...]:
        known: dict[
            int, tuple[Any, T]
        ] = {}  # a policy often gives the same record; kept, so that no id is used twice

        def once(record: Any) -> T:
            if id(record) not in known:
                known[id(record)] = (record, check(record))
            return known[id(record)][1]

        records = _taken(answer, once, expected, count)
        if len(records) != count:
            got = "more" if len(records) > count else len(records)
            raise WrongAnswerError(f"expected {count} records of {expected}, one a question, got {got}")
        return records

    return checked


def _taken(answer: Any, check: Check[T], expected: str, limit: int) -> tuple[T, ...]:
    """The records of an iterable, and one beyond the limit where there are more."""
    if answer == () and type(answer) is tuple:
        return ()
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        hint = "; return [] or yield nothing where there is nothing to say" if answer is None else ""
        raise WrongAnswerError(f"expected an iterable of {expected}, got {kind_of(answer)}{hint}")
    return tuple(check(record) for record in islice(answer, limit + 1))


def section(record: Any) -> Section:
    """A Section with an attrs class and, perhaps, a check that can be called and patterns of files."""
    _exactly(record, Section, "a Section")
    if not (isinstance(record.schema, type) and attrs.has(record.schema)):
        raise WrongAnswerError(
            f"expected an attrs class as schema of a Section, got {kind_of(record.schema)}"
        )
    if record.check is not None and not callable(record.check):
        raise WrongAnswerError(f"expected a function as check of a Section, got {kind_of(record.check)}")
    if type(record.files) is not tuple or len(record.files) > MAX_PATTERNS:
        raise WrongAnswerError(
            f"expected a tuple of up to {MAX_PATTERNS} patterns as files of a Section, got {kind_of(record.files)}"
        )
    for pattern in record.files:
        _name(pattern, "pattern of files of a Section")
        if "/" in pattern or pattern.startswith(".") or pattern.endswith("~"):
            raise WrongAnswerError(
                f"the files {pattern!r} of a Section: expected those at the top of the bundle, neither hidden nor *~"
            )
    if type(record.apart) is not tuple or not all(
        isinstance(key, str) and key.isidentifier() for key in record.apart
    ):
        raise WrongAnswerError("expected a tuple of keys of the class as apart of a Section")
    return record  # type: ignore[no-any-return]


def command(record: Any) -> click.Command:
    """A click command that has a name."""
    _instance(record, click.Command, "a click.Command")
    _name(record.name, "name of a command")
    return record  # type: ignore[no-any-return]


def constraint(record: Any) -> Constraint:
    """A Constraint whose every field is of its type."""
    _exactly(record, Constraint, "a Constraint")
    _instance(record.side, ConstraintSide, "a ConstraintSide as side of a Constraint")
    _instance(record.expression, Expr, "an expression (negotiator.classad.parse) in a Constraint")
    kept: Constraint = attrs.evolve(record, **_common(record, "Constraint"))
    return kept


def placement_rule(record: Any) -> PlacementRule:
    """A PlacementRule with a name that a configuration may say, and functions that can be called."""
    _exactly(record, PlacementRule, "a PlacementRule")
    name = _name(record.name, "name of a PlacementRule")
    if _RULE.fullmatch(name) is None:
        raise WrongAnswerError(f"expected letters, digits and _ as name of a PlacementRule, got {name!r}")
    for function in (record.target, record.tags):
        if not callable(function):
            raise WrongAnswerError(f"expected functions in a PlacementRule, got {kind_of(function)}")
    for flag in (record.needs_value, record.fixed):
        _exactly(flag, bool, "True or False as needs_value and fixed of a PlacementRule")
    text = _string(record.absent, "absent of a PlacementRule", MAX_TEXT)
    kept: PlacementRule = attrs.evolve(record, name=name.lower(), absent=text)
    return kept


def access(record: Any) -> Access:
    """An Access whose every field is of its type."""
    _exactly(record, Access, "an Access")
    _instance(record.decision, AccessDecision, "an AccessDecision in an Access")
    _source(record.source, "an Access")
    text = _string(record.text, "text of an Access", MAX_TEXT)
    return Access(record.decision, _name(record.rule, "rule of an Access"), text, record.source)


def user_groups(record: Any) -> UserGroups:
    """UserGroups with a user, and a tuple of names."""
    _exactly(record, UserGroups, "UserGroups")
    if type(record.groups) not in {tuple, list}:
        raise WrongAnswerError(f"expected a tuple of groups in UserGroups, got {kind_of(record.groups)}")
    if len(record.groups) > MAX_RECORDS:
        raise WrongAnswerError(
            f"expected at most {MAX_RECORDS} groups in UserGroups, got {len(record.groups)}"
        )
    groups = tuple(_name(group, "group in UserGroups") for group in record.groups)
    return UserGroups(_name(record.user, "user in UserGroups"), groups)


def entry(record: Any) -> Mapping[str, Any]:
    """An entry of a report: a mapping of plain values, as JSON has them."""
    _exactly(record, dict, "a dict")
    try:
        json.dumps(record, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongAnswerError(f"expected values that JSON has, got {error}") from None
    return record  # type: ignore[no-any-return]


#: What was found in order is so for the next request: plugins make groupings once for many of them.
_CHECKED_GROUPINGS: WeakKeyDictionary[Grouping, int] = WeakKeyDictionary()


def charge(slots: int, copies: int) -> Check[Charge | KeyCharge]:
    """A Charge over so many slots, or a KeyCharge of so many copies, with a Quota as its label."""

    def checked(record: Any) -> Charge | KeyCharge:
        if type(record) is KeyCharge:
            _counter(record.counter)
            if len(record.keys) < copies:
                raise WrongAnswerError(f"expected a key for each of {copies} jobs, got {len(record.keys)}")
            if not all(type(key) is str for key in record.keys):
                raise WrongAnswerError("expected strings as keys of a KeyCharge, got others")
            _amount(record.limit, None, "limit of a KeyCharge", may_be_none=True)
        else:
            _exactly(record, Charge, "a Charge or a KeyCharge")
            if type(record.counter) is Grouping:
                if _CHECKED_GROUPINGS.get(record.counter) != slots:
                    _grouping(record.counter, slots)
            else:
                _counter(record.counter)
            _amount(record.amount, slots, "amount of a Charge")
            _countable(record.amount)
            _amount(record.limit, slots, "limit of a Charge", may_be_none=True)
            _exactly(record.probes, bool, "a bool as probes of a Charge")
        _quota(record.label)
        return record  # type: ignore[no-any-return]

    return checked


def _counter(key: Any) -> None:
    if type(key) is not tuple or not key or not all(type(part) is str for part in key):
        raise WrongAnswerError(f"expected a tuple of strings as counter, got {kind_of(key)}")


def _grouping(grouping: Any, slots: int) -> None:
    if type(grouping.keys) is Family:
        _counter(grouping.keys.prefix)
    elif not all(type(key) is tuple and key for key in grouping.keys):
        raise WrongAnswerError("expected tuples of strings, or a Family, as keys of a Grouping, got others")
    codes = grouping.codes
    if not isinstance(codes, np.ndarray) or codes.shape != (slots,) or codes.dtype.kind not in "iu":
        raise WrongAnswerError(
            f"expected a code for each of {slots} slots in a Grouping, got {kind_of(codes)}"
        )
    if slots and not -1 <= int(codes.min()) <= int(codes.max()) < len(grouping.keys):
        raise WrongAnswerError(
            f"expected codes from -1 to {len(grouping.keys) - 1} in a Grouping, got others"
        )
    codes.setflags(write=False)
    _CHECKED_GROUPINGS[grouping] = slots


def _amount(amount: Any, slots: int | None, what: str, *, may_be_none: bool = False) -> None:
    if amount is None and may_be_none:
        return
    if isinstance(amount, np.ndarray) and slots is not None:
        if amount.shape != (slots,) or amount.dtype != np.int64:
            raise WrongAnswerError(f"expected {slots} integers of 64 bits as {what}, got others")
    elif type(amount) is not int:
        raise WrongAnswerError(f"expected an integer as {what}, got {kind_of(amount)}")


def _countable(amount: Any) -> None:
    column = isinstance(amount, np.ndarray)
    least, most = (amount.min(initial=0), amount.max(initial=0)) if column else (amount, amount)
    if least < 0:
        raise WrongAnswerError(f"expected 0 or more as amount of a Charge, got {least}")
    if most >= _UNCOUNTABLE:
        raise WrongAnswerError("expected at most 2^63 - 1 as amount of a Charge, got more")


def _quota(label: Any) -> None:
    _exactly(label, Quota, "a Quota as label of a Charge")
    if label.is_checked():
        return
    _instance(label.mode, Mode, "a Mode as mode of a Quota")
    _source(label.source, "a Quota")
    if type(label.scale) is not int or label.scale < 1:
        raise WrongAnswerError("expected an integer above 0 as scale of a Quota")
    _name(label.rule, "rule of a Quota")
    _name(label.code, "code of a Quota")
    _string(label.text, "text of a Quota", MAX_TEXT)
    if label.text_after is not None:
        _string(label.text_after, "text_after of a Quota", MAX_TEXT)
    _string(label.resource, "resource of a Quota", MAX_NAME)
    label.set_checked()


def attribute_name(record: Any) -> str:
    """The name of a job attribute, in lower case: names are equal whatever their case."""
    if type(record) is not str or _ATTRIBUTE.fullmatch(record) is None:
        shown = repr(record[:MAX_NAME]) if type(record) is str else kind_of(record)
        raise WrongAnswerError(f"expected the name of an attribute, got {shown}")
    return record.lower()


def gate(rows: int) -> Check[Gate]:
    """A Gate over a table of so many rows."""

    def checked(record: Any) -> Gate:
        _exactly(record, Gate, "a Gate")
        discard = _mask(record.discard, rows, "discard of a Gate")
        kept: Gate = attrs.evolve(record, discard=discard, **_decision(record, "Gate"))
        return kept

    return checked


def slot_filter(rows: int) -> Check[Filter]:
    """A Filter over a table of so many rows."""

    def checked(record: Any) -> Filter:
        _exactly(record, Filter, "a Filter")
        allow = _mask(record.allow, rows, "allow of a Filter")
        kept: Filter = attrs.evolve(record, allow=allow, **_decision(record, "Filter"))
        return kept

    return checked


def kind_of(value: object) -> str:
    """The type of a value, as it is told to people; never the value."""
    return "None" if value is None else type(value).__qualname__[:MAX_NAME]


def _decision(record: Any, what: str) -> dict[str, str]:
    """Check what a gate and a filter have in common; the texts are returned, to be kept in the record."""
    _instance(record.verdict, Verdict, f"a Verdict as verdict of a {what}")
    return {**_common(record, what), "code": _name(record.code, f"code of a {what}")}


def _common(record: Any, what: str) -> dict[str, str]:
    _instance(record.mode, Mode, f"a Mode as mode of a {what}")
    _source(record.source, f"a {what}")
    text = _string(record.text, f"text of a {what}", MAX_TEXT)
    return {"rule": _name(record.rule, f"rule of a {what}"), "text": text}


def _source(source: Any, whose: str) -> None:
    if source is not None:
        _exactly(source, Source, f"a Source or None as source of {whose}")
        _string(source.file, f"file in the source of {whose}", MAX_TEXT)
        for number in (source.line, source.column):
            _exactly(number, int, f"numbers as line and column in the source of {whose}")


def _exactly(value: object, kind: type, expected: str) -> None:
    # A subclass could answer the core differently each time it is asked.
    if type(value) is not kind:
        raise WrongAnswerError(f"expected {expected}, got {kind_of(value)}")


def _instance(value: object, kind: Any, expected: str) -> None:
    if not isinstance(value, kind):
        raise WrongAnswerError(f"expected {expected}, got {kind_of(value)}")


def _name(value: object, what: str) -> str:
    text = _string(value, what, MAX_NAME)
    if not text:
        raise WrongAnswerError(f"expected a {what}, got an empty string")
    return text


def _string(value: object, what: str, limit: int) -> str:
    """Printable and bounded, since it ends up in terminals and in the audit log; a plain ``str`` of a subclass."""
    if not isinstance(value, str):
        raise WrongAnswerError(f"expected a string as {what}, got {kind_of(value)}")
    text = str.__str__(value)
    if len(text) > limit:
        raise WrongAnswerError(f"expected at most {limit} characters as {what}, got {len(text)}")
    if not text.isprintable():
        raise WrongAnswerError(f"expected printable characters only as {what}")
    return text


def _mask(value: object, rows: int, what: str) -> Mask:
    # Exactly ndarray: a masked array would lose its own mask without a word.
    if type(value) is not np.ndarray:
        raise WrongAnswerError(f"expected a NumPy array of bool as {what}, got {kind_of(value)}")
    if value.dtype != np.bool_ or value.ndim != 1:
        shape = f"{value.ndim}-d array of {value.dtype}"
        raise WrongAnswerError(f"expected a 1-d NumPy array of bool as {what}, got a {shape}")
    if len(value) != rows:
        raise WrongAnswerError(
            f"expected {rows} elements (one a row of the table) as {what}, got {len(value)}"
        )
    kept = value.copy()
    kept.setflags(write=False)
    return kept

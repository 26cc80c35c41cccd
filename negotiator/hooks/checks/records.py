"""Checks of the records of a cycle: gates, filters and scores, charges with their quotas, and reports."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import attrs
import numpy as np

from negotiator.hooks.charges import Charge, Family, Grouping, KeyCharge, Quota, RequestedCharge
from negotiator.hooks.fields import (
    WrongAnswerError,
    check_exactly,
    check_instance,
    check_overruns,
    checked_label,
    checked_name,
    checked_rule,
    checked_text,
    kind_of,
)
from negotiator.hooks.records import Filter, Gate, Mask, Request, Score
from negotiator.hooks.reports import Report, ReportParameter
from negotiator.hooks.watched_request import ApplicationKeys
from negotiator.records import Verdict

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_PARAMETER: Final = re.compile(r"[a-z][a-z0-9_]*")
_MEDIA_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9.+-]+")
#: Parameters that every report has.
_OF_ALL: Final = frozenset({"offset", "rows"})
_UNCOUNTABLE = 2**63
_STRINGS = {str}


def checked_gate(record: Any, arguments: Mapping[str, Any]) -> Gate:
    """Return a Gate whose mask has one element for each of the ``ads``."""
    check_exactly(record, Gate, "a Gate")
    discard = _mask(record.discard, len(arguments["ads"]), "discard of a Gate")
    check_exactly(record.outside, bool, "a bool as outside of a Gate")
    check_overruns(record, "Gate")
    gate: Gate = attrs.evolve(record, discard=discard, **_decision(record, "Gate"))
    return gate


def checked_filter(record: Any, arguments: Mapping[str, Any]) -> Filter:
    """Return a Filter whose mask has one element for each of the ``slots``."""
    check_exactly(record, Filter, "a Filter")
    allow = _mask(record.allow, len(arguments["slots"]), "allow of a Filter")
    slot_filter: Filter = attrs.evolve(record, allow=allow, **_decision(record, "Filter"))
    return slot_filter


def checked_score(record: Any, arguments: Mapping[str, Any]) -> Score:
    """Return a Score that has a number for each of the ``slots``."""
    check_exactly(record, Score, "a Score")
    rule = checked_label(record.rule, "rule of a Score")
    what, values, rows = "values of a Score", record.values, len(arguments["slots"])
    if type(values) is not np.ndarray or values.dtype.kind not in "biuf":
        shown = values.dtype if type(values) is np.ndarray else kind_of(values)
        raise WrongAnswerError(f"expected a NumPy array of float64 as {what}, got {shown}")
    if values.shape != (rows,):
        raise WrongAnswerError(f"expected {rows} numbers (one a slot) as {what}, got {values.shape}")
    numbers = values.astype(np.float64)
    if np.isnan(numbers).any():
        hint = "give numbers() a default for slots without the attribute"
        raise WrongAnswerError(
            f"expected numbers as {what}, got NaN for {int(np.isnan(numbers).sum())} slots: {hint}"
        )
    numbers.setflags(write=False)
    return Score(rule, numbers)


def _decision(record: Any, what: str) -> dict[str, Any]:
    check_instance(record.verdict, Verdict, f"a Verdict as verdict of a {what}")
    return {**checked_rule(record, what), "code": checked_label(record.code, f"code of a {what}")}


def _mask(value: object, rows: int, what: str) -> Mask:
    # Exactly ndarray: a masked array would lose its own mask silently.
    if type(value) is not np.ndarray:
        raise WrongAnswerError(f"expected a NumPy array of bool as {what}, got {kind_of(value)}")
    if value.dtype != np.bool_ or value.ndim != 1:
        shape = f"{value.ndim}-d array of {value.dtype}"
        raise WrongAnswerError(f"expected a 1-d NumPy array of bool as {what}, got a {shape}")
    if len(value) != rows:
        raise WrongAnswerError(
            f"expected {rows} elements (one a row of the table) as {what}, got {len(value)}"
        )
    mask = value.copy()
    mask.setflags(write=False)
    return mask


def checked_report(record: Any, arguments: Mapping[str, Any]) -> Report:
    """Return a Report with a name that a path may have, a class of attrs as row, and functions that can be called."""
    del arguments
    check_exactly(record, Report, "a Report")
    _check(record.name, _NAME, "name of a Report")
    if not (isinstance(record.row, type) and attrs.has(record.row)):
        raise WrongAnswerError(f"expected an attrs class as row of a Report, got {kind_of(record.row)}")
    if not isinstance(record.texts, Mapping):
        raise WrongAnswerError(
            f"expected functions by media type as texts of a Report, got {kind_of(record.texts)}"
        )
    for media_type in record.texts:
        _check(media_type, _MEDIA_TYPE, "media type of a Report")
    for function in (record.collect, record.rows, *record.texts.values()):
        if not callable(function):
            raise WrongAnswerError(f"expected functions in a Report, got {kind_of(function)}")
    check_exactly(record.parameters, tuple, "a tuple of ReportParameters as parameters of a Report")
    report: Report = attrs.evolve(
        record,
        summary=checked_text(record.summary, "summary of a Report"),
        parameters=tuple(map(_checked_parameter, record.parameters)),
        texts=dict(record.texts),
    )
    return report


def _checked_parameter(record: Any) -> ReportParameter:
    check_exactly(record, ReportParameter, "a ReportParameter")
    _check(record.name, _PARAMETER, "name of a ReportParameter")
    if record.name in _OF_ALL:
        raise WrongAnswerError(f"every report has a parameter {record.name}: choose another name")
    texts = {
        name: checked_text(getattr(record, name), f"{name} of a ReportParameter")
        for name in ("text", "default")
    }
    if type(record.choices) is not tuple or not all(isinstance(each, str) for each in record.choices):
        raise WrongAnswerError("expected a tuple of strings as choices of a ReportParameter")
    if record.choices and record.default not in record.choices:
        raise WrongAnswerError(
            f"expected one of the choices as default of {record.name}, got {record.default!r}"
        )
    parameter: ReportParameter = attrs.evolve(record, **texts)
    return parameter


def _check(name: Any, form: re.Pattern[str], what: str) -> None:
    if form.fullmatch(checked_name(name, what)) is None:
        raise WrongAnswerError(f"expected lower-case letters, digits and hyphens as {what}, got {name!r}")


def checked_charge(record: Any, arguments: Mapping[str, Any]) -> Charge | KeyCharge:
    """Return a Charge over the ``slots``, or a KeyCharge for the jobs of the ``request``, with a Quota as its label."""
    if type(record) is Charge or type(record) is RequestedCharge:
        _check_charge(record, len(arguments["slots"]))
    else:
        check_exactly(record, KeyCharge, "a Charge or a KeyCharge")
        _check_key_charge(record, arguments["request"])
    if type(record.label) is not Quota:  # there are several charges for each request
        check_exactly(record.label, Quota, "a Quota as label of a Charge")
    return record  # type: ignore[no-any-return]


def checked_entry(record: Any, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry of a report: a dict of values that JSON can express."""
    del arguments
    check_exactly(record, dict, "a dict")
    try:
        json.dumps(record, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongAnswerError(f"expected values that JSON has, got {error}") from None
    return record  # type: ignore[no-any-return]


def _check_key_charge(record: KeyCharge, request: Request) -> None:
    _check_counter(record.counter)
    if type(record.keys) is not ApplicationKeys:
        copies = len(request.applications)
        if len(record.keys) < copies:
            raise WrongAnswerError(f"expected a key for each of {copies} jobs, got {len(record.keys)}")
        if {*map(type, record.keys)} | _STRINGS != _STRINGS:
            raise WrongAnswerError("expected strings as keys of a KeyCharge, got others")
    _check_amount(record.limit, None, "limit of a KeyCharge", may_be_none=True)


def _check_charge(record: Charge, slots: int) -> None:
    if type(record) is RequestedCharge:
        check_exactly(record.resource, str, "the name of a resource in a RequestedCharge")
    if type(record.counter) is Grouping:
        _check_grouping(record.counter, slots)
    else:
        _check_counter(record.counter)
    if type(record.amount) is not int or not 0 <= record.amount < _UNCOUNTABLE:
        _check_amount(record.amount, slots, "amount of a Charge")
        _check_countable(record.amount)
    if type(record.limit) is not int:
        _check_amount(record.limit, slots, "limit of a Charge", may_be_none=True)
    if record.probes is not False:
        check_exactly(record.probes, bool, "a bool as probes of a Charge")


def _check_counter(key: Any) -> None:
    if type(key) is not tuple or {*map(type, key)} != _STRINGS:
        raise WrongAnswerError(f"expected a tuple of strings as counter, got {kind_of(key)}")


def _check_grouping(grouping: Grouping, slots: int) -> None:
    if len(grouping.codes) != slots:
        raise WrongAnswerError(
            f"expected a code for each of {slots} slots in a Grouping, got {len(grouping.codes)}"
        )
    if type(grouping.keys) is Family:
        _check_counter(grouping.keys.prefix)
    if grouping.fault:
        raise WrongAnswerError(grouping.fault)
    grouping.codes.setflags(write=False)


def _check_amount(amount: Any, slots: int | None, what: str, *, may_be_none: bool = False) -> None:
    if amount is None and may_be_none:
        return
    if isinstance(amount, np.ndarray) and slots is not None:
        if amount.shape != (slots,) or amount.dtype != np.int64:
            raise WrongAnswerError(f"expected {slots} integers of 64 bits as {what}, got others")
    elif type(amount) is not int:
        raise WrongAnswerError(f"expected an integer as {what}, got {kind_of(amount)}")


def _check_countable(amount: Any) -> None:
    column = isinstance(amount, np.ndarray)
    least, most = (amount.min(initial=0), amount.max(initial=0)) if column else (amount, amount)
    if least < 0:
        raise WrongAnswerError(f"expected 0 or more as amount of a Charge, got {least}")
    if most >= _UNCOUNTABLE:
        raise WrongAnswerError("expected at most 2^63 - 1 as amount of a Charge, got more")

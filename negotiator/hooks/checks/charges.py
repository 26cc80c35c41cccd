"""Checks of the records of hooks that limit: charges, their quotas, and the entries of usage reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from negotiator.hooks.charges import Charge, Family, Grouping, KeyCharge, Quota, RequestedCharge
from negotiator.hooks.fields import WrongAnswerError, check_exactly, kind_of
from negotiator.hooks.records import Request
from negotiator.hooks.watched_request import ApplicationKeys

_UNCOUNTABLE = 2**63
_STRINGS = {str}


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

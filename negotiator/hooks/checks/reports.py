"""Checks of the reports that plugins bring."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from negotiator.hooks.fields import WrongAnswerError, check_exactly, checked_name, checked_text, kind_of
from negotiator.hooks.reports import Report, ReportParameter

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_PARAMETER: Final = re.compile(r"[a-z][a-z0-9_]*")
_MEDIA_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9.+-]+")
#: Parameters that every report has.
_OF_ALL: Final = frozenset({"offset", "rows"})


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

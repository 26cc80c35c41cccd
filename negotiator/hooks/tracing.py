"""Describes a hook call for ``--trace-hooks``, and a slow one: sizes, kinds and rules, never the value of an attribute of an ad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from negotiator.classad import Table
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.declarations import Constraint
from negotiator.hooks.records import Cycle, Filter, Gate, Request


def describe_call(arguments: Mapping[str, Any]) -> str:
    """``kind=startd ads=300 rows cycle=7``."""
    return " ".join(f"{name}={_argument(value)}" for name, value in arguments.items()) or "()"


def describe_answer(answer: tuple[Any, ...] | BaseException) -> str:
    """``2 records: stale, tiny``, or the kind of the error; its text might quote an ad."""
    if isinstance(answer, BaseException):
        return f"failed: {type(answer).__name__}"
    names = [_record(record) for record in answer]
    shown = ", ".join([*names[:10], *(["..."] if len(names) > 10 else [])])
    return f"{len(names)} {'record' if len(names) == 1 else 'records'}" + (f": {shown}" if shown else "")


def describe_subject(arguments: Mapping[str, Any]) -> str:
    """Return the first job and the submitter of the request that a call is about; empty for other calls."""
    request = arguments.get("request")
    return f"job {request.first_job} of {request.submitter}" if isinstance(request, Request) else ""


def _argument(value: object) -> str:
    match value:
        case None:
            return "None"
        case AdKind():
            return value.value
        case Table():
            return f"{len(value)} rows"
        case Cycle():
            return str(value.number)
        case Request():
            return f"{value.count} jobs"
        case tuple() | list():
            return f"{len(value)} items"
        case _:
            return type(value).__name__


def _record(record: object) -> str:
    match record:
        case Gate():
            return f"{record.rule} ({int(record.discard.sum())} discarded)"
        case Filter():
            return f"{record.rule} ({len(record.allow) - int(record.allow.sum())} not allowed)"
        case Constraint():
            return record.rule
        case click.Command():
            return record.name or ""
        case str():
            return record
        case _:
            return type(record).__name__

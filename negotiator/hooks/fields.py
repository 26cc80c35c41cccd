"""Checks of single fields, shared by the checks of all records."""

from __future__ import annotations

import math
from typing import Any

from negotiator.hooks.answers import clean
from negotiator.hooks.overruns import OverrunAction
from negotiator.records import Mode, Source

MAX_NAME = 200  # characters of a rule or a code


MAX_TEXT = 2_000  # characters of a text


class WrongAnswerError(TypeError):
    """An answer that is not of the type that the hook requires."""


def kind_of(value: object) -> str:
    """Return the name of a value's type for messages; never the value."""
    return "None" if value is None else type(value).__qualname__[:MAX_NAME]


def check_exactly(value: object, kind: type, expected: str) -> None:
    """Raise WrongAnswerError unless a value is of this type itself.

    A subclass could answer the core differently each time it is read.
    """
    if type(value) is not kind:
        raise WrongAnswerError(f"expected {expected}, got {kind_of(value)}")


def check_instance(value: object, kind: Any, expected: str) -> None:
    """Raise WrongAnswerError unless a value is of this type or a subclass of it."""
    if not isinstance(value, kind):
        raise WrongAnswerError(f"expected {expected}, got {kind_of(value)}")


def checked_name(value: object, what: str) -> str:
    """Return a name: 1 to 200 printable characters. Names are compared, so they are refused rather than changed."""
    text = _string(value, what)
    if not text:
        raise WrongAnswerError(f"expected a {what}, got an empty string")
    if len(text) > MAX_NAME:
        raise WrongAnswerError(f"expected at most {MAX_NAME} characters as {what}, got {len(text)}")
    if not text.isprintable():
        raise WrongAnswerError(f"expected printable characters only as {what}")
    return text


def checked_label(value: object, what: str) -> str:
    """Return the name of a rule or a code, printable and shortened to 200 characters: it may contain names of users' queues.

    :raises WrongAnswerError: it is not a string, or empty.
    """
    label = checked_text(value, what, MAX_NAME)
    if not label:
        raise WrongAnswerError(f"expected a {what}, got an empty string")
    return label


def checked_text(value: object, what: str, limit: int = MAX_TEXT) -> str:
    """Return a text for people, printable and shortened: it ends up in terminals and in the audit log."""
    text = _string(value, what)
    return text if len(text) <= limit and text.isprintable() else clean(text, limit)


def checked_source(source: Any, what: str) -> Source | None:
    """Return None, or a new Source whose file is printable and shortened: it ends up in terminals and in the audit log.

    :raises WrongAnswerError: it is not a Source with a file, a line and a column.
    """
    if source is None:
        return None
    check_exactly(source, Source, f"a Source or None as source of {what}")
    file = checked_text(source.file, f"file in the source of {what}")
    for number in (source.line, source.column):
        check_exactly(number, int, f"numbers as line and column in the source of {what}")
    return Source(file, source.line, source.column)


def checked_rule(record: Any, what: str) -> dict[str, Any]:
    """Check the fields that all rules have: mode, source, rule and text. Return the last three, to store."""
    check_instance(record.mode, Mode, f"a Mode as mode of a {what}")
    source = checked_source(record.source, f"a {what}")
    text = checked_text(record.text, f"text of a {what}")
    return {"rule": checked_label(record.rule, f"rule of a {what}"), "text": text, "source": source}


def check_overruns(record: Any, what: str) -> None:
    """Check what a rule asks for running jobs that it would deny: an action and a grace time, each None for the bundle's."""
    if record.overruns is not None:
        check_instance(record.overruns, OverrunAction, f"an OverrunAction or None as overruns of a {what}")
    grace = record.overrun_grace
    if grace is not None and (type(grace) not in (int, float) or not 0 <= grace < math.inf):
        raise WrongAnswerError(
            f"expected seconds, 0 or more, or None as overrun_grace of a {what}, got {grace!r:.60}"
        )


def _string(value: object, what: str) -> str:
    """Return a plain ``str``, also of a value of a subclass."""
    if not isinstance(value, str):
        raise WrongAnswerError(f"expected a string as {what}, got {kind_of(value)}")
    return str.__str__(value)

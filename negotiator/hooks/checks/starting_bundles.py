"""Checks of the bundles to start from that plugins offer, and of the files that they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import attrs

from negotiator.hooks.checks.declarations import checked_attribute
from negotiator.hooks.fields import (
    WrongAnswerError,
    check_exactly,
    check_instance,
    checked_name,
    checked_text,
    kind_of,
)
from negotiator.hooks.starting_bundles import SampleJob, StartingBundle, StartingFiles, StartingQuestion

#: The test that the program adds to a bundle with sample jobs.
OBSERVED_TEST: Final = "site_test.yaml"

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")


def checked_starting_bundle(record: Any, arguments: Mapping[str, Any]) -> StartingBundle:
    """Return a StartingBundle with a name for the command line, texts in one line, and functions that can be called."""
    del arguments
    check_exactly(record, StartingBundle, "a StartingBundle")
    _check_name(record.name, "name of a StartingBundle")
    if not callable(record.make):
        raise WrongAnswerError(f"expected a function as make of a StartingBundle, got {kind_of(record.make)}")
    if record.recognizes is not None and not callable(record.recognizes):
        raise WrongAnswerError(
            f"expected a function or None as recognizes of a StartingBundle, got {kind_of(record.recognizes)}"
        )
    check_exactly(record.questions, tuple, "a tuple of StartingQuestions as questions of a StartingBundle")
    bundle: StartingBundle = attrs.evolve(
        record,
        description=checked_text(record.description, "description of a StartingBundle"),
        own_files=checked_text(record.own_files, "own_files of a StartingBundle"),
        questions=tuple(map(_checked_question, record.questions)),
    )
    return bundle


def checked_starting_files(record: Any) -> StartingFiles:
    """Return StartingFiles whose names stay inside the folder of the bundle, with bytes as contents."""
    check_exactly(record, StartingFiles, "StartingFiles")
    check_instance(record.files, Mapping, "a dict as files of StartingFiles")
    for name, content in record.files.items():
        path = PurePosixPath(checked_name(name, "name of a file in StartingFiles"))
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise WrongAnswerError(f"expected the name of a file inside the bundle, got {name!r}")
        check_exactly(content, bytes, f"bytes as content of {name} in StartingFiles")
    if record.sample_jobs is not None:
        if not callable(record.sample_jobs):
            raise WrongAnswerError(
                f"expected a function or None as sample_jobs of StartingFiles, got {kind_of(record.sample_jobs)}"
            )
        if OBSERVED_TEST in record.files:
            raise WrongAnswerError(
                f"expected either sample_jobs or {OBSERVED_TEST} in StartingFiles, got both"
            )
    return StartingFiles(dict(record.files), record.sample_jobs)


def checked_sample_job(record: Any) -> SampleJob:
    """Return a SampleJob whose attributes have names and plain values."""
    check_exactly(record, SampleJob, "a SampleJob")
    check_instance(record.attributes, Mapping, "a dict as attributes of a SampleJob")
    check_exactly(record.groups, tuple, "a tuple as groups of a SampleJob")
    for name, value in record.attributes.items():
        checked_attribute(name, {})
        if type(value) not in {bool, int, float, str}:
            raise WrongAnswerError(
                f"expected a string, a number or a bool as {name} of a SampleJob, got {kind_of(value)}"
            )
    return SampleJob(
        dict(record.attributes),
        tuple(checked_name(group, "group of a SampleJob") for group in record.groups),
        checked_text(record.machine, "machine of a SampleJob"),
    )


def _checked_question(record: Any) -> StartingQuestion:
    check_exactly(record, StartingQuestion, "a StartingQuestion")
    _check_name(record.name, "name of a StartingQuestion")
    check_exactly(record.choices, tuple, "a tuple of strings as choices of a StartingQuestion")
    choices = _texts(record.choices, "choice of a StartingQuestion")
    default = record.default
    if default is not None:
        default = checked_text(default, "default of a StartingQuestion")
        if choices and default not in choices:
            raise WrongAnswerError(
                f"expected one of the choices as default of {record.name}, got {default!r}"
            )
    text = checked_text(record.text, "text of a StartingQuestion")
    return StartingQuestion(record.name, text, default, choices)


def _texts(values: Iterable[Any], what: str) -> tuple[str, ...]:
    return tuple(checked_text(each, what) for each in values)


def _check_name(name: Any, what: str) -> None:
    if _NAME.fullmatch(checked_name(name, what)) is None:
        raise WrongAnswerError(f"expected lower-case letters, digits and hyphens as {what}, got {name!r}")

"""Reads a file of policy tests, and reports all of its problems at once."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.text import decoded
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.errors import SettingsError
from negotiator.files import open_regular
from negotiator.records import Problem, ScalarText, Severity, Source, Verdict

#: Attributes of an ad: numbers, booleans, texts, and expressions after an ``=``.
AdValues: TypeAlias = dict[str, ScalarText]

_LARGEST: Final = 1 << 20  # bytes


class Outcome(enum.StrEnum):
    """What becomes of a job: it is matched, or the verdict of the decisive reason."""

    MATCHED = "matched"
    DENIED = str(Verdict.DENIED)
    WAITING = str(Verdict.WAITING)
    MISCONFIGURED = str(Verdict.MISCONFIGURED)
    BROKEN_PLUGIN = str(Verdict.BROKEN_PLUGIN)


@attrs.frozen(kw_only=True)
class Expectation:
    """What is expected of one job; a key that is left out is not compared.

    ``verdict`` is ``matched`` or that of the decisive reason, whose ``code``, ``rule`` and ``numbers`` are compared, and which has ``text``
    somewhere in its sentence.
    """

    job: ScalarText
    verdict: Outcome | None = None
    slot: str | None = None
    queue: str | None = None
    code: str | None = None
    rule: str | None = None
    text: str | None = None
    numbers: dict[str, float] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class PolicyTest:
    """One test: the ads of a pool, and what a cycle over it decides.

    What it leaves out is that of its file. ``running`` are jobs on slots, which their ``RemoteHost`` names. ``groups`` are those of users, beside what plugins know, ``now`` is the
    time in seconds since the epoch, ``matches`` how many there are in all.
    """

    name: ScalarText
    slots: list[AdValues] | None = None
    jobs: list[AdValues] = attrs.field(factory=list)
    running: list[AdValues] = attrs.field(factory=list)
    schedds: list[AdValues] | None = None
    submitters: list[AdValues] | None = None
    groups: dict[str, list[str]] | None = None
    now: float | None = None
    matches: int | None = None
    expect: list[Expectation] = attrs.field(factory=list)


@attrs.frozen(kw_only=True)
class _Contents:
    """The keys of a file."""

    slots: list[AdValues] = attrs.field(factory=list)
    schedds: list[AdValues] = attrs.field(factory=list)
    submitters: list[AdValues] = attrs.field(factory=list)
    groups: dict[str, list[str]] = attrs.field(factory=dict)
    now: float | None = None
    tests: list[PolicyTest]


@attrs.frozen
class PolicyTestFile:
    """The tests of a file, each with what the file has for all of them."""

    path: Path
    tests: tuple[PolicyTest, ...]


def read_policy_tests(path: Path) -> PolicyTestFile:
    """Read a file of tests.

    :raises SettingsError: it cannot be read, or has errors: all of them, with line and column.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise _refused(path, f"the file cannot be read: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise _refused(path, f"the file is larger than {_LARGEST} bytes")
    file, broken = decoded(str(path), content)
    if broken is not None:
        raise SettingsError([broken], str(path))
    root, problems = read_yaml(file)
    builder = ObjectBuilder(lambda _: ("a path is not expected", ""))
    built = INVALID if root is None else builder.value(root, _Contents)
    found = (*problems, *builder.problems)
    if built is INVALID or found:
        raise SettingsError(found, str(path))
    return PolicyTestFile(path, tuple(_with_defaults(each, built) for each in built.tests))


def _with_defaults(test: PolicyTest, of_file: _Contents) -> PolicyTest:
    names = ("slots", "schedds", "submitters", "groups", "now")
    return attrs.evolve(
        test, **{name: getattr(of_file, name) for name in names if getattr(test, name) is None}
    )


def _refused(path: Path, message: str) -> SettingsError:
    return SettingsError([Problem(Severity.ERROR, Source(str(path)), message)], str(path))

"""Reads a file of policy tests, and reports all of its problems at once."""

from __future__ import annotations

import contextlib
import copyreg
import enum
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import attrs

from negotiator.app.yaml_files import read_record
from negotiator.bundle import scalars
from negotiator.errors import SettingsError
from negotiator.hooks.access import AccessKind
from negotiator.records import Problem, ScalarText, Severity, Source, Verdict

#: Attributes of an ad: numbers, booleans, texts, and expressions after an ``=``.
AdValues: TypeAlias = dict[str, ScalarText]

_NOW: Final = 1_700_000_000.0


def _read_only(values: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(values)


# Other processes get copies of tests, which have read-only mappings; Python itself cannot copy these.
copyreg.pickle(MappingProxyType, lambda values: (_read_only, (dict(values),)))


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
    somewhere in its sentence. ``preempts`` is the user whose job ends for it, ``warnings`` are the rules that do not enforce and would have
    forbidden the match, and ``recorded`` is whether the audit log has the match.
    """

    job: ScalarText
    verdict: Outcome | None = None
    slot: str | None = None
    queue: str | None = None
    code: str | None = None
    rule: str | None = None
    text: str | None = None
    numbers: dict[str, float] = attrs.field(factory=dict)
    preempts: str | None = None
    warnings: list[str] | None = None
    recorded: bool | None = None


@attrs.frozen(kw_only=True)
class AccountValues:
    """The account of a submitter or an accounting group; a key that is left out has the value of a new account.

    ``priority`` is the real priority, ``accumulated_usage`` is in slot seconds times the weight of the slots. ``ceiling`` and ``floor`` are in
    weights of slots.
    """

    priority: float | None = None
    factor: float | None = None
    ceiling: float | None = None
    floor: float | None = None
    accumulated_usage: float | None = None
    source: Source | None = None
    sources: Mapping[str, Source] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class AccessExpectation:
    """What is expected of an access policy: whether a user may do something, and the rule that decides."""

    user: ScalarText
    may: AccessKind
    queue: str = ""
    groups: list[str] | None = None
    granted: bool = True
    rule: str | None = None


@attrs.frozen(kw_only=True)
class PolicyTest:
    """One test: the ads of a pool, and what a cycle over it decides.

    What it leaves out is that of its file. ``running`` are jobs on slots, which their ``RemoteHost`` names. ``groups`` are those of users, beside
    what plugins know. ``now`` is the time. ``accounts`` are those before the cycle by their names; with ``since_last_cycle``, in seconds, they are
    of an earlier cycle, and the running jobs have used their slots since then. ``matches`` is how many there are in all, ``granted`` how many a
    submitter or a queue gets.
    """

    name: ScalarText
    slots: list[AdValues] | None = None
    jobs: list[AdValues] = attrs.field(factory=list)
    running: list[AdValues] | None = None
    schedds: list[AdValues] | None = None
    submitters: list[AdValues] | None = None
    groups: dict[str, list[str]] | None = None
    accounts: dict[str, AccountValues] | None = None
    since_last_cycle: float | None = None
    now: ScalarText | None = None
    matches: int | None = None
    granted: dict[str, ScalarText] = attrs.field(factory=dict)
    expect: list[Expectation] = attrs.field(factory=list)
    access: list[AccessExpectation] = attrs.field(factory=list)

    @property
    def time(self) -> float:
        """The time of the cycle in seconds since the epoch.

        :raises SettingsError: it is neither a number nor a date with time and zone.
        """
        return _NOW if self.now is None else _time(self.now)


@attrs.frozen(kw_only=True)
class PolicyTestContents:
    """The keys of a file."""

    slots: list[AdValues] = attrs.field(factory=list)
    running: list[AdValues] = attrs.field(factory=list)
    schedds: list[AdValues] = attrs.field(factory=list)
    submitters: list[AdValues] = attrs.field(factory=list)
    groups: dict[str, list[str]] = attrs.field(factory=dict)
    accounts: dict[str, AccountValues] = attrs.field(factory=dict)
    now: ScalarText | None = None
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
    built = read_record(path, PolicyTestContents)
    return PolicyTestFile(path, tuple(_with_defaults(each, built) for each in built.tests))


def _with_defaults(test: PolicyTest, of_file: PolicyTestContents) -> PolicyTest:
    names = ("slots", "running", "schedds", "submitters", "groups", "accounts", "now")
    return attrs.evolve(
        test, **{name: getattr(of_file, name) for name in names if getattr(test, name) is None}
    )


def _time(text: ScalarText) -> float:
    if scalars.is_integer(text.text) or scalars.is_real(text.text):
        return float(text.text)
    found = None
    with contextlib.suppress(ValueError):
        found = datetime.fromisoformat(text.text)
    if found is None or found.tzinfo is None:
        message = f"now: invalid time {text.text[:40]!r}"
        hint = "write seconds since the epoch, or date, time and zone: 2026-03-02T08:00:00Z"
        raise SettingsError([Problem(Severity.ERROR, text.source, message, hint)], text.source.file)
    return found.timestamp()

"""Compares the decisions of a policy test's cycle with what is expected, and finds out which expressions can be undefined.

Those are undefined without one attribute of an ad that a test has.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np

from negotiator.app.access import AccessAnswer
from negotiator.app.policy_counts import expression_counts
from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.app.policy_tests.file import AccessExpectation, Expectation, Outcome, PolicyTest
from negotiator.audit.records import intent_records
from negotiator.bundle import Bundle
from negotiator.bundle.expressions import BundleExpression, bundle_expressions
from negotiator.classad import Table, references
from negotiator.cycle.jobs import job_ids, schedds
from negotiator.errors import SettingsError
from negotiator.explain.job import JobOutcome
from negotiator.hooks.ad_kinds import AdKind, tables_by_kind
from negotiator.hooks.records import Match
from negotiator.pool import Snapshot
from negotiator.records import Problem, Reason, Severity, Source


def undefined_expressions(
    bundle: Bundle, pools: Iterable[tuple[Snapshot, float]]
) -> Mapping[tuple[str, Source], str]:
    """Return the expressions that are undefined for the ads of tests without an attribute, by name and place, with this attribute.

    :param pools: the ads of each test, and its time.
    """
    expressions, _ = bundle_expressions(bundle, {}, 0.0)
    found: dict[tuple[str, Source], str] = {}
    for pool, now in pools:
        ads = tables_by_kind(pool)
        for each in expressions:
            key = each.rule, each.source or Source("pool.yaml")
            if key not in found and (name := _undefined_without(each, ads, now)):
                found[key] = name
    return found


def _undefined_without(each: BundleExpression, ads: Mapping[AdKind, Table], now: float) -> str:
    """Return an attribute without which an expression is undefined for some ads, as ``MY.Name``; empty if there is none."""
    read = references(each.tree)
    for scope, kinds, names in (
        ("MY", each.my, read.my | read.unscoped),
        ("TARGET", each.target, read.target),
    ):
        for name in sorted(names):
            changed = {**ads, **{kind: _without(ads[kind], name) for kind in kinds}}
            if any(count.undefined for count in expression_counts(each, changed, now)):
                return _as_written(each, scope, name)
    return ""


def _without(table: Table, name: str) -> Table:
    return table.with_attributes({name: (np.zeros(len(table), np.int64), [None])})


def _as_written(each: BundleExpression, scope: str, name: str) -> str:
    """Return an attribute as the expression spells it, with its scope."""
    hit = re.search(
        rf"(?<![\w.]){scope}\.({re.escape(name)})(?!\w)", each.text or "", re.IGNORECASE | re.ASCII
    )
    return f"{scope}.{hit[1] if hit else name}"


@attrs.frozen
class Mismatch:
    """What a test expected at a place of its file, and what the cycle decided."""

    source: Source
    message: str


def mismatches(test: PolicyTest, decided: PolicyTestCycle) -> Iterator[Mismatch]:
    """Yield what is not as a test expects.

    :raises SettingsError: it expects something of a job that the test does not have, or a number is invalid.
    """
    yield from _of_jobs(test, decided)
    yield from _of_numbers(test, decided.result.matches)
    for access, answer in zip(test.access, decided.access, strict=True):
        yield from _access_compared(access, answer)


def _of_jobs(test: PolicyTest, decided: PolicyTestCycle) -> Iterator[Mismatch]:
    jobs = decided.pool.jobs
    ids, at = job_ids(jobs), schedds(jobs).tolist()
    matches = {(each.job, each.schedd.lower()): each for each in decided.result.matches}
    recorded = _recorded(decided)
    for expected in test.expect:
        job = expected.job.text
        if job not in ids:
            raise SettingsError([_no_job(expected, ids)], expected.job.source.file)
        row = ids.index(job)
        match = matches.get((job, at[row]))
        if match is None:
            yield from _compared(expected, _of_reason(decided.outcome(row, job, at[row])))
        else:
            yield from _compared(expected, _of_match(match, is_recorded=match.id in recorded))


def _of_numbers(test: PolicyTest, matches: Sequence[Match]) -> Iterator[Mismatch]:
    """Compare how many matches there are, and how many submitters and queues get."""
    if test.matches is not None and test.matches != len(matches):
        yield Mismatch(test.name.source, f"matches: expected {test.matches}, got {len(matches)}")
    granted = Counter(name.lower() for match in matches for name in (match.submitter, match.queue))
    for name, number in test.granted.items():
        if not number.text.isdecimal():
            message = f"granted: the number of matches of {name} must be a whole number"
            raise SettingsError([Problem(Severity.ERROR, number.source, message)], number.source.file)
        found = granted[name.lower()]
        if int(number.text) != found:
            got = ", ".join(f"{each} {granted[each]}" for each in sorted(granted)) or "nobody gets a slot"
            yield Mismatch(number.source, f"granted: expected {name} {number}, got {found} ({got})")


@attrs.frozen
class _Decision:
    """What was decided about a job, by the keys of an expectation; without a match there is a reason."""

    verdict: Outcome
    queue: str
    slot: str = ""
    preempts: str = ""
    warnings: tuple[str, ...] = ()
    recorded: bool = False
    reason: Reason | None = None

    @property
    def code(self) -> str:
        """The code of the reason."""
        return self.reason.code if self.reason else ""

    @property
    def rule(self) -> str:
        """The rule of the reason."""
        return self.reason.provenance.rule if self.reason else ""


def _of_match(match: Match, *, is_recorded: bool) -> _Decision:
    warnings = tuple(dict.fromkeys(each.provenance.rule for each in match.warnings))
    ended = match.preempts.user if match.preempts else ""
    return _Decision(Outcome.MATCHED, match.queue, match.slot, ended, warnings, is_recorded)


def _of_reason(outcome: JobOutcome) -> _Decision:
    verdict = Outcome.WAITING if outcome.reason is None else Outcome(str(outcome.reason.verdict))
    return _Decision(verdict, outcome.queue, reason=outcome.reason)


def _recorded(decided: PolicyTestCycle) -> frozenset[str]:
    """Return the ids of the matches that the bundle selects for the audit log."""
    records = intent_records(decided.result, decided.bundle.audit)
    return frozenset(each["id"] for each in records if each["kind"] == "match")


def _access_compared(expected: AccessExpectation, answer: AccessAnswer) -> Iterator[Mismatch]:
    decisive = answer.decided_by.record
    what = f"{expected.user}: {expected.may} {answer.queue}".rstrip()
    if answer.granted is not expected.granted:
        words = {True: "granted", False: "denied"}
        message = f"expected {words[expected.granted]}, got {words[answer.granted]} ({decisive.text})"
        yield Mismatch(expected.user.source, f"{what}: {message}")
    if expected.rule not in {None, decisive.rule}:
        message = f"rule: expected {expected.rule}, got {decisive.rule} ({decisive.text})"
        yield Mismatch(expected.user.source, f"{what}: {message}")


def _no_job(expected: Expectation, ids: Sequence[str]) -> Problem:
    message = f"the test has no job {expected.job.text}"
    return Problem(Severity.ERROR, expected.job.source, message, f"its jobs: {', '.join(ids) or 'none'}")


def _compared(expected: Expectation, decided: _Decision) -> Iterator[Mismatch]:
    reason = decided.reason
    why = f" ({reason.text})" if reason else ""
    for name in ("verdict", "slot", "queue", "code", "rule", "preempts", "recorded"):
        wanted, found = getattr(expected, name), getattr(decided, name)
        if wanted is not None and wanted != found:
            yield _mismatch(expected, f"{name}: expected {_shown(wanted)}, got {_shown(found)}{why}")
    if expected.warnings is not None and sorted(expected.warnings) != sorted(decided.warnings):
        wanted, found = (", ".join(each) or "none" for each in (expected.warnings, decided.warnings))
        yield _mismatch(expected, f"warnings: expected {wanted}, got {found}{why}")
    if expected.text is not None and (reason is None or expected.text not in reason.text):
        yield _mismatch(expected, f"text: expected {expected.text!r} in the reason{why}")
    numbers = reason.numbers if reason else {}
    for name, wanted in expected.numbers.items():
        number = numbers.get(name)
        if not isinstance(number, (int, float)) or not math.isclose(number, wanted):
            known = f"; numbers: {', '.join(numbers)}" if number is None and numbers else ""
            found = "none" if number is None else number
            yield _mismatch(expected, f"numbers: expected {name} {wanted:g}, got {found}{known}{why}")


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "none"


def _mismatch(expected: Expectation, message: str) -> Mismatch:
    return Mismatch(expected.job.source, f"job {expected.job.text}: {message}")

"""One cycle for Python, and its result."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path

import attrs

from negotiator.app.phrases import number
from negotiator.app.single_cycle import SingleCycle, decide_pool, record_cycle
from negotiator.app.why.idle import idle_jobs, states_text
from negotiator.app.why.job import why_job_of_cycle
from negotiator.app.why.text_tables import WhyTable, WhyText
from negotiator.defaults import LOCAL_ENGINE
from negotiator.engines.choice import EngineChoice
from negotiator.errors import InvalidCallError
from negotiator.hooks.ad_kinds import AdKind
from negotiator.library.explanation import JobExplanation
from negotiator.library.policy import Policy, load_bundle, named_plugins
from negotiator.library.pool import Pool
from negotiator.library.printed import Printed
from negotiator.library.records import (
    DENIAL_COLUMNS,
    MATCH_COLUMNS,
    SET_ASIDE_COLUMNS,
    DeniedJobs,
    MatchedJob,
    SetAsideAds,
    denied_jobs,
    matched_jobs,
    rule_text,
    set_aside_ads,
)
from negotiator.library.table import Table
from negotiator.library.table_rows import RecordRows


def run(
    pool: Pool,
    policy: Policy | None = None,
    *,
    now: float | None = None,
    engine: str = LOCAL_ENGINE,
    state: str | PathLike[str] | None = None,
    audit_log: str | PathLike[str] | None = None,
    plugins: Iterable[object] | Mapping[str, object] = (),
) -> Result:
    """Return the decisions of one cycle over a pool, as ``negotiator run`` decides.

    Plugins that observe cycles are called with all matches. Besides what they do, without a state and an audit log nothing is
    changed or written. The same pool, policies and time give the same result. Matches are handed out to nobody.

    :param policy: the policies; None for the default bundle.
    :param now: the time of the cycle, in seconds since the epoch; None for the current time.
    :param engine: ``local``, ``processes:N`` or ``dask:ADDRESS``, as of commands; a single cycle is decided in this process whatever it says.
    :param state: a folder that keeps queues, applications, matches and priorities from cycle to cycle.
    :param audit_log: a folder to which the decisions are recorded.
    :param plugins: further plugins beside those of the policy, as objects or modules (``load_bundle``).
    :raises InvalidCallError: there is no such engine, or the pool or the policy is something else.
    :raises CommandError: the bundle was changed after it was loaded.
    :raises BundleError: one of the plugins is refused.
    :raises StateError, AuditError: the state or the audit log cannot be used, or belongs to other policies.

    >>> import negotiator as n
    >>> result = n.run(n.read_pool("examples/first-pool"), n.load_bundle(), now=1_800_000_000)
    >>> len(result.matches), len(result.denials)
    (7, 2)
    """
    _check_type(pool, Pool, "read_pool")
    EngineChoice.parse(engine)
    used = load_bundle(plugins=plugins) if policy is None else policy
    _check_type(used, Policy, "load_bundle")
    given: dict[str, object] = {**used.given, **named_plugins(plugins)}
    if any(used.given.get(name) is not plugin for name, plugin in given.items()):
        used = load_bundle(used.folder, plugins=given)
    at = time.time() if now is None else float(now)
    if state is None and audit_log is None:
        decided = decide_pool(pool.snapshot, used.bundle, at)
    else:
        kept = None if state is None else Path(state)
        log = None if audit_log is None else Path(audit_log)
        decided = record_cycle(pool.snapshot, used.bundle, at, kept, log, used.given)
    return Result(decided, pool, used)


def _check_type(given: object, expected: type, made_by: str) -> None:
    if not isinstance(given, expected):
        raise InvalidCallError(
            f"expected a {expected.__name__}, got {type(given).__name__}: call {made_by}() first"
        )


@attrs.frozen(eq=False, repr=False, slots=False)
class Result(Printed):
    """The decisions of a cycle over a ``pool`` under a ``policy``.

    ``decided`` is what the program itself works with; its interface may change.

    >>> import negotiator as n
    >>> result = n.run(n.read_pool("examples/first-pool"), now=1_800_000_000)
    >>> {match.user for match in result.matches}
    {'tester'}
    >>> result.denials.column("verdict")
    ['denied', 'denied']
    """

    decided: SingleCycle
    pool: Pool
    policy: Policy

    @property
    def now(self) -> float:
        """The time of the cycle, in seconds since the epoch."""
        return self.decided.cycle.now

    @cached_property
    def matches(self) -> Table[MatchedJob]:
        """The jobs that got a slot."""
        return Table(
            RecordRows([*matched_jobs(self.decided.present_cycle)], MATCH_COLUMNS),
            "match",
            ("job", "user", "queue", "slot", "preempts"),
        )

    @cached_property
    def denials(self) -> Table[DeniedJobs]:
        """The requests with jobs that got no slot, each with its decisive reason."""
        return Table(
            RecordRows([*denied_jobs(self.decided.present_cycle)], DENIAL_COLUMNS),
            "denial",
            ("job", "jobs", "user", "queue", "verdict", "reason", "rule"),
        )

    @cached_property
    def set_aside(self) -> Table[SetAsideAds]:
        """Why ads took no part: running jobs, and what gates and access discarded."""
        return Table(RecordRows([*set_aside_ads(self.decided.present_cycle)], SET_ASIDE_COLUMNS), "reason")

    @property
    def failures(self) -> tuple[str, ...]:
        """The plugins that failed, with the error; if a plugin that enforces policies is among them, jobs wait for it."""
        return tuple(map(str, (*self.decided.present_cycle.failures, *self.decided.observers)))

    def explain(self, job: str | MatchedJob | DeniedJobs) -> JobExplanation:
        """Return why a job gets no slot, or which one it got.

        :param job: ``12.7``, ``12`` (the first idle job of the cluster), ``schedd#12.7``, a match or a denial.
        :raises InvalidCallError: the id is invalid, or several schedds have the job.
        :raises NotFoundError: the pool has no such job.
        """
        if not isinstance(job, str):
            job = f"{job.schedd}#{job.job}" if job.schedd else job.job
        return JobExplanation(why_job_of_cycle(self.decided, job))

    def _text(self) -> WhyText:
        result = self.decided.present_cycle
        idle = idle_jobs(result)
        matches, jobs = len(self.matches), sum(each.jobs for each in idle)
        heading = (
            f"Cycle over {number(result.counts.slots, 'slot')}, {number(matches + jobs, 'idle job')}: "
            f"{matches} matched, {jobs} not matched"
        )
        sentences = [
            heading,
            *filter(None, [states_text(result)]),
            f"Policies: sha256 {result.digest[:12]}, {self.decided.bundle.folder}",
        ]
        if self.failures:
            sentences.append(f"Failures of plugins: {len(self.failures)}: {self.failures[0]}")
        matched = Counter((match.user, match.queue) for match in self.matches)
        denied: Counter[tuple[str, str, str]] = Counter()
        for each in idle:
            denied[str(each.reason.verdict), each.reason.text, rule_text(each.reason)] += each.jobs
        tables = [
            WhyTable(
                "Matched",
                ("JOBS", "USER", "QUEUE"),
                tuple((str(count), *who) for who, count in matched.most_common()),
                (0,),
                "user",
            ),
            WhyTable(
                "Not matched, by the reason that decided",
                ("JOBS", "VERDICT", "REASON", "RULE"),
                tuple((str(count), *why) for why, count in denied.most_common()),
                (0,),
                "reason",
            ),
            WhyTable(
                "Set aside",
                ("ADS", "KIND", "REASON"),
                tuple(
                    (str(each.ads), each.kind, each.reason.text)
                    for each in self.set_aside
                    if each.kind != AdKind.JOB
                ),
                (0,),
                "reason",
            ),
        ]
        return WhyText.of(sentences, tables)

"""Station *admit*: each ad is put to the gates of its kind; a discarded schedd takes its submitters and jobs along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.admission_filter import AdmissionFilter
from negotiator.cycle.jobs import is_in, names
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.reasons import core_reason, failure_reason, plugin_reason
from negotiator.cycle.result import DiscardedAds
from negotiator.hooks import specs
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import AdKind, Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Reason, Station, Verdict

_THING = {AdKind.STARTD: "slot", AdKind.JOB: "job"}


@attrs.frozen
class Admitted:
    """What goes on to the next station, and what was kept out."""

    slots: Table
    jobs: Table
    discarded: tuple[DiscardedAds, ...]
    failures: tuple[HookFailure, ...]


def admit(snapshot: Snapshot, bundle: Bundle, cycle: Cycle, journal: Sequence[JournalEntry] = ()) -> Admitted:
    """Put all ads to the gates; a job must also be one that a negotiator serves (idle, of a matched universe).

    ``journal`` are the matches of earlier cycles that the pool does not show yet: their jobs and slots wait.
    """
    failures: list[HookFailure] = []
    schedds = AdmissionFilter.of(AdKind.SCHEDD, snapshot.schedds)
    submitters = AdmissionFilter.of(AdKind.SUBMITTER, snapshot.submitters)
    slots = AdmissionFilter.of(AdKind.STARTD, snapshot.slots)
    everything = AdmissionFilter.of(AdKind.JOB, snapshot.jobs)
    for mask, reason in job_columns.not_served(snapshot.jobs):
        everything.discard(mask, reason)
    if journal:
        _keep_matched(slots, everything, journal)
    jobs = AdmissionFilter.of(AdKind.JOB, everything.left())

    for gathering in (schedds, submitters, slots, jobs):
        failures += _ask_gates(gathering, bundle, cycle)

    gone = frozenset(names(schedds.out(), "Name"))
    submitters.discard(is_in(names(submitters.table, "ScheddName"), gone - {""}), _taken_along(AdKind.SCHEDD))
    _take_jobs_along(jobs, schedds, submitters)

    parts = (schedds, submitters, slots, everything, jobs)
    discarded = tuple(item for part in parts for item in part.discarded)
    return Admitted(slots.left(), jobs.left(), discarded, tuple(failures))


def _keep_matched(slots: AdmissionFilter, jobs: AdmissionFilter, journal: Sequence[JournalEntry]) -> None:
    """Keep out what was matched in an earlier cycle: neither the slot nor the job is matched a second time."""
    taken = frozenset(entry.slot for entry in journal)
    matched = frozenset((entry.schedd, entry.job) for entry in journal)
    ids = job_columns.job_ids(jobs.table, range(len(jobs.table)))
    own = list(zip(job_columns.schedds(jobs.table), ids, strict=True))
    for gathering, mask in (
        (slots, is_in(slots.table.strings("Name"), taken)),
        (jobs, is_in(own, matched)),
    ):
        text = (
            f"the {_THING[gathering.kind]} was matched in an earlier cycle, and the pool does not show it yet"
        )
        reason = core_reason(Station.ADMIT, Verdict.WAITING, f"{_THING[gathering.kind]}_matched", text)
        gathering.discard(mask, reason)


def _take_jobs_along(jobs: AdmissionFilter, schedds: AdmissionFilter, submitters: AdmissionFilter) -> None:
    """Keep out the jobs of the schedds and submitters that were.

    A job says itself whose it is. Where something was kept out, a job goes on only if it belongs to what was let in:
    one that names nobody known could be anybody's.
    """
    only = schedds.table.ad(0).string("Name") if len(schedds.table) == 1 else None
    owners = job_columns.schedds(jobs.table, default=only)
    if not schedds.keep.all():
        kept = frozenset(names(schedds.left(), "Name")) - frozenset(names(schedds.out(), "Name"))
        jobs.discard(~is_in(owners, kept - {""}), _taken_along(AdKind.SCHEDD))
    if not submitters.keep.all():
        pairs = _pairs(submitters.left()) - _pairs(submitters.out())
        anywhere = frozenset(name for name, schedd in _pairs(submitters.out()) if not schedd)
        asking = job_columns.submitters(jobs.table)
        strange = ~is_in(list(zip(asking, owners, strict=True)), pairs)
        jobs.discard(strange | is_in(asking, anywhere), _taken_along(AdKind.SUBMITTER))


def _pairs(submitters: Table) -> frozenset[tuple[str, str]]:
    return frozenset(zip(names(submitters, "Name"), names(submitters, "ScheddName"), strict=True))


def _ask_gates(gathering: AdmissionFilter, bundle: Bundle, cycle: Cycle) -> Iterator[HookFailure]:
    answers = bundle.hooks.ask(
        specs.negotiator_gate_ads,
        kind=gathering.kind,
        ads=gathering.table,
        cycle=cycle,
        settings=bundle.settings,
    )
    for stamped in answers.records:
        gathering.discard(stamped.record.discard, plugin_reason(Station.ADMIT, stamped))
    for failure in answers.failures:
        everyone = np.ones(len(gathering.table), dtype=np.bool_)
        gathering.discard(everyone, failure_reason(Station.ADMIT, failure))
        yield failure


def _taken_along(kind: AdKind) -> Reason:
    return core_reason(Station.ADMIT, Verdict.DENIED, f"{kind}_discarded", f"its {kind} was kept out")

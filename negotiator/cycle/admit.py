"""Station *admit*: each ad is tested by the gates of its kind; a discarded schedd takes its submitters and jobs along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Table, bind, evaluate_table, parse
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.accounting_names import not_permitted, users_of
from negotiator.cycle.applications import application_users
from negotiator.cycle.gates import AdmissionFilter, AppliedGates, apply_gates, discard_jobs_of_owners
from negotiator.cycle.jobs import Strings, is_in, names
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.offered_slots import slots_to_match
from negotiator.cycle.reasons import core_reason
from negotiator.cycle.result import DiscardedAds
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Mask
from negotiator.ledger import Rows
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Reason, Station, Verdict
from negotiator.records.text import printable

#: The code of slots that were matched in an earlier cycle, and of which the pool does not show it yet.
SLOT_MATCHED: Final = "slot_matched"
#: Slots of machines that left the pool, whose ads the collector keeps for condor_status -absent; a negotiator never gets them.
_ABSENT = bind(parse("MY.Absent =?= true"))
_IS_ABSENT = core_reason(
    Station.ADMIT, Verdict.WAITING, "slot_absent", "the slot's machine is absent from the pool", "Absent"
)


@attrs.frozen
class Admitted:
    """The submitters, slots and jobs that go on to the next station, and the ads that were discarded.

    ``claim_ids`` (S,) is how many claim ids each slot has; None if it is not known. ``slot_rows`` (S,) are the rows of
    the slots in the pool, and ``outside`` is true for the slots of the pool that gates put outside of it (``Gate.outside``).
    ``gates`` are those of plugins over all ads of each kind; of jobs over those that wait.
    """

    submitters: Table
    slots: Table
    jobs: Table
    discarded: tuple[DiscardedAds, ...]
    failures: tuple[HookFailure, ...]
    slot_rows: Rows
    outside: Mask
    gates: Mapping[AdKind, AppliedGates]
    claim_ids: NDArray[np.int64] | None = None


def admit(
    snapshot: Snapshot,
    bundle: Bundle,
    cycle: Cycle,
    work: WorkAccounts,
    journal: Sequence[JournalEntry] = (),
) -> Admitted:
    """Test all ads by the gates; a job must also be one that its schedd offers.

    :param work: the steps that gates may take for each owner and machine.
    :param journal: the matches of earlier cycles not yet visible in the pool: their jobs and slots wait.
    """
    failures: list[HookFailure] = []
    schedds = AdmissionFilter.of(AdKind.SCHEDD, snapshot.schedds)
    submitters = AdmissionFilter.of(AdKind.SUBMITTER, snapshot.submitters)
    slots = AdmissionFilter.of(AdKind.STARTD, snapshot.slots)
    slots.discard(evaluate_table(_ABSENT, snapshot.slots, env=cycle.environment).is_true(), _IS_ABSENT)
    all_jobs = AdmissionFilter.of(AdKind.JOB, snapshot.jobs)
    for mask, reason in job_columns.not_served(snapshot.jobs, cycle.now):
        all_jobs.discard(mask, reason)
    if journal:
        owners = application_users(snapshot.jobs, bundle.placement, cycle.environment)
        _discard_matched(slots, all_jobs, owners, journal)
    jobs = AdmissionFilter.of(AdKind.JOB, all_jobs.kept_ads())

    users = users_of(snapshot.jobs)
    for mask, reason in not_permitted(jobs.table, bundle.accounting, users):
        jobs.discard(mask, reason)

    gates = {
        ads.kind: apply_gates(ads, bundle, work.for_ads(cycle, ads.kind))
        for ads in (schedds, submitters, slots, jobs)
    }
    failures += (failure for applied in gates.values() for failure in applied.failures)

    gone = frozenset(names(schedds.discarded_ads(), "Name"))
    with_schedd = is_in(names(submitters.table, "ScheddName"), gone - {""})
    submitters.discard(with_schedd, _discarded_with(AdKind.SCHEDD))
    _discard_jobs_of(jobs, schedds, submitters)
    if not bundle.accounting.trust_names:
        failures += discard_jobs_of_owners(
            jobs, submitters.table, bundle, work.for_ads(cycle, AdKind.SUBMITTER)
        )

    parts = (schedds, submitters, slots, all_jobs, jobs)
    discarded = tuple(item for part in parts for item in part.discarded)
    counts = snapshot.claim_ids
    return Admitted(
        *(
            submitters.kept_ads(),
            slots_to_match(slots.kept_ads(), bundle),
            jobs.kept_ads(),
            discarded,
            tuple(failures),
        ),
        slot_rows=np.flatnonzero(slots.keep),
        outside=slots.outside,
        gates=gates,
        claim_ids=None if counts is None else np.asarray(counts, np.int64)[slots.keep],
    )


def _discard_matched(
    slots: AdmissionFilter, jobs: AdmissionFilter, users: Strings, journal: Sequence[JournalEntry]
) -> None:
    """Discard slots and jobs that were matched in an earlier cycle: they are not matched a second time."""
    pending = [entry for entry in journal if not entry.shown]
    taken = frozenset(entry.slot for entry in pending)
    matched = frozenset(entry.job_key for entry in pending)
    names_of_slots = slots.table.strings("Name")
    of_slots, of_jobs = is_in(names_of_slots, taken), is_in(job_columns.job_keys(jobs.table, users), matched)
    blocked = sorted(names_of_slots[of_slots].tolist())
    for ads, mask, code, which in (
        (slots, of_slots, SLOT_MATCHED, f"slot {_listed(blocked)}"),
        (jobs, of_jobs, "job_matched", "the job"),
    ):
        text = f"{which} was matched in an earlier cycle, and the pool does not show it yet"
        ads.discard(mask, core_reason(Station.ADMIT, Verdict.WAITING, code, text))


def _listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many there are."""
    return "" if not names else printable(names[0]) + (f" (one of {len(names)})" if len(names) > 1 else "")


def _discard_jobs_of(jobs: AdmissionFilter, schedds: AdmissionFilter, submitters: AdmissionFilter) -> None:
    """Discard the jobs of discarded schedds and submitters.

    A job's own ad names its schedd and submitter. Where any was discarded, a job is kept only if it belongs to one that
    was kept: a job that names an unknown one could belong to a discarded one.
    """
    only = schedds.table.ad(0).string("Name") if len(schedds.table) == 1 else None
    job_schedds = job_columns.schedds(jobs.table, default=only)
    if not schedds.keep.all():
        kept = frozenset(names(schedds.kept_ads(), "Name")) - frozenset(
            names(schedds.discarded_ads(), "Name")
        )
        jobs.discard(~is_in(job_schedds, kept - {""}), _discarded_with(AdKind.SCHEDD))
    if not submitters.keep.all():
        discarded = _submitter_keys(submitters.discarded_ads())
        pairs = _submitter_keys(submitters.kept_ads()) - discarded
        at_any_schedd = frozenset(name for name, schedd in discarded if not schedd)
        job_submitters = job_columns.submitters(jobs.table)
        unknown = ~is_in(list(zip(job_submitters, job_schedds, strict=True)), pairs)
        jobs.discard(unknown | is_in(job_submitters, at_any_schedd), _discarded_with(AdKind.SUBMITTER))


def _submitter_keys(submitters: Table) -> frozenset[tuple[str, str]]:
    """Return the pairs of submitter and schedd."""
    return frozenset(zip(names(submitters, "Name"), names(submitters, "ScheddName"), strict=True))


def _discarded_with(kind: AdKind) -> Reason:
    return core_reason(Station.ADMIT, Verdict.DENIED, f"{kind}_discarded", f"its {kind} was discarded")

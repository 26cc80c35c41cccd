"""Station *admit*: each ad is tested by the gates of its kind; a discarded schedd takes its submitters and jobs along.

A job names its submitter itself, by its AccountingGroup: the gates on submitters would not see its owner. So they also
test the ad that the schedd would send if the owner had submitted without accounting group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Table, bind, evaluate_table, parse
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.accounting_names import not_permitted, owner_names, under_other_names, users_of
from negotiator.cycle.applications import application_users
from negotiator.cycle.jobs import Strings, is_in, names
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.numbering import Numbers, combined, first_rows
from negotiator.cycle.offered_slots import slots_to_match
from negotiator.cycle.reasons import core_reason, failure_reason, plugin_reason
from negotiator.cycle.result import DiscardedAds
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import Attributed
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Gate, Mask
from negotiator.ledger import Rows
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Mode, Reason, Station, Verdict
from negotiator.records.text import printable

#: The number of names beside a count: enough to look one up, and small in a pool of any size.
EXAMPLES = 3

#: Discarded jobs are listed if they are no more: a live pool has an ad for each request, a pool of files one for each job.
MOST_JOBS = 10_000

_NAMES: dict[AdKind, Callable[[Table, int], str]] = {
    AdKind.SCHEDD: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.SUBMITTER: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.STARTD: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.JOB: lambda table, row: job_columns.job_id(table.ad(row)),
}


@attrs.define
class AdmissionFilter:
    """A table of ads, the mask of the remaining ones, (N,), and the reasons that discarded the others.

    ``outside`` (N,) are the ads that gates put outside of the pool.
    """

    kind: AdKind
    table: Table
    keep: Mask
    discarded: list[DiscardedAds]
    outside: Mask

    @classmethod
    def of(cls, kind: AdKind, table: Table) -> AdmissionFilter:
        """Start with all ads of a table."""
        keep, outside = np.ones(len(table), np.bool_), np.zeros(len(table), np.bool_)
        return cls(kind, table, keep, [], outside)

    def discard(self, mask: Mask, reason: Reason) -> None:
        """Discard the remaining rows of the mask; if the reason does not enforce, only count them."""
        rows = np.flatnonzero(mask & self.keep)
        if len(rows):
            names = tuple(_NAMES[self.kind](self.table, int(row)) for row in rows[:EXAMPLES])
            jobs = self._jobs(rows) if reason.mode is Mode.ENFORCE else ()
            self.discarded.append(DiscardedAds(self.kind, reason, len(rows), names, jobs))
        if reason.mode is Mode.ENFORCE:
            self.keep &= ~mask

    def _jobs(self, rows: NDArray[np.intp]) -> tuple[tuple[str, str], ...]:
        """Return the schedds and ids of discarded jobs."""
        if self.kind is not AdKind.JOB or len(rows) > MOST_JOBS:
            return ()
        jobs = self.table.take(rows)
        return tuple(zip(job_columns.schedds(jobs), job_columns.job_ids(jobs), strict=True))

    def kept_ads(self) -> Table:
        """Return the remaining ads."""
        return self.table.take(self.keep)

    def discarded_ads(self) -> Table:
        """Return the ads that are discarded."""
        return self.table.take(~self.keep)


@attrs.frozen(eq=False)
class AppliedGates:
    """The gates of plugins over a table of ads, in their order, and the plugins that failed."""

    gates: tuple[Attributed[Gate], ...] = ()
    failures: tuple[HookFailure, ...] = ()

    @classmethod
    def of(cls, kind: AdKind, ads: Table, bundle: Bundle, cycle: Cycle) -> AppliedGates:
        """Ask the plugins."""
        answers = bundle.hooks.ask(
            specs.negotiator_gate_ads, kind=kind, ads=ads, cycle=cycle, settings=bundle.settings
        )
        return cls(answers.records, answers.failures)

    @property
    def tests(self) -> bool:
        """True if there are gates, or some that failed."""
        return bool(self.gates or self.failures)

    def reasons(self) -> Iterator[tuple[Gate, Reason]]:
        """Yield each gate with the reason of what it discards."""
        for attributed in self.gates:
            yield attributed.record, plugin_reason(Station.ADMIT, attributed)


def apply_gates(ads: AdmissionFilter, bundle: Bundle, cycle: Cycle) -> AppliedGates:
    """Discard what the gates of plugins discard; a gate that fails discards every ad of its kind."""
    applied = AppliedGates.of(ads.kind, ads.table, bundle, cycle)
    for gate, reason in applied.reasons():
        ads.discard(gate.discard, reason)
        if gate.outside and gate.mode is Mode.ENFORCE:
            ads.outside |= gate.discard
    for failure in applied.failures:
        ads.discard(np.ones(len(ads.table), np.bool_), failure_reason(Station.ADMIT, failure))
    return applied


@attrs.frozen(eq=False)
class OwnersAsSubmitters:
    """The owners of jobs under other names, as submitters: the ``rows`` of the jobs (R,), and of each job the row of its owner's ad."""

    rows: Rows
    of_jobs: Numbers
    ads: Table

    @classmethod
    def of(cls, jobs: Table, submitters: Table, keep: Mask | None = None) -> OwnersAsSubmitters:
        """Return the owners of the jobs in a mask, (N,), by default of all. Without submitter ads there are none to test."""
        found = under_other_names(jobs) if len(submitters) else np.zeros(len(jobs), np.bool_)
        rows = np.flatnonzero(found if keep is None else found & keep)
        if not len(rows):
            return cls(rows, np.zeros(0, np.int64), Table.from_ads([]))
        table = jobs.take(rows)
        columns = owner_names(table), job_columns.submitters(table), job_columns.schedds(table)
        kinds, count = combined(*columns)
        triples = zip(*(column[first_rows(kinds, count)].tolist() for column in columns), strict=True)
        known = _SubmitterAds(submitters)
        return cls(rows, kinds, Table.from_ads([known.of_owner(*triple) for triple in triples]))


def discard_jobs_of_owners(
    jobs: AdmissionFilter, submitters: Table, bundle: Bundle, cycle: Cycle
) -> Sequence[HookFailure]:
    """Discard the jobs under other names whose owners the gates on submitters discard; return failures of gates."""
    found = OwnersAsSubmitters.of(jobs.table, submitters, jobs.keep)
    if not len(found.rows):
        return ()
    owners = AdmissionFilter.of(AdKind.SUBMITTER, found.ads)
    applied = apply_gates(owners, bundle, cycle)
    mask = np.zeros(len(jobs.table), np.bool_)
    mask[found.rows] = ~owners.keep[found.of_jobs]
    text = "its owner is discarded as a submitter, whatever AccountingGroup the job has"
    jobs.discard(mask, core_reason(Station.ADMIT, Verdict.DENIED, "owner_discarded", text))
    return applied.failures


class _SubmitterAds:
    """The submitter ads by name and schedd, in lower case; the first one of a name also without schedd."""

    def __init__(self, submitters: Table) -> None:
        self._ads: dict[tuple[str, str], Ad] = {}
        keys = zip(names(submitters, "Name"), names(submitters, "ScheddName"), strict=True)
        for row, (name, schedd) in enumerate(keys):
            for key in ((name, schedd), (name, "")):
                self._ads.setdefault(key, submitters.ad(row))

    def of_owner(self, owner: str, submitter: str, schedd: str) -> Ad:
        """Return the owner's submitter ad at a schedd; if there is none, that of the job's submitter with the owner's name."""
        if own := self._ads.get((owner, schedd)):
            return own
        found = self._ads.get((submitter, schedd)) or self._ads.get((submitter, ""))
        if found is None:
            found = Ad([("MyType", "Submitter"), ("ScheddName", schedd)])
        domain = submitter.rpartition("@")[2] if "@" in submitter else ""
        name = owner if "@" in owner or not domain else f"{owner}@{domain}"
        return found.with_items([("Name", name)])


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

"""The gates of plugins over ads of each kind, and those on submitters for the owners of jobs under other names.

A job names its submitter itself, by its AccountingGroup: the gates on submitters would not see its owner. So they also
test the ad that the schedd would send if the owner had submitted without accounting group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.accounting_names import owner_names, under_other_names
from negotiator.cycle.jobs import names
from negotiator.cycle.numbering import Numbers, combined, first_rows
from negotiator.cycle.reasons import core_reason, failure_reason, plugin_reason
from negotiator.cycle.result import DiscardedAds
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import Attributed
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Gate, Mask
from negotiator.ledger import Rows
from negotiator.records import Mode, Reason, Station, Verdict

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

"""The gates on submitters, for the owners of jobs under other names.

A job names its submitter itself, by its AccountingGroup: the gates on submitters would not see its owner. So they also
test the ad that the schedd would send if the owner had submitted without accounting group.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.accounting_names import owner_names, under_other_names
from negotiator.cycle.admission_filter import AdmissionFilter
from negotiator.cycle.gates import apply_gates
from negotiator.cycle.jobs import names
from negotiator.cycle.numbering import Numbers, combined, first_rows
from negotiator.cycle.reasons import core_reason
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Mask
from negotiator.ledger import Rows
from negotiator.records import Station, Verdict


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

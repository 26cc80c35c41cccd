"""Reports the jobs of a pool that use accounting names of other users."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.cycle.accounting_names import not_permitted, owner_names, users_of
from negotiator.cycle.admit import EXAMPLES
from negotiator.cycle.jobs import job_id, texts
from negotiator.pool import Snapshot
from negotiator.records import Mode, Problem, Severity, Source
from negotiator.records.text import printable

_SHORT = 100


def lint_accounting(bundle: Bundle, pool: Snapshot) -> Iterator[Problem]:
    """Yield a problem for each way in which jobs of the pool use other users' names: refused, mapped, trusted."""
    jobs = pool.jobs
    groups, owners = texts(jobs, "AccountingGroup"), owner_names(jobs)
    for mask, reason in not_permitted(jobs, bundle.accounting, users_of(jobs)):
        rows = np.flatnonzero(mask).tolist()
        examples = ", ".join(
            f"job {job_id(jobs.ad(row))} of {_short(owners[row])} as {_short(groups.text(row))}"
            for row in rows[:EXAMPLES]
        )
        refused = reason.mode is Mode.ENFORCE
        count = f"{len(rows)} {'job' if len(rows) == 1 else 'jobs'}"
        message = f"accounting: {reason.text}: {count} of this pool, such as {examples} [{reason.code}]"
        hint = "permit the name under accounting: names: if it is intended" if refused else ""
        yield Problem(Severity.WARNING if refused else Severity.NOTICE, Source("pool.yaml"), message, hint)


def _short(text: str) -> str:
    return printable(text if len(text) <= _SHORT else f"{text[:_SHORT]}...")

"""The kinds of ads that hooks are called for."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from negotiator.classad import Table
    from negotiator.pool import Snapshot


class AdKind(enum.StrEnum):
    """The kinds of ads that gates test."""

    SCHEDD = "schedd"
    SUBMITTER = "submitter"
    STARTD = "startd"
    JOB = "job"


def tables_by_kind(pool: Snapshot) -> dict[AdKind, Table]:
    """Return the tables of a pool's ads."""
    return {
        AdKind.SCHEDD: pool.schedds,
        AdKind.SUBMITTER: pool.submitters,
        AdKind.STARTD: pool.slots,
        AdKind.JOB: pool.jobs,
    }

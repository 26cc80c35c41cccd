"""A pool for Python: its ads as tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.phrases import number
from negotiator.app.pool_view import STDIN, read_paths
from negotiator.app.why.text_tables import WhyTable, WhyText
from negotiator.classad import Table as AdTable
from negotiator.errors import InvalidCallError
from negotiator.library.printed import Printed
from negotiator.library.table import Table
from negotiator.library.table_rows import AdRows, Cell
from negotiator.pool import Snapshot
from negotiator.records import Problem

#: The attributes that a table of ads prints first.
_SHOWN: Final = {
    "slot": ("Name", "State", "Activity", "Cpus", "Memory", "GPUs", "RemoteOwner", "OpSys"),
    "job": (
        "ClusterId",
        "ProcId",
        "Owner",
        "JobStatus",
        "RequestCpus",
        "RequestMemory",
        "RequestGPUs",
        "Cmd",
    ),
    "submitter": ("Name", "ScheddName", "RunningJobs", "IdleJobs", "HeldJobs"),
    "schedd": ("Name", "Machine", "TotalRunningJobs", "TotalIdleJobs", "TotalHeldJobs"),
}


def read_pool(*paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> Pool:
    """Return the pool in some folders and files, as ``negotiator run`` reads them: a path, several, or a list of them.

    Files are what condor_status and condor_q print with ``-long``, ``-json`` or ``-xml``, gzipped or not; ``-`` is standard
    input. A pool is read as a whole or not at all. Single ads that cannot be used are left out; ``Pool.problems`` names
    them. Claim ids are dropped.

    :raises PoolError: a path does not exist, cannot be read to its end, or no ad in it can be used.
    :raises InvalidCallError: no path is given.

    >>> import negotiator as n
    >>> pool = n.read_pool("examples/first-pool/machines.ads", "examples/first-pool/jobs.ads")
    >>> len(pool.slots), len(pool.jobs)
    (9, 19)
    """
    given = [[each] if isinstance(each, str | PathLike) else each for each in paths]
    named = [Path(path) for each in given for path in each]
    if not named:
        raise InvalidCallError("missing pool: name at least one folder or file of ads")
    return Pool(read_paths(named, sys.stdin.buffer if Path(STDIN) in named else None))


@attrs.frozen(eq=False, repr=False, slots=False)
class Pool(Printed):
    """The ads of a pool at one moment, as tables, without claim ids and other secrets.

    ``snapshot`` is what the program itself works with; its interface may change.

    >>> import negotiator as n
    >>> pool = n.read_pool("examples/first-pool")
    >>> pool.slots.columns[:3]
    ('AcceptedWhileDraining', 'ActivationRequests', 'Activity')
    >>> pool.jobs.column("Owner")[:2]
    ['tester', 'tester']
    """

    snapshot: Snapshot = attrs.field(repr=False)

    @cached_property
    def slots(self) -> Table[dict[str, Cell]]:
        """The slots of the machines."""
        return _table("slot", self.snapshot.slots)

    @cached_property
    def jobs(self) -> Table[dict[str, Cell]]:
        """The jobs, running ones included."""
        return _table("job", self.snapshot.jobs)

    @cached_property
    def submitters(self) -> Table[dict[str, Cell]]:
        """The submitters."""
        return _table("submitter", self.snapshot.submitters)

    @cached_property
    def schedds(self) -> Table[dict[str, Cell]]:
        """The schedds."""
        return _table("schedd", self.snapshot.schedds)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The ads that were left out or replaced, each with its file and line."""
        return self.snapshot.problems

    @property
    def digest(self) -> str:
        """The SHA-256 of the ads, in hexadecimal: equal for equal ads in the same order."""
        return self.snapshot.digest

    def _text(self) -> WhyText:
        kinds = {
            "slot": self.snapshot.slots,
            "job": self.snapshot.jobs,
            "submitter": self.snapshot.submitters,
            "schedd": self.snapshot.schedds,
        }
        heading = f"Pool of {', '.join(number(len(ads), kind) for kind, ads in kinds.items())}"
        problems = tuple((str(each),) for each in self.problems)
        title = f"Ads: {number(len(problems), 'problem')}"
        return WhyText.of([heading], [WhyTable(title, ("PROBLEM",), problems, noun="problem")])


def _table(kind: str, ads: AdTable) -> Table[dict[str, Cell]]:
    return Table(AdRows.of(ads), kind, _SHOWN[kind])

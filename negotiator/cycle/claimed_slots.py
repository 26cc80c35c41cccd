"""Claimed slots whose job no ad tells of: what runs there is counted by what the slot says of it.

Source: HTCondor manual, Machine ClassAd Attributes (State, RemoteOwner, RemoteUser, JobId, GlobalJobId). What the slot
does not tell is counted at its highest: all that the slot has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from negotiator.classad import ClassAd, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.jobs import names

_CLAIMED = frozenset({"claimed", "preempting"})
#: What a job asks for, and what a slot has of it, where that is called otherwise than RequestName.
_COPIED = ("AccountingGroup", "GlobalJobId", "Queue", "Project")


def claimed_jobs(slots: Table, running: Table, resources: Collection[str]) -> Table:
    """An ad for each claimed slot that none of the running jobs names, as a job's.

    :param resources: the names of all resources that queues speak of; a job there has what the slot has of each.
    """
    told = frozenset(names(running, "RemoteHost").tolist())
    known = frozenset(
        zip(job_columns.schedds(running), job_columns.job_ids(running, range(len(running))), strict=True)
    )
    own = names(slots, "Name")
    rows = [
        row
        for row, state in enumerate(names(slots, "State").tolist())
        if state in _CLAIMED and own[row] not in told
    ]
    ads = (_job(slots.ad(row), resources) for row in rows)
    return Table.from_ads(ad for ad in ads if (_schedd(ad), job_columns.job_id(ad)) not in known)


def _schedd(ad: ClassAd) -> str:
    return job_columns.schedd_of(ad.string("GlobalJobId") or "")


def _job(slot: ClassAd, resources: Collection[str]) -> ClassAd:
    """What a slot says of its job."""
    return ClassAd(dict(_attributes(slot, resources)).items())


def _attributes(slot: ClassAd, resources: Collection[str]) -> Iterator[tuple[str, Any]]:
    remote = slot.string("RemoteOwner") or slot.string("RemoteUser") or ""
    user = slot.string("RemoteUser") or remote
    cluster, _, proc = (slot.string("JobId") or "").partition(".")
    yield "JobStatus", 2
    yield "Owner", user.partition("@")[0]
    yield "User", user
    yield "RemoteHost", slot.string("Name") or ""
    if cluster.isdecimal() and proc.isdecimal():
        yield "ClusterId", int(cluster)
        yield "ProcId", int(proc)
    yield from ((name, slot.get(name)) for name in _COPIED if name in slot)
    yield "RequestCpus", slot.get("Cpus") if "Cpus" in slot else 1
    yield "RequestMemory", slot.get("Memory") if "Memory" in slot else 0
    for name in sorted(resources):
        if name in slot and name.lower() not in {"cpus", "memory", "vcore"}:
            yield f"Request{name}", slot.get(name)

"""Claimed slots whose job has no ad: the job is counted by the attributes that the slot's ad has of it.

Source: HTCondor manual, Machine ClassAd Attributes (State, RemoteOwner, RemoteUser, JobId, GlobalJobId). Amounts that
the slot does not show are counted at their highest: all that the slot has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from negotiator.classad import ClassAd, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.jobs import names

_CLAIMED = frozenset({"claimed", "preempting"})
#: Attributes that the job's ad and the slot's ad share.
_COPIED = ("AccountingGroup", "GlobalJobId", "Queue", "Project")
#: Resources that a slot's ad names otherwise than a job's RequestName.
_NAMED_OTHERWISE = frozenset({"cpus", "memory", "vcore"})


def claimed_jobs(slots: Table, running: Table, resources: Collection[str]) -> Table:
    """Return a job ad for each claimed slot that none of the running jobs names.

    :param resources: the names of all resources that queues limit; the job requests the slot's amount of each.
    """
    named = frozenset(names(running, "RemoteHost").tolist())
    known = frozenset(
        zip(job_columns.schedds(running), job_columns.job_ids(running, range(len(running))), strict=True)
    )
    slot_names = names(slots, "Name")
    rows = [
        row
        for row, state in enumerate(names(slots, "State").tolist())
        if state in _CLAIMED and slot_names[row] not in named
    ]
    ads = (_job(slots.ad(row), resources) for row in rows)
    return Table.from_ads(ad for ad in ads if (_schedd(ad), job_columns.job_id(ad)) not in known)


def _schedd(ad: ClassAd) -> str:
    return job_columns.schedd_of(ad.string("GlobalJobId") or "")


def _job(slot: ClassAd, resources: Collection[str]) -> ClassAd:
    """Return the attributes that a slot has of its job, as a job's ad."""
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
        if name in slot and name.lower() not in _NAMED_OTHERWISE:
            yield f"Request{name}", slot.get(name)

"""Claimed slots whose job has no ad: the job is counted by the attributes that the slot's ad has of it.

Source: HTCondor manual, Machine ClassAd Attributes (State, RemoteOwner, RemoteUser, JobId, GlobalJobId). Amounts that
the slot does not show are counted at their highest: all that the slot has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from negotiator.classad import Ad, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.claims import owners, slot_claims, slots_of

#: Attributes that the job's ad and the slot's ad share.
_COPIED = ("AccountingGroup", "GlobalJobId", "Queue", "Project")
#: Resources that a slot's ad names otherwise than a job's RequestName.
_NAMED_OTHERWISE = frozenset({"cpu", "cpus", "memory", "vcore"})


def claimed_jobs(slots: Table, running: Table, resources: Collection[str]) -> Table:
    """Return a job ad for each claimed slot that is not the slot of a running job.

    :param resources: the names of all resources that queues limit; the job requests the slot's amount of each.
    """
    taken = frozenset(slots_of(running, slots).tolist())
    ids = job_columns.job_ids(running)
    known = dict(zip(zip(job_columns.schedds(running), ids, strict=True), owners(running), strict=True))
    found = []
    for row, claim in slot_claims(slots).items():
        owner = known.get((claim.schedd, claim.job))  # a job on several slots is counted on one of them
        if row not in taken and (owner is None or not claim.is_of(owner)):
            found.append(_job(slots.ad(row), resources))
    return Table.from_ads(found)


def _job(slot: Ad, resources: Collection[str]) -> Ad:
    """Return the attributes that a slot has of its job, as a job's ad."""
    return Ad(dict(_attributes(slot, resources)).items())


def _attributes(slot: Ad, resources: Collection[str]) -> Iterator[tuple[str, Any]]:
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

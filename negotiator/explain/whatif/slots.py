"""A pool with more slots, or fewer."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from negotiator.classad import Expr, LiteralValue, Table
from negotiator.explain.whatif.tables import Values, with_copies
from negotiator.hooks.records import Mask
from negotiator.pool import Snapshot

#: What the ad of a slot has of the claim on it (HTCondor manual, Machine ClassAd Attributes).
_OF_CLAIMS: Final = frozenset(
    [
        "accountinggroup",
        "clientmachine",
        "concurrencylimits",
        "currentrank",
        "globaljobid",
        "jobid",
        "jobstart",
        "numdynamicslots",
        "preemptingaccountinggroup",
        "preemptingconcurrencylimits",
        "preemptingowner",
        "preemptingrank",
        "preemptinguser",
        "publicclaimid",
        "remoteautoregroup",
        "remotegroup",
        "remotenegotiatinggroup",
        "remoteowner",
        "remotescheddname",
        "remoteuser",
        "totaljobruntime",
        "totaljobsuspendtime",
    ]
)
_CHILD: Final = "child"
_WHOLE: Final = "TotalSlot"
_RESOURCES: Final = ("Cpus", "Memory", "Disk", "GPUs")


def more_slots(snapshot: Snapshot, count: int, like: int, values: Values) -> Snapshot:
    """Return a pool with more slots, each on a machine of its own, and free.

    :param like: the row of the slot that they are copies of; of a partitionable one they have all that it has undivided.
    :param values: what they have instead.
    """
    slots, ad = snapshot.slots, snapshot.slots.ad(like)
    name = ad.string("Name") or "slot1"
    slot, _, host = name.partition("@")
    host = ad.string("Machine") or host or "host"
    number = _free_number(slots, host)
    hosts = [f"added{number + place}.{host}" for place in range(count)]
    own: dict[str, list[Expr | LiteralValue | None]] = {
        "Name": [f"{slot}@{each}" for each in hosts],
        "Machine": list(hosts),
        "State": ["Unclaimed"] * count,
        "Activity": ["Idle"] * count,
    }
    for each in sorted(slots.names()):
        if each in _OF_CLAIMS or each.startswith(_CHILD):
            own[each] = [None] * count
    for resource in _RESOURCES:
        if ad.get(resource) is not None and (whole := ad.get(_WHOLE + resource)) is not None:
            own[resource] = [whole] * count
    claims = snapshot.claim_ids
    if claims is not None:
        claims = (*claims, *[max(1, claims[like])] * count)
    return attrs.evolve(snapshot, slots=with_copies(slots, like, count, own, values), claim_ids=claims)


def fewer_slots(snapshot: Snapshot, removed: Mask) -> Snapshot:
    """Return a pool without some slots, and without the jobs that run on them."""
    gone = {str(each).lower() for each in snapshot.slots.take(removed).strings("Name").tolist() if each}
    hosts = [str(each or "").lower() for each in snapshot.jobs.strings("RemoteHost").tolist()]
    ends = np.array([each in gone for each in hosts], np.bool_)
    running = snapshot.jobs.numbers("JobStatus", default=0.0) != 1
    claims = snapshot.claim_ids
    if claims is not None:
        claims = tuple(np.asarray(claims)[~removed].tolist())
    return attrs.evolve(
        snapshot,
        slots=snapshot.slots.take(~removed),
        jobs=snapshot.jobs.take(~(ends & running)),
        claim_ids=claims,
    )


def _free_number(slots: Table, host: str) -> int:
    """Return the first number with which no machine of this name was added yet."""
    known = {str(each).lower() for each in slots.strings("Machine").tolist() if each}
    number = 1
    while f"added{number}.{host}".lower() in known:
        number += 1
    return number

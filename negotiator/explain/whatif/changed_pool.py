"""A pool with more slots or jobs, with fewer, or with other values in some rows, by columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np

from negotiator.classad import (
    Ad,
    Environment,
    Expr,
    LiteralValue,
    Table,
    evaluate,
    evaluate_table,
    parse,
)
from negotiator.classad.syntax import Attr, children, fold, with_operands
from negotiator.cycle.jobs import IDLE, JobIds, names, schedds, submitters
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows
from negotiator.pool import Snapshot

Values: TypeAlias = Sequence[tuple[str, Expr | LiteralValue]]
"""Names of attributes and their values."""

_UNDEFINED = parse("undefined")
#: What the ad of a job has of the slot that it runs on, or of its runs so far.
_OF_RUNS: Final = frozenset(
    ["globaljobid", "jobcurrentstartdate", "remotehost", "remoteslotid", "startdname"]
)
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


def selected(table: Table, where: Expr, env: Environment) -> Mask:
    """Return the rows in which an expression is true, (N,)."""
    return np.broadcast_to(evaluate_table(where, table, env=env).is_true(), (len(table),))


def with_values(table: Table, rows: Mask, values: Values) -> Table:
    """Return a table with these values in some rows.

    In an expression that names the attribute itself, that stands for the value before: ``Memory * 2`` doubles it.
    """
    for name, tree in Ad(list(values)).items():
        groups, first = table.group([name])
        before = [ad.get(name) for ad in table.take(first).ads]
        after = [_instead(tree, name, each) for each in before]
        places = np.where(rows, groups + len(before), groups)
        table = table.with_attributes({name: (places, [*before, *after])})
    return table


def with_copies(
    table: Table,
    row: int,
    count: int,
    own: Mapping[str, Sequence[Expr | LiteralValue | None]],
    values: Values,
) -> Table:
    """Return a table with copies of a row after the others.

    :param own: what each copy has for itself, (count,) by attribute; None removes the attribute.
    :param values: what all copies have, made of what they then have.
    """
    rows = np.arange(len(table), len(table) + count)
    found: Table = table.copies(np.append(np.arange(len(table)), np.full(count, row)))
    for name, each in own.items():
        found = _replaced(found, name, rows, each)
    is_new = np.zeros(len(found), np.bool_)
    is_new[rows] = True
    return with_values(found, is_new, values)


def _replaced(table: Table, name: str, rows: Rows, values: Sequence[Expr | LiteralValue | None]) -> Table:
    """Return a table with one value for each of these rows; None removes the attribute."""
    groups, first = table.group([name])
    before = [ad.get(name) for ad in table.take(first).ads]
    places = groups.copy()
    places[rows] = len(before) + np.arange(len(rows))
    return table.with_attributes({name: (places, [*before, *values])})


def _instead(tree: Expr, name: str, before: Expr | None) -> Expr | LiteralValue:
    """Return an expression with the value before instead of the attribute itself; its value if it then names no others."""
    found, is_constant = _substituted(tree, fold(name), _UNDEFINED if before is None else before)
    if found is tree or not is_constant:
        return found
    value = evaluate(found, Ad())
    return value if isinstance(value, bool | int | float | str) else found


def _substituted(tree: Expr, name: str, before: Expr) -> tuple[Expr, bool]:
    """Return an expression with another one in place of an attribute, and whether it names no attribute."""
    if isinstance(tree, Attr):
        is_own = fold(tree.name) == name and not tree.absolute and _is_my(tree.scope)
        return (before, _names_nothing(before)) if is_own else (tree, False)
    found = [_substituted(each, name, before) for each in children(tree)]
    return with_operands(tree, tuple(each for each, _ in found)), all(constant for _, constant in found)


def _is_my(scope: Expr | None) -> bool:
    return scope is None or (isinstance(scope, Attr) and scope.scope is None and fold(scope.name) == "my")


def _names_nothing(tree: Expr) -> bool:
    return not isinstance(tree, Attr) and all(map(_names_nothing, children(tree)))


def more_jobs(snapshot: Snapshot, count: int, like: int, values: Values, now: float) -> Snapshot:
    """Return a pool with more idle jobs, of a cluster of their own.

    Their submitters are in the pool with these jobs, if it has ads of submitters.

    :param like: the row of the job that they are copies of.
    :param values: what they have instead.
    """
    jobs = snapshot.jobs
    cluster = int(JobIds.of(jobs).clusters.max()) + 1
    schedd = schedds(jobs.take([like])).tolist()[0]
    own: dict[str, list[LiteralValue | None]] = {
        each: [None] * count for each in sorted(_OF_RUNS & jobs.names())
    }
    own |= {
        "ClusterId": [cluster] * count,
        "ProcId": list(range(count)),
        "JobStatus": [IDLE] * count,
        "QDate": [int(now)] * count,
    }
    if schedd:
        own["GlobalJobId"] = [f"{schedd}#{cluster}.{proc}#{int(now)}" for proc in range(count)]
    found = with_copies(jobs, like, count, own, values)
    advertised = snapshot.submitters
    if len(advertised):
        advertised = _with_idle_jobs(
            advertised,
            Counter(submitters(found.take(np.arange(len(jobs), len(found)))).tolist()),
            schedd,
            now,
        )
    return attrs.evolve(snapshot, jobs=found, submitters=advertised)


def _with_idle_jobs(ads: Table, jobs: Mapping[str, int], schedd: str, now: float) -> Table:
    """Return the ads of submitters with more idle jobs at a schedd; a submitter without an ad gets one."""
    found = list(ads.ads)
    places = {
        key: place
        for place, key in enumerate(
            zip(names(ads, "Name").tolist(), names(ads, "ScheddName").tolist(), strict=True)
        )
    }
    for submitter, count in jobs.items():
        place = places.get((submitter, schedd))
        if place is not None:
            idle = found[place].integer("IdleJobs", 0) or 0
            found[place] = found[place].with_items([("IdleJobs", idle + count)])
        else:
            own: dict[str, LiteralValue] = {"Name": submitter, "ScheddName": schedd, "IdleJobs": count}
            found.append(Ad(list({**own, "RunningJobs": 0, "LastHeardFrom": int(now)}.items())))
    return Table.from_ads(found)


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

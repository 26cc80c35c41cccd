"""Identifies ads: the key under which a collector, or a schedd's queue, would store an ad of its kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from negotiator.pool.ad_kind import PoolAdKind, constant_value, is_request, string_value
from negotiator.pool.parsed_ad import ParsedAd, ad_problem, shorten
from negotiator.records import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad import Ad
    from negotiator.classad.tables import AlikeRows

_GLOBAL_JOB_ID: Final = re.compile(r"[^#]*#([0-9]{1,18})\.([0-9]{1,18})#.*", re.DOTALL)


AdKey: TypeAlias = tuple[object, ...]
"""The key of an ad among those of its kind; that of a request is its own."""


class IdentifiedAd(NamedTuple):
    """An ad and its key among the ads of its kind."""

    ad: Ad
    key: AdKey
    problem: Problem | None = None


def label_of(kind: PoolAdKind, key: AdKey) -> str:
    """Return how messages name the ad with this key."""
    if kind is PoolAdKind.JOB:
        return f"job {key[2]}.{key[3]}"
    return f"{kind.value} {shorten(str(key[0]))}"


def identify(kind: PoolAdKind, found: ParsedAd) -> IdentifiedAd | Problem:
    """Return the key of an ad. A slot or schedd without a Name gets one, a job or submitter is set aside.

    A slot without a Name can still be matched, and its machine or its place in the file makes a name that is the same
    in every cycle. A match cannot be delivered to a job without ids, nor charged to a submitter without Name.
    """
    if kind is PoolAdKind.JOB:
        return _job(found)
    ad, source = found.ad, found.source
    name = string_value(ad, "Name")
    if kind is PoolAdKind.SUBMITTER:
        if not name:
            return ad_problem(source, "a submitter without Name", 'add Name = "user@domain"')
        return IdentifiedAd(ad, (name, string_value(ad, "ScheddName") or address_of(ad)))
    if name:
        return IdentifiedAd(ad, (name, address_of(ad)))
    return _named(kind, found)


def address_of(ad: Ad) -> str:
    """Return the address of the daemon that sent an ad, "" if the ad has none."""
    return (
        string_value(ad, "MyAddress") or string_value(ad, "StartdIpAddr") or string_value(ad, "ScheddIpAddr")
    )


def _named(kind: PoolAdKind, found: ParsedAd) -> IdentifiedAd:
    ad, source = found.ad, found.source
    machine = string_value(ad, "Machine")
    number = constant_value(ad, "SlotID")
    if not machine:
        name = f"{kind.value}@{source}"
    elif kind is PoolAdKind.SLOT and type(number) is int:
        name = f"slot{number}@{machine}"
    else:
        name = machine
    problem = Problem(
        Severity.WARNING,
        source,
        f"a {kind.value} without Name is named {shorten(name)}",
        "add Name to the ad if it describes something else",
    )
    return IdentifiedAd(ad.with_items([("Name", name)]), (name, address_of(ad)), problem)


def _job(found: ParsedAd) -> IdentifiedAd | Problem:
    ad, source = found.ad, found.source
    cluster, proc = constant_value(ad, "ClusterId"), constant_value(ad, "ProcId")
    global_id = string_value(ad, "GlobalJobId")
    problem = None
    if type(cluster) is not int or type(proc) is not int:
        match = _GLOBAL_JOB_ID.fullmatch(global_id)
        if not match:
            hint = "a match could not be delivered to it; add both as integers"
            return ad_problem(source, "a job without ClusterId and ProcId", hint)
        cluster, proc = int(match[1]), int(match[2])
        ad = ad.with_items([("ClusterId", cluster), ("ProcId", proc)])
        message = f"job {cluster}.{proc} has its ClusterId and ProcId from its GlobalJobId"
        problem = Problem(Severity.NOTICE, source, message)
    if is_request(ad):
        return IdentifiedAd(ad, _request_key(), problem)
    # Users write the GlobalJobId of their ads, so it identifies a job only together with the owner. It names the schedd;
    # without it, each file counts as a schedd of its own.
    owner = string_value(ad, "Owner") or string_value(ad, "User")
    key = (bool(global_id), global_id or source.file, cluster, proc, owner)
    return IdentifiedAd(ad, key, problem)


def _request_key() -> AdKey:
    """Return a key that no other ad has: each request is served, also several for one job."""
    return (object(),)


def alike_keys(kind: PoolAdKind, rows: AlikeRows, file: str) -> list[AdKey | None]:
    """Return the keys of ads of one kind with the same names; None for those that ``identify`` must look at."""
    if kind is PoolAdKind.JOB:
        return _alike_job_keys(rows, file)
    schedds = ("ScheddName",) if kind is PoolAdKind.SUBMITTER else ()
    addresses = rows.first_strings(*schedds, "MyAddress", "StartdIpAddr", "ScheddIpAddr")
    return [
        (name, address) if name else None
        for name, address in zip(rows.strings("Name"), addresses, strict=True)
    ]


def _alike_job_keys(rows: AlikeRows, file: str) -> list[AdKey | None]:
    clusters, known_clusters = rows.integers("ClusterId")
    procs, known_procs = rows.integers("ProcId")
    ids = rows.strings("GlobalJobId")
    files = ids if all(ids) else [each or file for each in ids]
    owners = rows.first_strings("Owner", "User")
    keys: Iterable[AdKey] = zip(map(bool, ids), files, clusters.tolist(), procs.tolist(), owners, strict=True)
    if is_request(rows.ad(0)):
        keys = [_request_key() for _ in range(len(rows))]
    known = known_clusters & known_procs
    if bool(known.all()):
        return list(keys)
    return [key if is_known else None for key, is_known in zip(keys, known.tolist(), strict=True)]

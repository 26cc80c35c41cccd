"""Finds the kind of an ad: by its MyType, or else by attributes that only one kind has."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

import numpy as np

from negotiator.classad import UNDEFINED, Ad
from negotiator.classad.syntax import AttributeMap, Literal, fold
from negotiator.classad.tables import RowExpressions

if TYPE_CHECKING:
    from negotiator.classad.tables import AlikeRows, IndexArray


class PoolAdKind(enum.Enum):
    """The kinds of ads in a pool, as far as a negotiator distinguishes them."""

    SCHEDD = "schedd"
    SUBMITTER = "submitter"
    SLOT = "slot"
    JOB = "job"
    PRIVATE = "private"
    OTHER = "other"
    UNKNOWN = "unknown"


# HTCondor's own names (condor_includes/condor_adtypes.h), in lower case.
_TYPES: Final = {
    "machine": PoolAdKind.SLOT,
    "slot": PoolAdKind.SLOT,
    "job": PoolAdKind.JOB,
    "scheduler": PoolAdKind.SCHEDD,
    "submitter": PoolAdKind.SUBMITTER,
    "machineprivate": PoolAdKind.PRIVATE,
}
# fmt: off
_OTHER_TYPES: Final = frozenset({
    "accounting", "ckptserver", "cluster", "collector", "credd", "daemonmaster", "database", "dbmsd", "defrag",
    "gateway", "generic", "grid", "had", "hadoop", "jobset", "leasemanager", "license", "master", "negotiator",
    "owner", "query", "startd", "startdaemon", "storage", "tt", "user", "xferservice",
})
# fmt: on
_NO_TYPE: Final = frozenset({"", "(unknown type)", "none", "undefined", "unknown"})
_EPOCH_PARTS: Final = frozenset({"spawn", "input", "output", "checkpoint", "common"})
_VALUE_MARKS: Final = ("MyType", "EpochAdType")
"""The attributes whose values determine a kind, beside a negative ProcId; of others only the presence counts."""
_REQUEST_MARKS: Final = (
    "_condor_RESOURCE_COUNT",
    "AutoClusterId",
    "WantMatchDiagnostics",
    "WantPslotPreemption",
)
"""What a schedd adds to the ad of a job that it offers (``ScheddNegotiate::sendJobInfo``, HTCondor 25.14)."""
SUBMITTER: Final = "_negotiator_SUBMITTER"
"""The attribute of a request with the name of its submitter, where its source knows it. In the ad of a job of a queue it has no effect."""
_CLUSTER: Final = -1
"""The ProcId of a cluster ad; a request for no job at all has another negative one (OCU_qkey2)."""
_CLUSTER_MARKS: Final = (
    "ClusterSize",
    "JobsPresent",
    "JobFactoryId",
    "JobMaterializeDigestFile",
    "TotalSubmitProcs",
)
"""What the ad of a cluster has that a schedd shows (``condor_q -factory -long``, HTCondor 25.14); it has no ProcId."""
_SLOT_MARKS: Final = ("State", "Activity", "Requirements", "Cpus", "Memory", "Start", "SlotID", "SlotType")


def constant_value(ad: AttributeMap, name: str) -> object:
    """Return the value of an attribute that is written as a constant; UNDEFINED for all others."""
    place = ad.shape.index.get(fold(name))
    if place is None:
        return UNDEFINED
    if isinstance(ad.expressions, RowExpressions):
        return ad.expressions.constant(place)
    expression = ad.expressions[place]
    return expression.value if isinstance(expression, Literal) else UNDEFINED


def string_value(ad: AttributeMap, name: str) -> str:
    """Return the value of an attribute that is written as a string; "" for all others."""
    value = constant_value(ad, name)
    return value if isinstance(value, str) else ""


def ad_kind(ad: Ad) -> PoolAdKind:
    """Return the kind of an ad.

    OTHER: kinds that HTCondor has and a negotiator does not use, parts of jobs (transfers of an epoch, cluster ads),
    and ads with a MyType that HTCondor does not know. UNKNOWN: neither MyType nor attributes determine the kind.
    """
    my_type = string_value(ad, "MyType").strip().lower()
    kind = _TYPES.get(my_type)
    if my_type in _OTHER_TYPES:
        return PoolAdKind.OTHER
    if kind is None:
        kind = _kind_by_marks(ad)
    if kind is PoolAdKind.UNKNOWN and my_type not in _NO_TYPE:
        return PoolAdKind.OTHER
    if kind is PoolAdKind.JOB:
        return PoolAdKind.OTHER if _is_part_of_job(ad) else kind
    if kind is PoolAdKind.SLOT and not _has_any(ad, *_SLOT_MARKS):
        return PoolAdKind.PRIVATE
    return kind


def alike_kinds(rows: AlikeRows) -> list[tuple[PoolAdKind, IndexArray]]:
    """Return the kinds of ads with the same names, and the ads of each: only a few of them are looked at."""
    marks = [np.atleast_1d(codes) for name in _VALUE_MARKS if (codes := rows.column(name)) is not None]
    procs, known = rows.integers("ProcId")
    marks.append(np.where(known & (procs < 0), 1 + (procs == _CLUSTER), 0).astype(np.int32))
    table = np.stack([np.broadcast_to(codes, len(rows)) for codes in marks])
    if bool((table == table[:, :1]).all()):
        return [(ad_kind(rows.ad(0)), np.arange(len(rows)))]
    _, first, group = np.unique(table, axis=1, return_index=True, return_inverse=True)
    kinds = [ad_kind(rows.ad(place)) for place in first.tolist()]
    by_group = [np.flatnonzero([each is kind for each in kinds]) for kind in dict.fromkeys(kinds)]
    return [(kinds[int(each[0])], np.flatnonzero(np.isin(group.ravel(), each))) for each in by_group]


def kind_of_type(my_type: str) -> PoolAdKind:
    """Return the kind of ads with this MyType, one that has a table or ``PRIVATE``.

    :raises KeyError: it is another one.
    """
    return _TYPES[my_type.lower()]


def custom_type(ad: Ad) -> str:
    """Return the MyType of an ad if HTCondor does not know it, else ""."""
    my_type = string_value(ad, "MyType").strip()
    known = my_type.lower() in _TYPES or my_type.lower() in _OTHER_TYPES | _NO_TYPE
    return "" if known else my_type


def _kind_by_marks(ad: Ad) -> PoolAdKind:
    if _has(ad, "ClusterId", "ProcId"):
        return PoolAdKind.JOB
    if _has(ad, "State", "Activity") or (
        _has(ad, "Machine") and _has_any(ad, "SlotID", "Cpus", "TotalSlots")
    ):
        return PoolAdKind.SLOT
    if "SlotType" in ad:
        return PoolAdKind.SLOT
    if _has_any(ad, "GlobalJobId", "JobUniverse", "JobStatus", "QDate"):
        return PoolAdKind.JOB
    if _has(ad, "ScheddName") and _has_any(ad, "IdleJobs", "RunningJobs"):
        return PoolAdKind.SUBMITTER
    if _has(ad, "TotalIdleJobs", "TotalRunningJobs"):
        return PoolAdKind.SCHEDD
    return PoolAdKind.UNKNOWN


def is_request(ad: AttributeMap) -> bool:
    """True if a schedd offered the ad to a negotiator: it has what schedds add, and no JobStatus, as every job of a queue.

    A schedd may send the ad of one job several times: a parallel job asks once for each of its nodes.
    """
    return "JobStatus" not in ad and _has_any(ad, *_REQUEST_MARKS)


def _is_part_of_job(ad: Ad) -> bool:
    proc = constant_value(ad, "ProcId")
    if isinstance(proc, int) and not isinstance(proc, bool) and proc < 0:
        return "JobStatus" in ad or (proc == _CLUSTER and not is_request(ad))
    if not _has_any(ad, "ProcId", "GlobalJobId") and "ClusterId" in ad and _has_any(ad, *_CLUSTER_MARKS):
        return True
    return string_value(ad, "EpochAdType").lower() in _EPOCH_PARTS


def _has(ad: AttributeMap, *names: str) -> bool:
    return all(name in ad for name in names)


def _has_any(ad: AttributeMap, *names: str) -> bool:
    return any(name in ad for name in names)

"""Autoclusters: jobs that are equal in every attribute that a cycle can read are alike. A live pool offers them as one request.

Source: HTCondor manual, "autocluster" and ``SIGNIFICANT_ATTRIBUTES``; ``Matchmaker::compute_significant_attrs``
(``matchmaker.cpp``). Here the significant attributes are the closure over the references of all expressions of the pool and of
the bundle, so that nothing an expression reads can differ between jobs of one autocluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Expr, Side, Table
from negotiator.cycle.conjunct import ConjunctPool
from negotiator.cycle.offered_slots import slots_to_match
from negotiator.cycle.reference_closure import SCOPE_NAMES, OpaqueReads, ReferenceClosure
from negotiator.cycle.work_accounts import SLOTS_OF_STEP, STEPS_EACH_AD, STEPS_EACH_MACHINE
from negotiator.pool.ad_kind import SUBMITTER

#: The attributes that name a job's submitter: every request's ad has them.
SUBMITTER_ATTRIBUTES = ("AccountingGroup", "User", "Owner", SUBMITTER)
#: Turns of refining a group of jobs, after which each of them is followed by itself.
_MAX_TURNS: Final = 8


@attrs.frozen
class Autoclusters:
    """The autoclusters of a table of jobs.

    ``ids`` (N,) has the number of each job's autocluster. ``significant`` has the significant attributes of each
    autocluster, in lower case; None if they cannot be found (``eval``, a plugin that does not declare what it reads):
    such a job is an autocluster of its own, unless the slots that make it so cannot pay for it.
    """

    ids: NDArray[np.int64]
    significant: tuple[frozenset[str] | None, ...]


def idle_autoclusters(
    slots: Table,
    jobs: Table,
    bundle: Bundle,
    further: Sequence[str],
    conjuncts: ConjunctPool | None = None,
) -> Autoclusters:
    """Return the autoclusters of jobs that are to be matched.

    :param further: attributes that distinguish jobs without being significant for matching.
    :param conjuncts: those of Requirements, which the cycle splits too.
    """
    closure = ReferenceClosure.over(slots, jobs, conjuncts)
    return _affordable(jobs, closure, lambda each: each.of_bundle(bundle), further)


def running_autoclusters(slots: Table, jobs: Table, bundle: Bundle) -> Autoclusters:
    """Return the autoclusters of running jobs: only what plugins read of them is significant."""
    return _affordable(jobs, ReferenceClosure.over(slots, jobs), lambda _: bundle.job_attributes, ())


def expression_classes(closure: ReferenceClosure, ads: Table, expression: Expr, side: Side) -> Autoclusters:
    """Return the classes of some ads that an expression over pairs with others cannot tell apart.

    :param closure: over the others, and what may be read of the ads.
    :param side: MY if the ads own the expression, TARGET if the others do.
    """
    return _affordable(ads, closure, lambda each: each.of_expression(side, expression), ())


def _affordable(
    jobs: Table,
    closure: ReferenceClosure,
    common: Callable[[ReferenceClosure], frozenset[str] | None],
    further: Sequence[str],
) -> Autoclusters:
    """Return the autoclusters; where slots may read anything of a job, each job is one only if the steps of these slots allow it.

    Otherwise one slot would make each of 20,000 alike jobs a request of its own. Such expressions of slots then count as reading
    the names in them, as in HTCondor always; or nothing, if even these are too costly (``ProcId``). The first job of a group,
    with all its attributes, stands for all of it.
    """
    found = exact = _autoclusters(jobs, closure, common(closure), further)
    if not closure.opaque:
        return found
    each = STEPS_EACH_AD + len(closure.slots) // SLOTS_OF_STEP
    for reads in (OpaqueReads.NAMES, OpaqueReads.NOTHING):
        less = closure.with_opaque(reads)
        fewer = _autoclusters(jobs, less, common(less), further)
        more = len(found.significant) - len(fewer.significant)
        if more * each > less.opaque_slots() * STEPS_EACH_MACHINE:
            found = fewer
    if found is exact:
        return exact
    whole = np.zeros(len(found.significant), np.bool_)
    whole[found.ids[np.array([names is None for names in exact.significant])[exact.ids]]] = True
    names = zip(found.significant, whole.tolist(), strict=True)
    return Autoclusters(found.ids, tuple([None if all_of_it else known for known, all_of_it in names]))


def _autoclusters(
    jobs: Table, closure: ReferenceClosure, common: frozenset[str] | None, further: Sequence[str]
) -> Autoclusters:
    """Group the jobs by their significant attributes, refining a group as long as its own expressions read more.

    The jobs are first grouped by the ``common`` attributes, which are read of every job. Jobs of a group then have the
    same expressions in these, so one of them represents all: if its expressions read further attributes, the group is
    grouped again by these too, together with all groups that read the same. A job's own attributes thus never split the
    jobs of groups that do not read them.
    """
    if common is None or not len(jobs):
        return Autoclusters(np.arange(len(jobs)), (None,) * len(jobs))
    ids = np.full(len(jobs), -1, np.int64)
    significant: list[frozenset[str] | None] = []
    distinct: dict[frozenset[str], frozenset[str]] = {}  # equal sets are one object
    pending = {common: [np.arange(len(jobs))]}
    turns = {common: 0}
    while pending:
        known = next(iter(pending))
        rows = np.concatenate(pending.pop(known))
        turn = turns.pop(known)
        if turn < _MAX_TURNS:
            # By columns: Python runs once for each group below, not for each job.
            groups, first = jobs.take(rows).group(sorted(known | set(further)))
            found = closure.of_jobs(jobs, rows[first], known)
        else:
            groups, found = _followed_each(jobs, rows, closure, known, further)
        for members, (reached, is_own) in zip(_members(rows, groups), found, strict=True):
            # Unknown reads: jobs that look alike may be treated differently, so each is an autocluster of its own.
            if reached is None:
                ids[members] = np.arange(len(significant), len(significant) + len(members))
                significant += [None] * len(members)
            # The jobs may differ in the attributes just found: group them again. Each turn adds attributes, so it ends.
            elif turn < _MAX_TURNS and not reached <= known and not (is_own and len(members) == 1):
                pending.setdefault(known | reached, []).append(members)
                turns[known | reached] = max(turns.get(known | reached, 0), turn + 1)
            else:
                ids[members] = len(significant)
                significant.append(distinct.setdefault(known | reached, known | reached))
    return Autoclusters(ids, tuple(significant))


def _followed_each(
    jobs: Table,
    rows: NDArray[np.intp],
    closure: ReferenceClosure,
    known: frozenset[str],
    further: Sequence[str],
) -> tuple[NDArray[np.int64], list[tuple[frozenset[str] | None, bool]]]:
    """Return groups of jobs that read the same and are equal in it, each job followed by itself, and what each group reads.

    Jobs whose chains of references differ in length only would otherwise be grouped again for each link.
    """
    places: dict[frozenset[str] | None, list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        reached = closure.of_job(jobs.ad(row), known)
        places.setdefault(None if reached is None else known | reached, []).append(place)
    groups = np.empty(len(rows), np.int64)
    found: list[tuple[frozenset[str] | None, bool]] = []
    for names, own in places.items():
        inside, first = np.zeros(len(own), np.int64), np.zeros(1, np.int64)
        if names is not None and len(own) > 1:
            inside, first = jobs.take(rows[own]).group(sorted(names | set(further)))
        groups[own] = inside + len(found)
        found += [(names, True)] * len(first)
    return groups, found


def _members(rows: NDArray[np.intp], groups: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Return the rows of each group, by its number."""
    order = np.argsort(groups, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(groups[order])) + 1)


#: A job of its own: with these attributes no two jobs are alike.
_EACH_JOB: Final = frozenset({"clusterid", "procid"})

_ALWAYS: Final = frozenset(
    {"concurrencylimits", "jobuniverse", "requestcpus", "requestdisk", "requestmemory"}
    | {name.lower() for name in SUBMITTER_ATTRIBUTES if name != SUBMITTER}
    | SCOPE_NAMES
)
_AMOUNT_OF_SLOT: Final = "totalslot"


def significant_attributes(slots: Table, bundle: Bundle) -> frozenset[str]:
    """Return the job attributes, in lower case, that a cycle with these slots can read of any job.

    A schedd adds what the expressions of its jobs read. If an expression or a plugin may read any attribute, the ids of the jobs are
    among them: then each job is a request of its own.
    """
    slots = slots_to_match(slots, bundle)
    requests = frozenset(
        f"request{name.removeprefix(_AMOUNT_OF_SLOT)}"
        for name in slots.names()
        if name.startswith(_AMOUNT_OF_SLOT)
    )
    closure = ReferenceClosure(slots, exact=not SCOPE_NAMES & slots.names(), requests=requests)
    found, before = closure.of_bundle(bundle), bundle.source.job_attributes
    known = _ALWAYS | requests | (found or frozenset()) | (before or frozenset())
    return known if found is not None and before is not None else known | _EACH_JOB

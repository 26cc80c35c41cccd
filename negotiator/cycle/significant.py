"""Which job attributes anything in a cycle can read: jobs that agree in them are alike.

Source: HTCondor manual, "autocluster" and ``SIGNIFICANT_ATTRIBUTES``. Here the closure is taken over the expressions
of the pool itself and of the bundle, so that nothing an expression reads can differ between jobs taken for alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Side, Table
from negotiator.classad.footprint import Scan, scan
from negotiator.cycle.rank import PRE_JOB_RANK
from negotiator.hooks.records import ConstraintSide, Expression, Mask

_JOB, _SLOT = Side.MY, Side.TARGET  # seen from the job
_Name: TypeAlias = tuple[Side, str]

#: Attributes of these names may stand for the ads themselves: then a scope says nothing of where a name is looked up.
_SHADOWS = frozenset({"my", "self", "target", "other"})


@attrs.frozen
class Significant:
    """The job attributes that can matter, and the jobs of which that cannot be told.

    ``names`` (lower case) is None where it cannot be told of any job: a plugin filters slots without saying what it
    reads, or an expression of a slot or of the bundle reaches attributes that its text does not name (``eval``).
    ``opaque`` has the jobs whose own expressions do so: these are requests of their own, and only they.
    """

    names: frozenset[str] | None
    opaque: Mask


def significant_attributes(slots: Table, jobs: Table, bundle: Bundle) -> Significant:
    """Follow every reference of the pool's and the bundle's expressions to the job attributes it can reach."""
    opaque = np.zeros(len(jobs), dtype=np.bool_)
    if bundle.job_attributes is None:
        return Significant(None, opaque)
    exact = not (_SHADOWS & (slots.names() | jobs.names()))
    todo: list[_Name] = [(_JOB, name) for name in ("requirements", "rank", *bundle.job_attributes)]
    todo.append((_SLOT, "requirements"))
    for owner, found in _central(bundle):
        if found.opaque:
            return Significant(None, opaque)
        todo += _reached(owner, found, exact=exact)

    seen: set[_Name] = set()
    while todo:
        item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        owner, name = item
        for found in (jobs if owner is _JOB else slots).scans(name):
            if found.opaque and owner is _SLOT:
                return Significant(None, opaque)
            if found.opaque:
                opaque |= _opaque_rows(jobs, name)
            todo += _reached(owner, found, exact=exact)
    return Significant(frozenset(name for side, name in seen if side is _JOB), opaque)


def _central(bundle: Bundle) -> Iterator[tuple[Side, Scan]]:
    if isinstance(bundle.audit.denials, Expression):
        yield _JOB, scan(bundle.audit.denials.tree)
    yield _SLOT, scan(PRE_JOB_RANK)
    for stamped in bundle.constraints:
        yield _JOB if stamped.record.side is ConstraintSide.JOB else _SLOT, scan(stamped.record.expression)


def _reached(owner: Side, found: Scan, *, exact: bool) -> Iterator[_Name]:
    """Give the attributes that one expression names, in every ad in which they may be looked up."""
    other = _SLOT if owner is _JOB else _JOB
    for side, names in found.names.items():
        if side is None or found.wandering or not exact:
            yield from ((place, name) for place in (owner, other) for name in names)
        else:
            yield from ((owner if side is Side.MY else other, name) for name in names)
    if not exact:
        yield from ((place, name) for place in (owner, other) for name in _SHADOWS)


def _opaque_rows(jobs: Table, name: str) -> Mask:
    rows = np.zeros(len(jobs), dtype=np.bool_)
    for part in jobs.parts(name):
        if part.expr is not None:
            rows[part.rows] = scan(part.expr).opaque
        else:
            rows[part.rows] = True  # each is rare: better a request too many than one that mixes unlike jobs
    return rows

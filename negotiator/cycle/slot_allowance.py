"""The slots that the allowance of a turn admits, in the order of preference, by their weights."""

from __future__ import annotations

import attrs
import numpy as np

from negotiator.hooks.order import RowNumbers, SlotAllowance


@attrs.frozen(eq=False)
class AdmittedSlots:
    """The places of the admitted slots in the list of candidates, (G,), and of those that are too heavy, (H,).

    ``stopped``: the turn has taken all that it may before the list or the jobs ended.
    """

    places: RowNumbers
    too_heavy: RowNumbers
    stopped: bool


def admit_slots(allowance: SlotAllowance, rows: RowNumbers, jobs: int) -> AdmittedSlots:
    """Admit slots to so many jobs, one after the other; a slot that is too heavy is skipped for good.

    :param rows: the candidates, best first, (C,).

    Takes one pass over the candidates for each weight among those that are too heavy. Sums are those of one addition
    after the other, so that they are rounded as in HTCondor.
    """
    weights = allowance.weights[rows]
    used = allowance.used
    left = np.arange(len(rows), dtype=np.intp)
    admitted: list[RowNumbers] = []
    heavy: list[RowNumbers] = []
    while len(left) and jobs:
        own = weights[left[:jobs]]
        uses = np.cumsum(np.append(used, own))
        fits = (uses[1:] <= allowance.limit) | ((uses[:-1] <= 0) & (allowance.limit > 0))
        begins = uses[:-1] < allowance.stop
        ends = np.flatnonzero(~(fits & begins))
        count = int(ends[0]) if len(ends) else len(own)
        admitted.append(left[:count])
        used, jobs = float(uses[count]), jobs - count
        if count == len(own):
            left = left[count:]
            continue
        if not begins[count]:
            return _admitted(admitted, heavy, stopped=True)
        left = left[count:]
        room = (used + weights[left] <= allowance.limit) | (used <= 0 < allowance.limit)
        heavy.append(left[~room])
        left = left[room]
    return _admitted(admitted, heavy, stopped=bool(jobs) and used >= allowance.stop)


def _admitted(admitted: list[RowNumbers], heavy: list[RowNumbers], *, stopped: bool) -> AdmittedSlots:
    none = np.zeros(0, np.intp)
    return AdmittedSlots(np.concatenate([none, *admitted]), np.concatenate([none, *heavy]), stopped)

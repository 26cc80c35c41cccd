"""The jobs in use, as orders and stations of the cycle read them."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.hooks.records import Mask, Request

_NO_ADS = Table.from_ads([])


@attrs.frozen(eq=False)
class ClaimsInUse:
    """Jobs in use that are charged alike, (K,).

    ``slots`` (K,) are the rows of their slots, -1 for a slot that is not in the table. ``rows`` (K,) are the rows of the jobs'
    ads in ``jobs``. ``slot_rows`` (K,) are the rows of their slots in ``slot_ads``, which has all slots of the pool, also those that do
    not take part in the cycle; -1 for a slot that the pool does not have. ``pending`` claims are matches that the pool does not show yet: they have no ads. ``ended`` (K,) are the jobs on
    slots of pending matches, which end them; None if there are none.
    """

    request: Request
    slots: NDArray[np.intp]
    jobs: Table = _NO_ADS
    rows: NDArray[np.intp] = attrs.field(factory=lambda: np.zeros(0, np.intp))
    pending: bool = False
    ended: Mask | None = None
    slot_ads: Table = _NO_ADS
    slot_rows: NDArray[np.intp] = attrs.field(factory=lambda: np.zeros(0, np.intp))

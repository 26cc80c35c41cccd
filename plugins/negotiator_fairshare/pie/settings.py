"""The knobs that the pie reads."""

from __future__ import annotations

import attrs


@attrs.frozen
class PieSettings:
    """The knobs of the pie.

    ``consider_preemption`` is NEGOTIATOR_CONSIDER_PREEMPTION, ``use_weights`` NEGOTIATOR_USE_SLOT_WEIGHTS,
    ``ignore_priorities`` NEGOTIATOR_IGNORE_USER_PRIORITIES, ``use_counts`` USE_RESOURCE_REQUEST_COUNTS,
    ``keep_candidates`` NEGOTIATOR_MATCHLIST_CACHING.
    """

    consider_preemption: bool = True
    use_weights: bool = True
    ignore_priorities: bool = False
    use_counts: bool = True
    keep_candidates: bool = True

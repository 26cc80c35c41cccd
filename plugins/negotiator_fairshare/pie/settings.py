"""The knobs that the pie reads."""

from __future__ import annotations

from typing import Final

import attrs

from negotiator_fairshare.compatibility import Compatible

#: What requests have of the use of their submitter and its group, in lower case: it changes with each match.
USE_OF_REQUESTS: Final = frozenset({"submitteruserresourcesinuse", "submittergroupresourcesinuse"})
#: What slots have of the use of their users and of the users' groups, in lower case: matches of these change it.
USE_OF_SLOTS: Final = frozenset({"remoteuserresourcesinuse", "remotegroupresourcesinuse"})


@attrs.frozen
class PieQuirks:
    """The quirks of condor_negotiator's pie, each reproduced or not.

    ``unclaimed_limit``: unclaimed slots are granted beyond what is left of the pie, up to the submitter's share.
    ``crumbs``: after the first spin, a share below the least slot weight is not rounded up, so that slots stay free.
    ``floors``: a floor is given whole, although a part of it is in use.
    ``empty_pool``: without slots, all submitters are passed over, for their ceiling.
    ``rejection_marks``: limits that rejected a request are named in later rejections of the submitter's turn too.
    """

    unclaimed_limit: Compatible = Compatible.EXACT
    crumbs: Compatible = Compatible.EXACT
    floors: Compatible = Compatible.EXACT
    empty_pool: Compatible = Compatible.EXACT
    rejection_marks: Compatible = Compatible.EXACT


@attrs.frozen
class PieSettings:
    """The knobs of the pie.

    ``consider_preemption`` is NEGOTIATOR_CONSIDER_PREEMPTION, ``use_weights`` NEGOTIATOR_USE_SLOT_WEIGHTS,
    ``ignore_priorities`` NEGOTIATOR_IGNORE_USER_PRIORITIES, ``use_counts`` USE_RESOURCE_REQUEST_COUNTS, unless
    NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE is 1: condor_negotiator then asks for one job at a time, too,
    ``keep_candidates`` NEGOTIATOR_MATCHLIST_CACHING, ``requirements_stable`` PREEMPTION_REQUIREMENTS_STABLE, and
    ``rank_stable`` PREEMPTION_RANK_STABLE. ``requirements_change``: PREEMPTION_REQUIREMENTS read what changes with matches.
    ``quirks``: which quirks are reproduced.
    """

    consider_preemption: bool = True
    use_weights: bool = True
    ignore_priorities: bool = False
    use_counts: bool = True
    keep_candidates: bool = True
    requirements_stable: bool = True
    rank_stable: bool = True
    requirements_change: bool = False
    quirks: PieQuirks = attrs.field(factory=PieQuirks)

    @property
    def stops_at_limit(self) -> bool:
        """True if the turn of a submitter ends when its limit refuses a slot."""
        return not (self.consider_preemption or self.use_weights)

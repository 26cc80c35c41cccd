"""Shares: how much of the pie each submitter may have, by its effective priority.

All sums are made in the order and precision of condor_negotiator, whose decisions depend on their last bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np

from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.pie.submitters import SubmitterAd, distinct

#: No ceiling.
UNLIMITED = 2_147_483_647.0
#: No limit.
LARGEST = sys.float_info.max


@attrs.frozen
class ShareAccount:
    """What the pie reads of a submitter's account.

    ``priority`` is the effective one: smaller is better. ``usage`` is weighted, with the matches so far. A negative
    ``ceiling`` is none.
    """

    priority: float
    factor: float
    usage: float = 0.0
    ceiling: int = -1
    floor: int = 0

    @property
    def headroom(self) -> float:
        """The weight that is left until the ceiling."""
        return max(0.0, float(self.ceiling - int(self.usage))) if self.has_ceiling else UNLIMITED

    @property
    def has_ceiling(self) -> bool:
        """True if usage is bounded."""
        return self.ceiling >= 0


#: Returns the account of a submitter by name.
Accounts: TypeAlias = Callable[[str], ShareAccount]


@attrs.frozen
class GroupLimit:
    """The limit of one call of the pie: of ``limit`` weights, its submitters are those of ``group``.

    ``quota`` is the limit before it was cut to a whole number; None without accounting groups. With ``autoregroup``, the use
    of the group is not bounded: only what is divided is.
    """

    group: str = ""
    limit: float = LARGEST
    quota: float | None = None
    autoregroup: bool = False

    def total(self, whole: float) -> float:
        """Return the weight to divide, of a pool of weight ``whole``."""
        return min(whole, self.limit)

    def is_reached(self, usage: float) -> bool:
        """True if a group that uses this weight may take no more."""
        return self._is_bounded and usage >= self.limit

    def left(self, usage: float) -> float:
        """Return what a group that uses this weight may still take of unclaimed slots, in single precision."""
        return float(np.float32(max(0.0, self.limit - usage))) if self._is_bounded else LARGEST

    @property
    def bound(self) -> float | None:
        """The weight that the group may use in all; None if its use is not bounded."""
        return self.limit if self._is_bounded else None

    @property
    def attributes(self) -> Mapping[str, str | bool]:
        """What requests have at their turn, also without accounting groups."""
        return {
            "SubmitterNegotiatingGroup": self.group or ROOT_GROUP,
            "SubmitterAutoregroup": self.autoregroup,
        }

    @property
    def _is_bounded(self) -> bool:
        return self.quota is not None and not self.autoregroup


@attrs.frozen
class Share:
    """The share of one submitter, by effective priority and by factor alone."""

    share: float
    abs_share: float


@attrs.frozen
class Shares:
    """The shares of all submitters of one spin, by name, of a pie of the weight ``total``.

    ``unclaimed`` is what the group of the submitters may take of unclaimed slots; without preemption, of all slots.
    """

    normal_factor: float
    max_priority: float
    of: Mapping[str, Share]
    total: float
    ignore_priorities: bool = False
    unclaimed: float = LARGEST
    consider_preemption: bool = True

    def limit(self, name: str, account: ShareAccount) -> float:
        """Return what a submitter may still take, given its usage now."""
        if not self.consider_preemption:
            return self.unclaimed_limit(name, account)
        return self._own(name, account)

    def unclaimed_limit(self, name: str, account: ShareAccount) -> float:
        """Return what a submitter may still take of unclaimed slots."""
        return min(self._own(name, account), self.unclaimed)

    def _own(self, name: str, account: ShareAccount) -> float:
        if self.ignore_priorities:
            return LARGEST
        return max(0.0, self.of[name].share * self.total - account.usage)


def divide(
    submitters: Sequence[SubmitterAd], accounts: Accounts, total: float, *, ignore_priorities: bool = False
) -> Shares:
    """Divide a pie of this weight among submitters; a name at two schedds has one share.

    :param ignore_priorities: the limits are the whole pie (NEGOTIATOR_IGNORE_USER_PRIORITIES).
    """
    found = {name: accounts(name) for name in distinct(submitters)}
    most = max((account.priority for account in found.values()), default=0.0)
    most_factor = max((account.factor for account in found.values()), default=0.0)
    normal, absolute = 0.0, 0.0
    for account in found.values():
        normal += most / account.priority
        absolute += most_factor / account.factor
    shares = {
        name: Share(most / (account.priority * normal), most_factor / (account.factor * absolute))
        for name, account in found.items()
    }
    return Shares(normal, most, shares, total, ignore_priorities)

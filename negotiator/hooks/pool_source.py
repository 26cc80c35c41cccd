"""The contract of live pools: where the ads of each cycle come from, and to whom its matches go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from negotiator.errors import PoolError

if TYPE_CHECKING:
    from negotiator.hooks.delivery import Delivery
    from negotiator.hooks.pool_control import PoolControl
    from negotiator.hooks.records import Match
    from negotiator.hooks.summary import CycleSummary, Rejection
    from negotiator.pool import ClaimVault, PoolAds
    from negotiator.records import Reason


@attrs.frozen
class PoolContext:
    """What a bundle configures of its pool.

    ``settings`` are those of the plugin. If ``is_observed``, only ``observe`` and ``close`` are called: the pool has another
    negotiator, and its daemons must not see this one.
    """

    settings: Any
    is_observed: bool = False


@attrs.frozen(eq=False)
class Decisions:
    """The decisions of one cycle, for the daemons of a pool.

    ``rejections`` are the requests with jobs that got no slot, each with the decisive reason. ``discarded`` has the reason of jobs
    that took no part, by their schedd (in lower case) and id. ``claims`` returns each claim
    id once: ``claims.take(slot, address, match.id)``. Nothing may write a claim id into a log, a message or a file.
    """

    matches: Sequence[Match]
    rejections: Sequence[Rejection]
    discarded: Mapping[tuple[str, str], Reason]
    claims: ClaimVault


class LivePool(ABC):
    """A pool that is being served. Each cycle calls ``fetch``, ``deliver`` and ``cycle_ended``, in the same thread."""

    @abstractmethod
    def fetch(self, ads: PoolAds) -> None:
        """Fetch the ads of the next cycle and add them to ``ads``.

        A part of the pool that does not answer is a problem (``ads.add_problem``), and its ads are missing in this cycle.

        :raises PoolError: the pool cannot be read, so that this cycle does not take place; the next one does at its time.
        """

    @abstractmethod
    def deliver(self, decisions: Decisions) -> Iterable[Delivery]:
        """Hand out the matches and the rejections of the cycle, and return what became of each match.

        The matches are in the audit log before. A failed delivery is part of the answer: its match is released, and the slot
        is offered again. A match that the answer leaves out counts as ``UNKNOWN``, and all do if an exception is raised.
        """

    def cycle_ended(self, summary: CycleSummary) -> None:  # noqa: B027 - a pool without statistics does nothing
        """Publish the result of a cycle, after its outcome is in the audit log. A failure is reported, and changes nothing else.

        :param summary: that of ``negotiator_cycle_ended``.
        """

    def observe(self, ads: PoolAds) -> None:  # noqa: ARG002 - a pool that cannot be observed
        """Add the ads of the pool as anybody may read them, with its jobs, and without claim ids: for shadow mode and ``fetch``.

        Nothing in the pool may change: no schedd is asked to negotiate. A part that does not answer is a problem, as in ``fetch``;
        that of a schedd has the source ``schedd NAME``, so that shadow mode does not take its jobs for new ones later.

        :raises PoolError: the pool cannot be read, or has no such view.
        """
        raise PoolError(f"{type(self).__name__} cannot be observed")

    def close(self) -> None:  # noqa: B027 - a pool without connections has nothing to end
        """End all connections; nothing is called afterwards."""


@attrs.frozen
class PoolSource:
    """A type of live pool, which a bundle chooses by its name (``source:`` in pool.yaml).

    ``open`` is called when the program starts, and again when a new bundle has other settings; it should not wait for the
    pool. Its ``PoolControl`` carries out what the daemons of the pool request. ``at`` returns settings with the pool at another
    address, for ``negotiator fetch POOL``, or raises PoolError for an invalid one; None if its pools have no address.
    """

    name: str
    open: Callable[[PoolContext, PoolControl], LivePool]
    at: Callable[[Any, str], Any] | None = None

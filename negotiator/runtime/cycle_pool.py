"""Station *settle*, and the pool around it: where the ads of cycles come from, and where their matches go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import attrs

from negotiator.cycle.claim_reuse import ReuseReport
from negotiator.cycle.result import CycleResult
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.hooks.overruns import Eviction, EvictionOutcome
from negotiator.hooks.records import Match
from negotiator.hooks.summary import CycleSummary
from negotiator.pool import ClaimVault, Snapshot
from negotiator.records import Problem


@attrs.frozen
class Shown:
    """Whether the decisions of a cycle were printed before its matches are handed out.

    ``is_complete``: the output has all matches, and was flushed. ``error``: the output could not be written.
    """

    is_complete: bool = False
    error: OSError | None = None


class CyclePool(ABC):
    """The pool of a running negotiator.

    ``is_shadow``: another negotiator serves the pool, so this one hands out nothing and charges nobody. ``can_evict``: running jobs
    can be asked to end. ``unanswered`` are the parts of the pool that did not answer when it was last read. ``reuse`` is what its
    schedds may do with claims; None if nobody claims anything. ``awaits_claims`` is set before each reading: there are matches
    whose claims the pool did not show yet.
    """

    is_shadow: ClassVar[bool] = False
    can_evict: ClassVar[bool] = False
    unanswered: Sequence[Problem] = ()
    reuse: ReuseReport | None = None
    awaits_claims: bool = False

    @abstractmethod
    def read(self) -> tuple[Snapshot, ClaimVault]:
        """Return the pool at present, and the claim ids of its slots.

        :raises PoolError: it cannot be read.
        :raises PluginFailureError: the plugin that reads it failed.
        """

    @abstractmethod
    def settle(self, result: CycleResult, vault: ClaimVault, shown: Shown) -> Sequence[Delivery]:
        """Hand out the matches of a cycle, in their order, and return what became of each.

        A failed delivery is part of the answer, never an exception. Only this method reads claim ids.
        """

    def evict(self, evictions: Sequence[Eviction]) -> Sequence[EvictionOutcome]:  # noqa: ARG002 - nobody can be asked
        """Ask for the end of running jobs; return what became of each request. None is asked for where nothing receives requests."""
        return ()

    def observed(self, deliveries: Sequence[Delivery]) -> tuple[Match, ...]:
        """Return the matches that observers are called with: those that were handed out."""
        return tuple(each.match for each in deliveries if each.is_handed_out)

    def cycle_ended(self, summary: CycleSummary) -> tuple[HookFailure, ...]:  # noqa: ARG002 - nothing to publish
        """Publish the result of a cycle, after its outcome is recorded; return what failed, which changes nothing else."""
        return ()

    def close_if_changed(self) -> bool:
        """Close the pool if the bundle that is in force has another one; return whether it did."""
        return False

    def close(self) -> None:  # noqa: B027 - a pool without connections has nothing to end
        """End all connections."""


@attrs.define(eq=False)
class FilePool(CyclePool):
    """A pool that ``reader`` reads from files. Its schedds and slots receive nothing: its matches are printed."""

    reader: Callable[[], Snapshot]

    def read(self) -> tuple[Snapshot, ClaimVault]:
        """Return the ads of the files, without claim ids."""
        return self.reader(), ClaimVault()

    def settle(self, result: CycleResult, vault: ClaimVault, shown: Shown) -> Sequence[Delivery]:  # noqa: ARG002 - no claim is sent
        """Return the matches as *printed* once the output was flushed, else as *unknown*."""
        status = DeliveryStatus.PRINTED if shown.is_complete else DeliveryStatus.UNKNOWN
        error = shown.error
        text = f"the output cannot be written: {error.strerror or error}" if error else ""
        return [Delivery(match, status, text) for match in result.matches]

    def observed(self, deliveries: Sequence[Delivery]) -> tuple[Match, ...]:
        """Return all matches: nobody receives them, so it does not matter which of them the output lists."""
        return tuple(each.match for each in deliveries if each.status is not DeliveryStatus.FAILED)

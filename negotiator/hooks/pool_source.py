"""The contract of live pools: where the ads of each cycle come from, to whom its matches go, and what daemons and tools may request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs

from negotiator.hooks.overruns import EvictionOutcome, Reuse
from negotiator.records import Source

if TYPE_CHECKING:
    from negotiator.hooks.accounts import AccountAd, AccountRequest, SlotInUse
    from negotiator.hooks.delivery import Delivery
    from negotiator.hooks.overruns import Eviction
    from negotiator.hooks.records import Match
    from negotiator.hooks.reports import CycleSummary, Rejection
    from negotiator.pool import ClaimVault, PoolAds
    from negotiator.records import Reason


@attrs.frozen(eq=False)
class Decisions:
    """The decisions of one cycle, for the daemons of a pool.

    ``rejections`` are the requests with jobs that got no slot, each with the decisive reason. ``discarded`` has the reason of
    jobs that took no part, by their schedd (in lower case) and id. ``kept`` is the sentence on slots that took no part because the
    pool does not show a match of theirs yet, empty if there are none. ``claims`` returns each claim id once:
    ``claims.take(slot, address, match.id)``. Nothing may write a claim id into a log, a message or a file.

    ``reuse`` has the matches, by id, whose claims a schedd may not use for any further job. Under ``SAME`` it may for those jobs
    for which ``policy`` is true, an expression of the slot (MY) and the job (TARGET), empty if there is none.
    """

    matches: Sequence[Match]
    rejections: Sequence[Rejection]
    discarded: Mapping[tuple[str, str], Reason]
    claims: ClaimVault
    reuse: Mapping[str, Reuse] = attrs.field(factory=dict)
    policy: str = ""
    kept: str = ""


class LivePool(ABC):
    """A pool that is being served. Each cycle calls ``fetch``, ``deliver`` and ``cycle_ended``, in the same thread.

    ``longest_step`` are the seconds that a step of ``fetch`` or ``cycle_ended`` may take, such as the answer of a daemon; each is
    followed by ``PoolControl.note_progress``. Once the negotiator is to end, a call without progress for so long, and for
    10 seconds at least, ends the process.
    """

    longest_step: float = 0.0

    @abstractmethod
    def fetch(self, ads: PoolAds) -> None:
        """Fetch the ads of the next cycle and add them to ``ads``.

        A part of the pool that does not answer is a problem (``ads.add_problem``), and its ads are missing in this cycle.

        :raises PoolError: the pool cannot be read, so that this cycle does not take place; the next one does at its time. Or the
            negotiator is to end (``PoolControl.is_ending``).
        """

    @abstractmethod
    def deliver(self, decisions: Decisions) -> Iterable[Delivery]:
        """Hand out the matches and the rejections of the cycle, and return what became of each match.

        The matches are in the audit log before. A failed delivery is part of the answer: its match is released, and the slot
        is offered again. A match that the answer leaves out counts as ``UNKNOWN``, and all do if an exception is raised.
        """

    def evict(self, evictions: Sequence[Eviction]) -> Iterable[EvictionOutcome]:
        """End running jobs that have broken a rule for longer than its grace time; return what became of each request.

        They are in the audit log before. What the answer leaves out was not asked for; the next cycle asks again for whatever
        still runs.
        """
        text = "this pool cannot end running jobs"
        return [EvictionOutcome(each, accepted=False, text=text) for each in evictions]

    def cycle_ended(self, summary: CycleSummary) -> None:  # noqa: B027 - a pool without statistics does nothing
        """Publish the result of a cycle, after its outcome is in the audit log. A failure is reported, and changes nothing else.

        :param summary: that of ``negotiator_cycle_ended``.
        """

    def close(self) -> None:  # noqa: B027 - a pool without connections has nothing to end
        """End all connections; nothing is called afterwards."""


class ObservedPool(ABC):
    """A pool that another negotiator serves, as anybody may read it: for shadow mode and ``negotiator fetch``.

    It must neither listen nor publish anything.
    """

    @abstractmethod
    def fetch(self, ads: PoolAds) -> None:
        """Add the ads of the pool, with its jobs, and without claim ids.

        Nothing in the pool may change: no schedd is asked to negotiate. A part that does not answer is a problem
        (``ads.add_problem``); that of a schedd has the source ``schedd NAME``, so that shadow mode does not take its jobs for
        new ones later.

        :raises PoolError: the pool cannot be read.
        """

    def close(self) -> None:  # noqa: B027 - a pool without connections has nothing to end
        """End all connections; nothing is called afterwards."""


@attrs.frozen
class PoolSetting:
    """A setting of the pool's own configuration, macros replaced, and the file and line where the pool has it.

    ``is_default``: nobody has set it, and its default depends on other settings.
    """

    name: str
    value: str
    source: Source
    is_default: bool = False


@attrs.frozen
class PoolSource:
    """A type of live pool, which a bundle chooses by its name (``source:`` in pool.yaml).

    ``open(settings, control)`` is called when the program starts, and again when a new bundle has other settings of the plugin;
    it should not wait for the pool. The ``PoolControl`` carries out what the daemons of the pool request.
    ``observe(settings)`` opens a pool that another negotiator serves; None if that cannot be done. ``at`` returns settings with
    the pool at another address, for ``negotiator fetch POOL``, or raises PoolError for an invalid one; None if its pools have
    no address. ``bind(settings, host, port)`` returns settings with another address at which tools and daemons connect to this
    program, for ``bind_host`` and ``bind_port`` of the service; None if nothing connects.

    ``configuration(folder, checks)`` returns the settings of the pool's own configuration that are settings of the bundle in
    this folder too: they take precedence over its HTCondor-style files, and ``pool.yaml`` over them. It is called whenever a
    bundle that serves a pool is loaded, and for ``negotiator check`` (``checks`` is then true). It returns None where the pool
    has none for this bundle, and raises PoolError for one that cannot be read, with which no bundle is loaded.
    """

    name: str
    open: Callable[[Any, PoolControl], LivePool]
    observe: Callable[[Any], ObservedPool] | None = None
    at: Callable[[Any, str], Any] | None = None
    bind: Callable[[Any, str, int], Any] | None = None
    configuration: Callable[[Path, bool], Sequence[PoolSetting] | None] | None = None


PEER_GROUP: Final = ":peer of the pool"
"""The group of whoever requests something through ``PoolControl``, for access policies; no group of users has a colon in its name."""


@attrs.frozen
class RequestAnswer:
    """The answer to a request, for its sender. ``ok`` is None as long as a cycle runs: the request waits for its end."""

    ok: bool | None
    text: str


class PoolControl(Protocol):
    """The running negotiator, as a plugin with a ``LivePool`` uses it.

    Any thread may call its methods; none waits for a cycle, unless ``wait`` is given. Requests of administrators are those of
    ``negotiator admin`` and of commands of plugins: they are in the state and in the audit log under the name ``by``, the
    access policy of the bundle permits them, and they are carried out between two cycles.
    """

    def start_cycle(self) -> None:
        """Start the next cycle now (HTCondor's RESCHEDULE), or as soon as the present one has ended."""

    def accounts(self, *, rollup: bool = False) -> Sequence[AccountAd]:
        """Return the accounts of the bundle's order, as of the last cycle or change.

        :param rollup: let accounting groups have the sums of the groups below them.
        :raises CommandError: the order keeps no accounts, or there is no state.
        :raises StateError: the state cannot be read.
        """

    def resources(self, submitter: str) -> Sequence[SlotInUse]:
        """Return the slots that a submitter uses, as of the last cycle.

        :raises CommandError: the order keeps no accounts, or there is no state.
        :raises StateError: the state cannot be read.
        """

    def change_account(self, by: str, request: AccountRequest, wait: float = 0.0) -> RequestAnswer:
        """Request a change of an account.

        :param by: who requests it, for the access policy and the audit log.
        :param wait: seconds to wait for the answer.
        :raises CommandError: the request is invalid, the order keeps no accounts, or there is no state.
        :raises StateError: the state cannot be written; nothing was requested.
        """

    def reload(self, by: str, wait: float = 0.0) -> RequestAnswer:
        """Request that the bundle is loaded again.

        :raises CommandError: there is no state.
        :raises StateError: the state cannot be written; nothing was requested.
        """

    def notice(self, text: str) -> None:
        """Log a sentence, such as a command that was denied, and who sent it. Too many of them in a short time are only counted."""

    def stop(self) -> None:
        """End the negotiator as a SIGTERM does: the present cycle ends before its next turn, and no other one starts."""

    @property
    def is_ending(self) -> bool:
        """True once the negotiator is to end: ``LivePool.fetch`` can stop, for no cycle will use what it fetches."""

    def note_progress(self) -> None:
        """Note that the pool gets on with a call that takes seconds, such as a daemon that has answered.

        The negotiator itself does so at each turn of a cycle, and each second between two cycles.
        """

    def idle_seconds(self) -> float:
        """Return the seconds since progress was last noted: many of them if the negotiator hangs."""

"""Workers on other machines: actors in the workers of a Dask cluster (https://distributed.dask.org, Actors).

Each worker of the cluster keeps the ads of the slots and the requests, and gets what changed since the last cycle. Whatever becomes
of workers, of the scheduler or of the network, the cycle evaluates what was not answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from negotiator.cycle.conditions import ConditionSource
from negotiator.cycle.engine import MatchingTask
from negotiator.engines.ahead import AheadConditions, is_large
from negotiator.engines.condition_task import ConditionTask
from negotiator.engines.dask_client import TIMEOUT, EngineUnavailableError, dask_client
from negotiator.engines.dask_crew import DaskCrew, DaskShare
from negotiator.engines.dask_member import DaskMember
from negotiator.engines.notices import EngineNotices
from negotiator.engines.sent_task import TaskSender

if TYPE_CHECKING:
    from distributed import Client

#: How long the scheduler may take in a cycle to answer, and the first worker to start, in seconds.
_IN_CYCLE: Final = 2.0
_FIRST_WORKER: Final = 10.0


@attrs.define(eq=False)
class DaskEngine:
    """Evaluates conditions on the workers of the Dask cluster whose scheduler has this address."""

    address: str
    _stack: ExitStack = attrs.field(factory=ExitStack, init=False)
    _client: Client | None = attrs.field(default=None, init=False)
    _members: dict[str, DaskMember] = attrs.field(factory=dict, init=False)
    _sender: TaskSender = attrs.field(factory=TaskSender, init=False)
    _notices: EngineNotices = attrs.field(factory=EngineNotices, init=False)

    def connect(self) -> None:
        """Connect to the scheduler.

        :raises EngineUnavailableError: distributed is not installed, or no scheduler answers.
        """
        self._connect(TIMEOUT)

    def _connect(self, seconds: float) -> Client:
        if self._client is None:
            self._client = self._stack.enter_context(dask_client(self.address, seconds))
        return self._client

    @contextmanager
    def begin(self, task: MatchingTask) -> Iterator[ConditionSource | None]:
        """Send the task to the workers of the cluster."""
        members = self._ready() if is_large(task) else []
        if not members:
            yield None
            return
        sent = ConditionTask.of(task)
        self._sender.next(sent)
        version, size = self._sender.version, len(sent.slots)
        shares = [DaskShare.begin(each, version, self._sender.message(each.known), size) for each in members]
        self._sender.end()
        served, position = np.zeros(len(task.requests), np.uint8), np.full(1, -1, np.int64)
        yield AheadConditions(task, DaskCrew(shares, served, position, task.matcher.taken), served, position)

    def leave_out(self, reason: str) -> None:
        """See ``Engine.leave_out``."""
        self._notices.add(f"the cycle is decided without the workers of the engine: {reason}")

    def take_notices(self) -> tuple[str, ...]:
        """Return why workers were lost or refused since the last call."""
        self._drop_lost()
        return self._notices.take()

    def close(self) -> None:
        """End the actors, and the connection to the scheduler."""
        self._members.clear()
        self._client = None
        self._stack.close()

    def _ready(self) -> Sequence[DaskMember]:
        """Return the workers that take part in the next cycle."""
        try:
            client = self._connect(_IN_CYCLE)
            addresses = self._addresses(client)
        except EngineUnavailableError as error:
            self._notices.add(f"{error}; the cycle is decided without workers")
            self.close()
            return []
        self._drop_lost()
        for address in self._members.keys() - addresses:
            self._notices.add(f"worker {address} of the engine has left the cluster")
            del self._members[address]
        new = [DaskMember.of(client, address) for address in sorted(addresses - self._members.keys())]
        self._members.update((each.address, each) for each in new)
        ready = [each for each in self._members.values() if each.is_ready(0)]
        if not ready:
            end = monotonic() + _FIRST_WORKER
            ready = [each for each in new if each.is_ready(max(0.0, end - monotonic()))]
        self._drop_lost()
        if not ready:
            self._notices.add(f"no worker of the Dask cluster at {self.address} is ready")
        return ready

    def _addresses(self, client: Client) -> set[str]:
        """Return the addresses of the workers of the cluster."""
        try:
            return set(client.sync(_scheduler(client).ncores, callback_timeout=_IN_CYCLE))
        except Exception as error:  # noqa: BLE001 - whatever a connection that breaks raises
            raise EngineUnavailableError(
                f"the Dask scheduler at {self.address} does not answer ({type(error).__name__})"
            ) from None

    def _drop_lost(self) -> None:
        """Report workers that failed; one that is refused stays known, so that it is reported once."""
        for address, member in list(self._members.items()):
            if member.problem:
                self._notices.add(f"worker {address} of the engine is {member.problem}")
                if member.is_refused:
                    member.problem = ""
                else:
                    del self._members[address]


def _scheduler(client: Client) -> Any:
    if client.scheduler is None:
        raise ConnectionError("the client was closed")
    return client.scheduler

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
from negotiator.engines.answers import AnswerDecoder
from negotiator.engines.condition_task import ConditionTask
from negotiator.engines.dask_client import EngineUnavailableError, dask_client
from negotiator.engines.dask_crew import DaskCrew, DaskShare
from negotiator.engines.dask_worker import DaskConditionWorker
from negotiator.engines.program_identity import difference, program_identity
from negotiator.engines.sent_task import TaskSender

if TYPE_CHECKING:
    from distributed import Client

#: How long the scheduler may take to list its workers, and the first worker to start, in seconds.
_TIMEOUT: Final = 10.0


@attrs.define(eq=False)
class DaskMember:
    """A worker of the cluster, and the actor that it runs for this negotiator.

    ``known`` is the version of the task that it has, 0 for none. ``problem`` is why it is not used, empty if it is.
    """

    client: Client
    address: str
    future: Any  # of the actor, which ends with it
    known: int = 0
    problem: str = ""
    is_refused: bool = False
    _actor: Any = None
    _identity: Any = None

    @property
    def actor(self) -> Any:
        """The actor of a member that is ready."""
        return self._actor

    def is_ready(self, seconds: float) -> bool:
        """True if the worker runs the actor, and the same program as this process; wait so long at most."""
        end = monotonic() + seconds
        try:
            if self._actor is None and (self.future.done() or seconds):
                # An actor belongs to the client that is current at its first call.
                with self.client.as_current():
                    self._actor = self.future.result(seconds or None)
                    self._identity = self._actor.identity()
            if self._identity is not None and (self._identity.done() or seconds):
                found = difference(
                    program_identity(), self._identity.result(max(0.0, end - monotonic()) or None)
                )
                self._identity = None
                if found:
                    self.is_refused, self.problem = True, f"refused, it runs {found}"
        except TimeoutError:
            return False
        except Exception as error:  # noqa: BLE001 - whatever a worker on another machine answers
            self.lose(error)
        return self._actor is not None and self._identity is None and not (self.problem or self.is_refused)

    def lose(self, error: BaseException) -> None:
        """Note that the worker failed; in the next cycle it gets a new actor if it is still there."""
        self.problem = f"lost ({type(error).__name__})"


@attrs.define(eq=False)
class DaskEngine:
    """Evaluates conditions on the workers of the Dask cluster whose scheduler has this address."""

    address: str
    _stack: ExitStack = attrs.field(factory=ExitStack, init=False)
    _client: Client | None = attrs.field(default=None, init=False)
    _members: dict[str, DaskMember] = attrs.field(factory=dict, init=False)
    _sender: TaskSender = attrs.field(factory=TaskSender, init=False)
    _notices: list[str] = attrs.field(factory=list, init=False)

    def connect(self) -> None:
        """Connect to the scheduler.

        :raises EngineUnavailableError: distributed is not installed, or no scheduler answers.
        """
        if self._client is None:
            self._client = self._stack.enter_context(dask_client(self.address))

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
        shares = [
            DaskShare(each, version, AnswerDecoder(size), each.actor.begin(self._sender.message(each.known)))
            for each in members
        ]
        self._sender.end()
        served, position = np.zeros(len(task.requests), np.uint8), np.full(1, -1, np.int64)
        yield AheadConditions(task, DaskCrew(shares, served, position, task.matcher.taken), served, position)

    def take_notices(self) -> tuple[str, ...]:
        """Return why workers were lost or refused since the last call."""
        self._drop_lost()
        found, self._notices = tuple(self._notices), []
        return found

    def close(self) -> None:
        """End the actors, and the connection to the scheduler."""
        self._members.clear()
        self._client = None
        self._stack.close()

    def _ready(self) -> Sequence[DaskMember]:
        """Return the workers that take part in the next cycle."""
        try:
            self.connect()
            addresses = self._addresses()
        except EngineUnavailableError as error:
            self._notices.append(f"{error}; the cycle is decided without workers")
            self.close()
            return []
        self._drop_lost()
        for address in self._members.keys() - addresses:
            self._notices.append(f"worker {address} of the engine has left the cluster")
            del self._members[address]
        for address in sorted(addresses - self._members.keys()):
            self._members[address] = self._joined(address)
        ready = [each for each in self._members.values() if each.is_ready(0)]
        if not ready:
            ready = [each for each in self._members.values() if each.is_ready(_TIMEOUT)]
        self._drop_lost()
        if not ready:
            self._notices.append(f"no worker of the Dask cluster at {self.address} is ready")
        return ready

    def _addresses(self) -> set[str]:
        """Return the addresses of the workers of the cluster."""
        client = self._client
        assert client is not None  # noqa: S101 - for the type: ``connect`` comes first
        try:
            return set(client.sync(client.scheduler.ncores, callback_timeout=_TIMEOUT))
        except Exception as error:  # noqa: BLE001 - whatever a connection that breaks raises
            raise EngineUnavailableError(
                f"the Dask scheduler at {self.address} does not answer ({type(error).__name__})"
            ) from None

    def _joined(self, address: str) -> DaskMember:
        client = self._client
        assert client is not None  # noqa: S101 - for the type: ``connect`` comes first
        future = client.submit(
            DaskConditionWorker, actor=True, workers=[address], allow_other_workers=False, pure=False
        )
        return DaskMember(client, address, future)

    def _drop_lost(self) -> None:
        """Report workers that failed; one that is refused stays known, so that it is reported once."""
        for address, member in list(self._members.items()):
            if member.problem:
                self._notices.append(f"worker {address} of the engine is {member.problem}")
                if member.is_refused:
                    member.problem = ""
                else:
                    del self._members[address]

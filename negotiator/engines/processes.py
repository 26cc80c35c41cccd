"""Workers that are forks of the process of the cycle: they have its ads, bundle and requests without a copy.

Fork, not spawn: ads of 100,000 slots take longer to send than a cycle has to spare, and each cycle has new ones. A worker imports
nothing, takes no lock and writes to its pipe only, so it does not matter which locks other threads of the program hold.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, Pipe
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.cycle.conditions import ConditionSource
from negotiator.cycle.engine import MatchingTask
from negotiator.engines.ahead import AheadConditions, is_large
from negotiator.engines.answers import AnswerDecoder, AnswerEncoder
from negotiator.engines.condition_task import ConditionTask
from negotiator.engines.finder import ConditionFinder, FoundAnswer
from negotiator.engines.notices import EngineNotices
from negotiator.hooks.records import Mask

#: A worker that was at a request for so long is not waited for again, in seconds.
_PATIENCE: Final = 2.0
#: So many requests after the one that has its turn are left to the cycle: a worker would be too late.
_LEAD: Final = 2


@attrs.frozen
class ProcessEngine:
    """Evaluates conditions in so many processes beside that of the cycle."""

    processes: int
    _notices: EngineNotices = attrs.field(factory=EngineNotices, init=False, eq=False, repr=False)

    @contextmanager
    def begin(self, task: MatchingTask) -> Iterator[ConditionSource | None]:
        """Start the processes; end them after the last turn."""
        if not is_large(task):
            yield None
            return
        shared = _SharedRows.of(task)
        forks: list[Fork] = []
        try:
            requests = len(task.requests)
            forks.extend(
                Fork.start(task, shared, range(place, requests, self.processes))
                for place in range(self.processes)
            )
            yield AheadConditions(task, Forks(forks), shared.served, shared.position)
        finally:
            for each in forks:
                if not each.end():
                    self._notices.add("a worker process of the engine ended before its cycle")

    def connect(self) -> None:
        """Do nothing: processes begin with a cycle."""

    def leave_out(self, reason: str) -> None:
        """See ``Engine.leave_out``."""
        self._notices.add(f"the cycle is decided without the processes of the engine: {reason}")

    def take_notices(self) -> tuple[str, ...]:
        """See ``Engine.take_notices``."""
        return self._notices.take()

    def close(self) -> None:
        """Do nothing: processes end with their cycle."""


@attrs.frozen(eq=False)
class _SharedRows:
    """Memory that all processes share: what the cycle has done so far, and what workers have begun.

    ``begun`` and ``served`` have a number for each request, (R,), ``taken`` for each slot, (N,).
    """

    begun: NDArray[np.uint8]
    served: NDArray[np.uint8]
    taken: Mask
    position: NDArray[np.int64]  # (1,), the request that had the last turn; -1 before the first one

    @classmethod
    def of(cls, task: MatchingTask) -> _SharedRows:
        """Make the memory; from now on the slots that are taken are noted there."""
        requests, slots = len(task.requests), len(task.matcher.slots)
        memory = np.frombuffer(mmap.mmap(-1, 8 + 2 * requests + slots), np.uint8)
        position = memory[:8].view(np.int64)
        position[0] = -1
        taken = memory[8 + 2 * requests :].view(np.bool_)
        taken[:] = task.matcher.taken
        task.matcher.taken = task.matcher.ranks.taken = taken
        return cls(memory[8 : 8 + requests], memory[8 + requests : 8 + 2 * requests], taken, position)


@attrs.frozen(eq=False)
class Forks:
    """The workers of a cycle: request ``number`` is of fork ``number % len(forks)``."""

    forks: Sequence[Fork]

    def __len__(self) -> int:
        return len(self.forks)

    def answers(self, until: int) -> Iterator[tuple[int, FoundAnswer]]:
        """Yield the answers of the fork of a request."""
        place = until % len(self.forks)
        for answer in self.forks[place].answers(until):
            yield place, answer


@attrs.define(eq=False)
class Fork:
    """One worker: its process, and the pipe that its answers come through."""

    pid: int
    pipe: Connection
    decoder: AnswerDecoder
    begun: NDArray[np.uint8]
    _alive: bool = attrs.field(default=True, init=False)
    _patient: bool = attrs.field(default=True, init=False)

    @classmethod
    def start(cls, task: MatchingTask, shared: _SharedRows, numbers: range) -> Fork:
        """Fork a worker for the requests of these numbers."""
        reader, writer = Pipe(duplex=False)
        pid = os.fork()
        if not pid:
            code = 1
            try:
                _work(task, shared, numbers, writer)
                code = 0
            except BrokenPipeError:
                code = 0  # the cycle has ended
            except BaseException as error:  # noqa: BLE001 - nothing above it may go on in this process
                _report(error)
            finally:
                os._exit(code)
        writer.close()
        return cls(pid, reader, AnswerDecoder(len(task.matcher.slots)), shared.begun)

    def answers(self, until: int) -> Iterator[FoundAnswer]:
        """Yield the answers that have come, until that of one request if the worker is at it."""
        has_come = False
        while self._alive:
            awaited = self._patient and not has_come and bool(self.begun[until])
            try:
                if not self.pipe.poll(_PATIENCE if awaited else 0):
                    self._patient = self._patient and not awaited
                    return
                answer = self.decoder.decode(self.pipe.recv_bytes())
            except (EOFError, OSError):
                self._alive = False
                return
            has_come = has_come or answer.number == until
            yield answer

    def end(self) -> bool:
        """End the process, whatever it does; False if it was killed before, or failed."""
        self.pipe.close()
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        if ended:
            return status == 0
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return True


def _work(task: MatchingTask, shared: _SharedRows, numbers: range, writer: Connection) -> None:
    """Answer requests, the next ones after the last turn first, until all had a turn or an answer."""
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the cycle, which ends its workers
    # Locks on files, sockets and pipes of the program must not outlive it here.
    kept = writer.fileno()
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    gc.freeze()  # a collection would copy the pages of all objects of the cycle
    finder, encoder = (
        ConditionFinder(ConditionTask.of(task), shared.taken),
        AnswerEncoder(len(task.matcher.slots)),
    )
    own = np.arange(numbers.start, numbers.stop, numbers.step)
    while (number := _next(own, shared)) is not None:
        shared.begun[number] = 1
        writer.send_bytes(encoder.encode(finder.find(number)))


def _report(error: BaseException) -> None:
    """Print that a worker failed; not the message, which may have values of ads."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = f"negotiator: a worker of the engine failed: {type(error).__name__} at {place.filename}:{place.lineno}\n"
    os.write(2, line.encode())


def _next(own: NDArray[np.int64], shared: _SharedRows) -> int | None:
    """Return the next of a worker's own requests: the first one that comes late enough after the last turn."""
    open_ = own[(shared.begun[own] | shared.served[own]) == 0]
    if not len(open_):
        return None
    place = int(open_.searchsorted(int(shared.position[0]) + _LEAD))
    return int(open_[place % len(open_)])

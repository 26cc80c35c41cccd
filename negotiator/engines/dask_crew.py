"""The workers of a Dask cluster in one cycle: requests are dealt to them in batches, the next ones after the last turn first."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Final, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.engines.answers import AnswerDecoder
from negotiator.engines.dask_member import DaskMember
from negotiator.engines.finder import FoundAnswer
from negotiator.hooks.records import Mask

#: A worker that was waited for so long is not waited for again in the cycle, in seconds.
_PATIENCE: Final = 2.0
#: The seconds that a cycle waits for lost workers in all: a broken network loses many of them at once.
_ALL_PATIENCE: Final = 4.0
#: The seconds that it waits for each further worker after that: longer than two batches take.
_LAST_PATIENCE: Final = 0.2
#: How long the evaluation of one batch should take, in seconds: messages take one or two milliseconds.
_BATCH_SECONDS: Final = 0.05
_MOST_REQUESTS: Final = 64
#: Batches that a worker has at a time, so that it need not wait for the next one.
_BATCHES: Final = 2
#: So many requests after the one that has its turn are left to the cycle: a worker would be too late.
_LEAD: Final = 2


@attrs.define(eq=False)
class DaskShare:
    """What one worker does in a cycle: the batches that it has, and its answers in the order in which it made them."""

    member: DaskMember
    version: int  # of the task
    decoder: AnswerDecoder
    started: Any  # the future of the call that sent the task; None once it has the task, or if it is lost
    is_lost: bool = False
    received: int = attrs.field(default=0, init=False)  # bytes of answers
    _calls: dict[Any, NDArray[np.int32]] = attrs.field(
        factory=dict, init=False
    )  # the requests of each future
    _waiting: dict[int, bytes] = attrs.field(factory=dict, init=False)  # batches that arrived out of order
    _next: int = attrs.field(default=0, init=False)
    _sent: Mask = attrs.field(init=False)  # (N,), the slots of which the worker knows that they are taken
    _requests: float = attrs.field(default=4.0, init=False)  # of the next batch

    def __attrs_post_init__(self) -> None:
        self._sent = np.zeros(self.decoder.size, np.bool_)

    @classmethod
    def begin(cls, member: DaskMember, version: int, message: bytes, slots: int) -> Self:
        """Send a worker the task of a cycle over so many slots."""
        started = member.call("begin", message)
        return cls(member, version, AnswerDecoder(slots), started, started is None)

    def is_ready(self) -> bool:
        """True if the worker has the task, and room for another batch."""
        if self.started is not None and self.started.done():
            started, self.started = self.started, None
            try:
                self.member.known = started.result()
            except Exception as error:  # noqa: BLE001 - whatever a worker on another machine answers
                self.lose(error)
        return self.started is None and not self.is_lost and len(self._calls) < _BATCHES

    @property
    def size(self) -> int:
        """How many requests the next batch should have."""
        return max(1, min(_MOST_REQUESTS, int(self._requests)))

    def ask(self, numbers: NDArray[np.int32], taken: Mask) -> None:
        """Ask for answers; tell the worker which slots were taken, (N,), since the last time."""
        rows = np.flatnonzero(taken & ~self._sent).astype(np.int32)
        self._sent[rows] = True
        future = self.member.call("answers", self.version, numbers.tobytes(), rows.tobytes())
        if future is None:
            self.is_lost = True
        else:
            self._calls[future] = numbers

    def wait(self, number: int, seconds: float) -> None:
        """Wait for the batch of a request; a worker that takes longer is lost for this cycle."""
        future = next(each for each, numbers in self._calls.items() if number in numbers)
        try:
            future.result(seconds)
        except Exception as error:  # noqa: BLE001 - whatever a worker on another machine answers
            self.lose(error)

    def has(self, number: int) -> bool:
        """True if the worker was asked for a request, and has not answered."""
        return any(number in numbers for numbers in self._calls.values())

    def take(self) -> list[FoundAnswer]:
        """Return the answers that have come; a worker that failed is lost."""
        found: list[FoundAnswer] = []
        if not self.is_lost:
            try:
                for future in [each for each in self._calls if each.done()]:
                    self._arrived(future)
                while self._next in self._waiting:
                    # Each answer refers to those before it.
                    content = zlib.decompress(self._waiting.pop(self._next))
                    found += map(self.decoder.decode, pickle.loads(content))  # noqa: S301 - from a worker of the site's own cluster
                    self._next += 1
            except Exception as error:  # noqa: BLE001 - whatever a worker on another machine answers
                self.lose(error)
        return found

    def _arrived(self, future: Any) -> None:
        """Keep the content of a batch until those before it have come.

        :raises LookupError: the worker has the task of another cycle.
        """
        batch = future.result()
        if batch is None:
            raise LookupError("the worker has another task")
        place, seconds, content = batch
        self.received += len(content)
        self._waiting[place] = content
        numbers = self._calls.pop(future)
        self._requests = min(2 * self._requests, _BATCH_SECONDS * len(numbers) / max(seconds, 1e-6))

    def lose(self, error: BaseException) -> None:
        """Ask this worker no more: it failed, or is too slow."""
        self.is_lost = True
        self.member.lose(error)

    def open(self) -> Sequence[NDArray[np.int32]]:
        """Return the requests that a lost worker will not answer; each once."""
        found, self._calls = list(self._calls.values()), {}
        return found


@attrs.define(eq=False)
class DaskCrew:
    """The workers of one cycle.

    :param served: 1 for requests that had their turn, (R,); ``position`` is the number of the last one, (1,).
    :param taken: the slots that were granted, (N,), as the cycle goes on.
    """

    shares: Sequence[DaskShare]
    served: NDArray[np.uint8]
    position: NDArray[np.int64]
    taken: Mask
    _begun: NDArray[np.uint8] = attrs.field(init=False)
    _patience: float = attrs.field(init=False)  # seconds of _ALL_PATIENCE that are left

    def __attrs_post_init__(self) -> None:
        self._begun = np.zeros_like(self.served)
        self._patience = _ALL_PATIENCE

    def __len__(self) -> int:
        return len(self.shares)

    def answers(self, until: int) -> Iterator[tuple[int, FoundAnswer]]:
        """Yield the answers that have come; wait for that of one request if a worker is at it."""
        for place, share in enumerate(self.shares):
            if share.has(until):
                yield from self._taken(place)
                if share.has(until):
                    self._wait(share, until)
            yield from self._taken(place)
        self._deal()

    def _wait(self, share: DaskShare, number: int) -> None:
        start = monotonic()
        share.wait(number, min(_PATIENCE, max(_LAST_PATIENCE, self._patience)))
        if share.is_lost:
            self._patience -= monotonic() - start

    def _taken(self, place: int) -> Iterator[tuple[int, FoundAnswer]]:
        share = self.shares[place]
        for answer in share.take():
            yield place, answer
        if share.is_lost:
            for numbers in share.open():
                self._begun[numbers] = 0  # for the others

    def _deal(self) -> None:
        """Give a batch to each worker that has room for one."""
        for share in self.shares:
            while share.is_ready():
                numbers = self._next(share.size)
                if not len(numbers):
                    return
                share.ask(numbers, self.taken)
                self._begun[numbers] = not share.is_lost

    def _next(self, most: int) -> NDArray[np.int32]:
        """Return the next requests that nobody has begun: those that come late enough after the last turn first."""
        left = np.flatnonzero((self._begun | self.served) == 0).astype(np.int32)
        start = int(left.searchsorted(int(self.position[0]) + _LEAD))
        return np.concatenate((left[start : start + most], left[: max(0, most - (len(left) - start))]))[:most]

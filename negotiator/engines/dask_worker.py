"""What runs in a worker of a Dask cluster: an actor with the task of the cycle."""

from __future__ import annotations

import gc
import pickle
import zlib
from time import perf_counter
from typing import Final, TypeAlias

import attrs
import numpy as np

from negotiator.engines.answers import AnswerEncoder
from negotiator.engines.finder import ConditionFinder
from negotiator.engines.program_identity import program_identity
from negotiator.engines.sent_task import TaskReceiver
from negotiator.hooks.records import Mask

_LEVEL: Final = 1  # of compression

#: The place of a batch among those of its task, in the order in which they were evaluated, the seconds that it took, and its answers.
Batch: TypeAlias = "tuple[int, float, bytes]"


@attrs.define(eq=False)
class _Evaluation:
    """The task of one cycle, as it is evaluated."""

    version: int
    finder: ConditionFinder
    encoder: AnswerEncoder
    taken: Mask
    batches: int = 0


@attrs.define(eq=False)
class DaskConditionWorker:
    """Evaluates conditions for one negotiator. Dask calls its methods one after the other, in the order in which they arrive."""

    _receiver: TaskReceiver = attrs.field(factory=TaskReceiver, init=False)
    _current: _Evaluation | None = attrs.field(default=None, init=False)

    def identity(self) -> tuple[tuple[str, str], ...]:
        """Return what this worker runs (``program_identity``)."""
        return program_identity()

    def begin(self, message: bytes) -> int:
        """Begin the task of the next cycle, and return its version.

        :raises DamagedDataError: the message is not the one after the last one.
        """
        self.end()
        version, task = self._receiver.read(message)
        taken = np.zeros(len(task.slots), np.bool_)
        task.ranks.taken = taken
        finder = ConditionFinder(task, taken)
        self._current = _Evaluation(version, finder, AnswerEncoder(len(task.slots)), taken)
        gc.freeze()  # collections need not visit the ads of the pool
        return version

    def answers(self, version: int, numbers: bytes, taken: bytes) -> Batch | None:
        """Return the answers for some requests; None if the task of another cycle has begun.

        :param numbers: those of the requests, as 32-bit integers.
        :param taken: slots that were granted since the last call, as 32-bit integers.
        """
        current = self._current
        if current is None or current.version != version:
            return None
        start = perf_counter()
        current.taken[np.frombuffer(taken, np.int32)] = True
        found = [
            current.encoder.encode(current.finder.find(number))
            for number in np.frombuffer(numbers, np.int32).tolist()
        ]
        current.batches += 1
        content = zlib.compress(pickle.dumps(found, protocol=5), _LEVEL)
        return current.batches - 1, perf_counter() - start, content

    def end(self) -> None:
        """Forget the task."""
        self._current = None
        gc.unfreeze()

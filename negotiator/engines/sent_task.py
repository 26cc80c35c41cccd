"""The conditions of a cycle as bytes for workers on other machines: no plugin and no bundle is loaded there."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from negotiator.bundle.constraints import BoundConstraint
from negotiator.classad import Ad, Table
from negotiator.classad.columnar import MemoryBudget
from negotiator.cycle.rank import Ranks
from negotiator.cycle.requirements import Requirements
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.engines.condition_task import ConditionTask
from negotiator.engines.sent_tables import TableReceiver, TableSender
from negotiator.hooks.records import Cycle
from negotiator.hooks.slot_ranks import SlotRanks
from negotiator.pool.dictionary import pool_dictionary

_LEVEL: Final = 1  # of compression


@attrs.frozen(eq=False)
class _SentTask:
    """A task; ``version`` counts the tasks of a sender, ``is_whole`` are its two tables."""

    version: int
    is_whole: tuple[bool, bool]
    slots: bytes
    jobs: bytes
    copies: bytes
    running: bytes
    rules: SlotRanks
    constraints: Sequence[BoundConstraint]
    number: int
    now: float
    digest: str
    work: WorkAccounts

    def encode(self) -> bytes:
        return zlib.compress(pickle.dumps(self, protocol=5), _LEVEL)


@attrs.define(eq=False)
class TaskSender:
    """Writes the tasks of the cycles of one negotiator: rows of slots and requests that a worker has are not sent again."""

    version: int = attrs.field(default=0, init=False)
    _slots: TableSender = attrs.field(factory=TableSender, init=False)
    _jobs: TableSender = attrs.field(factory=TableSender, init=False)
    _changes: _SentTask | None = attrs.field(default=None, init=False)
    _encoded: dict[bool, bytes] = attrs.field(factory=dict, init=False)

    def next(self, task: ConditionTask) -> None:
        """Begin the task of the next cycle."""
        self.version += 1
        self._encoded.clear()
        slots = self._slots.changes(task.slots, self._slots.dictionary or pool_dictionary())
        dictionary = self._slots.dictionary  # the jobs were read with that of the slots
        assert dictionary is not None  # noqa: S101 - for the type: a table was written
        jobs = self._jobs.changes(Table.from_ads(task.jobs, dictionary), dictionary)
        self._changes = _SentTask(
            version=self.version,
            is_whole=(self._slots.is_whole, self._jobs.is_whole),
            slots=slots,
            jobs=jobs,
            copies=np.array(task.copies, np.int64).tobytes(),
            running=np.packbits(task.running).tobytes(),
            rules=task.rules,
            constraints=task.constraints,
            number=task.cycle.number,
            now=task.cycle.now,
            digest=task.cycle.digest,
            work=task.work.for_workers(),
        )

    def message(self, known: int) -> bytes:
        """Return the task for a worker that has the one of version ``known``, 0 for none."""
        whole = known != self.version - 1
        if whole not in self._encoded:
            assert self._changes is not None  # noqa: S101 - for the type: ``next`` comes first
            sent = self._changes
            if whole:
                tables = self._slots.whole(), self._jobs.whole()
                sent = attrs.evolve(sent, is_whole=(True, True), slots=tables[0], jobs=tables[1])
            self._encoded[whole] = sent.encode()
        return self._encoded[whole]

    def end(self) -> None:
        """Forget the encoded task: workers that join during the cycle take part in the next one."""
        self._encoded.clear()
        self._changes = None


@attrs.frozen(eq=False)
class _Jobs(Sequence[Ad]):
    """The ads of a table, each made when it is needed."""

    table: Table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, number: int) -> Ad:  # type: ignore[override] # no slices are taken
        return self.table.ad(number)


@attrs.define(eq=False)
class TaskReceiver:
    """Reads the tasks of one negotiator."""

    _slots: TableReceiver = attrs.field(factory=TableReceiver, init=False)
    _jobs: TableReceiver = attrs.field(factory=TableReceiver, init=False)

    def read(self, message: bytes) -> tuple[int, ConditionTask]:
        """Return the next task with its version, ready to be evaluated.

        :raises DamagedDataError: the message is not the one after the last one.
        """
        sent: _SentTask = pickle.loads(zlib.decompress(message))  # noqa: S301 - from the negotiator that started this worker
        slots = self._slots.read(sent.slots, is_whole=sent.is_whole[0])
        jobs = self._jobs.read(sent.jobs, is_whole=sent.is_whole[1])
        cycle = Cycle(sent.number, sent.now, sent.digest)
        budget = MemoryBudget.of(len(slots))
        requirements = Requirements(slots, cycle.environment, budget)
        return sent.version, ConditionTask(
            slots=slots,
            rules=sent.rules,
            requirements=requirements,
            ranks=Ranks(
                requirements.cache_of_easy.dependencies,
                cycle.environment,
                budget,
                sent.rules,
                requirements.hard,
            ),
            constraints=sent.constraints,
            cycle=cycle,
            work=sent.work,
            jobs=_Jobs(jobs),
            copies=np.frombuffer(sent.copies, np.int64).tolist(),
            running=np.unpackbits(np.frombuffer(sent.running, np.uint8), count=len(slots)).view(np.bool_),
        )

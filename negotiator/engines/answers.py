"""Answers of workers as bytes: a reason, a set of names and a condition are sent once, and then by number."""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from typing import Any

import attrs
import numpy as np

from negotiator.classad.columnar import TrueRows
from negotiator.cycle.conditions import BestSlots, FoundConditions
from negotiator.cycle.result import Removal
from negotiator.engines.finder import FoundAnswer
from negotiator.engines.sent_conditions import ConditionDecoder, ConditionEncoder, SentConditions


@attrs.define(eq=False)
class AnswerEncoder:
    """Makes the bytes of the answers of one worker, in the order in which they are sent.

    :param size: the number of slots.
    """

    size: int
    _conditions: ConditionEncoder = attrs.field(init=False)
    _numbers: dict[Hashable, int] = attrs.field(factory=dict, init=False)
    _held: list[object] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self._conditions = ConditionEncoder(self.size)

    def encode(self, answer: FoundAnswer) -> bytes:
        """Return the bytes of an answer."""
        new: list[object] = []

        def number(value: object, key: Hashable) -> int:
            found = self._numbers.get(key)
            if found is None:
                found = self._numbers[key] = len(self._numbers)
                self._held.append(value)  # so that its identity is not used again
                new.append(value)
            return found

        values: list[Any] = [answer.number, answer.steps, answer.common, answer.machine]
        found = answer.found
        if found is not None:
            removals = [
                (number(each.reason, id(each.reason)), each.removed, each.rejected) for each in found.removals
            ]
            values += [
                number(answer.reads, answer.reads),
                self._conditions.encode(found.kept),
                np.array(removals, np.int32).tobytes(),
                [
                    (number(reason, id(reason)), self._conditions.encode((mask,)))
                    for reason, mask in found.warnings
                ],
                None if found.best is None else _packed_best(found.best),
            ]
        return pickle.dumps((new, values), protocol=5)


@attrs.define(eq=False)
class AnswerDecoder:
    """Reads the answers of one worker, in the order in which they were sent.

    :param size: the number of slots.
    """

    size: int
    _conditions: ConditionDecoder = attrs.field(init=False)
    _known: list[Any] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self._conditions = ConditionDecoder(self.size)

    def decode(self, content: bytes) -> FoundAnswer:
        """Return an answer. The bytes are those of a process that runs this program for this one."""
        unshared = self._conditions.unshared
        new, values = pickle.loads(content)  # noqa: S301 - written by a fork of this process, or by a worker of the site's cluster
        self._known += new
        number, steps, common, machine, *rest = values
        if not rest:
            return FoundAnswer(number, None, nbytes=len(content))
        reads, kept, removals, warnings, best = rest
        counts = np.frombuffer(removals, np.int32).reshape(-1, 3).tolist()
        found = FoundConditions(
            self._conditions.decode(kept),
            tuple([Removal(self._known[reason], removed, rejected) for reason, removed, rejected in counts]),
            tuple([(self._known[reason], self._rows(mask)) for reason, mask in warnings]),
            None if best is None else _best(*best),
        )
        memory = len(content) + self._conditions.unshared - unshared
        return FoundAnswer(number, found, self._known[reads], steps, common, machine, len(content), memory)

    def _rows(self, sent: SentConditions) -> TrueRows:
        return TrueRows.all_of(self._conditions.decode(sent)) or TrueRows(self.size, self.size, None)


def _packed_best(best: BestSlots) -> tuple[bytes, bytes, bytes, bool]:
    """Return the rows, the different ranks, and the place of each row's rank among them."""
    bits, places = np.unique(best.ranks.view(np.int64), return_inverse=True)
    width = np.uint8 if len(bits) <= 256 else np.uint16
    return best.rows.astype(np.int32).tobytes(), bits.tobytes(), places.astype(width).tobytes(), best.complete


def _best(rows: bytes, ranks: bytes, places: bytes, complete: bool) -> BestSlots:  # noqa: FBT001 - as it was packed
    different = np.frombuffer(ranks, np.float64)
    of_row = np.frombuffer(places, np.uint8 if len(different) <= 256 else np.uint16)
    return BestSlots(np.frombuffer(rows, np.int32).astype(np.intp), different[of_row], complete)

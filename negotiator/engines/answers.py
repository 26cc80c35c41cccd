"""Answers of workers as bytes: a reason and a set of names are sent once, and then by number."""

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


@attrs.define(eq=False)
class AnswerEncoder:
    """Makes the bytes of the answers of one worker, in the order in which they are sent."""

    _numbers: dict[Hashable, int] = attrs.field(factory=dict, init=False)
    _held: list[object] = attrs.field(factory=list, init=False)

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
            values += [
                number(answer.reads, answer.reads),
                _packed(found.kept),
                [
                    (number(each.reason, id(each.reason)), each.removed, each.rejected)
                    for each in found.removals
                ],
                [(number(reason, id(reason)), _packed(mask)) for reason, mask in found.warnings],
                None if found.best is None else _packed_best(found.best),
            ]
        return pickle.dumps((new, values), protocol=5)


@attrs.define(eq=False)
class AnswerDecoder:
    """Reads the answers of one worker, in the order in which they were sent.

    :param size: the number of slots.
    """

    size: int
    _known: list[Any] = attrs.field(factory=list, init=False)

    def decode(self, content: bytes) -> FoundAnswer:
        """Return an answer. The bytes are those of a process that this one started."""
        new, values = pickle.loads(content)  # noqa: S301 - written by a fork of this process
        self._known += new
        number, steps, common, machine, *rest = values
        if not rest:
            return FoundAnswer(number, None)
        reads, kept, removals, warnings, best = rest
        found = FoundConditions(
            self._rows(kept),
            tuple(Removal(self._known[reason], removed, rejected) for reason, removed, rejected in removals),
            tuple((self._known[reason], self._rows(mask)) for reason, mask in warnings),
            None if best is None else _best(*best),
        )
        return FoundAnswer(number, found, self._known[reads], steps, common, machine)

    def _rows(self, packed: tuple[int, bytes | None]) -> TrueRows:
        count, bits = packed
        return TrueRows(self.size, count, None if bits is None else np.frombuffer(bits, np.uint8))


def _packed(rows: TrueRows) -> tuple[int, bytes | None]:
    return rows.count, None if rows.bits is None else rows.bits.tobytes()


def _packed_best(best: BestSlots) -> tuple[bytes, bytes, bool]:
    return best.rows.astype(np.int32).tobytes(), best.ranks.tobytes(), best.complete


def _best(rows: bytes, ranks: bytes, complete: bool) -> BestSlots:  # noqa: FBT001 - as it was packed
    return BestSlots(
        np.frombuffer(rows, np.int32).astype(np.intp), np.frombuffer(ranks, np.float64), complete
    )

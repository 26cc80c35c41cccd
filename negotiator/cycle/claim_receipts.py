"""The charges of each running claim, so that preemption can release it and charge anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger import Ledger, Receipt, Rows


@attrs.frozen(eq=False)
class _ReceiptBlock:
    """Receipts of one commit: those of alike jobs are consecutive numbers. ``rows`` (K,) are the slots they run on."""

    rows: Rows
    receipts: Sequence[Receipt]


@attrs.define(eq=False)
class ClaimReceipts:
    """The receipts of everything in use, by the row of its slot among all slots of the pool.

    Jobs whose slot is not in the pool are under the row -1, and are never released. Nothing is made per job: a block
    holds an array and a range, and the index over all blocks is sorted when the first row is looked up.
    """

    _blocks: list[_ReceiptBlock] = attrs.field(factory=list, init=False)
    _index: tuple[Rows, NDArray[np.int64]] | None = attrs.field(default=None, init=False)

    def add(self, rows: Rows, receipts: Sequence[Receipt]) -> None:
        """Store the receipts of the jobs on some slots: (K,) rows, and as many receipts in their order."""
        if len(rows):
            self._blocks.append(_ReceiptBlock(rows, receipts))
            self._index = None

    def of(self, row: int) -> tuple[Receipt, ...]:
        """Return the receipts of what runs on a slot, oldest first: of both modes, and of every job there."""
        if row < 0:
            return ()
        rows, receipts = self._sorted()
        first, end = np.searchsorted(rows, [row, row + 1])
        return tuple(map(Receipt, receipts[first:end].tolist()))

    def each(self) -> Iterator[tuple[int, Receipt]]:
        """Yield the row of a slot and a receipt of what runs there, for all receipts, by row."""
        rows, receipts = self._sorted()
        for row, receipt in zip(rows.tolist(), receipts.tolist(), strict=True):
            if row >= 0:
                yield row, Receipt(receipt)

    def release(self, row: int, ledger: Ledger) -> tuple[Receipt, ...]:
        """Release all charges of the jobs on a slot, and return the receipts; all or nothing.

        :raises LedgerError: ``already_released``; nothing was released.
        """
        receipts = self.of(row)
        ledger.release_all(receipts)
        return receipts

    def _sorted(self) -> tuple[Rows, NDArray[np.int64]]:
        """Return the rows, ascending, and the receipt at each place."""
        if self._index is None:
            empty = np.zeros(0, np.int64)
            rows = np.concatenate([empty, *(block.rows for block in self._blocks)])
            receipts = np.concatenate([empty, *(np.asarray(block.receipts) for block in self._blocks)])
            order = np.argsort(rows, kind="stable")
            self._index = rows[order], receipts[order]
        return self._index

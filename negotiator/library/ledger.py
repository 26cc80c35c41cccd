"""A ledger for one's own use: counters with limits, charged together or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs
import numpy as np

from negotiator import ledger
from negotiator.app.why.text_tables import WhyTable, WhyText
from negotiator.ledger import Charge, LedgerError, Receipt
from negotiator.library.printed import Printed
from negotiator.records.text import suggest


@attrs.frozen
class AdmittedCopies:
    """What a ledger granted: a receipt for each copy that fits, and the counters that refused the next one.

    >>> import negotiator as n
    >>> admitted = n.Ledger({"licences": 2}).admit({"licences": 1}, copies=3)
    >>> len(admitted), admitted.refused_by
    (2, 'licences')
    """

    receipts: tuple[Receipt, ...]
    refused_by: str = ""

    def __len__(self) -> int:
        return len(self.receipts)


@attrs.frozen(eq=False, repr=False)
class Ledger(Printed):
    """Counters with limits, as the program charges quotas: a match is granted only if all of its charges fit.

    Amounts and limits are integers: choose a unit that is small enough, as the program counts thousandths of a processor. A
    limit of None is none. The ledger has no clock and no file: the same calls give the same answers.

    >>> import negotiator as n
    >>> ledger = n.Ledger({"user alice": 8, "all users": 20})
    >>> admitted = ledger.admit({"user alice": 3, "all users": 3}, copies=4)
    >>> len(admitted), admitted.refused_by
    (2, 'user alice')
    >>> ledger.usage
    {'user alice': 6, 'all users': 6}
    >>> ledger.release(admitted.receipts[:1])
    >>> ledger
    2 counters
    <BLANKLINE>
      COUNTER     USED  LIMIT
      user alice     3      8
      all users      3     20
    """

    _limits: dict[str, int | None] = attrs.field(converter=dict)
    _ledger: ledger.Ledger = attrs.field(factory=ledger.Ledger, init=False)

    @property
    def limits(self) -> Mapping[str, int | None]:
        """The limit of each counter; None for none."""
        return MappingProxyType(self._limits)

    @property
    def usage(self) -> dict[str, int]:
        """The sum of the charges on each counter."""
        counters = self._ledger.counters()
        return {name: counters.used((name,)) for name in self._limits}

    def set_limit(self, counter: str, limit: int | None) -> None:
        """Change or add a limit; what was admitted before stays."""
        self._limits[counter] = limit

    def admit(self, charges: Mapping[str, int], copies: int = 1) -> AdmittedCopies:
        """Charge as many copies of a request as fit: all charges of a copy, or none.

        :param charges: the amount of one copy by counter, 0 or more.
        :raises LedgerError: a counter is unknown, or an amount is negative or not an integer; nothing is charged.
        """
        asked = [Charge((self._known(name),), amount, self._limits[name]) for name, amount in charges.items()]
        found = self._ledger.admit(asked, (), np.arange(copies), copies)
        refused = [name for name, count in zip(charges, found.refused, strict=True) if count]
        return AdmittedCopies(tuple(self._ledger.commit(found)), refused[0] if refused else "")

    def release(self, receipts: Iterable[Receipt]) -> None:
        """Subtract what the copies with these receipts were charged: all of them, or none if one is not held.

        :raises LedgerError: a receipt was released before, or is not of this ledger.
        """
        self._ledger.release_all(receipts)

    def _known(self, counter: str) -> str:
        if counter in self._limits:
            return counter
        hint = suggest(counter, self._limits)
        raise LedgerError(
            "bad_key",
            f"unknown counter {counter!r}: give it a limit first, None for none"
            + (f"; {hint}" if hint else ""),
        )

    def _text(self) -> WhyText:
        rows = tuple(
            (name, str(used), "" if self._limits[name] is None else str(self._limits[name]))
            for name, used in self.usage.items()
        )
        return WhyText.of(
            [f"{len(rows)} counters"],
            [WhyTable("", ("COUNTER", "USED", "LIMIT"), rows, (1, 2), "counter")],
        )

"""The charges of a request, as a policy declares them: counters, amounts and limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

import attrs

from negotiator.ledger.errors import LedgerError
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import LARGEST, CounterKey, Ints


@attrs.frozen(eq=False)
class Charge:
    """An amount that a match adds to a sum.

    ``amount`` and ``limit`` are one integer, or (N,) of int64 over the slots. An amount of 0 is never refused, unless
    the charge ``probes``: a match that adds nothing is then refused if more is used than the limit. All charges of a
    match on one counter are added up, and the total must fit each of their limits. A limit of None is 2^63 - 1; one
    below the sum refuses everything. The ledger does not read ``label``.
    """

    counter: CounterKey | Grouping
    amount: int | Ints
    limit: int | Ints | None
    label: object = None
    probes: bool = False


@attrs.frozen(eq=False)
class KeyCharge:
    """A key that a match adds to a set of keys, such as the running applications of a user.

    ``keys`` is (M,): the key of each copy of the request, in order. A key that the set already holds costs nothing, any
    other costs 1; the limit is on the size of the set. Charges with the same keys should share one sequence.
    """

    counter: CounterKey
    keys: Sequence[str]
    limit: int | None
    label: object = None


def check_amounts(amounts: Iterable[int]) -> None:
    """Raise for the first amount that is not an integer from 0 to 2^63 - 1.

    :raises LedgerError: ``bad_amount``, ``negative_amount``, ``overflow``.
    """
    for amount in amounts:
        if type(amount) is not int or not 0 <= amount <= LARGEST:
            _refuse_amount(amount)


def _refuse_amount(amount: object) -> NoReturn:
    if type(amount) is not int:
        raise LedgerError("bad_amount", f"invalid amount {amount!r}: it must be an integer")
    if amount < 0:
        raise LedgerError("negative_amount", f"invalid amount {amount}: release a receipt instead")
    raise LedgerError("overflow", f"invalid amount {amount}: the largest is 2^63 - 1")

"""The exception of the ledger, with a code for each cause."""

from __future__ import annotations

from negotiator.errors import NegotiatorError


class LedgerError(NegotiatorError):
    """An invalid request to a ledger. It is refused as a whole, and no counter has changed.

    ``code`` is one of:

    - ``bad_key``: a key is not a tuple of strings, or is empty; ``wrong_sort``: a sum is used as a set of keys, or a
      set as a sum;
    - ``bad_amount``, ``negative_amount``, ``overflow``: an amount is not an integer, is negative, or would make a sum
      larger than 2^63 - 1;
    - ``bad_charge``: columns, codes or keys do not fit the slots or the copies;
    - ``never_charged``, ``already_released``: the receipt was never issued, or was released before;
    - ``stale``: counters have changed since the admission was made;
    - ``unbalanced``: a counter is not the sum of its receipts.

    >>> import negotiator as n
    >>> try:
    ...     n.Ledger({"licences": 2}).admit({"licences": -1})
    ... except n.LedgerError as error:
    ...     print(error.code)
    negative_amount
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

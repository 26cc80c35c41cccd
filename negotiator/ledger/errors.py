"""What a ledger refuses, and in which word."""

from __future__ import annotations

from negotiator.errors import NegotiatorError


class LedgerError(NegotiatorError):
    """A request that makes no sense to a ledger; it is refused whole, and no counter has changed.

    ``code`` says in a word what was wrong:

    - ``bad_key``: a key that is no tuple of strings, or an empty one; ``wrong_sort``: a sum used as a set of keys, or
      the other way round;
    - ``bad_amount``, ``negative_amount``, ``overflow``: an amount that is no integer, less than nothing, or would make
      a sum larger than 2^63 - 1;
    - ``bad_charge``: columns, codes or keys that do not fit the slots or the copies;
    - ``never_charged``, ``already_released``: there is nothing to give back;
    - ``stale``: counters have changed since the admission was made;
    - ``unbalanced``: a counter is not the sum of what was charged on it.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

"""The limits of evaluation, the ways it fails, and its inputs besides ads: time and random numbers."""

from __future__ import annotations

import random
from functools import cached_property
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.classad.syntax import AttributeMap

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LEVELS: Final = 400
MAX_STEPS: Final = 10_000_000


class EvaluationFailed(Exception):  # noqa: N818 - HTCondor's word: the evaluation fails, it has no value, not even error
    """The evaluation is given up: too many levels, or a function that refuses its arguments (``random(0)``).

    ``in_reference`` is True if what failed is the scope of a reference, such as ``x`` in ``x.y``, or an element it
    selects from. See ``scope.value_left``.
    """

    in_reference = False


class Exhausted(Exception):  # noqa: N818
    """No steps are left, or evaluations are nested so deep that HTCondor would overflow its stack."""


@attrs.define(eq=False)
class Allowance:
    """Steps that several evaluations may take together. Counting steps, not time, makes the outcome reproducible.

    ``steps`` are left; negative if more were taken.
    """

    steps: int

    def charge(self, steps: int) -> None:
        """Subtract steps.

        :raises Exhausted: fewer were left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted

    @property
    def exhausted(self) -> bool:
        """True if no steps are left."""
        return self.steps <= 0


@attrs.frozen(eq=False)
class Payers:
    """The allowances that evaluations over a table are charged to: each side pays for the expressions in its own ad.

    ``rows`` returns the allowance of an ad of the table, ``other`` is the allowance of the ad that the rows are matched
    with, None if they are evaluated alone. ``expression`` is the allowance of the expression that is evaluated, if
    it is in neither ad: a policy of the administrator.
    """

    rows: Callable[[AttributeMap], Allowance]
    other: Allowance | None = None
    expression: Allowance | None = None

    def of_single(self, ad: AttributeMap | None) -> Allowance:
        """Return the allowance of an ad that is evaluated without a table: the one that tables are matched with."""
        return self.other or self.rows(ad or AttributeMap())

    @property
    def exhausted(self) -> bool:
        """True if the ad that the rows are matched with has no steps left."""
        return self.other is not None and self.other.exhausted


@attrs.frozen
class Environment:
    """The inputs of an evaluation besides ads.

    ``now`` is in seconds since the epoch, ``zone_offset`` in seconds east of UTC. ``random()`` draws from
    ``generator``, which starts from ``seed``, so that a cycle can be replayed. Without ``payers`` the steps of an
    evaluation are limited, but charged to nobody.
    """

    now: float = 0.0
    seed: int = 0
    zone_offset: int = 0
    payers: Payers | None = attrs.field(default=None, eq=False, repr=False)

    @cached_property
    def generator(self) -> random.Random:
        """The generator of ``random()``."""
        return random.Random(self.seed)  # noqa: S311 - not used for secrets

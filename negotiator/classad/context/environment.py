"""The limits of evaluation, the ways it fails, and its inputs besides ads: time and random numbers."""

from __future__ import annotations

import random
from functools import cached_property
from typing import Final

import attrs

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


@attrs.frozen
class Environment:
    """The inputs of an evaluation besides ads.

    ``now`` is in seconds since the epoch, ``zone_offset`` in seconds east of UTC. ``random()`` draws from
    ``generator``, which starts from ``seed``, so that a cycle can be replayed.
    """

    now: float = 0.0
    seed: int = 0
    zone_offset: int = 0

    @cached_property
    def generator(self) -> random.Random:
        """The generator of ``random()``."""
        return random.Random(self.seed)  # noqa: S311 - not used for secrets

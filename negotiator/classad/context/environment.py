"""What evaluations are bounded by, how they fail, and what they may know of the world."""

from __future__ import annotations

import random
from functools import cached_property
from typing import Final

import attrs

MAX_LEVELS: Final = 400
MAX_STEPS: Final = 10_000_000


class EvaluationFailed(Exception):  # noqa: N818 - HTCondor's word: the evaluation fails, it has no value, not even error
    """The evaluation is given up: too deep, or a function that refuses (``random(0)``)."""


class Exhausted(Exception):  # noqa: N818
    """There are no steps left, or evaluations stand in each other so deep that HTCondor overflows its stack."""


@attrs.frozen
class Environment:
    """What an evaluation may know of the world.

    ``now`` is in seconds since the epoch, ``zone_offset`` in seconds east of UTC. ``generator`` is the state of
    ``random()``, kept apart: it starts from ``seed``, so that a cycle can be replayed.
    """

    now: float = 0.0
    seed: int = 0
    zone_offset: int = 0

    @cached_property
    def generator(self) -> random.Random:
        """What ``random()`` draws from, in the order in which it is called."""
        return random.Random(self.seed)  # noqa: S311 - nothing is kept secret by it

"""Made slot ads of a pool of 500 kinds of machines: START has a constant of its own in each kind, in one of four shapes."""

from __future__ import annotations

from typing import Final

from negotiator_bench.slots import SLOTS_OF_A_HOST, fixed, varied
from negotiator_bench.templates import long_form

KINDS: Final = 500

_START: Final = (
    lambda kind: f"TARGET.RequestMemory < {2000 + 37 * kind}",
    lambda kind: f"TARGET.RequestDisk > {kind} && TARGET.RequestCpus < {200 + kind}",
    lambda kind: f'LoadAvg < 0.{500 + kind} || TARGET.Owner == "u{kind}"',
    lambda kind: (
        f'stringListMember(TARGET.Owner,"alice,bob,u{kind}") || TARGET.RequestMemory <= {9000 + kind}'
    ),
)


def slot_of_a_kind(i: int) -> str:
    """Make slot ``i`` of this pool: one of ``plain_slot``, with the START of the kind of its host."""
    kind = i // SLOTS_OF_A_HOST % KINDS
    return long_form(fixed() | varied(i) | {"Start": _START[kind % len(_START)](kind)})

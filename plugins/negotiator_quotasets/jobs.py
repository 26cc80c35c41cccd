"""What quotas know of a job: who asks, for what, in which units that is counted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import attrs

from negotiator_quotasets.complexes import SLOTS, Complex, ComplexType, Consumable
from negotiator_quotasets.values import number, value_of

#: The most that a counter holds.
LARGEST = 2**63 - 1

_UNITS = {ComplexType.DOUBLE: 1_000_000}


class Claimant(NamedTuple):
    """Whose a job is: jobs of one claimant are under the same rules. None for no project, no parallel environment."""

    user: str
    groups: tuple[str, ...] = ()
    project: str | None = None
    pe: str | None = None
    queue: str = ""


@attrs.frozen
class RequestedResources:
    """What a job asks for: of each consumable the amount in the counter's units, of each static complex the value as a text.

    A consumable that is not asked for and has a default of 0 is in neither; one that is asked for with 0 has 0.
    """

    amounts: Mapping[str, int]
    values: Mapping[str, str]


def units(complex_: Complex) -> int:
    """How many units of its counter are one of a complex: whole numbers, bytes, seconds; millionths where it is DOUBLE."""
    return _UNITS.get(complex_.type, 1)


def counted(complex_: Complex, value: Fraction, slots: int = 1) -> int:
    """What a job of so many slots takes, in units of the counter; rounded up, so that nothing is had for nothing."""
    times = slots if complex_.consumable is Consumable.YES else 1
    return min(math.ceil(value * times * units(complex_)), LARGEST)


def allowed(complex_: Complex, value: Fraction) -> int:
    """A limit, in units of the counter; rounded down."""
    return max(-LARGEST, min(math.floor(value * units(complex_)), LARGEST))


def asked_for(
    complexes: Iterable[Complex], requested: Mapping[str, str | Fraction], slots: int
) -> RequestedResources:
    """Read what a job asks for.

    :param requested: by full name; the slots are not in it.
    :param slots: of the whole job, or 1 to count slot by slot.
    :raises ValueError: a value that its type cannot have; the text says which.
    """
    amounts, values = {}, {}
    for each in complexes:
        said = requested.get(each.name)
        if not each.is_consumable:
            if said is not None:
                values[each.name] = str(said)
        elif each.name == SLOTS:
            amounts[each.name] = slots
        elif said is not None:
            amounts[each.name] = counted(each, _number(each, said), slots)
        elif default := number(each.type, each.default):
            amounts[each.name] = counted(each, default, slots)
    return RequestedResources(amounts, values)


def _number(complex_: Complex, said: str | Fraction) -> Fraction:
    value = value_of(complex_, said) if isinstance(said, str) else said
    if value is None or value < 0:
        raise ValueError(f"{complex_.name}={said} is no amount")
    return value

"""What quotas need to know of a job: who submitted it, and the resources that it requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import attrs

from negotiator_quotasets.complexes import (
    SLOTS,
    Complex,
    InvalidValueError,
    charged_units,
    parse_number,
    parse_value,
)


class Claimant(NamedTuple):
    """The user, project, parallel environment and queue of a job: jobs of one claimant are under the same rules.

    None means no project, or no parallel environment.
    """

    user: str
    groups: tuple[str, ...] = ()
    project: str | None = None
    pe: str | None = None
    queue: str = ""


@attrs.frozen
class RequestedResources:
    """The resources that a job requests, by full names of complexes.

    ``amounts`` are those of consumables, in units of the counter; ``values`` are the texts of all others. A consumable
    that is not requested and has a default of 0 is in neither; one that is requested with 0 has the amount 0.
    """

    amounts: Mapping[str, int]
    values: Mapping[str, str]


def requested_resources(
    complexes: Iterable[Complex], requested: Mapping[str, str | Fraction], slots: int
) -> RequestedResources:
    """Convert the requests of a job.

    :param requested: by full name; the number of slots is not in it.
    :param slots: of the whole job.
    :raises InvalidValueError: invalid value of a consumable; the message names the complex.
    """
    amounts, values = {}, {}
    for each in complexes:
        value = requested.get(each.name)
        if not each.is_consumable:
            if value is not None:
                values[each.name] = str(value)
        elif each.name == SLOTS:
            amounts[each.name] = slots
        elif value is not None:
            amounts[each.name] = charged_units(each, _number(each, value), slots)
        elif default := parse_number(each.type, each.default):
            amounts[each.name] = charged_units(each, default, slots)
    return RequestedResources(amounts, values)


def _number(complex_: Complex, value: str | Fraction) -> Fraction:
    number = parse_value(complex_, value) if isinstance(value, str) else value
    if number is None or number < 0:
        raise InvalidValueError(f"invalid amount {complex_.name}={value}")
    return number

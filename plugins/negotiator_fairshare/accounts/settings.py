"""The knobs of the accounts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import attrs

from negotiator_fairshare.groups.settings import ROOT_GROUP

NICE_PREFIX = "nice-user"
MIN_FACTOR = 1.0


def _positive(_record: object, field: attrs.Attribute[float], value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{field.name} must be a positive number, not {value}")


def _positive_values(
    _record: object, field: attrs.Attribute[Mapping[str, float]], values: Mapping[str, float]
) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{field.name}: {name} must be a positive number, not {value}")


def _lower_keys(values: Mapping[str, float]) -> dict[str, float]:
    return {name.lower(): value for name, value in values.items()}


def _only_root(_name: str) -> str:
    return ROOT_GROUP


@attrs.frozen(kw_only=True)
class AccountSettings:
    """The knobs that accounts depend on, each named after its HTCondor knob.

    ``halflife`` is in seconds (PRIORITY_HALFLIFE). ``group_factors`` has the factors GROUP_PRIO_FACTOR_<group> by group,
    without regard to case. ``group_of`` returns the accounting group that a submitter is assigned to; for the name of a
    group, that name. ``groups`` are the configured accounting groups, parents before children, the root first.
    """

    halflife: float = attrs.field(default=86_400.0, validator=_positive)
    default_factor: float = attrs.field(default=1e3, validator=_positive)
    nice_factor: float = attrs.field(default=1e10, validator=_positive)
    remote_factor: float = attrs.field(default=1e7, validator=_positive)
    local_domain: str = ""
    group_factors: Mapping[str, float] = attrs.field(
        factory=dict, converter=_lower_keys, validator=_positive_values
    )
    group_of: Callable[[str], str] = _only_root
    groups: tuple[str, ...] = (ROOT_GROUP,)

    def factor_of(self, name: str) -> float:
        """Return the priority factor of a name that has none stored, at least 1."""
        return max(MIN_FACTOR, self._configured_factor(name))

    def _configured_factor(self, name: str) -> float:
        if name.startswith(NICE_PREFIX):
            return self.nice_factor
        of_group = self.group_factors.get(self.group_of(name).lower())
        if of_group is not None:
            return of_group
        if self.local_domain and domain_of(name) != self.local_domain:
            return self.remote_factor
        return self.default_factor


def domain_of(name: str) -> str:
    """Return what follows the last ``@`` of a name, or an empty text."""
    _user, at, domain = name.rpartition("@")
    return domain if at else ""

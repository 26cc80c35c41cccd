"""Warnings of settings that have no effect, because the bundle chooses another order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from negotiator.bundle.knob_entries import KnobOwners
from negotiator.bundle.model import Ordering
from negotiator.bundle.no_effect import KnownSettings, is_default
from negotiator.bundle.text import MapEntry, ScalarNode
from negotiator.records import Problem, Severity

_LISTED = 3


def unused_order_settings(
    ordering: Ordering, entries: Mapping[str, MapEntry], owners: KnobOwners, known: KnownSettings
) -> Iterator[Problem]:
    """Yield a warning for each order that is not chosen, if the bundle has settings of it other than the defaults.

    :param entries: the values of the bundle by key.
    :param known: the settings that plugins know, with their defaults; others are left out.
    """
    chosen = ordering.chosen
    in_force = ordering.name
    for name, order in ordering.known.items():
        if chosen is not None and order.plugin == chosen.plugin:
            continue
        found = {
            key: entry
            for key, entry in entries.items()
            if order.plugin in {owners.keys.get(key), owners.of_pattern(key)} and _decides(known, key, entry)
        }
        if found:
            first = next(iter(found.values()))
            more = f" and {len(found) - _LISTED} others" if len(found) > _LISTED else ""
            verb = "has" if len(found) == 1 else "have"
            message = f"{', '.join([*found][:_LISTED])}{more} {verb} no effect: the order is {in_force}"
            hint = f"write order: {name} into pool.yaml"
            yield first.value.file.problem(Severity.WARNING, first.at, message, hint)


def _decides(known: KnownSettings, key: str, entry: MapEntry) -> bool:
    """True for a known setting with another value than its default."""
    setting = known.find(key)
    if setting is None:
        return False
    return not isinstance(entry.value, ScalarNode) or not is_default(setting, entry.value.value.text)

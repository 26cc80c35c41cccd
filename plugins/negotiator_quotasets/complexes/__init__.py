"""Complexes, their values and patterns: what Grid Engine knows of resource attributes.

A name is imported when it is used first.
"""

from typing import TYPE_CHECKING

from negotiator.plugin import lazy_names

if TYPE_CHECKING:
    from negotiator_quotasets.complexes.model import SLOTS as SLOTS
    from negotiator_quotasets.complexes.model import STANDARD as STANDARD
    from negotiator_quotasets.complexes.model import Complex as Complex
    from negotiator_quotasets.complexes.model import Complexes as Complexes
    from negotiator_quotasets.complexes.model import ComplexType as ComplexType
    from negotiator_quotasets.complexes.model import Consumable as Consumable
    from negotiator_quotasets.complexes.model import Relation as Relation
    from negotiator_quotasets.complexes.model import Requestable as Requestable
    from negotiator_quotasets.complexes.values import LARGEST as LARGEST
    from negotiator_quotasets.complexes.values import InvalidValueError as InvalidValueError
    from negotiator_quotasets.complexes.values import charged_units as charged_units
    from negotiator_quotasets.complexes.values import format_amount as format_amount
    from negotiator_quotasets.complexes.values import has_wildcards as has_wildcards
    from negotiator_quotasets.complexes.values import limit_units as limit_units
    from negotiator_quotasets.complexes.values import matcher as matcher
    from negotiator_quotasets.complexes.values import normalized as normalized
    from negotiator_quotasets.complexes.values import parse_number as parse_number
    from negotiator_quotasets.complexes.values import parse_value as parse_value
    from negotiator_quotasets.complexes.values import queue_matches as queue_matches
    from negotiator_quotasets.complexes.values import satisfies as satisfies
    from negotiator_quotasets.complexes.values import units_of as units_of
    from negotiator_quotasets.complexes.values import wildcard_matches as wildcard_matches
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator_quotasets.complexes.model": (
                "SLOTS STANDARD Complex ComplexType Complexes Consumable Relation Requestable"
            ),
            "negotiator_quotasets.complexes.values": (
                "LARGEST InvalidValueError charged_units format_amount has_wildcards limit_units "
                "matcher normalized parse_number parse_value queue_matches satisfies units_of "
                "wildcard_matches"
            ),
        },
    )

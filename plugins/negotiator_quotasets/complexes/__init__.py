"""Complexes, their values and patterns: what Grid Engine knows of resource attributes.

A name is imported when it is used first.
"""

from typing import TYPE_CHECKING

from negotiator.plugin import lazy_names

if TYPE_CHECKING:
    from negotiator_quotasets.complexes.model import SLOTS as SLOTS
    from negotiator_quotasets.complexes.model import Complex as Complex
    from negotiator_quotasets.complexes.model import Complexes as Complexes
    from negotiator_quotasets.complexes.model import ComplexType as ComplexType
    from negotiator_quotasets.complexes.model import Consumable as Consumable
    from negotiator_quotasets.complexes.model import Relation as Relation
    from negotiator_quotasets.complexes.model import Requestable as Requestable
    from negotiator_quotasets.complexes.numbers import parse_number as parse_number
    from negotiator_quotasets.complexes.patterns import has_wildcards as has_wildcards
    from negotiator_quotasets.complexes.patterns import matcher as matcher
    from negotiator_quotasets.complexes.patterns import queue_matches as queue_matches
    from negotiator_quotasets.complexes.patterns import wildcard_matches as wildcard_matches
    from negotiator_quotasets.complexes.printing import format_amount as format_amount
    from negotiator_quotasets.complexes.printing import normalized as normalized
    from negotiator_quotasets.complexes.standard import STANDARD as STANDARD
    from negotiator_quotasets.complexes.units import LARGEST as LARGEST
    from negotiator_quotasets.complexes.units import charged_units as charged_units
    from negotiator_quotasets.complexes.units import limit_units as limit_units
    from negotiator_quotasets.complexes.units import units_of as units_of
    from negotiator_quotasets.complexes.values import InvalidValueError as InvalidValueError
    from negotiator_quotasets.complexes.values import parse_value as parse_value
    from negotiator_quotasets.complexes.values import satisfies as satisfies
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator_quotasets.complexes.model": (
                "SLOTS Complex Complexes ComplexType Consumable Relation Requestable"
            ),
            "negotiator_quotasets.complexes.numbers": "parse_number",
            "negotiator_quotasets.complexes.patterns": "has_wildcards matcher queue_matches wildcard_matches",
            "negotiator_quotasets.complexes.printing": "format_amount normalized",
            "negotiator_quotasets.complexes.standard": "STANDARD",
            "negotiator_quotasets.complexes.units": "LARGEST charged_units limit_units units_of",
            "negotiator_quotasets.complexes.values": "InvalidValueError parse_value satisfies",
        },
    )

"""What a resource quota set says, as it was understood: the records that everything else here works with.

Source: "Resource Quota Sets", grammar; sge_resource_quota(5). The records are plain values: two sets that say the same are
equal wherever they were read from.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import attrs

from negotiator.plugin import Source

#: The first character of the name of a user set or host group.
GROUP = "@"
#: The filters of a rule, in the order in which they are printed and in which a counter's key is made of them.
SCOPES = ("users", "projects", "pes", "queues", "hosts")


@attrs.frozen
class NameFilter:
    """One list of names, groups (``@``) and wildcards; ``expanded`` (``{}``) gives each of those it names a counter.

    A name that is among the ``excluded`` never matches. A filter of exclusions alone is for everybody else.
    """

    names: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()  # without their !
    expanded: bool = False

    def __str__(self) -> str:
        """As it is printed: inclusions before exclusions."""
        text = ",".join((*self.names, *(f"!{name}" for name in self.excluded)))
        return f"{{{text}}}" if self.expanded else text


@attrs.frozen
class Term:
    """One summand of a formula: a weight, times what a host has of a complex where one is named."""

    weight: Fraction
    complex: str = ""


@attrs.frozen
class RuleLimit:
    """The most of one resource; ``terms`` are those of a formula, empty where the value is written out."""

    resource: str  # the complex's full name
    text: str  # as it is printed
    terms: tuple[Term, ...] = ()
    source: Source | None = attrs.field(default=None, eq=False)
    # As it was written, exactly; None for words and formulas. A time of 1.5 s is printed as 2, and still compared as 1.5.
    value: Fraction | None = attrs.field(default=None, eq=False)

    def __str__(self) -> str:
        """``slots=5``."""
        return f"{self.resource}={self.text}"


@attrs.frozen
class QuotaRule:
    """One rule: whom it is for, and what they may have. One without limits ends the search in its set all the same."""

    name: str = ""  # empty where it has none
    users: NameFilter | None = None
    projects: NameFilter | None = None
    pes: NameFilter | None = None
    queues: NameFilter | None = None
    hosts: NameFilter | None = None
    limits: tuple[RuleLimit, ...] = ()
    source: Source | None = attrs.field(default=None, eq=False)

    def filters(self) -> Iterator[tuple[str, NameFilter]]:
        """Each filter that it has, by its scope, in the order of ``SCOPES``."""
        for scope in SCOPES:
            found: NameFilter | None = getattr(self, scope)
            if found is not None:
                yield scope, found


@attrs.frozen
class RuleSet:
    """One set: its rules are tried in their order, and the first whose filters match counts."""

    name: str
    rules: tuple[QuotaRule, ...]
    description: str = "NONE"  # as it was written, with its quotes
    enabled: bool = True
    source: Source | None = attrs.field(default=None, eq=False)

    def label(self, number: int) -> str:
        """How a rule is told: ``set/name``, or ``set/3`` where it has no name. Rules are counted from 0 here."""
        return f"{self.name}/{self.rules[number].name or number + 1}"

"""Resource quota sets as records.

Source: "Resource Quota Sets", grammar; sge_resource_quota(5). Equal sets compare equal wherever they were parsed from.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import attrs

from negotiator.plugin import Source

#: The first character of the name of a user set or host group.
GROUP = "@"
#: The filters of a rule, in the order in which they are printed and make up a counter's key.
SCOPES = ("users", "projects", "pes", "queues", "hosts")


@attrs.frozen
class NameFilter:
    """A list of names, groups (``@``) and wildcards; if ``expanded`` (``{}``), each matching name has its own counter.

    An excluded name never matches. A filter of exclusions alone matches everybody else.
    """

    names: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()  # without their !
    expanded: bool = False

    def __str__(self) -> str:
        """Return the list as Grid Engine prints it: inclusions before exclusions."""
        text = ",".join((*self.names, *(f"!{name}" for name in self.excluded)))
        return f"{{{text}}}" if self.expanded else text


@attrs.frozen
class Term:
    """One summand of a formula: a weight, times a host's value of a complex if one is named."""

    weight: Fraction
    complex: str = ""


@attrs.frozen
class RuleLimit:
    """A limit of one resource; ``terms`` are those of a formula, empty for a plain value."""

    resource: str  # the complex's full name
    text: str  # as Grid Engine prints it
    terms: tuple[Term, ...] = ()
    source: Source | None = attrs.field(default=None, eq=False)
    # The exact number; None for words and formulas. A time of 1.5 s is printed as 2, but compared as 1.5.
    value: Fraction | None = attrs.field(default=None, eq=False)

    def __str__(self) -> str:
        """``slots=5``."""
        return f"{self.resource}={self.text}"


@attrs.frozen
class QuotaRule:
    """One rule: filters and limits. A rule without limits still ends the search in its set."""

    name: str = ""  # empty for a rule without a name
    users: NameFilter | None = None
    projects: NameFilter | None = None
    pes: NameFilter | None = None
    queues: NameFilter | None = None
    hosts: NameFilter | None = None
    limits: tuple[RuleLimit, ...] = ()
    source: Source | None = attrs.field(default=None, eq=False)

    @property
    def per_host(self) -> bool:
        """True if each host has its own counter, which a formula needs."""
        return self.hosts is not None and self.hosts.expanded

    def filters(self) -> Iterator[tuple[str, NameFilter]]:
        """Yield the scope and the filter of each filter, in the order of ``SCOPES``."""
        for scope in SCOPES:
            found: NameFilter | None = getattr(self, scope)
            if found is not None:
                yield scope, found


@attrs.frozen
class RuleSet:
    """One set: of its rules, the first whose filters match applies."""

    name: str
    rules: tuple[QuotaRule, ...]
    description: str = "NONE"  # as written, with its quotes
    enabled: bool = True
    source: Source | None = attrs.field(default=None, eq=False)

    def label(self, number: int) -> str:
        """Return a rule's label, ``set/name``, or ``set/3`` for rule number 2 without a name (``number`` counts from 0)."""
        return f"{self.name}/{self.rules[number].name or number + 1}"

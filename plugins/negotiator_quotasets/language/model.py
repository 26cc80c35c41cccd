"""Resource quota sets as records, and exactly as ``qconf -srqs`` prints them.

Equal sets compare equal wherever they were parsed from. Source: "Resource Quota Sets", grammar; sge_resource_quota(5); qconf(1) and the
qmaster's own output: attributes in the order of the grammar, exclusions after inclusions, lines of at most 80 bytes, broken at a blank or a
comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

import attrs

from negotiator.plugin import Source

#: The first character of the name of a user set or host group.
GROUP = "@"
#: The filters of a rule, in the order in which they are printed and make up a counter's key.
SCOPES = ("users", "projects", "pes", "queues", "hosts")
_WIDTH = 80
_INDENT = b"   "
# The last blank of several: the others would begin the next piece, where blanks are lost.
_BLANK = re.compile(rb" (?![ \t])")
_BLANK_OR_COMMA = re.compile(rb",| (?![ \t])")


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


def format_set(set_: RuleSet) -> str:
    """Return the text of one set, with a newline at its end."""
    lines = (
        f"   name         {set_.name}",
        f"   description  {set_.description}",
        f"   enabled      {'TRUE' if set_.enabled else 'FALSE'}",
        *(f"   limit        {format_rule(rule)}" for rule in set_.rules),
    )
    # A description is broken at blanks only: at a comma, it would be parsed with an additional blank.
    broken = (_broken(line, commas=number != 1) for number, line in enumerate(lines))
    return "\n".join(("{", *broken, "}", ""))


def format_sets(sets: Iterable[RuleSet]) -> str:
    """Return the text of several sets, in their order."""
    return "".join(map(format_set, sets))


def format_rule(rule: QuotaRule) -> str:
    """Return the text of one rule in one line, without its ``limit``."""
    words = [f"name {rule.name}"] if rule.name else []
    words += [f"{scope} {filter_}" for scope, filter_ in rule.filters()]
    return " ".join((*words, "to", ",".join(map(str, rule.limits)) or "NONE"))


def _broken(line: str, *, commas: bool) -> str:
    """Break a line as Grid Engine does: by bytes, with `` \\`` at the end of each piece but the last."""
    rest = line.encode()
    start, length = len(_INDENT), _WIDTH
    pieces: list[bytes] = []
    at = 0
    while len(rest) - at > length:
        end = _break(rest, at + start, at + length - 2, commas=commas)
        if end < 0:
            break
        blank = rest[end : end + 1] == b" "
        pieces.append(rest[at : end if blank else end + 1])
        at = end + 1
        start, length = 0, _WIDTH - len(_INDENT)
    return (b" \\\n" + _INDENT).join((*pieces, rest[at:])).decode()


def _break(text: bytes, first: int, last: int, *, commas: bool) -> int:
    """Return the last blank or comma that leaves room for the backslash, else the first after it; -1 if none."""
    found = max(_blank_before(text, first, last), text.rfind(b",", first + 1, last) if commas else -1)
    if found >= 0:
        return found
    later = (_BLANK_OR_COMMA if commas else _BLANK).search(text, last)
    return -1 if later is None else later.start()


def _blank_before(text: bytes, first: int, last: int) -> int:
    end = last + 1
    while (end := text.rfind(b" ", first + 1, end)) >= 0:
        if _BLANK.match(text, end):
            return end
    return -1

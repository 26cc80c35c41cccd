"""Resource quota sets and their formulas as records, and exactly as ``qconf -srqs`` prints them.

Equal sets compare equal wherever they were parsed from. Attributes are in the order of the grammar, exclusions after inclusions, lines of at most 80
bytes, broken at a blank or a comma. A formula is a sum of numbers and of weighted values of a host: ``{w1|$complex1[*w1]}[{+|-}...]``; the first step
of the specification allows ``$num_proc`` only. The messages are the qmaster's. It accepts more formulas, which then limit nothing.

Source: "Resource Quota Sets", grammar and dynamical limits; sge_resource_quota(5); qconf(1) and the qmaster's own output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

import attrs

from negotiator.plugin import NegotiatorError, Source
from negotiator_quotasets.complexes import Complexes, ComplexType
from negotiator_quotasets.language.lexer import quotable

_WEIGHT = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
_MAX_DIGITS = 40
_MAX_TERMS = 100
_SIGN = re.compile(r"([+-])")
PROCESSORS = "num_proc"
#: The first character of the name of a user set or host group.
GROUP = "@"
#: The filters of a rule, in the order in which they are printed and make up a counter's key.
SCOPES = ("users", "projects", "pes", "queues", "hosts")
_WIDTH = 80
_INDENT = b"   "
# The last blank of several: the others would begin the next piece, where blanks are lost.
_BLANK = re.compile(rb" (?![ \t])")
_BLANK_OR_COMMA = re.compile(rb",| (?![ \t])")


class FormulaError(NegotiatorError, ValueError):
    """An invalid formula."""


def is_formula(text: str) -> bool:
    """True if a limit is a formula."""
    return "$" in text


def read_formula(text: str, complexes: Complexes, *, numeric: bool = False) -> tuple[Term, ...]:
    """Parse a formula; with ``numeric``, it may use any complex whose values are numbers, not only num_proc.

    :raises FormulaError: invalid formula, or a complex that may not be used.
    """
    pieces = _SIGN.split(text)
    if not pieces[0] or not pieces[-1]:
        raise FormulaError('"dynamical_limit" begins or ends with a sign')
    if len(pieces) > 2 * _MAX_TERMS:
        raise FormulaError(f'"dynamical_limit" may have {_MAX_TERMS} summands')
    signs = ["+", *pieces[1::2]]
    return tuple(
        _term(-1 if sign == "-" else 1, piece, complexes, numeric=numeric)
        for sign, piece in zip(signs, pieces[::2], strict=True)
    )


def _term(sign: int, text: str, complexes: Complexes, *, numeric: bool) -> Term:
    first, *factors = text.split("*")
    if not first.startswith("$"):
        return Term(sign * _weight(first, factors), "")
    name = first.removeprefix("$")
    complex_ = complexes.find(name)
    if complex_ is None or complex_.name != name:
        raise FormulaError(f'"dynamical_limit" references not existing complex attribute "{quotable(name)}"')
    weight = _weight("1", []) if not factors else _weight(factors[0], factors[1:])
    if name != PROCESSORS and not numeric:
        raise FormulaError(f'"dynamical_limit" may use "${PROCESSORS}" only, not "{quotable(first)}"')
    if not complex_.type.is_number or complex_.type is ComplexType.BOOL:
        raise FormulaError(
            f'"dynamical_limit" may use numbers only, "{quotable(name)}" is of type {complex_.type}'
        )
    return Term(sign * weight, name)


def _weight(text: str, more: list[str]) -> Fraction:
    for factor in (text, *more):
        if len(factor) > _MAX_DIGITS or _WEIGHT.fullmatch(factor) is None:
            words = f'uses "{quotable(factor)}" as weighting factor (only numbers are allowed)'
            raise FormulaError(f'"dynamical_limit" {words}')
    if more:
        raise FormulaError('"dynamical_limit" may not use multiple weighting factors')
    return Fraction(text)


def evaluate_formula(
    terms: Iterable[Term], type_: ComplexType, values: Mapping[str, Fraction | None]
) -> Fraction | None:
    """Return a formula's value on a host, rounded down for INT; None if the host lacks a value that it needs.

    The value may be negative: then no request fits. Without a value no limit can be computed; Grid Engine
    lets any job run there, whereas the callers here reject all jobs, with a reason.
    """
    total = Fraction(0)
    for term in terms:
        value = Fraction(1) if not term.complex else values.get(term.complex)
        if value is None:
            return None
        total += term.weight * value
    return Fraction(math.floor(total)) if type_ is ComplexType.INT else total


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

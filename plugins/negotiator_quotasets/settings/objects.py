"""The objects that rules refer to, as an administrator declares them in ``gridengine.yaml``.

Source: complex(5), access_list(5), hostgroup(5), project(5), sge_pe(5), host_conf(5), queue_conf(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

import attrs

from negotiator.plugin import Expression, Problem, ScalarText, Severity, Source, parse
from negotiator_quotasets.complexes import (
    SLOTS,
    STANDARD,
    Complex,
    Complexes,
    ComplexType,
    Consumable,
    InvalidValueError,
    Relation,
    Requestable,
    parse_value,
)
from negotiator_quotasets.language import GROUP, quotable

#: What can be the end of an attribute's name; and what else can be called something, in reasons.
_ATTRIBUTE = re.compile(r"[A-Za-z0-9_]{1,100}", re.ASCII)
_NAME = re.compile(r"[!-~]{1,100}", re.ASCII)


@attrs.frozen
class DeclaredComplex:
    """A line of ``qconf -mc``: one complex.

    ``request`` is what a job asks for, of the job's ad; by default ``MY.RequestNAME``. ``value`` is what a host has, of the slot's ad; by
    default ``MY.NAME``.
    """

    name: str
    shortcut: str
    type: ComplexType
    relop: Relation
    requestable: Requestable = Requestable.YES
    consumable: Consumable = Consumable.NO
    default: ScalarText = attrs.field(factory=lambda: ScalarText("0"))
    request: Expression | None = None
    value: Expression | None = None
    source: Source | None = None

    @property
    def complex(self) -> Complex:
        """The complex."""
        return Complex(
            self.name,
            self.shortcut,
            self.type,
            self.relop,
            self.requestable,
            self.consumable,
            self.default.text,
        )

    def problems(self) -> Iterator[Problem]:
        """What is wrong with it."""
        source = self.source or Source("")
        if _ATTRIBUTE.fullmatch(self.name) is None and (
            self.request is None or _NAME.fullmatch(self.name) is None
        ):
            message = f'complex "{quotable(self.name)}" can\'t be the attribute Request{quotable(self.name)} of a job'
            yield Problem(Severity.ERROR, source, message, "say under request which attribute it is")
        if self.complex.is_consumable and not self.type.is_number:
            message = f'complex "{quotable(self.name)}" of type {self.type} can\'t be consumed'
            yield Problem(Severity.ERROR, source, message, 'make it a number, or write consumable: "NO"')
        else:
            yield from _value(self.complex, self.default)


@attrs.frozen
class DeclaredHost:
    """What a host has: ``complex_values`` of host_conf(5)."""

    complex_values: dict[str, ScalarText] = attrs.field(factory=dict)
    source: Source | None = None


@attrs.frozen
class DeclaredQueue:
    """What a queue has on each of its hosts: ``slots`` and ``complex_values`` of queue_conf(5).

    ``pe_list`` names the parallel environments that refer to it, so that none of them is deleted by mistake.
    """

    slots: int | None = None
    pe_list: tuple[str, ...] = ()
    complex_values: dict[str, ScalarText] = attrs.field(factory=dict)
    source: Source | None = None


@attrs.frozen
class JobTerms:
    """How the words of Grid Engine are said in a job's ad."""

    project: Expression = attrs.field(factory=lambda: _attribute("Project"))
    pe: Expression = attrs.field(factory=lambda: _attribute("ParallelEnvironment"))
    slots: Expression = attrs.field(factory=lambda: _attribute("RequestCpus"))


def _attribute(name: str) -> Expression:
    return Expression(parse(f"MY.{name}"), f"MY.{name}")


@attrs.frozen
class GridEngine:
    """All of ``gridengine.yaml``.

    ``complex_values`` are those of the whole pool (the host ``global``). Names of host groups begin with ``@``; members of user sets that
    begin with ``@`` are groups of the system.
    """

    complexes: tuple[DeclaredComplex, ...] = ()
    usersets: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    hostgroups: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    projects: tuple[str, ...] = ()
    pes: dict[str, str] = attrs.field(factory=dict)
    complex_values: dict[str, ScalarText] = attrs.field(factory=dict)
    hosts: dict[str, DeclaredHost] = attrs.field(factory=dict)
    queues: dict[str, DeclaredQueue] = attrs.field(factory=dict)
    job: JobTerms = attrs.field(factory=JobTerms)
    ignore_fqdn: bool = True
    numeric_formulas: bool = False
    source: Source | None = None

    @cached_property
    def all_complexes(self) -> Complexes:
        """The standard complexes and those declared here, which take the place of standard ones of their names."""
        taken: set[str] = set()
        declared = []
        for each in self.complexes:
            words = {each.name, each.shortcut}
            if not words & taken:  # what is there twice is told as a problem
                declared.append(each.complex)
                taken |= words
        standard = [each for each in STANDARD if not {each.name, each.shortcut} & taken]
        return Complexes([*standard, *declared])

    @cached_property
    def everywhere(self) -> Mapping[str, str]:
        """What the whole pool has, by the full names of complexes."""
        return self._by_name(self.complex_values)

    @cached_property
    def of_hosts(self) -> Mapping[str, Mapping[str, str]]:
        """What each host has, by the full names of complexes."""
        return {name: self._by_name(each.complex_values) for name, each in self.hosts.items()}

    @cached_property
    def of_queues(self) -> Mapping[str, Mapping[str, str]]:
        """What each queue has on each of its hosts, by the full names of complexes."""
        return {
            name: {
                **({} if each.slots is None else {SLOTS: str(each.slots)}),
                **self._by_name(each.complex_values),
            }
            for name, each in self.queues.items()
        }

    def _by_name(self, values: Mapping[str, ScalarText]) -> dict[str, str]:
        found = ((self.all_complexes.find(name), written.text) for name, written in values.items())
        return {complex_.name: text for complex_, text in found if complex_ is not None}

    def problems(self) -> Iterator[Problem]:
        """What is wrong with what is declared."""
        double = list(self._double())
        yield from double
        if double:
            return
        complexes = self.all_complexes
        for each in self.complexes:
            yield from each.problems()
        yield from _values(self.complex_values, complexes)
        for host in self.hosts.values():
            yield from _values(host.complex_values, complexes)
        for queue in self.queues.values():
            yield from _values(queue.complex_values, complexes)
        for name, members in self.hostgroups.items():
            if not name.startswith(GROUP):
                yield self._error(f"host group {name!r} does not begin with @", f"call it {GROUP}{name}")
            for member in members:
                if member.startswith(GROUP) and member not in self.hostgroups:
                    yield self._error(
                        f"host group {name!r} has the group {member!r}, which is not declared", ""
                    )

    def _double(self) -> Iterator[Problem]:
        words: dict[str, int] = {}
        for place, each in enumerate(self.complexes):
            for word in dict.fromkeys((each.name, each.shortcut)):
                other = words.setdefault(word, place)
                if other != place:
                    name = self.complexes[other].name
                    message = f'complexes "{name}" and "{each.name}" are both called "{word}"'
                    yield Problem(
                        Severity.ERROR, each.source or Source(""), message, "give one of them another name"
                    )

    def _error(self, message: str, hint: str) -> Problem:
        return Problem(Severity.ERROR, self.source or Source(""), message, hint)


def _values(values: Mapping[str, ScalarText], complexes: Complexes) -> Iterator[Problem]:
    for name, written in values.items():
        complex_ = complexes.find(name)
        if complex_ is None:
            message = f'there is no complex "{name}"'
            yield Problem(Severity.ERROR, written.source, message, "declare it under complexes")
        else:
            yield from _value(complex_, written)


def _value(complex_: Complex, written: ScalarText) -> Iterator[Problem]:
    try:
        parse_value(complex_, written.text)
    except InvalidValueError as error:
        yield Problem(Severity.ERROR, written.source, str(error), error.hint)

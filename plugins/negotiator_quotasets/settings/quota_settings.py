"""The settings of this plugin: the rule sets in the files ``*.rqs`` of a bundle, and the objects that they refer to, in ``gridengine.yaml``.

The sets of all files form one list, in the order of the files' names. A file that begins with the line
``# in place of: a.rqs b.rqs`` supersedes those files, which are then not read: a change of several files is atomic, since
it is made by writing one. The rules of a bundle are those that limit something; names in them that no object has are problems.

Source: complex(5), access_list(5), hostgroup(5), project(5), sge_pe(5), host_conf(5), queue_conf(5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from negotiator.plugin import (
    DeclaredRule,
    Expression,
    Mode,
    PartitionConfig,
    Problem,
    ScalarText,
    Severity,
    Source,
    parse,
    suggest,
)
from negotiator_quotasets import complexes, language
from negotiator_quotasets.complexes import matcher, queue_matches
from negotiator_quotasets.complexes.model import (
    SLOTS,
    Complex,
    Complexes,
    ComplexType,
    Consumable,
    Relation,
    Requestable,
)

#: Names that can follow ``Request`` in an attribute; and names of complexes with their own expression.
_ATTRIBUTE = re.compile(r"[A-Za-z0-9_]{1,100}", re.ASCII)
_NAME = re.compile(r"[!-~]{1,100}", re.ASCII)
FILES = "*.rqs"
MODES = "quota_set_modes"
#: All sets without a mode of their own.
OTHERS = "*"
_SUPERSEDING = re.compile(r"# in place of: ([^\n]*)")


def declared_rules(settings: QuotaSettings) -> Iterator[DeclaredRule]:
    """Yield the rules that have limits; one without limits only ends the search in its set."""
    for each in settings.sets:
        if not each.enabled:
            continue
        for number, rule in enumerate(each.rules):
            if rule.limits:
                text, mode = language.format_rule(rule), settings.mode(each.name)
                yield DeclaredRule(rule=each.label(number), text=text, source=rule.source, mode=mode)


@attrs.frozen
class _Kind:
    """The objects of a kind that a filter may name, declared ``where``; of the filter's names those with the ``prefix``."""

    what: str
    names: Collection[str]
    where: str
    prefix: str = ""
    matches: Callable[[str, str], object] = lambda pattern, name: matcher(pattern)(name)

    def has(self, name: str) -> bool:
        """True if a name or a wildcard of a filter matches an object."""
        return name in self.names or any(self.matches(name, each) for each in self.names)


def unknown_names(settings: QuotaSettings, partition: PartitionConfig) -> Iterator[Problem]:
    """Yield a warning for each name in a rule that no object has: it matches nothing, so that the rule may never apply.

    Names of users and of single hosts come from the pool; so do queues that a placement rule creates, and projects and
    parallel environments where ``gridengine.yaml`` declares no objects at all.
    """
    kinds = _kinds(settings.gridengine, partition)
    known: dict[tuple[str, str], bool] = {(scope, "*"): True for scope in kinds}
    for set_, number, scope, name in _names(settings):
        kind = kinds.get(scope)
        if kind is None or not name.startswith(kind.prefix):
            continue
        if (scope, name) not in known:
            known[scope, name] = kind.has(name)
        if not known[scope, name]:
            yield _unknown(set_.label(number), set_.rules[number].source or Source(""), kind, name)


def _names(settings: QuotaSettings) -> Iterator[tuple[language.RuleSet, int, str, str]]:
    """Yield each name of each filter, with its set and the number of its rule."""
    for set_ in settings.sets:
        for number, rule in enumerate(set_.rules):
            for scope, wanted in rule.filters():
                for name in dict.fromkeys((*wanted.names, *wanted.excluded)):
                    yield set_, number, scope, name


def _kinds(engine: GridEngine, partition: PartitionConfig) -> dict[str, _Kind]:
    """Return the kind of each filter whose names can be looked up."""
    in_file = "under {} in gridengine.yaml"
    usersets = [f"{language.GROUP}{name}" for name in engine.usersets]
    kinds = {
        "users": _Kind("user set", usersets, in_file.format("usersets"), language.GROUP),
        "hosts": _Kind(
            "host group",
            list(engine.hostgroups),
            in_file.format("hostgroups"),
            language.GROUP,
            lambda pattern, name: matcher(pattern.lower())(name.lower()),
        ),
    }
    if engine.declares_objects:
        kinds["projects"] = _Kind("project", engine.projects, in_file.format("projects"))
        kinds["pes"] = _Kind("parallel environment", list(engine.pes), in_file.format("pes"))
    if not partition.creates_queues:
        paths = [each.path for each in partition.root.walk()]
        kinds["queues"] = _Kind("queue", [*paths, *engine.queues], "in queues.yaml", matches=queue_matches)
    return kinds


def _unknown(label: str, source: Source, kind: _Kind, name: str) -> Problem:
    message = f'resource quota rule "{label}": there is no {kind.what} "{language.quotable(name)}"'
    similar = suggest(name[:100], kind.names, listed=False)
    hint = f"{similar} it matches nothing: correct it, or declare it {kind.where}".lstrip()
    return Problem(Severity.WARNING, source, message, hint)


@attrs.frozen
class DeclaredComplex:
    """A line of ``qconf -mc``: one complex.

    ``request`` is a job's request, an expression over the job ad, by default ``MY.RequestNAME``. ``value`` is a host's value,
    an expression over the slot ad, by default ``MY.NAME``.
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
        """Yield the problems of the declaration."""
        source = self.source or Source("")
        if _ATTRIBUTE.fullmatch(self.name) is None and (
            self.request is None or _NAME.fullmatch(self.name) is None
        ):
            message = f'complex "{language.quotable(self.name)}": invalid job attribute Request{language.quotable(self.name)}'
            yield Problem(Severity.ERROR, source, message, "write an expression under request")
        if self.complex.is_consumable and not self.type.is_number:
            message = f'complex "{language.quotable(self.name)}" of type {self.type} can\'t be consumed'
            yield Problem(Severity.ERROR, source, message, 'make it a number, or write consumable: "NO"')
        else:
            yield from _value_problem(self.complex, self.default)


@attrs.frozen
class DeclaredHost:
    """A host's values: ``complex_values`` of host_conf(5)."""

    complex_values: dict[str, ScalarText] = attrs.field(factory=dict)
    source: Source | None = None


@attrs.frozen
class DeclaredQueue:
    """A queue's values on each of its hosts: ``slots`` and ``complex_values`` of queue_conf(5).

    ``pe_list`` names its parallel environments: ``qconf -dp`` refuses to delete them.
    """

    slots: int | None = None
    pe_list: tuple[str, ...] = ()
    complex_values: dict[str, ScalarText] = attrs.field(factory=dict)
    source: Source | None = None


@attrs.frozen
class JobExpressions:
    """The expressions over a job's ad for its project, its parallel environment and its slots."""

    project: Expression = attrs.field(factory=lambda: _attribute("Project"))
    pe: Expression = attrs.field(factory=lambda: _attribute("ParallelEnvironment"))
    slots: Expression = attrs.field(factory=lambda: _attribute("RequestCpus"))


def _attribute(name: str) -> Expression:
    return Expression(parse(f"MY.{name}"), f"MY.{name}")


@attrs.frozen
class GridEngine:
    """The contents of ``gridengine.yaml``.

    ``complex_values`` are those of the whole pool (the host ``global``). Names of host groups begin with ``@``; members of
    user sets that begin with ``@`` are Unix groups.
    """

    complexes: tuple[DeclaredComplex, ...] = ()
    usersets: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    hostgroups: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    projects: tuple[str, ...] = ()
    pes: dict[str, str] = attrs.field(factory=dict)
    complex_values: dict[str, ScalarText] = attrs.field(factory=dict)
    hosts: dict[str, DeclaredHost] = attrs.field(factory=dict)
    queues: dict[str, DeclaredQueue] = attrs.field(factory=dict)
    job: JobExpressions = attrs.field(factory=JobExpressions)
    ignore_fqdn: bool = True
    numeric_formulas: bool = False
    source: Source | None = None

    @cached_property
    def all_complexes(self) -> Complexes:
        """The standard complexes and the declared ones, which replace standard ones of the same name or shortcut."""
        taken: set[str] = set()
        declared = []
        for each in self.complexes:
            names = {each.name, each.shortcut}
            if not names & taken:  # a duplicate is reported as a problem
                declared.append(each.complex)
                taken |= names
        standard = [each for each in complexes.STANDARD if not {each.name, each.shortcut} & taken]
        return Complexes([*standard, *declared])

    @cached_property
    def of_pool(self) -> Mapping[str, str]:
        """The values of the whole pool, by full names of complexes."""
        return self._by_name(self.complex_values)

    @cached_property
    def of_hosts(self) -> Mapping[str, Mapping[str, str]]:
        """The values of each host, by full names of complexes."""
        return {name: self._by_name(each.complex_values) for name, each in self.hosts.items()}

    @cached_property
    def of_queues(self) -> Mapping[str, Mapping[str, str]]:
        """The values of each queue on each of its hosts, by full names of complexes."""
        return {
            name: {
                **({} if each.slots is None else {SLOTS: str(each.slots)}),
                **self._by_name(each.complex_values),
            }
            for name, each in self.queues.items()
        }

    @property
    def declares_objects(self) -> bool:
        """True if any object but a complex is declared."""
        return any((self.usersets, self.hostgroups, self.projects, self.pes, self.hosts, self.queues))

    @cached_property
    def host_names(self) -> Mapping[str, str]:
        """The spelling of each declared host by its name in lower case."""
        return {name.lower(): name for name in self.hosts}

    def parse_sets(self, text: str, file: str, *, required: bool = False) -> language.ParsedSets:
        """Parse rule sets that refer to these objects, see ``language.parse_sets``."""
        return language.parse_sets(
            text,
            file,
            self.all_complexes,
            numeric_formulas=self.numeric_formulas,
            host_names=self.host_names,
            required=required,
        )

    @property
    def offers_anything(self) -> bool:
        """True if the pool, a host or a queue has a value of a known complex."""
        return any(map(bool, (self.of_pool, *self.of_hosts.values(), *self.of_queues.values())))

    def _by_name(self, values: Mapping[str, ScalarText]) -> dict[str, str]:
        pairs = ((self.all_complexes.find(name), value.text) for name, value in values.items())
        return {complex_.name: text for complex_, text in pairs if complex_ is not None}

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of all declarations."""
        duplicates = list(self._duplicates())
        yield from duplicates
        if duplicates:
            return
        for each in self.complexes:
            yield from each.problems()
        yield from self._value_problems(self.complex_values)
        for host in self.hosts.values():
            yield from self._value_problems(host.complex_values)
        for queue in self.queues.values():
            yield from self._value_problems(queue.complex_values)
        for name, members in self.hostgroups.items():
            if not name.startswith(language.GROUP):
                yield self._error(
                    f"host group {name!r} must begin with @", f"rename it to {language.GROUP}{name}"
                )
            for member in members:
                if member.startswith(language.GROUP) and member not in self.hostgroups:
                    yield self._error(
                        f"host group {name!r} has the group {member!r}, which is not declared", ""
                    )

    def _value_problems(self, values: Mapping[str, ScalarText]) -> Iterator[Problem]:
        for name, written in values.items():
            complex_ = self.all_complexes.find(name)
            if complex_ is None:
                message = f'unknown complex "{name}"'
                yield Problem(Severity.ERROR, written.source, message, "declare it under complexes")
            else:
                yield from _value_problem(complex_, written)

    def _duplicates(self) -> Iterator[Problem]:
        by_name: dict[str, int] = {}
        for number, each in enumerate(self.complexes):
            for name in dict.fromkeys((each.name, each.shortcut)):
                other = by_name.setdefault(name, number)
                if other != number:
                    first = self.complexes[other].name
                    message = f'complexes "{first}" and "{each.name}" are both called "{name}"'
                    yield Problem(
                        Severity.ERROR, each.source or Source(""), message, "give one of them another name"
                    )

    def _error(self, message: str, hint: str) -> Problem:
        return Problem(Severity.ERROR, self.source or Source(""), message, hint)


def _value_problem(complex_: Complex, written: ScalarText) -> Iterator[Problem]:
    try:
        complexes.parse_value(complex_, written.text)
    except complexes.InvalidValueError as error:
        yield Problem(Severity.ERROR, written.source, str(error), error.hint)


@attrs.frozen(eq=False)
class SetsOfMode:
    """The sets that have a mode, in their order."""

    mode: Mode
    sets: tuple[language.RuleSet, ...]


@attrs.frozen(eq=False)
class QuotaSettings:
    """The keys and files of this plugin. ``quota_set_modes`` has the modes of sets by name; ``*`` is that of all others."""

    files: Mapping[str, str] = attrs.field(factory=dict)
    gridengine: GridEngine = attrs.field(factory=GridEngine)
    quota_set_modes: dict[str, Mode] = attrs.field(factory=dict)
    sources: Mapping[str, Source] = attrs.field(factory=dict)

    @cached_property
    def parsed_files(self) -> Mapping[str, language.ParsedSets]:
        """The contents of each file that is not superseded."""
        return {
            name: self.gridengine.parse_sets(text, name)
            for name, text in self.files.items()
            if name not in self.superseded
        }

    @cached_property
    def superseded(self) -> frozenset[str]:
        """The names of the files that other files supersede."""
        names = set[str]()
        for name, text in self.files.items():
            if line := _SUPERSEDING.match(text):
                names |= set(line[1].split()) - {name}
        return frozenset(names)

    @cached_property
    def sets(self) -> tuple[language.RuleSet, ...]:
        """All sets, in their order."""
        return tuple(each for parsed in self.parsed_files.values() for each in parsed.sets)

    @property
    def limits_anything(self) -> bool:
        """True if there are sets, or declared values of complexes."""
        return bool(self.files and self.sets) or self.gridengine.offers_anything

    @cached_property
    def by_mode(self) -> tuple[SetsOfMode, ...]:
        """The sets of each mode: of those that enforce, which may be none, then of the other modes in use.

        A set that is not enabled is among the first, since it limits nothing.
        """
        found: dict[Mode, list[language.RuleSet]] = {mode: [] for mode in Mode}
        for each in self.sets:
            found[self.mode(each.name) if each.enabled else Mode.ENFORCE].append(each)
        return tuple(
            SetsOfMode(mode, tuple(sets)) for mode, sets in found.items() if sets or mode is Mode.ENFORCE
        )

    def mode(self, name: str) -> Mode:
        """Return the mode of a set."""
        return self.quota_set_modes.get(name) or self.quota_set_modes.get(OTHERS, Mode.ENFORCE)


def superseding_line(names: Iterable[str]) -> str:
    """Return the first line of a file that supersedes others; empty if it supersedes none."""
    listed = " ".join(names)
    return f"# in place of: {listed}\n" if listed else ""


def check(settings: QuotaSettings) -> Iterator[Problem]:
    """Yield every problem of the files and the objects."""
    wrong = list(settings.gridengine.problems())
    yield from wrong
    if wrong:
        return
    for name in sorted(settings.superseded & settings.files.keys()):
        message = "this file is not read: another file supersedes it"
        hint = "delete this file, or the line '# in place of' of the other"
        yield Problem(Severity.WARNING, Source(name, 1, 1), message, hint)
    file_of: dict[str, str] = {}
    for name, parsed in settings.parsed_files.items():
        yield from parsed.problems
        for each in parsed.sets:
            if file_of.setdefault(each.name, name) != name:
                message = f'resource quota set "{each.name}" is in {file_of[each.name]} too'
                yield Problem(Severity.ERROR, each.source or Source(name), message, "rename one of them")
    for name in settings.quota_set_modes:
        if name != OTHERS and name not in file_of:
            source = settings.sources.get(f"{MODES}.{name}") or Source("")
            message = f'{MODES}: there is no resource quota set "{language.quotable(name)}"'
            yield Problem(Severity.ERROR, source, message, suggest(name, file_of) or "remove the line")

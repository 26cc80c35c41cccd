"""The names in resource quota sets, and the objects that a new bundle has to declare for them.

Objects are as ``qconf`` prints them and as ``gridengine.yaml`` has them; a first test of the sets has jobs for them.

Source: complex(5), access_list(5), hostgroup(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import attrs

from negotiator.plugin import SAMPLE_SLOT_CPUS, SampleJob, yaml_in_line
from negotiator_quotasets.complexes.model import STANDARD

#: A filter of a rule: a word, and one name, a list, or a list in braces.
_FILTER: Final = re.compile(
    r"\b(users|projects|pes|queues|hosts)\s+(\{[^}]*\}|[^\s{},]+(?:\s*,\s*[^\s{},]+)*)"
)
_LIMITS: Final = re.compile(r"\bto\s+(\S+=\S+(?:\s*,\s*\S+=\S+)*)")
_NAME: Final = re.compile(r"[^\s,{}]+")
_COMMENT: Final = re.compile(r"^\s*#.*$|^\s*description\b.*$", re.MULTILINE)
_WILDCARD: Final = re.compile(r"[*?\[\]]")
_HEAD: Final = """\
# The queues that the quota sets name. A dot separates levels: all.q of Grid Engine is the queue root.all.q (docs/quota-sets.md).
# A job requests one as +Queue = "root.all.q".
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
"""
_RULES: Final = """\
    placementrules:
      - name: provided                # the queue that the job requests
      - name: fixed                   # all other jobs
        value: root.{first}
"""
_COMPLEXES: Final = re.compile(r"^#?name\s+shortcut\s+type\b", re.MULTILINE)
_HOSTGROUP: Final = re.compile(r"^group_name\s+@?(\S+)", re.MULTILINE)
_HOSTS: Final = re.compile(r"^hostlist\s+(.*)", re.MULTILINE)
_USERSET: Final = re.compile(r"^name\s+(\S+)", re.MULTILINE)
_ENTRIES: Final = re.compile(r"^entries\s+(.*)", re.MULTILINE)
_COLUMNS: Final = ("name", "shortcut", "type", "relop", "requestable", "consumable", "default")
#: Complexes of a fresh installation, which the quota sets know without a declaration.
_STANDARD: Final = frozenset(each.name for each in STANDARD)
_USER: Final = "alice"
_UNUSABLE: Final = re.compile(r"[^\w.-]", re.ASCII)  # a wildcard, an exclusion, a group of a group
#: Which attribute of a job a filter of a quota rule is about.
_OF_FILTERS: Final = (
    ("projects", "Project", "{}"),
    ("pes", "ParallelEnvironment", "{}"),
    ("queues", "Queue", "root.{}"),
)


@attrs.frozen
class QuotaRuleNames:
    """The names in one rule: those of each filter as written, and the limits by complex."""

    filters: Mapping[str, tuple[str, ...]]
    limits: Mapping[str, str]


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@attrs.frozen
class QuotaNames:
    """Names without wildcards, each once, in the order of the rules. ``usersets`` and ``hostgroups`` are without the ``@``."""

    users: tuple[str, ...] = ()
    usersets: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    hostgroups: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    pes: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    complexes: tuple[str, ...] = ()
    rules: tuple[QuotaRuleNames, ...] = ()

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the names in the text of quota sets; whether the text is valid is for ``negotiator check`` to find out."""
        rules = tuple(_rules(_COMMENT.sub("", text).replace("\\\n", " ")))

        def names(kind: str, *, groups: bool = False) -> tuple[str, ...]:
            found = [name.removeprefix("!") for rule in rules for name in rule.filters.get(kind, ())]
            named = (name for name in found if name.startswith("@") is groups and not _WILDCARD.search(name))
            return _unique(name.removeprefix("@") for name in named)

        return cls(
            users=names("users"),
            usersets=names("users", groups=True),
            hosts=names("hosts"),
            hostgroups=names("hosts", groups=True),
            projects=names("projects"),
            pes=names("pes"),
            queues=names("queues"),
            complexes=_unique(name for rule in rules for name in rule.limits),
            rules=rules,
        )


def _rules(text: str) -> Iterator[QuotaRuleNames]:
    for rule in re.split(r"^\s*limit\s", text, flags=re.MULTILINE)[1:]:
        filters = {kind: tuple(_NAME.findall(names)) for kind, names in _FILTER.findall(rule)}
        limits = ",".join(_LIMITS.findall(rule)).split(",")
        pairs = (each.partition("=") for each in limits if "=" in each)
        yield QuotaRuleNames(filters, {name.strip(): value.strip() for name, _, value in pairs})


def queues_of_names(names: Sequence[str]) -> bytes:
    """Return a ``queues.yaml`` with these queues; jobs that request none go to the first one."""
    tree: dict[str, Any] = {}
    for name in names:
        level = tree
        for part in name.partition("@")[0].split("."):
            level = level.setdefault(part, {})
    lines = _lines(tree, " " * 10)
    return (_HEAD + "\n".join(lines) + "\n" + _RULES.format(first=_first_leaf(tree))).encode()


def _lines(tree: dict[str, Any], indent: str) -> Iterator[str]:
    for name, below in tree.items():
        yield f"{indent}- name: {name}"
        if below:
            yield f"{indent}  queues:"
            yield from _lines(below, f"{indent}    ")


def _first_leaf(tree: dict[str, Any]) -> str:
    name, below = next(iter(tree.items()))
    return f"{name}.{_first_leaf(below)}" if below else name


def is_objects(text: str) -> bool:
    """True for the output of ``qconf -sc``, ``-su`` or ``-shgrp``."""
    if _COMPLEXES.search(text) or _HOSTGROUP.search(text):
        return True
    return "{" not in text and bool(_USERSET.search(text) and _ENTRIES.search(text))


def _words(match: re.Match[str] | None) -> list[str]:
    words = re.split(r"[\s,]+", match[1].strip()) if match else []
    return [] if words == ["NONE"] else words


@attrs.frozen
class GridEngineObjects:
    """Complexes, user sets and host groups by name; a complex is its columns."""

    complexes: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    usersets: Mapping[str, list[str]] = attrs.field(factory=dict)
    hostgroups: Mapping[str, list[str]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Return the objects in the output of ``qconf``."""
        complexes: dict[str, Mapping[str, str]] = {}
        usersets: dict[str, list[str]] = {}
        hostgroups: dict[str, list[str]] = {}
        for printed in texts:
            text = printed.replace("\\\n", " ")
            if _COMPLEXES.search(text):
                complexes |= {each["name"]: each for each in _complexes(text)}
            elif group := _HOSTGROUP.search(text):
                hostgroups[group[1]] = _words(_HOSTS.search(text))
            elif userset := _USERSET.search(text):
                usersets[userset[1]] = _words(_ENTRIES.search(text))
        return cls(complexes, usersets, hostgroups)

    def is_consumed_number(self, name: str) -> bool:
        """True for a complex that jobs request as a number and that is consumed; one that is not declared is taken for such."""
        columns = self.complexes.get(name)
        if columns is None:
            return self.is_guess(name)
        return columns["consumable"] in {"YES", "JOB"} and columns["type"] in {"INT", "DOUBLE"}

    def is_guess(self, name: str) -> bool:
        """True for a complex that is neither declared nor one of a fresh installation."""
        return name not in self.complexes and name not in _STANDARD

    def completed(self, names: QuotaNames) -> str:
        """Return the text of ``gridengine.yaml``: these objects, and a line to fill in for each other one that quota sets name."""
        return "\n".join((*self._complex_lines(names), *self._set_lines(names), *_name_lines(names))) + "\n"

    def _complex_lines(self, names: QuotaNames) -> Iterator[str]:
        guessed = [name for name in names.complexes if self.is_guess(name)]
        if not self.complexes and not guessed:
            return
        yield "complexes:                        # as lines of qconf -sc"
        for columns in self.complexes.values():
            yield f"  - {yaml_in_line(columns)}"
        for name in guessed:
            values = (name, name, "INT", "<=", "YES", "YES", "0")
            yield f"  # A guess, as the quota sets limit {name}: compare it with qconf -sc."
            yield f"  - {yaml_in_line(dict(zip(_COLUMNS, values, strict=True)))}"

    def _set_lines(self, names: QuotaNames) -> Iterator[str]:
        usersets = {**dict.fromkeys(names.usersets), **self.usersets}
        if usersets:
            yield "usersets:                         # a member @NAME is a Unix group"
            for name, members in usersets.items():
                yield _members(name, members, f"qconf -su {name}")
        hostgroups = {**dict.fromkeys(names.hostgroups), **self.hostgroups}
        if hostgroups:
            yield "hostgroups:                       # names of hosts may have wildcards"
            for name, members in hostgroups.items():
                yield _members(f"@{name}", members, f"qconf -shgrp @{name}")


def _complexes(text: str) -> Iterator[Mapping[str, str]]:
    for line in text.splitlines():
        columns = line.partition("#")[0].split()
        if len(columns) >= len(_COLUMNS) and columns[0] != _COLUMNS[0]:
            yield dict(zip(_COLUMNS, columns, strict=False))


def _members(name: str, members: list[str] | None, command: str) -> str:
    if members is None:
        return f"  {yaml_in_line(name)}: []  # nobody yet: write the members that {command} prints"
    return f"  {yaml_in_line(name)}: {yaml_in_line(members)}"


def _name_lines(names: QuotaNames) -> Iterator[str]:
    if names.projects:
        yield f"projects: {yaml_in_line(list(names.projects))}"
    if names.pes:
        yield "pes:                              # parallel environments and their allocation rules"
        yield from (f"  {yaml_in_line(name)}: $pe_slots" for name in names.pes)


def jobs_of_rules(rules: Iterable[QuotaRuleNames], objects: GridEngineObjects) -> Iterator[SampleJob]:
    """Yield a job for each rule, which requests more than its limit if that is a small number."""
    for rule in rules:
        user = _first(rule, "users", objects.usersets) or _USER
        attributes: dict[str, Any] = {"Owner": user}
        for kind, attribute, form in _OF_FILTERS:
            if name := _first(rule, kind, {}):
                attributes[attribute] = form.format(name)
        attributes |= _requests(rule, objects)
        yield SampleJob(attributes, machine=_first(rule, "hosts", objects.hostgroups))


def _requests(rule: QuotaRuleNames, objects: GridEngineObjects) -> Iterator[tuple[str, int]]:
    """Yield the attributes by which a job requests what a rule limits."""
    for complex_, limit in rule.limits.items():
        if complex_ == "slots" or objects.is_consumed_number(complex_):
            attribute = "RequestCpus" if complex_ == "slots" else f"Request{complex_.capitalize()}"
            exceeds = limit.isascii() and limit.isdigit() and int(limit) + 1 < SAMPLE_SLOT_CPUS
            yield attribute, int(limit) + 1 if exceeds else 1


def _first(rule: QuotaRuleNames, kind: str, groups: Mapping[str, list[str]]) -> str:
    """Return the first name of a filter that a job can have; empty if there is none."""
    for name in rule.filters.get(kind, ()):
        members = groups.get(name.removeprefix("@"), []) if name.startswith("@") else [name]
        found = next((each for each in members if not _UNUSABLE.search(each)), "")
        if found:
            return found
    return ""

"""The settings of accounting groups, by their names in HTCondor's configuration, with its defaults."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from negotiator.plugin import (
    Expression,
    Problem,
    RankExpression,
    ScalarText,
    Severity,
    Source,
    parse,
    references,
)
from negotiator_fairshare.groups.settings import (
    DEFAULT_SORT_EXPRESSION,
    ROOT_GROUP,
    ConfiguredGroup,
    GroupQuirks,
    GroupSettings,
)
from negotiator_fairshare.groups.tree import GroupNode, GroupTree, folded
from negotiator_fairshare.knobs import KnobReader

#: Allocations descend into the tree recursively.
MAX_LEVELS: Final = 100
#: Up to here sums of quotas are exact.
MAX_QUOTA: Final = 1e15
MAX_STEPS: Final = 1_000_000

_STATIC: Final = "GROUP_QUOTA_"
_DYNAMIC: Final = "GROUP_QUOTA_DYNAMIC_"
_SURPLUS: Final = "GROUP_ACCEPT_SURPLUS_"
_REGROUP: Final = "GROUP_AUTOREGROUP_"
_FACTOR: Final = "GROUP_PRIO_FACTOR_"
#: The attributes of the ads of groups, which GROUP_SORT_EXPR reads.
_OF_GROUPS: Final = ("AccountingGroup", "GroupQuota", "GroupResourcesAllocated", "GroupResourcesInUse")
_ROUNDS: Final = "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS"
_RATE: Final = "GROUP_QUOTA_ROUND_ROBIN_RATE"
#: The settings that have an older name, by that name.
_RENAMED: Final = {"HFS_MAX_ALLOCATION_ROUNDS": _ROUNDS, "HFS_ROUND_ROBIN_RATE": _RATE}
#: Of two that fit a name, the longer comes first.
_FAMILIES: Final = (_DYNAMIC, _STATIC, _SURPLUS, _REGROUP, _FACTOR)

#: Knobs of all groups, which begin as those of single groups do.
_NAMED: Final = {folded(name): name for name in (_ROUNDS, _RATE)}

#: The knobs of single groups: those of ``Section.knobs``.
PATTERNS: Final = tuple(f"{family}*" for family in _FAMILIES)


def _sort_expression() -> RankExpression:
    return RankExpression(parse(DEFAULT_SORT_EXPRESSION), DEFAULT_SORT_EXPRESSION)


@attrs.frozen
class GroupKnobs:
    """The knobs that accounting groups read; ``knobs`` has those of single groups, as ``GROUP_QUOTA_physics``.

    None is an empty setting. The old names, with ``HFS_``, count where the new ones are empty: condor_negotiator takes the
    default of a new name that is not set.

    Source: HTCondor manual, "Configuration Macros", condor_negotiator.
    """

    NEGOTIATOR_CONSIDER_PREEMPTION: bool = True
    NEGOTIATOR_USE_SLOT_WEIGHTS: bool = True
    NEGOTIATOR_USE_WEIGHTED_DEMAND: bool = True
    NEGOTIATOR_STRICT_ENFORCE_QUOTA: bool = True
    NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION: bool = True
    GROUP_NAMES: str = ""
    GROUP_ACCEPT_SURPLUS: bool = False
    GROUP_AUTOREGROUP: bool = False
    GROUP_SORT_EXPR: RankExpression | None = attrs.field(factory=_sort_expression)
    GROUP_QUOTA_MAX_ALLOCATION_ROUNDS: int | None = 3
    GROUP_QUOTA_ROUND_ROBIN_RATE: float | None = 1e100
    HFS_MAX_ALLOCATION_ROUNDS: int = 3
    HFS_ROUND_ROBIN_RATE: float = 1e100
    knobs: Mapping[str, ScalarText] = attrs.field(factory=dict)
    sources: Mapping[str, Source] = attrs.field(factory=dict, eq=False)


@attrs.frozen
class GroupConfiguration:
    """The accounting groups of a bundle.

    ``factors`` are the GROUP_PRIO_FACTOR of groups by name. ``problems`` has the knobs that are invalid, contradict each
    other, or are not used as written; without an error among them, the rest is valid. ``sources`` has the place of each
    group's quota.
    """

    settings: GroupSettings
    tree: GroupTree
    factors: Mapping[str, float]
    problems: tuple[Problem, ...]
    sources: Mapping[str, Source] = attrs.field(factory=dict)


def read_groups(knobs: GroupKnobs, quirks: GroupQuirks | None = None) -> GroupConfiguration:
    """Return the groups that the knobs configure.

    :param quirks: which quirks of condor_negotiator are reproduced; all of them by default.
    """
    reader = KnobReader(knobs.knobs, knobs.sources)
    names = tuple(_group_names(reader, knobs.GROUP_NAMES))
    listed = tuple(_group(reader, name, knobs) for name in names)
    sort_expression = knobs.GROUP_SORT_EXPR
    if sort_expression is None:
        reader.error("GROUP_SORT_EXPR", "GROUP_SORT_EXPR must be an expression", "remove the line")
        sort_expression = _sort_expression()
    reader.problems += _undefined_in_groups(sort_expression)
    tree = GroupTree.of_groups(listed, autoregroup=False)
    _check_tree(reader, tree)
    _check_unknown_groups(reader, names)
    rounds = _Rounds.of(knobs)
    rounds.check(reader, knobs, listed)
    settings = GroupSettings(
        groups=tuple(group for group in listed if group.name in tree.nodes),
        accept_surplus=knobs.GROUP_ACCEPT_SURPLUS,
        autoregroup=knobs.GROUP_AUTOREGROUP,
        sort_expression=sort_expression.tree,
        max_rounds=max(1, rounds.most),
        round_robin_rate=max(1.0, rounds.rate),
        strict=knobs.NEGOTIATOR_STRICT_ENFORCE_QUOTA,
        oversubscription=knobs.NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION,
        slot_weights=knobs.NEGOTIATOR_USE_SLOT_WEIGHTS,
        weighted_demand=knobs.NEGOTIATOR_USE_WEIGHTED_DEMAND,
        consider_preemption=knobs.NEGOTIATOR_CONSIDER_PREEMPTION,
        quirks=quirks or GroupQuirks(),
    )
    tree = GroupTree.of_groups(settings.groups, autoregroup=settings.any_autoregroups)
    sources = dict(_quota_sources(reader, tree))
    return GroupConfiguration(settings, tree, _factors(reader, tree), tuple(reader.problems), sources)


def _undefined_in_groups(sort_expression: Expression) -> Iterator[Problem]:
    """Warn of attributes that no group has: the expression is evaluated with the ads of groups, not with jobs."""
    read = references(sort_expression.tree)
    for name in sorted((read.unscoped | read.my | read.target) - {folded(each) for each in _OF_GROUPS}):
        spelled, source = sort_expression.find(name)
        message = f"GROUP_SORT_EXPR: {spelled} is undefined for every group"
        yield Problem(Severity.WARNING, source, message, f"it may read {', '.join(_OF_GROUPS)}")


def _group_names(knobs: KnobReader, text: str) -> Iterator[str]:
    """Yield the valid names, each once."""
    known: dict[str, str] = {}
    for name in text.replace(",", " ").split():
        key = folded(name)
        if key == ROOT_GROUP:
            knobs.error("GROUP_NAMES", f"{ROOT_GROUP} is the name of the root group", "remove it")
        elif not all(key.split(".")):
            knobs.error("GROUP_NAMES", f"invalid group name {name}: a level has no name")
        elif key.count(".") >= MAX_LEVELS:
            knobs.error("GROUP_NAMES", f"group {name[:40]}... has more than {MAX_LEVELS} levels")
        elif key in known:
            knobs.warn("GROUP_NAMES", f"group {name} is listed twice, first as {known[key]}")
        else:
            known[key] = name
            yield name


def _group(knobs: KnobReader, name: str, defaults: GroupKnobs) -> ConfiguredGroup:
    static, dynamic = bool(knobs.text(_STATIC + name)), bool(knobs.text(_DYNAMIC + name))
    if static and dynamic:
        message = f"{_DYNAMIC}{name} has no effect: {_STATIC}{name} takes precedence"
        knobs.warn(_DYNAMIC + name, message, "remove one of the two")
    elif not static and not dynamic:
        hint = f"set {_STATIC}{name} or {_DYNAMIC}{name}"
        knobs.warn("GROUP_NAMES", f"group {name} has no quota: 0 is used", hint)
    if static:
        quota = knobs.number(_STATIC + name, 0, least=0, most=MAX_QUOTA)
    else:
        quota = knobs.number(_DYNAMIC + name, 0, least=0, most=1)
    return ConfiguredGroup(
        name,
        quota,
        static=static,
        accept_surplus=knobs.boolean(_SURPLUS + name, default=defaults.GROUP_ACCEPT_SURPLUS),
        autoregroup=knobs.boolean(_REGROUP + name, default=defaults.GROUP_AUTOREGROUP),
    )


def _check_tree(knobs: KnobReader, tree: GroupTree) -> None:
    for name in tree.ignored:
        parent = name.rpartition(".")[0]
        knobs.warn("GROUP_NAMES", f"group {name} is ignored: {parent} is not listed", f"add {parent}")
    for node in tree.nodes.values():
        _check_fractions(knobs, tree, node)


def _check_fractions(knobs: KnobReader, tree: GroupTree, node: GroupNode) -> None:
    """Warn of dynamic quotas of siblings that sum to more than 1."""
    siblings = [child.group for child in tree.children(node) if not child.group.static]
    total = sum(group.quota for group in siblings)
    if total > 1.0001:
        names = ", ".join(group.name for group in siblings)
        knobs.warn(
            _DYNAMIC + siblings[0].name, f"dynamic quotas of {names} are divided by their sum, {total:g}"
        )


def _check_unknown_groups(knobs: KnobReader, names: Sequence[str]) -> None:
    """Warn of knobs of groups that are not listed."""
    known = {folded(family + name) for family in _FAMILIES for name in names}
    for name in knobs.names():
        family = next(each for each in _FAMILIES if folded(name).startswith(folded(each)))
        if folded(name) not in known and folded(name) != folded(_FACTOR + ROOT_GROUP):
            group = name[len(family) :]
            of_groups = (
                family + each for each in names if folded(name).endswith(folded(each)) for family in _FAMILIES
            )
            intended = _NAMED | {folded(each): each for each in of_groups}
            near = difflib.get_close_matches(folded(name), intended, n=1, cutoff=0.9)
            hint = f"did you mean {intended[near[0]]}?" if near else f"add {group} to GROUP_NAMES"
            knobs.warn(name, f"no effect: group {group} is not listed", hint)


@attrs.frozen
class _Rounds:
    """The most rounds of a cycle and what a turn adds, each with the name of the setting that counts."""

    most: int
    rate: float
    most_name: str
    rate_name: str

    @classmethod
    def of(cls, knobs: GroupKnobs) -> _Rounds:
        """Return those of a bundle."""
        most, rate = knobs.GROUP_QUOTA_MAX_ALLOCATION_ROUNDS, knobs.GROUP_QUOTA_ROUND_ROBIN_RATE
        return cls(
            knobs.HFS_MAX_ALLOCATION_ROUNDS if most is None else most,
            knobs.HFS_ROUND_ROBIN_RATE if rate is None else rate,
            "HFS_MAX_ALLOCATION_ROUNDS" if most is None else _ROUNDS,
            "HFS_ROUND_ROBIN_RATE" if rate is None else _RATE,
        )

    def check(self, reader: KnobReader, knobs: GroupKnobs, groups: Sequence[ConfiguredGroup]) -> None:
        """Report values out of range, and old names that do not count."""
        for old, new in _RENAMED.items():
            default = getattr(attrs.fields(GroupKnobs), old).default
            if getattr(knobs, old) != default and old not in {self.most_name, self.rate_name}:
                message = f"{old} has no effect: condor_negotiator reads it only where {new} is empty"
                reader.warn(old, message, f"write {new} instead")
        if self.most < 1:
            reader.error(self.most_name, f"{self.most_name} must be at least 1: {self.most}")
        if self.rate < 1:
            reader.error(self.rate_name, f"{self.rate_name} must be at least 1: {self.rate:g}")
            return
        steps = max((group.quota for group in groups if group.static), default=0.0) / self.rate
        if steps > MAX_STEPS:
            message = f"{self.rate:g} a turn takes {steps:g} turns to fill the largest quota"
            reader.error(self.rate_name, message, "raise it")


def _quota_sources(knobs: KnobReader, tree: GroupTree) -> Iterator[tuple[str, Source]]:
    """Yield the groups whose quota is configured, and its place."""
    for node in tree.nodes.values():
        source = knobs.source((_STATIC if node.group.static else _DYNAMIC) + node.name)
        if source is not None:
            yield node.name, source


def _factors(knobs: KnobReader, tree: GroupTree) -> Mapping[str, float]:
    """Return the priority factors of groups that have one."""
    factors = {}
    for name in tree.nodes:
        knob = _FACTOR + name
        if knobs.text(knob):
            factors[name] = knobs.number(knob, 1.0, least=0)
            if not 0 < factors[name] < math.inf:
                knobs.error(knob, f"{knob} must be a positive number: {knobs.text(knob)}")
    return factors

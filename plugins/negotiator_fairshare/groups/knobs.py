"""Read the settings of accounting groups from the texts of HTCondor's knobs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import attrs

from negotiator.plugin import (
    BundleError,
    ClassAd,
    Expr,
    NegotiatorError,
    Problem,
    Severity,
    Source,
    Value,
    parse,
)
from negotiator_fairshare.groups.settings import ROOT_GROUP, ConfiguredGroup, GroupQuirks, GroupSettings
from negotiator_fairshare.groups.tree import GroupTree, folded

#: More levels than anybody needs; allocations descend into the tree recursively.
MAX_LEVELS: Final = 100

_GROUP_FAMILIES: Final = (
    "GROUP_QUOTA_",
    "GROUP_QUOTA_DYNAMIC_",
    "GROUP_ACCEPT_SURPLUS_",
    "GROUP_AUTOREGROUP_",
)
_POOL_KNOBS: Final = ("group_quota_max_allocation_rounds", "group_quota_round_robin_rate")


def read_group_settings(
    knobs: Mapping[str, str],
    source_of: Callable[[str], Source] = Source,
    quirks: GroupQuirks | None = None,
) -> GroupSettings:
    """Return the settings.

    :param knobs: texts by name, macros replaced; names without regard to case; other knobs are ignored.
    :param source_of: returns where a knob is set, given its name as in ``knobs`` (or as documented if it is missing).
    :param quirks: which quirks of condor_negotiator are reproduced; all of them by default.
    :raises BundleError: some knobs are invalid or contradict each other; it has all of them.
    """
    reader = _KnobReader(knobs, source_of)
    settings = reader.settings(quirks or GroupQuirks())
    if any(problem.severity is Severity.ERROR for problem in reader.problems):
        raise BundleError(reader.problems)
    return attrs.evolve(settings, warnings=tuple(reader.problems))


class _KnobReader:
    """The knobs of one configuration, and the problems found so far."""

    def __init__(self, knobs: Mapping[str, str], source_of: Callable[[str], Source]) -> None:
        self._names = {folded(name): name for name in knobs}
        self._knobs = {folded(name): text.strip() for name, text in knobs.items()}
        self._source_of = source_of
        self.problems: list[Problem] = []

    def settings(self, quirks: GroupQuirks) -> GroupSettings:
        accept_surplus = self.boolean("GROUP_ACCEPT_SURPLUS", default=False)
        autoregroup = self.boolean("GROUP_AUTOREGROUP", default=False)
        names = tuple(self._group_names())
        groups = tuple(
            self._group(name, accept_surplus=accept_surplus, autoregroup=autoregroup) for name in names
        )
        self._check_tree(groups)
        self._check_unknown_groups(names)
        defaults = GroupSettings()
        return GroupSettings(
            groups=groups,
            accept_surplus=accept_surplus,
            autoregroup=autoregroup,
            sort_expression=self._sort_expression(defaults),
            max_rounds=int(self.number("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", defaults.max_rounds, least=1.0)),
            round_robin_rate=self.number(
                "GROUP_QUOTA_ROUND_ROBIN_RATE", defaults.round_robin_rate, least=1.0
            ),
            strict=self.boolean("NEGOTIATOR_STRICT_ENFORCE_QUOTA", default=True),
            oversubscription=self.boolean("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", default=True),
            slot_weights=self.boolean("NEGOTIATOR_USE_SLOT_WEIGHTS", default=True),
            weighted_demand=self.boolean("NEGOTIATOR_USE_WEIGHTED_DEMAND", default=True),
            consider_preemption=self.boolean("NEGOTIATOR_CONSIDER_PREEMPTION", default=True),
            quirks=quirks,
        )

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return the value of a boolean knob; the default, with an error, if it is invalid."""
        text = self._knobs.get(folded(name), "")
        if not text:
            return default
        value = _constant(text)
        if isinstance(value, bool | int | float):
            return bool(value)
        self._error(name, f"{name} must be true or false: {text}")
        return default

    def number(self, name: str, default: float, *, least: float, most: float = math.inf) -> float:
        """Return the value of a numeric knob; the default, with an error, if it is invalid."""
        text = self._knobs.get(folded(name), "")
        if not text:
            return default
        value = _constant(text)
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        limits = f"from {least:g} to {most:g}" if math.isfinite(most) else f"of at least {least:g}"
        self._error(name, f"{name} must be a number {limits}: {text}")
        return default

    def _group_names(self) -> Iterator[str]:
        known: dict[str, str] = {}
        for name in self._knobs.get("group_names", "").replace(",", " ").split():
            key = folded(name)
            if key == ROOT_GROUP:
                self._error("GROUP_NAMES", f"{ROOT_GROUP} is the name of the root group", "remove it")
            elif not all(part for part in key.split(".")):
                self._error("GROUP_NAMES", f"invalid group name {name}: a level has no name")
            elif key.count(".") >= MAX_LEVELS:
                self._error("GROUP_NAMES", f"group {name[:40]}... has more than {MAX_LEVELS} levels")
            elif key in known:
                self._warn("GROUP_NAMES", f"group {name} is listed twice, first as {known[key]}")
            else:
                known[key] = name
                yield name

    def _group(self, name: str, *, accept_surplus: bool, autoregroup: bool) -> ConfiguredGroup:
        static_knob, dynamic_knob, surplus_knob, regroup_knob = (family + name for family in _GROUP_FAMILIES)
        static = self._is_set(static_knob)
        if static and self._is_set(dynamic_knob):
            hint = "a group has a static or a dynamic quota: remove one"
            self._error(dynamic_knob, f"{static_knob} is set too", hint)
        elif not static and not self._is_set(dynamic_knob):
            self._warn(
                "GROUP_NAMES", f"group {name} has no quota: 0 is used", f"set {static_knob} or {dynamic_knob}"
            )
        factor = self.number(f"GROUP_PRIO_FACTOR_{name}", 0.0, least=1.0)
        return ConfiguredGroup(
            name,
            quota=self.number(static_knob, 0.0, least=0.0)
            if static
            else self.number(dynamic_knob, 0.0, least=0.0, most=1.0),
            static=static,
            accept_surplus=self.boolean(surplus_knob, default=accept_surplus),
            autoregroup=self.boolean(regroup_knob, default=autoregroup),
            priority_factor=factor or None,
        )

    def _check_tree(self, groups: tuple[ConfiguredGroup, ...]) -> None:
        tree = GroupTree.of_groups(groups)
        for name in tree.ignored:
            parent = name.rpartition(".")[0]
            self._warn("GROUP_NAMES", f"group {name} is ignored: {parent} is not listed", f"add {parent}")
        for node in tree.nodes.values():
            children = [child.group for child in tree.children(node)]
            fractions = sum(child.quota for child in children if not child.static)
            if fractions > 1.0001:
                below = "of the top level" if node.parent is None else f"below {node.name}"
                knobs = "GROUP_QUOTA_DYNAMIC_" + next(child.name for child in children if not child.static)
                self._warn(knobs, f"dynamic quotas {below} sum to {fractions:g}: they are divided by it")

    def _check_unknown_groups(self, names: tuple[str, ...]) -> None:
        """Warn of quotas of groups that are not listed."""
        known = {folded(name) for name in names}
        for key, name in self._names.items():
            if key in _POOL_KNOBS:
                continue
            for family in sorted(_GROUP_FAMILIES, key=len, reverse=True):
                if key.startswith(folded(family)):
                    if key.removeprefix(folded(family)) not in known:
                        group = name[len(family) :]
                        self._warn(
                            name, f"no effect: group {group} is not listed", f"add {group} to GROUP_NAMES"
                        )
                    break

    def _sort_expression(self, defaults: GroupSettings) -> Expr:
        text = self._knobs.get("group_sort_expr", "")
        if not text:
            return defaults.sort_expression
        try:
            return parse(text)
        except NegotiatorError as error:
            self._error("GROUP_SORT_EXPR", f"invalid expression: {error}")
            return defaults.sort_expression

    def _is_set(self, name: str) -> bool:
        return bool(self._knobs.get(folded(name)))

    def _error(self, knob: str, message: str, hint: str = "") -> None:
        self._report(Severity.ERROR, knob, message, hint)

    def _warn(self, knob: str, message: str, hint: str = "") -> None:
        self._report(Severity.WARNING, knob, message, hint)

    def _report(self, severity: Severity, knob: str, message: str, hint: str) -> None:
        source = self._source_of(self._names.get(folded(knob), knob))
        self.problems.append(Problem(severity, source, message, hint))


def _constant(text: str) -> Value | None:
    """Return the value of a constant expression, None if it cannot be parsed."""
    try:
        return ClassAd([("value", parse(text))]).evaluate("value")
    except NegotiatorError:
        return None

"""Read the settings of accounting groups from HTCondor's knobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from negotiator.plugin import BundleError
from negotiator_fairshare.groups.settings import ROOT_GROUP, ConfiguredGroup, GroupQuirks, GroupSettings
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
_ROUNDS: Final = "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS"
_RATE: Final = "GROUP_QUOTA_ROUND_ROBIN_RATE"


def read_group_settings(knobs: KnobReader, quirks: GroupQuirks | None = None) -> GroupSettings:
    """Return the settings; what was ignored is in ``knobs.problems``.

    :param quirks: which quirks of condor_negotiator are reproduced; all of them by default.
    :raises BundleError: knobs are invalid or contradict each other; it has all problems.
    """
    defaults = GroupSettings()
    accept_surplus = knobs.boolean("GROUP_ACCEPT_SURPLUS", default=defaults.accept_surplus)
    autoregroup = knobs.boolean("GROUP_AUTOREGROUP", default=defaults.autoregroup)
    names = tuple(_group_names(knobs))
    groups = tuple(
        _group(knobs, name, accept_surplus=accept_surplus, autoregroup=autoregroup) for name in names
    )
    tree = GroupTree.of_groups(groups)
    _check_tree(knobs, tree)
    _check_unknown_groups(knobs, names)
    settings = GroupSettings(
        groups=tuple(group for group in groups if group.name in tree.nodes),
        accept_surplus=accept_surplus,
        autoregroup=autoregroup,
        sort_expression=knobs.expression("GROUP_SORT_EXPR", defaults.sort_expression),
        max_rounds=int(knobs.number(_ROUNDS, defaults.max_rounds, least=1, most=2**31 - 1)),
        round_robin_rate=_rate(knobs, groups, defaults.round_robin_rate),
        strict=knobs.boolean("NEGOTIATOR_STRICT_ENFORCE_QUOTA", default=defaults.strict),
        oversubscription=knobs.boolean(
            "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", default=defaults.oversubscription
        ),
        slot_weights=knobs.boolean("NEGOTIATOR_USE_SLOT_WEIGHTS", default=defaults.slot_weights),
        weighted_demand=knobs.boolean("NEGOTIATOR_USE_WEIGHTED_DEMAND", default=defaults.weighted_demand),
        consider_preemption=knobs.boolean(
            "NEGOTIATOR_CONSIDER_PREEMPTION", default=defaults.consider_preemption
        ),
        quirks=quirks or defaults.quirks,
    )
    if knobs.has_errors:
        raise BundleError(knobs.problems)
    return settings


def _group_names(knobs: KnobReader) -> Iterator[str]:
    """Yield the valid names, each once."""
    known: dict[str, str] = {}
    for name in knobs.text("GROUP_NAMES").replace(",", " ").split():
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


def _group(knobs: KnobReader, name: str, *, accept_surplus: bool, autoregroup: bool) -> ConfiguredGroup:
    static, dynamic = bool(knobs.text(_STATIC + name)), bool(knobs.text(_DYNAMIC + name))
    if static and dynamic:
        knobs.error(_DYNAMIC + name, f"group {name} has {_STATIC}{name} too", "remove one of them")
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
        accept_surplus=knobs.boolean(_SURPLUS + name, default=accept_surplus),
        autoregroup=knobs.boolean(_REGROUP + name, default=autoregroup),
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
    families = (_DYNAMIC, _STATIC, _SURPLUS, _REGROUP)  # of two that fit a name, the longer first
    known = {folded(family + name) for family in families for name in names}
    known |= {folded(_ROUNDS), folded(_RATE)}
    for name in knobs.names():
        family = next((each for each in families if folded(name).startswith(folded(each))), None)
        if family is not None and folded(name) not in known:
            group = name[len(family) :]
            knobs.warn(name, f"no effect: group {group} is not listed", f"add {group} to GROUP_NAMES")


def _rate(knobs: KnobReader, groups: Sequence[ConfiguredGroup], default: float) -> float:
    rate = knobs.number(_RATE, default, least=1)
    steps = max((group.quota for group in groups if group.static), default=0.0) / rate
    if steps > MAX_STEPS:
        knobs.error(_RATE, f"{rate:g} a turn takes {steps:g} turns to fill the largest quota", "raise it")
    return rate

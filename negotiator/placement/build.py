"""Build the chain of placement rules from the configuration and the types that plugins bring.

A rule with a constant target is checked against the configured queues. Source: YuniKorn's check of placement rules at load.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import attrs

from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.placement import Application, ConfiguredRule, PlacementRule, QueueTarget
from negotiator.placement.chain import Chain, ChainRule
from negotiator.placement.filters import make_filter
from negotiator.queues import PartitionConfig
from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import RuleEntry
from negotiator.queues.model import QueueConfig
from negotiator.queues.names import QUEUE_NAME, ROOT, below, is_qualified, is_queue_name
from negotiator.records import Problem, ScalarText, Severity, Source
from negotiator.records.text import suggest

_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9_]*", re.ASCII)
_RESERVED = "recovery"
_FIXED = "fixed"
_MAX_TAGS = 100  # of one rule
#: The rule of a configuration without rules: applications name their queue.
_PROVIDED = RuleEntry(ScalarText("provided"))


def check_static(rule: ChainRule, root: QueueConfig, findings: Findings) -> None:
    """Report a missing target that the rule does not create, a target that is a parent, and a parent that is a leaf."""
    fixed = _fixed_part(rule)
    if fixed is None:
        return
    path, whole = fixed
    queue: QueueConfig = root
    source, name = rule.configured.source, rule.configured.name
    for part in path.lower().split(".")[1:]:
        found = next((child for child in queue.children if child.path == below(queue.path, part)), None)
        if found is None and queue.leaf:
            message = f"rule {name} gives {path}, but {queue.path} is a leaf and can have no children"
            findings.error("rule_target_below_leaf", source, message, f"mark it as a parent: {queue.source}")
            return
        if found is None:
            if not rule.configured.create:
                message = f"rule {name} gives {path}, which does not exist and which it does not create"
                findings.error(
                    "rule_target_missing", source, message, "configure the queue, or set create: true"
                )
            return
        queue = found
    if whole and not queue.leaf:
        message = f"rule {name} gives {queue.path}, a parent queue: only leaves take applications"
        findings.error("rule_target_not_leaf", source, message, "use a leaf")
    elif not whole and queue.leaf:
        message = f"rule {name} gives queues below {queue.path}, which is a leaf"
        findings.error("rule_target_not_leaf", source, message, f"mark it as a parent: {queue.source}")


def _fixed_part(rule: ChainRule) -> tuple[str, bool] | None:
    """Return the constant part of the path, from the outermost parent rule on, and whether it is the whole path."""
    path = ROOT
    for count, each in enumerate(reversed(list(_outwards(rule)))):
        if not each.type.record.fixed:
            return (path, False) if count else None
        target = each.type.record.target(Application(user=""), each.configured)
        given = target.path if target else ""
        path = given if is_qualified(given) else below(path, given) if given != ROOT else path
    return path, True


def _outwards(rule: ChainRule | None) -> Iterator[ChainRule]:
    """Yield the rule, its parent, and so on."""
    while rule is not None:
        yield rule
        rule = rule.parent


def make_chain(
    partition: PartitionConfig,
    types: Iterable[Attributed[PlacementRule]],
    fallback: str = "",
    *,
    static: bool = True,
) -> tuple[Chain | None, tuple[Problem, ...]]:
    """Return the chain of a partition, None if a rule is invalid, and all problems of its rules.

    :param types: the types of rules of all plugins.
    :param fallback: the queue of applications that no rule places; empty for none.
    :param static: False skips the check of constant targets against the configured queues.
    """
    builder = _ChainBuilder({}, Findings())
    for attributed in types:
        first = builder.types.setdefault(attributed.record.name, attributed)
        if first is not attributed or attributed.record.name == _RESERVED:
            owner = f"plugin {first.plugin}" if first is not attributed else "the core"
            message = f"placement rule {attributed.record.name} of plugin {attributed.plugin} already belongs to {owner}"
            builder.findings.error(
                "rule_defined_twice", Source(attributed.plugin), message, "disable one of them"
            )
    rules = []
    for entry in partition.rules or (_PROVIDED,):
        rule = builder.rule(entry)
        if rule is not None:
            if static:
                check_static(rule, partition.root, builder.findings)
            rules.append(rule)
    if fallback and static:
        _check_fallback(fallback, partition, builder.findings)
    problems = tuple(builder.findings.problems)
    if any(each.severity is Severity.ERROR for each in problems):
        return None, problems
    tags = frozenset(name.lower() for rule in rules for name in rule.tags)
    return Chain(tuple(rules), tags, fallback), problems


def _check_fallback(path: str, partition: PartitionConfig, findings: Findings) -> None:
    """Check that the fallback queue is a configured leaf."""
    queue = next((each for each in partition.root.walk() if each.path == path.lower()), None)
    if queue is None or not queue.leaf:
        fault = "is a parent queue" if queue else "is not a configured queue"
        message, hint = (
            f"placement: fallback: {path[:80]!r} {fault}",
            "set the full path of a leaf, from root on",
        )
        findings.error("fallback_missing", Source("pool.yaml"), message, hint)


def _parent_rule(parent: RuleEntry | ScalarText | None) -> RuleEntry | None:
    """Return the rule of a queue above; of a text, the fixed rule of a path, or the rule of that name.

    Source: "Scheduler Configuration", Placement Rules definition. The root itself needs no rule.
    """
    if not isinstance(parent, ScalarText):
        return parent
    if parent.text == ROOT:
        return None
    if is_qualified(parent.text):
        return RuleEntry(attrs.evolve(parent, text=_FIXED), value=parent, source=parent.source)
    return RuleEntry(parent, source=parent.source)


@attrs.frozen
class _ChainBuilder:
    types: dict[str, Attributed[PlacementRule]]
    findings: Findings

    def rule(self, entry: RuleEntry) -> ChainRule | None:
        """Return one rule with its parents; None if it is invalid."""
        above = _parent_rule(entry.parent)
        parent = self.rule(above) if above else None
        made = self._own(entry, parent)
        return None if above and parent is None else made

    def _own(self, entry: RuleEntry, parent: ChainRule | None) -> ChainRule | None:
        given_filter = make_filter(entry.filter, self.findings)
        name = entry.name.text
        attributed = self._type(entry.name)
        if attributed is None:
            return None
        value = entry.value.text if entry.value else ""
        source = entry.source or entry.name.source
        if attributed.record.needs_value and not value:
            code = f"rule_{attributed.record.name}_value_missing"
            self.findings.error(code, source, f"rule {name} needs a value", "set its value:")
            return None
        if value and not attributed.record.takes_value:
            self.findings.notice(source, f"rule {name} takes no value: it has no effect here")
        configured = ConfiguredRule(
            attributed.record.name, value, bool(entry.create), given_filter.lets_through, source
        )
        if attributed.record.fixed and not self._fixed(attributed, configured, entry):
            return None
        tags = self._tags(attributed, configured)
        return None if tags is None else ChainRule(attributed, configured, given_filter, parent, tags)

    def _type(self, name: ScalarText) -> Attributed[PlacementRule] | None:
        if _NAME.fullmatch(name.text) is None:
            message = f"invalid rule name {name.text[:80]!r}"
            self.findings.error(
                "rule_invalid_name", name.source, message, "a letter, then letters, digits and _"
            )
            return None
        folded = name.text.lower()
        if folded == _RESERVED:
            message = "the rule recovery can't be configured: it is built in, after all rules"
            self.findings.error("rule_reserved_name", name.source, message, "remove it")
            return None
        if folded not in self.types:
            message = f"unknown placement rule {name.text[:80]}"
            self.findings.error("rule_unknown", name.source, message, self._hint(folded))
            return None
        return self.types[folded]

    def _hint(self, name: str) -> str:
        classic: Mapping[str, str] = dict.fromkeys(
            (
                "username",
                "primarygroup",
                "primarygroupname",
                "secondarygroup",
                "secondarygroupname",
                "applicationtype",
            ),
            "a plugin has it: set plugins: modules: [negotiator_placement_classic] in pool.yaml",
        )
        return classic.get(name) or suggest(name, self.types)

    def _fixed(self, attributed: Attributed[PlacementRule], rule: ConfiguredRule, entry: RuleEntry) -> bool:
        """True if the constant target of a rule is a valid path, and relative if the rule has a parent rule."""
        source = entry.value.source if entry.value else rule.source
        try:
            target = attributed.record.target(Application(user=""), rule)
        except BaseException as error:  # noqa: BLE001 - a plugin must not end the program, not even by SystemExit
            raise_if_interrupted(error)
            self.findings.error(
                "plugin_error", source, f"plugin {attributed.plugin}: {describe_error(error)}"
            )
            return False
        path = target.path if isinstance(target, QueueTarget) else ""
        wrong = next((each for each in path.split(".") if not is_queue_name(each)), None)
        if wrong is not None:
            message = f"rule {rule.name}: invalid queue name {wrong[:80]!r}"
            self.findings.error("invalid_queue_name", source, message, QUEUE_NAME)
            return False
        if _parent_rule(entry.parent) is not None and (
            getattr(target, "qualified", False) or is_qualified(path)
        ):
            message = f"rule {rule.name} gives {path}, which begins at the root: it can't have a parent rule"
            self.findings.error(
                "rule_fixed_nested_qualified", source, message, "remove the parent, or the root"
            )
            return False
        return True

    def _tags(self, attributed: Attributed[PlacementRule], rule: ConfiguredRule) -> tuple[str, ...] | None:
        """Return the names of the tags that a rule reads; None if the plugin fails."""
        try:
            names = tuple(islice(attributed.record.tags(rule.value), _MAX_TAGS + 1))
        except BaseException as error:  # noqa: BLE001 - a plugin must not end the program, not even by SystemExit
            raise_if_interrupted(error)
            self._broken(attributed, rule, describe_error(error))
            return None
        if len(names) > _MAX_TAGS or not all(type(name) is str for name in names):
            self._broken(attributed, rule, f"expected tag names, at most {_MAX_TAGS}")
            return None
        # A tag is looked up as the name of an attribute.
        wrong = next((name for name in names if not (name and name.isprintable())), None)
        if wrong is None:
            return names
        message = f"rule {rule.name}: invalid tag name {wrong[:80]!r}"
        self.findings.error("rule_tag_name", rule.source, message, "use the name of a job attribute")
        return None

    def _broken(self, attributed: Attributed[PlacementRule], rule: ConfiguredRule, failure: str) -> None:
        message = f"plugin {attributed.plugin}: rule {rule.name}: {failure}"
        self.findings.error("plugin_error", rule.source, message)

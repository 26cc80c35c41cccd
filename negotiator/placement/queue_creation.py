"""Makes the chain of rules: the names of the configuration meet the types that plugins bring."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice

import attrs

from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.placement import Application, ConfiguredRule, PlacementRule, QueueTarget
from negotiator.placement.chain import Chain, ChainRule
from negotiator.placement.filters import make_filter
from negotiator.placement.static import check_static
from negotiator.queues import PartitionConfig
from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import RuleEntry
from negotiator.queues.names import QUEUE_NAME, is_qualified, is_queue_name
from negotiator.records import Problem, ScalarText, Severity, Source
from negotiator.records.text import suggest

_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9_]*", re.ASCII)
_RESERVED = "recovery"
_MAX_TAGS = 100  # that one rule reads
#: What holds where the configuration names no rules: applications say themselves where they go.
_PROVIDED = RuleEntry(ScalarText("provided"))


def make_chain(
    partition: PartitionConfig,
    types: Iterable[Attributed[PlacementRule]],
    fallback: str = "",
    *,
    static: bool = True,
) -> tuple[Chain | None, tuple[Problem, ...]]:
    """Make the chain of a partition, and say everything that is wrong with its rules; None where they are wrong.

    ``static=False`` leaves out whether the targets that are the same for all applications are among the queues.
    """
    making = _Making({}, Findings())
    for stamped in types:
        first = making.types.setdefault(stamped.record.name, stamped)
        if first is not stamped or stamped.record.name == _RESERVED:
            whose = f"plugin {first.plugin}" if first is not stamped else "the core"
            message = (
                f"placement rule {stamped.record.name} of plugin {stamped.plugin} belongs to {whose} already"
            )
            making.findings.error(
                "rule_defined_twice", Source(stamped.plugin), message, "disable one of them"
            )
    rules = []
    for entry in partition.rules or (_PROVIDED,):
        rule = making.rule(entry)
        if rule is not None:
            if static:
                check_static(rule, partition.root, making.findings)
            rules.append(rule)
    if fallback and static:
        _check_fallback(fallback, partition, making.findings)
    problems = tuple(making.findings.problems)
    if any(each.severity is Severity.ERROR for each in problems):
        return None, problems
    tags = frozenset(name.lower() for rule in rules for name in rule.tags)
    return Chain(tuple(rules), tags, fallback), problems


def _check_fallback(path: str, partition: PartitionConfig, findings: Findings) -> None:
    """The queue for what no rule places is a leaf of the configuration: nothing makes it."""
    queue = next((each for each in partition.root.walk() if each.path == path.lower()), None)
    if queue is None or not queue.leaf:
        what = "is a parent queue" if queue else "is no queue of the configuration"
        message, hint = (
            f"placement: fallback: {path[:80]!r} {what}",
            "name a leaf by its full path, from root on",
        )
        findings.error("fallback_missing", Source("pool.yaml"), message, hint)


@attrs.frozen
class _Making:
    types: dict[str, Attributed[PlacementRule]]
    findings: Findings

    def rule(self, entry: RuleEntry) -> ChainRule | None:
        """One rule with its parents; None where it can't be made."""
        parent = self.rule(entry.parent) if entry.parent else None
        made = self._own(entry, parent)
        return None if entry.parent and parent is None else made

    def _own(self, entry: RuleEntry, parent: ChainRule | None) -> ChainRule | None:
        given_filter = make_filter(entry.filter, self.findings)
        name = entry.name.text
        stamped = self._type(entry.name)
        if stamped is None:
            return None
        value = entry.value.text if entry.value else ""
        source = entry.source or entry.name.source
        if stamped.record.needs_value and not value:
            code = f"rule_{stamped.record.name}_value_missing"
            self.findings.error(code, source, f"rule {name} needs a value", "say value: and what it takes")
            return None
        configured = ConfiguredRule(
            stamped.record.name, value, bool(entry.create), given_filter.lets_through, source
        )
        if stamped.record.fixed and not self._fixed(stamped, configured, entry):
            return None
        tags = self._tags(stamped, configured)
        return None if tags is None else ChainRule(stamped, configured, given_filter, parent, tags)

    def _type(self, name: ScalarText) -> Attributed[PlacementRule] | None:
        if _NAME.fullmatch(name.text) is None:
            message = f"{name.text[:80]!r} is no name of a rule"
            self.findings.error(
                "rule_invalid_name", name.source, message, "a letter, then letters, digits and _"
            )
            return None
        folded = name.text.lower()
        if folded == _RESERVED:
            message = "the rule recovery can't be configured: it comes last, for forced applications"
            self.findings.error("rule_reserved_name", name.source, message, "remove it")
            return None
        if folded not in self.types:
            message = f"there is no placement rule {name.text[:80]}"
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
            "a plugin has it: say plugins: modules: [negotiator_placement_classic] in pool.yaml",
        )
        return classic.get(name) or suggest(name, self.types)

    def _fixed(self, stamped: Attributed[PlacementRule], rule: ConfiguredRule, entry: RuleEntry) -> bool:
        """Whether the one target of a fixed rule is a queue's path, and one that its parent rule can stand above."""
        source = entry.value.source if entry.value else rule.source
        try:
            target = stamped.record.target(Application(user=""), rule)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin must not end the program, not even by SystemExit
            self.findings.error("plugin_error", source, f"plugin {stamped.plugin}: {describe_error(error)}")
            return False
        path = target.path if isinstance(target, QueueTarget) else ""
        wrong = next((each for each in path.split(".") if not is_queue_name(each)), None)
        if wrong is not None:
            message = f"rule {rule.name}: {wrong[:80]!r} is no name of a queue"
            self.findings.error("invalid_queue_name", source, message, QUEUE_NAME)
            return False
        if entry.parent is not None and (getattr(target, "qualified", False) or is_qualified(path)):
            message = f"rule {rule.name} gives {path}, which begins at the root: it can't have a parent rule"
            self.findings.error(
                "rule_fixed_nested_qualified", source, message, "remove the parent, or the root"
            )
            return False
        return True

    def _tags(self, stamped: Attributed[PlacementRule], rule: ConfiguredRule) -> tuple[str, ...] | None:
        """The names of the tags that a rule reads, asked for once; None where they can't be had."""
        try:
            names = tuple(islice(stamped.record.tags(rule.value), _MAX_TAGS + 1))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin must not end the program, not even by SystemExit
            self._broken(stamped, rule, describe_error(error))
            return None
        if len(names) > _MAX_TAGS or not all(type(name) is str for name in names):
            self._broken(stamped, rule, f"expected names of tags, at most {_MAX_TAGS}")
            return None
        # What can't be read back as an attribute's name could not be looked up either.
        wrong = next((name for name in names if not (name and name.isprintable())), None)
        if wrong is None:
            return names
        message = f"rule {rule.name}: {wrong[:80]!r} is no name of a tag"
        self.findings.error("rule_tag_name", rule.source, message, "write the name of a job attribute")
        return None

    def _broken(self, stamped: Attributed[PlacementRule], rule: ConfiguredRule, said: str) -> None:
        message = f"plugin {stamped.plugin}: rule {rule.name}: {said}"
        self.findings.error("plugin_error", rule.source, message)

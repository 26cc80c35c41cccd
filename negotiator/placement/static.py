"""Checks a rule against the configured queues, as far as its target is the same for every application.

Source: YuniKorn's check of placement rules at load. Only what the rule's own ``create`` decides is an error; a parent
rule that can never serve is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.hooks.placement import Application
from negotiator.placement.chain import ChainRule
from negotiator.queues.checks.findings import Findings
from negotiator.queues.model import QueueConfig
from negotiator.queues.names import ROOT, below, is_qualified


def check_static(rule: ChainRule, root: QueueConfig, findings: Findings) -> None:
    """Find a target that does not exist and is not created, a target that is no leaf, a parent that is one."""
    fixed = _fixed_part(rule)
    if fixed is None:
        return
    path, whole = fixed
    queue: QueueConfig = root
    source, name = rule.configured.source, rule.configured.name
    for part in path.lower().split(".")[1:]:
        found = next((child for child in queue.children if child.path == below(queue.path, part)), None)
        if found is None and queue.leaf:
            message = f"rule {name} gives {path}, and {queue.path} is a leaf: there can be nothing below it"
            findings.error("rule_target_below_leaf", source, message, f"mark it as a parent: {queue.source}")
            return
        if found is None:
            if not rule.configured.create:
                message = f"rule {name} gives {path}, which does not exist, and it creates none"
                findings.error(
                    "rule_target_missing", source, message, "configure the queue, or say create: true"
                )
            return
        queue = found
    if whole and not queue.leaf:
        message = f"rule {name} gives {queue.path}, a parent queue: only leaves take applications"
        findings.error("rule_target_not_leaf", source, message, "name a leaf")
    elif not whole and queue.leaf:
        message = f"rule {name} gives queues below {queue.path}, which is a leaf"
        findings.error("rule_target_not_leaf", source, message, f"mark it as a parent: {queue.source}")


def _fixed_part(rule: ChainRule) -> tuple[str, bool] | None:
    """The path that the innermost rules give to all applications alike, and whether that is the whole path."""
    path = ROOT
    for count, each in enumerate(reversed(list(_outwards(rule)))):
        if not each.type.record.fixed:
            return (path, False) if count else None
        target = each.type.record.target(Application(user=""), each.configured)
        given = target.path if target else ""
        path = given if is_qualified(given) else below(path, given) if given != ROOT else path
    return path, True


def _outwards(rule: ChainRule | None) -> Iterator[ChainRule]:
    """The rule, its parent, and so on."""
    while rule is not None:
        yield rule
        rule = rule.parent

"""Check a rule with a constant target against the configured queues.

Source: YuniKorn's check of placement rules at load.
"""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.hooks.placement import Application
from negotiator.placement.chain import ChainRule
from negotiator.queues.checks.findings import Findings
from negotiator.queues.model import QueueConfig
from negotiator.queues.names import ROOT, below, is_qualified


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

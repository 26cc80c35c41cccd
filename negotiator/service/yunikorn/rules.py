"""The placement rules as they are configured; the recovery rule, which is always there, comes last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from negotiator.placement.filters import is_expression, listed
from negotiator.queues import RECOVERY
from negotiator.queues.config import FilterEntry, RuleEntry
from negotiator.queues.names import is_qualified
from negotiator.records import ScalarText
from negotiator.service.yunikorn.shapes import present

_RECOVERY: Final = {"name": "recovery", "parameters": {"queue": RECOVERY}}
#: Which parameter the value of a rule is.
_VALUES: Final = {"tag": "tagName", "fixed": "queue"}


def placement_rules(rules: tuple[RuleEntry, ...]) -> list[dict[str, Any]]:
    """Return the rules of a partition in their order."""
    return [*map(_rule, rules), dict(_RECOVERY)]


def _rule(rule: RuleEntry) -> dict[str, Any]:
    name = rule.name.text.lower()
    parameters = {"create": _text(is_true=bool(rule.create))}
    if rule.value is not None:
        parameters[_VALUES.get(name, "value")] = rule.value.text
    if name == "fixed":
        parameters["qualified"] = _text(is_true=rule.value is not None and is_qualified(rule.value.text))
    entry: dict[str, Any] = {"name": name, "parameters": parameters}
    if rule.filter is not None and (found := _filter(rule.filter)):
        entry["filter"] = found
    if isinstance(rule.parent, RuleEntry):
        entry["parentRule"] = _rule(rule.parent)
    elif rule.parent is not None:  # the path of a queue
        entry["parentRule"] = {"name": "fixed", "parameters": {"queue": rule.parent.text, "create": "false"}}
    return entry


def _filter(entry: FilterEntry) -> dict[str, Any]:
    """Return a filter; an empty one is left out."""
    users, groups = listed(entry.users), listed(entry.groups)
    if not users and not groups:
        return {}
    kind = entry.type.text.lower() if entry.type and entry.type.text else "allow"
    return present({"type": kind, **_listed("user", users), **_listed("group", groups)})


def _listed(subject: str, entries: Sequence[ScalarText]) -> dict[str, Any]:
    if is_expression(entries):
        return {f"{subject}Exp": entries[0].text}
    return {f"{subject}List": [each.text for each in entries]}


def _text(*, is_true: bool) -> str:
    return "true" if is_true else "false"

"""The placement rules as they are configured; the recovery rule, which is always there, comes last."""

from __future__ import annotations

from typing import Any, Final

from negotiator.placement.filters import listed
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
    """Return a filter; one entry that is no name is a regular expression."""
    users, groups = _names(entry.users), _names(entry.groups)
    if not users and not groups:
        return {}
    kind = entry.type.text.lower() if entry.type and entry.type.text else "allow"
    return present(
        {"type": kind, **_listed("user", users), **_listed("group", groups)},
    )


def _listed(subject: str, names: list[str]) -> dict[str, Any]:
    if len(names) == 1 and not names[0].replace("_", "").replace("-", "").isalnum():
        return {f"{subject}Exp": names[0]}
    return {f"{subject}List": names}


def _names(entries: tuple[ScalarText, ...] | ScalarText | None) -> list[str]:
    return [each.text for each in listed(entries)]


def _text(*, is_true: bool) -> str:
    return "true" if is_true else "false"

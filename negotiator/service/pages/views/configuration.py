"""*Configuration*: ``queues.yaml`` as it is, and the placement rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from negotiator.app.overview import PoolOverview
from negotiator.records.text import printable
from negotiator.service.configuration import QUEUES
from negotiator.service.pages.views.elements import message
from negotiator.service.yunikorn.rules import placement_rules

_WORDS: Final = {"true": "yes", "false": "no"}


@attrs.frozen
class RuleRow:
    """A placement rule: its parameters, its filter, and the rule that places the queue above, as texts."""

    number: int
    name: str
    parameters: str
    filter: str
    parent: str


@attrs.frozen
class ConfigurationView:
    """The page. ``lines`` are those of the file; None if the bundle has none and the built-in queues are used."""

    file: str
    folder: str
    digest: str
    lines: tuple[str, ...] | None
    rules: tuple[RuleRow, ...]


def configuration_page(overview: PoolOverview) -> ConfigurationView:
    """Return the page."""
    bundle = overview.bundle
    content = bundle.files.get(QUEUES)
    lines = None
    if content is not None:
        lines = tuple(map(printable, content.decode(errors="replace").splitlines()))
    rules = enumerate(placement_rules(bundle.partition.rules), 1)
    return ConfigurationView(
        QUEUES,
        message(str(bundle.folder)),
        bundle.digest,
        lines,
        tuple(_rule(number, rule) for number, rule in rules),
    )


def _rule(number: int, rule: Mapping[str, Any]) -> RuleRow:
    parent = rule.get("parentRule")
    return RuleRow(
        number,
        message(rule["name"]),
        ", ".join(_pairs(rule.get("parameters", {}))),
        ", ".join(_pairs(rule.get("filter", {}))),
        "" if parent is None else _described(parent),
    )


def _described(rule: Mapping[str, Any]) -> str:
    """Return a rule and those above it in one text."""
    inner = [*_pairs(rule.get("parameters", {})), *_pairs(rule.get("filter", {}))]
    if "parentRule" in rule:
        inner.append(f"below {_described(rule['parentRule'])}")
    return f"{message(rule['name'])} ({', '.join(inner)})" if inner else message(rule["name"])


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        text = " ".join(value) if isinstance(value, list) else _WORDS.get(value, value)
        yield message(f"{name}: {text}")

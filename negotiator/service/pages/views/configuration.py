"""*Configuration*: ``queues.yaml`` as it is, the placement rules, and the other files of the bundle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from negotiator.app.overview import PoolOverview
from negotiator.bundle import default_bundle
from negotiator.records.text import printable
from negotiator.service.configuration import QUEUES
from negotiator.service.pages.views.elements import Link, Rows, link, message, shown
from negotiator.service.yunikorn.queues import placement_rules

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
class FileRow:
    """A file of the bundle, with a link if it is text."""

    name: Link
    size: str


@attrs.frozen
class ConfigurationView:
    """The page. ``lines`` are those of the file; None if the bundle has none and the built-in queues are used."""

    file: str
    folder: str
    digest: str
    lines: tuple[str, ...] | None
    rules: tuple[RuleRow, ...]
    files: Rows
    can_be_changed: bool


@attrs.frozen
class FileView:
    """The page of one file of the bundle."""

    name: str
    lines: tuple[str, ...]


def configuration_page(overview: PoolOverview) -> ConfigurationView:
    """Return the page."""
    bundle = overview.bundle
    content = bundle.files.get(QUEUES)
    rules = enumerate(placement_rules(bundle.partition.rules), 1)
    others = sorted(name for name in bundle.files if name != QUEUES)
    return ConfigurationView(
        QUEUES,
        message(str(bundle.folder)),
        bundle.digest,
        None if content is None else _lines(content),
        tuple(_rule(number, rule) for number, rule in rules),
        Rows.first((_file(name, bundle.files[name]) for name in others), len(others)),
        bundle.folder != default_bundle(),
    )


def file_page(overview: PoolOverview, name: str) -> FileView | None:
    """Return the page of a file of the bundle; None if there is none of this name, or it is not text."""
    content = overview.bundle.files.get(name)
    return None if content is None or not _is_text(content) else FileView(shown(name), _lines(content))


def _file(name: str, content: bytes) -> FileRow:
    size = f"{len(content):,} bytes"
    return FileRow(
        link(name, "configuration", "files", name) if _is_text(content) else Link(shown(name)), size
    )


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def _lines(content: bytes) -> tuple[str, ...]:
    return tuple(map(printable, content.decode(errors="replace").splitlines()))


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

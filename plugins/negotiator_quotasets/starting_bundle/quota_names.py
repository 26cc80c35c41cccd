"""The names in resource quota sets, for the objects and queues that a new bundle has to declare and the jobs of its tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import attrs

#: A filter of a rule: a word, and one name, a list, or a list in braces.
_FILTER: Final = re.compile(
    r"\b(users|projects|pes|queues|hosts)\s+(\{[^}]*\}|[^\s{},]+(?:\s*,\s*[^\s{},]+)*)"
)
_LIMITS: Final = re.compile(r"\bto\s+(\S+=\S+(?:\s*,\s*\S+=\S+)*)")
_NAME: Final = re.compile(r"[^\s,{}]+")
_COMMENT: Final = re.compile(r"^\s*#.*$|^\s*description\b.*$", re.MULTILINE)
_WILDCARD: Final = re.compile(r"[*?\[\]]")
_HEAD: Final = """\
# The queues that the quota sets name. A dot separates levels: all.q of Grid Engine is the queue root.all.q (docs/quota-sets.md).
# A job requests one as +Queue = "root.all.q".
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
"""
_RULES: Final = """\
    placementrules:
      - name: provided                # the queue that the job requests
      - name: fixed                   # all other jobs
        value: root.{first}
"""


@attrs.frozen
class QuotaRuleNames:
    """The names in one rule: those of each filter as written, and the limits by complex."""

    filters: Mapping[str, tuple[str, ...]]
    limits: Mapping[str, str]


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@attrs.frozen
class QuotaNames:
    """Names without wildcards, each once, in the order of the rules. ``usersets`` and ``hostgroups`` are without the ``@``."""

    users: tuple[str, ...] = ()
    usersets: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    hostgroups: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    pes: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    complexes: tuple[str, ...] = ()
    rules: tuple[QuotaRuleNames, ...] = ()

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the names in the text of quota sets; whether the text is valid is for ``negotiator check`` to find out."""
        rules = tuple(_rules(_COMMENT.sub("", text).replace("\\\n", " ")))

        def names(kind: str, *, groups: bool = False) -> tuple[str, ...]:
            found = [name.removeprefix("!") for rule in rules for name in rule.filters.get(kind, ())]
            named = (name for name in found if name.startswith("@") is groups and not _WILDCARD.search(name))
            return _unique(name.removeprefix("@") for name in named)

        return cls(
            users=names("users"),
            usersets=names("users", groups=True),
            hosts=names("hosts"),
            hostgroups=names("hosts", groups=True),
            projects=names("projects"),
            pes=names("pes"),
            queues=names("queues"),
            complexes=_unique(name for rule in rules for name in rule.limits),
            rules=rules,
        )


def _rules(text: str) -> Iterator[QuotaRuleNames]:
    for rule in re.split(r"^\s*limit\s", text, flags=re.MULTILINE)[1:]:
        filters = {kind: tuple(_NAME.findall(names)) for kind, names in _FILTER.findall(rule)}
        limits = ",".join(_LIMITS.findall(rule)).split(",")
        pairs = (each.partition("=") for each in limits if "=" in each)
        yield QuotaRuleNames(filters, {name.strip(): value.strip() for name, _, value in pairs})


def queues_of_names(names: Sequence[str]) -> bytes:
    """Return a ``queues.yaml`` with these queues; jobs that request none go to the first one."""
    tree: dict[str, Any] = {}
    for name in names:
        level = tree
        for part in name.partition("@")[0].split("."):
            level = level.setdefault(part, {})
    lines = _lines(tree, " " * 10)
    return (_HEAD + "\n".join(lines) + "\n" + _RULES.format(first=_first_leaf(tree))).encode()


def _lines(tree: dict[str, Any], indent: str) -> Iterator[str]:
    for name, below in tree.items():
        yield f"{indent}- name: {name}"
        if below:
            yield f"{indent}  queues:"
            yield from _lines(below, f"{indent}    ")


def _first_leaf(tree: dict[str, Any]) -> str:
    name, below = next(iter(tree.items()))
    return f"{name}.{_first_leaf(below)}" if below else name

"""Queues for the names that Grid Engine's quota sets have of queues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

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

"""The groups of ``negotiator --help``: the commands by who needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

#: The commands of each group, in the order of the help. A name without a command is left out.
GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "Everyday": (*("run", "why", "idle", "queues", "usage", "qquota", "place", "access", "report"),),
    "Administrators of policies": (
        *("init", "check", "fmt", "schema", "test", "diff", "replay", "whatif", "policies"),
        *("admin", "userprio", "qconf"),
    ),
    "Administrators of a live pool": (
        "fetch",
        "serve",
        "status",
        "export",
        "state",
    ),
    "Auditors": ("audit",),
    "Plugin authors": ("plugins", "expr"),
}
#: Words that people type, and the command that does it.
MOVED: Final[Mapping[str, str]] = {
    "why-not": "negotiator why JOB SLOT",
    "eval": "negotiator expr eval EXPRESSION",
    "lint": "negotiator expr lint EXPRESSION, or negotiator check for a policy bundle",
    "repl": "negotiator expr repl",
    "config": "negotiator status --settings",
    "web": "negotiator serve --pages",
    "rollout": "negotiator audit rollout",
    "token": "negotiator admin token FILE --user NAME",
    "new-plugin": "negotiator init --plugin NAME",
    "validate": "negotiator check",
    "explain": "negotiator why JOB",
    "start": "negotiator serve",
}
#: The group of all other commands: those of installed plugins.
OTHERS: Final = "Plugins"


def in_groups(names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each group that has commands, and the names of its commands."""
    left = set(names)
    for group, members in GROUPS.items():
        found = [name for name in members if name in left]
        left -= {*found}
        if found:
            yield group, found
    if left:
        yield OTHERS, sorted(left)

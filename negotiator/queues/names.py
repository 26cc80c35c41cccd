"""Names of queues, users and groups, and queue paths.

Source: "App Placement Rules" (names of users and groups, ``_dot_``) and "Scheduler Configuration" (queue definition);
characters that only YuniKorn accepts are accepted too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ROOT = "root"
SEPARATOR = "."
DOT = "_dot_"
WILDCARD = "*"

#: The queue of forced applications that no rule places: without access control, removed when empty.
RECOVERY = "root.@recovery@"

_QUEUE = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}", re.ASCII)
_PATH = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}(?:\.[a-zA-Z0-9_:#/@-]{1,64})*", re.ASCII)
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9:#/_.@-]*\$?", re.ASCII)
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*", re.ASCII)

#: Characters of a path: users request queues, and every level of a path costs time and memory.
LONGEST_PATH = 500

#: Valid names, for messages.
QUEUE_NAME = "1 to 64 of letters, digits and _ : # / @ -"
USER_NAME = "a letter or _, then letters, digits and _ : # / . @ -, and perhaps a $ at the end"
GROUP_NAME = "a letter or _, then letters, digits and _ : . -"


def is_queue_name(name: str) -> bool:
    """True for a valid name of a queue at its own level."""
    return _QUEUE.fullmatch(name) is not None


def is_queue_path(path: str) -> bool:
    """True if each part of a path is a valid queue name."""
    return _PATH.fullmatch(path) is not None


def is_user_name(name: str) -> bool:
    """True for a valid user name in limits and filters."""
    return _USER.fullmatch(name) is not None


def is_group_name(name: str) -> bool:
    """True for a valid group name in limits and filters."""
    return _GROUP.fullmatch(name) is not None


def is_qualified(path: str) -> bool:
    """True if a path begins at the root, in lower case."""
    return path.startswith(ROOT + SEPARATOR)


def without_dots(name: str) -> str:
    """Return a name for use in a path: ``finance_dot_test`` for ``finance.test``."""
    return name.replace(SEPARATOR, DOT)


def below(parent: str, name: str) -> str:
    """Return the path of ``name``, which may be a path itself, below a queue."""
    return parent + SEPARATOR + name


def parent_of(path: str) -> str:
    """Return the path one level up; empty for the root."""
    return path.rpartition(SEPARATOR)[0]


def upwards(path: str) -> Iterator[str]:
    """Yield the path, then all paths above it, up to the root."""
    while path:
        yield path
        path = parent_of(path)

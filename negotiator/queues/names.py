"""The names of queues, users and groups, and the paths that queue names make.

Source: "App Placement Rules" (names of users and groups, ``_dot_``) and "Scheduler Configuration" (queue definition);
where YuniKorn takes more characters than they say, so does this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ROOT = "root"
SEPARATOR = "."
DOT = "_dot_"
WILDCARD = "*"

#: The queue of forced applications that no rule places: it has no access control, and goes when it is empty.
RECOVERY = "root.@recovery@"

_QUEUE = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}", re.ASCII)
_PATH = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}(?:\.[a-zA-Z0-9_:#/@-]{1,64})*", re.ASCII)
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9:#/_.@-]*\$?", re.ASCII)
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*", re.ASCII)

#: Characters that a path may have: users ask for queues, and every level above one is made, looked at and told of.
LONGEST_PATH = 500

#: What a queue's name may be made of, for messages.
QUEUE_NAME = "1 to 64 of letters, digits and _ : # / @ -"
USER_NAME = "a letter or _, then letters, digits and _ : # / . @ -, and perhaps a $ at the end"
GROUP_NAME = "a letter or _, then letters, digits and _ : . -"


def is_queue_name(name: str) -> bool:
    """Whether a queue may have this name, at its own level."""
    return _QUEUE.fullmatch(name) is not None


def is_queue_path(path: str) -> bool:
    """Whether each part of a path is a queue's name."""
    return _PATH.fullmatch(path) is not None


def is_user_name(name: str) -> bool:
    """Whether a limit or a filter takes it for a user."""
    return _USER.fullmatch(name) is not None


def is_group_name(name: str) -> bool:
    """Whether a limit or a filter takes it for a group."""
    return _GROUP.fullmatch(name) is not None


def is_qualified(path: str) -> bool:
    """Whether a path begins at the root. The root's name counts in lower case only."""
    return path.startswith(ROOT + SEPARATOR)


def without_dots(name: str) -> str:
    """A name as it may stand in a path: ``finance.test`` is ``finance_dot_test``."""
    return name.replace(SEPARATOR, DOT)


def below(parent: str, name: str) -> str:
    """The path of what is called ``name``, which may be a path itself, below a queue."""
    return parent + SEPARATOR + name


def parent_of(path: str) -> str:
    """The path one level up; empty for the root."""
    return path.rpartition(SEPARATOR)[0]


def upwards(path: str) -> Iterator[str]:
    """The path itself, then all above it, up to the root."""
    while path:
        yield path
        path = parent_of(path)

"""Filters of rules: lists of names, groups and wildcards.

Source: "Resource Quota Sets", grammar, ``NOTSCOPE`` and ``SCOPE``; sge_resource_quota(5), which allows exclusions and
expansion in each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from negotiator_quotasets.language.lexer import LogicalLine, SyntaxProblemError, quotable
from negotiator_quotasets.language.model import NameFilter

# In no name of a user, host, queue, project or environment. A quote inside one is (o'neil), quotes around one are a mistake.
_INVALID = re.compile(r"^[\"']|[\"']$|[;`()<>|&=\\$]")
_SINGULAR = {"users": "user", "projects": "project", "pes": "pe", "queues": "queue", "hosts": "host"}


def read_filter(scope: str, line: LogicalLine, spelled: Callable[[str], str] = str) -> NameFilter:
    """Parse the list of one filter; blanks around names are ignored.

    :param spelled: returns a name as it is stored.
    :raises SyntaxProblemError: invalid list, or invalid name.
    """
    expanded = line.take("{")
    names: dict[str, None] = {}
    excluded: dict[str, None] = {}
    while True:
        entry = _entry(scope, line)
        (excluded if entry.startswith("!") else names)[spelled(entry.removeprefix("!"))] = None
        if not line.take(","):
            break
    closed = not expanded or (line.take("}") and line.is_at_blank())
    if not closed or line.peek() in ("{", "}", ","):
        raise _invalid_list(line)
    return NameFilter(tuple(names), tuple(excluded), expanded)


def _entry(scope: str, line: LogicalLine) -> str:
    line.peek()
    at = line.at
    entry = line.word()
    if not entry:
        raise _missing_entry(line)
    name = entry.removeprefix("!")
    bare = name.removeprefix("@")  # empty for a lone @, which Grid Engine takes for a group without members
    invalid = _INVALID.search(bare.removesuffix("$")) or not bare.isprintable()  # Samba's machines end in $
    if not name or name.startswith(("!", "@@")) or invalid:
        message = f"resource quota set contains invalid {_SINGULAR[scope]} filter"
        hint = f'"{quotable(entry)}" is invalid: write NAME, @GROUP or a wildcard, with ! before it to exclude it'
        raise SyntaxProblemError(message, line.source(at), hint)
    return entry


def _missing_entry(line: LogicalLine) -> SyntaxProblemError:
    if line.peek() != ",":
        return _invalid_list(line)
    source = line.source()
    while line.take(","):
        pass
    rest = quotable(line.next_word())
    message = f'unrecognized characters after the attribute values in line {source.line}: "{rest}"'
    return SyntaxProblemError(message, source, "missing entry between two commas")


def _invalid_list(line: LogicalLine) -> SyntaxProblemError:
    hint = "write a list as A,B, or as {A,B} for a separate counter for each"
    return SyntaxProblemError("no valid expanded list", line.source(), hint)

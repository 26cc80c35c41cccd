"""Filters of rules: lists of names, groups and wildcards.

Source: "Resource Quota Sets", grammar, ``NOTSCOPE`` and ``SCOPE``; sge_resource_quota(5), which allows exclusions and
expansion in each of them.
"""

from __future__ import annotations

import re

from negotiator_quotasets.language.lexer import LogicalLine, SyntaxProblemError, quotable
from negotiator_quotasets.language.model import NameFilter

_NO_NAME = re.compile(r"[;\"'`()<>|&=\\$]")  # what no user, host, queue, project or environment is called
_SINGULAR = {"users": "user", "projects": "project", "pes": "pe", "queues": "queue", "hosts": "host"}


def read_filter(scope: str, line: LogicalLine) -> NameFilter:
    """Read the list of one filter; names may have blanks around them.

    :raises SyntaxProblemError: it is no list, or one of its entries is no name.
    """
    expanded = line.take("{")
    names: dict[str, None] = {}
    excluded: dict[str, None] = {}
    while True:
        entry = _entry(scope, line)
        (excluded if entry.startswith("!") else names)[entry.removeprefix("!")] = None
        if not line.take(","):
            break
    if (expanded and not line.take("}")) or line.peek() in ("{", "}", ","):
        raise _not_expanded(line)
    return NameFilter(tuple(names), tuple(excluded), expanded)


def _entry(scope: str, line: LogicalLine) -> str:
    line.peek()
    at = line.at
    entry = line.word()
    if not entry:
        raise _missing(line)
    name = entry.removeprefix("!")
    bare = name.removeprefix("@")
    strange = _NO_NAME.search(bare.removesuffix("$")) or not bare.isprintable()  # Samba's machines end in $
    if not bare or name.startswith(("!", "@@")) or strange:
        message = f"resource quota set contains invalid {_SINGULAR[scope]} filter"
        hint = f'"{quotable(entry)}" is no name: write NAME, @GROUP or a wildcard, with ! before it to exclude it'
        raise SyntaxProblemError(message, line.source(at), hint)
    return entry


def _missing(line: LogicalLine) -> SyntaxProblemError:
    if line.peek() != ",":
        return _not_expanded(line)
    source = line.source()
    while line.take(","):
        pass
    rest = quotable(line.next_word())
    message = f'unrecognized characters after the attribute values in line {source.line}: "{rest}"'
    return SyntaxProblemError(message, source, "an entry is missing between two commas")


def _not_expanded(line: LogicalLine) -> SyntaxProblemError:
    hint = "write a list as A,B, or as {A,B} where each is to have a counter of its own"
    return SyntaxProblemError("no valid expanded list", line.source(), hint)

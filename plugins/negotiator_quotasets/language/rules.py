"""Rules: ``limit [name NAME] [users LIST] ... to LIMITS``, in one logical line.

Source: "Resource Quota Sets", grammar, ``rule``: filters are in any order, and ``to`` is last.
"""

from __future__ import annotations

import re

from negotiator.plugin import Source
from negotiator_quotasets.language.filters import read_filter
from negotiator_quotasets.language.lexer import LogicalLine, SyntaxProblemError, quotable
from negotiator_quotasets.language.limits import KnownObjects, missing_value, read_limits
from negotiator_quotasets.language.model import SCOPES, NameFilter, QuotaRule
from negotiator_quotasets.language.names import HINT, rule_name_problem

_WORDS = ("name", *SCOPES, "to")
_GLUED = re.compile(r"([a-z]+)[^a-zA-Z0-9_-]")
_NAME = re.compile(r"[^ \t}]+")


def read_rule(line: LogicalLine, known: KnownObjects, last_line: int, source: Source) -> QuotaRule:
    """Parse a rule after its ``limit``, up to the end of the line or of the set, or to the next ``limit``.

    :raises SyntaxProblemError: invalid rule.
    """
    if not line.peek():
        raise missing_value(line)
    name, limits = "", None
    filters: dict[str, NameFilter] = {}
    while line.peek() not in ("", "}") and not (limits is not None and line.next_word() == "limit"):
        at = line.source()
        word = keyword(line, _WORDS)
        if word in filters or (word == "name" and name) or (word == "to" and limits is not None):
            raise SyntaxProblemError(
                f'attribute "{word}" appears more than once', at, "write each of them once"
            )
        if limits is not None:
            message = f'attribute "{word}" is after the limits'
            raise SyntaxProblemError(message, at, "write the filters before to")
        if not line.peek():
            raise missing_value(line)
        if word == "to":
            hosts = filters.get("hosts")
            per_host = hosts is not None and hosts.expanded
            limits = read_limits(line, known, last_line, per_host=per_host)
        elif word == "name":
            name = read_name(line)
        else:
            filters[word] = read_filter(word, line, known.host if word == "hosts" else str)
    if limits is None:
        raise SyntaxProblemError(
            'required attribute "to" is missing', source, "a rule ends with: to RESOURCE=VALUE"
        )
    return QuotaRule(name=name, limits=limits, source=source, **filters)


def keyword(line: LogicalLine, words: tuple[str, ...]) -> str:
    """Consume the next word, which must be one of ``words``.

    :raises SyntaxProblemError: missing or unknown word.
    """
    source, word = line.source(), line.word()
    name = word.partition("=")[0]
    if not name:
        message = f"line {source.line} should begin with an attribute name"
        raise SyntaxProblemError(
            message, source, f"write one of: {', '.join(words)}", fatal=line.peek() == "{"
        )
    if word in words:
        return word
    glued = _GLUED.match(word)
    if glued and glued[1] in words:
        text = '" " is the only character allowed between the attribute name and the value in line'
        raise SyntaxProblemError(f"{text} {source.line}", source, f"write a blank after {glued[1]}")
    raise SyntaxProblemError(
        f'unknown attribute name "{quotable(name)}"', source, f"write one of: {', '.join(words)}"
    )


def read_name(line: LogicalLine) -> str:
    """Parse the name of a rule.

    :raises SyntaxProblemError: invalid name.
    """
    source, name = line.source(), line.word(_NAME)
    problem = rule_name_problem(name)
    if problem:
        raise SyntaxProblemError(problem, source, HINT)
    return name

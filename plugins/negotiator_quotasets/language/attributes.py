"""Single attributes of a set, as the files of ``qconf -Aattr`` have them.

Source: qconf(1), ``-Aattr``; "Resource Quota Sets", which writes ``limit slots=20`` where the qmaster wants
``limit to slots=20``: both are accepted.
"""

from __future__ import annotations

from collections.abc import Container

import attrs

from negotiator.plugin import Problem, Severity, Source
from negotiator_quotasets.complexes import Complexes
from negotiator_quotasets.language.descriptions import read_description
from negotiator_quotasets.language.filters import read_filter
from negotiator_quotasets.language.lexer import LogicalLine, SyntaxProblemError, logical_lines
from negotiator_quotasets.language.limits import KnownObjects, missing_value, read_limits
from negotiator_quotasets.language.model import SCOPES, RuleLimit
from negotiator_quotasets.language.parsing import ATTRIBUTES, read_boolean
from negotiator_quotasets.language.rules import keyword, read_name


@attrs.frozen
class ParsedAttributes:
    """The attributes in a text, None for a missing one; invalid if there are problems.

    Filters before the limits are parsed and ignored, as in Grid Engine: the rule is named on the command line. A limit
    may be a formula, which is read when the whole set is parsed again: whether its rule expands its hosts comes first.
    """

    name: str | None = None
    description: str | None = None
    enabled: bool | None = None
    limits: tuple[RuleLimit, ...] | None = None
    problems: tuple[Problem, ...] = ()


def parse_attributes(
    text: str,
    file: str,
    complexes: Complexes,
    *,
    numeric_formulas: bool = False,
    hosts: Container[str] | None = None,
    bare: bool = False,
) -> ParsedAttributes:
    """Parse attributes, one per line; with ``bare``, limits may lack values, which deletions don't need."""
    reader = _AttributeReader(
        KnownObjects(complexes, numeric_formulas, hosts), text.count("\n") + 1, bare=bare
    )
    try:
        for line in logical_lines(text, file):
            while line.peek():
                reader.read(line)
    except SyntaxProblemError as error:
        return ParsedAttributes(problems=(Problem(Severity.ERROR, error.source, str(error), error.hint),))
    if not reader.seen:
        hint = f"write one of: {', '.join(ATTRIBUTES)}"
        problem = Problem(Severity.ERROR, Source(file, 1, 1), f'error reading file: "{file}"', hint)
        return ParsedAttributes(problems=(problem,))
    return reader.result


class _AttributeReader:
    """Parses one attribute after the other."""

    def __init__(self, known: KnownObjects, last_line: int, *, bare: bool) -> None:
        self._known = known
        self._last = last_line
        self._bare = bare
        self.seen: set[str] = set()
        self.result = ParsedAttributes()

    def read(self, line: LogicalLine) -> None:
        source = line.source()
        word = keyword(line, ATTRIBUTES)
        if word in self.seen:
            message = f'attribute "{word}" appears more than once'
            raise SyntaxProblemError(message, source, "write each attribute once")
        self.seen.add(word)
        if not line.peek():
            raise missing_value(line)
        if word == "name":
            self.result = attrs.evolve(
                self.result, name=line.text[line.at :]
            )  # names can't be changed at all
            line.at = len(line.text)
        elif word == "enabled":
            self.result = attrs.evolve(self.result, enabled=read_boolean(line))
        elif word == "description":
            self.result = attrs.evolve(self.result, description=read_description(line, ATTRIBUTES))
        else:
            _skip_filters(line)
            limits = read_limits(line, self._known, self._last, per_host=None, bare=self._bare)
            self.result = attrs.evolve(self.result, limits=limits)


def _skip_filters(line: LogicalLine) -> None:
    while (word := line.next_word()) in ("name", *SCOPES):
        line.word()
        if word == "name":
            read_name(line)
        else:
            read_filter(word, line)
    if word == "to":
        line.word()

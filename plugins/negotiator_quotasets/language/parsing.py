"""The parser of resource quota sets, which reports every problem with its place.

Source: "Resource Quota Sets", grammar; sge_resource_quota(5). Sets as the specification prints them are accepted: a set
may be on one line, blanks around commas and braces are ignored, and a set is enabled by default. Time and memory are linear
in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

import attrs

from negotiator.plugin import Problem, Severity, Source
from negotiator_quotasets.complexes import Complexes
from negotiator_quotasets.language.descriptions import read_description
from negotiator_quotasets.language.lexer import (
    ContentProblemError,
    LogicalLine,
    SyntaxProblemError,
    logical_lines,
    quotable,
)
from negotiator_quotasets.language.limits import KnownObjects, missing_value
from negotiator_quotasets.language.model import QuotaRule, RuleSet
from negotiator_quotasets.language.names import HINT, set_name_problem
from negotiator_quotasets.language.rules import keyword, read_rule

_MAX_PROBLEMS = 100
_NAME = re.compile(r"[^ \t}]+")
_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "0"), False
)
ATTRIBUTES = ("name", "description", "enabled", "limit")


@attrs.frozen
class ParsedSets:
    """The sets of a text; invalid if there are problems.

    ``names`` are those of all sets, the invalid ones too, in their order. Grid Engine looks for the problems of ``of_syntax``
    first, then for sets that are ``incomplete``, by name: no name, no rules, or a name that is taken; then its qmaster looks
    for those ``of_content``, by name, such as an unknown complex.
    """

    sets: tuple[RuleSet, ...] = ()
    problems: tuple[Problem, ...] = ()
    names: tuple[str, ...] = ()
    of_syntax: tuple[Problem, ...] = ()
    incomplete: Mapping[str, tuple[Problem, ...]] = attrs.field(factory=dict)
    of_content: Mapping[str, tuple[Problem, ...]] = attrs.field(factory=dict)


def parse_sets(
    text: str,
    file: str,
    complexes: Complexes,
    *,
    numeric_formulas: bool = False,
    hosts: Container[str] | None = None,
    host_names: Mapping[str, str] | None = None,
    required: bool = False,
) -> ParsedSets:
    """Parse the sets of a text.

    :param file: the name of the text in problems.
    :param numeric_formulas: whether formulas may use any number of a host.
    :param hosts: the only hosts that a limit of a HOST complex may name; None for any.
    :param host_names: the spelling of known hosts by their names in lower case.
    :param required: whether a text without a set is a problem.
    """
    reader = _SetReader(text, file, KnownObjects(complexes, numeric_formulas, hosts, host_names or {}))
    reader.read()
    if required and not reader.sets and not reader.problems:
        reader.report(
            SyntaxProblemError("error reading in file", Source(file, 1, 1), "it has no resource quota set")
        )
    return ParsedSets(
        tuple(reader.sets),
        tuple(reader.problems),
        tuple(reader.of_content),
        tuple(reader.of_syntax),
        {name: tuple(problems) for name, problems in reader.incomplete.items()},
        {name: tuple(problems) for name, problems in reader.of_content.items()},
    )


class _SetReader:
    """Parses a text in one pass. A problem ends its line; a fatal one ends the parsing."""

    def __init__(self, text: str, file: str, known: KnownObjects) -> None:
        self._known = known
        self._lines = logical_lines(text, file)
        self._line: LogicalLine | None = None
        self._end = Source(file, text.count("\n") + 1, 1)
        self._names: set[str] = set()
        self.sets: list[RuleSet] = []
        self.problems: list[Problem] = []
        self.of_syntax: list[Problem] = []
        self.incomplete: dict[str, list[Problem]] = {}
        self.of_content: dict[str, list[Problem]] = {}

    def report(self, error: SyntaxProblemError) -> None:
        """Add a problem of syntax."""
        self.of_syntax.append(self._reported(error))

    def _reported(self, error: SyntaxProblemError) -> Problem:
        problem = Problem(Severity.ERROR, error.source, str(error), error.hint)
        self.problems.append(problem)
        return problem

    def read(self) -> None:
        try:
            while len(self.problems) < _MAX_PROBLEMS and (line := self._next()) is not None:
                self._set(_opened(line))
        except SyntaxProblemError as error:
            self.report(error)

    def _next(self) -> LogicalLine | None:
        """Return the line of the next word or brace; None at the end of the text."""
        while self._line is None or not self._line.peek():
            self._line = next(self._lines, None)
            if self._line is None:
                return None
        return self._line

    def _set(self, source: Source) -> None:
        draft = _Draft(source)
        before = len(self.problems)
        while True:
            line = self._next()
            if line is None:
                message = (
                    f'each value in the attribute value list in line {self._end.line} should end with "}}"'
                )
                raise SyntaxProblemError(
                    message, self._end, f"the set that began in line {source.line} is not closed"
                )
            if line.take("}"):
                break
            try:
                self._attribute(line, draft)
            except ContentProblemError as error:
                draft.problems.append(self._reported(error))
                if len(self.problems) >= _MAX_PROBLEMS:
                    break
                line.skip()
            except SyntaxProblemError as error:
                if error.fatal or len(self.problems) + 1 >= _MAX_PROBLEMS:
                    raise
                self.report(error)
                line.skip()
        self.of_content.setdefault(draft.name, []).extend(draft.problems)
        if len(self.problems) == before:
            self._finish(draft)

    def _attribute(self, line: LogicalLine, draft: _Draft) -> None:
        source = line.source()
        word = keyword(line, ("limit",) if draft.rules else ATTRIBUTES)
        if word in draft.seen:
            raise SyntaxProblemError(
                f'attribute "{word}" appears more than once', source, "write each attribute once"
            )
        if word == "limit":
            draft.add(read_rule(line, self._known, self._end.line, source))
            return
        draft.seen.add(word)
        if not line.peek():
            raise missing_value(line)
        if word == "name":
            draft.name, draft.name_source = _set_name_text(line), source
            check_set_name(draft.name, source)
        elif word == "enabled":
            draft.enabled = read_boolean(line)
        else:
            draft.description = read_description(line, ATTRIBUTES)

    def _finish(self, draft: _Draft) -> None:
        if not draft.name:
            error = SyntaxProblemError("resource quota set has no name", draft.source, "write: name NAME")
        elif not draft.rules:
            error = SyntaxProblemError(
                "resource quota set has no rules", draft.source, "write: limit to RESOURCE=VALUE"
            )
        elif draft.name in self._names:
            message = f'Resource quota replacement request contains rqs name "{draft.name}" multiple times'
            error = SyntaxProblemError(message, draft.name_source, "give it another name")
        else:
            self._names.add(draft.name)
            self.sets.append(draft.finished())
            return
        self.incomplete.setdefault(draft.name, []).append(self._reported(error))


def _opened(line: LogicalLine) -> Source:
    """Consume the opening brace of a set, and return its place."""
    source = line.source()
    if not line.take("{"):
        message = f'each value in the attribute value list in line {source.line} should begin with "{{"'
        raise SyntaxProblemError(message, source, "write a set in braces", fatal=True)
    return source


@attrs.define
class _Draft:
    """A set that is being parsed."""

    source: Source
    name: str = ""
    name_source: Source = attrs.field(default=Source(""))
    description: str = "NONE"
    enabled: bool = True
    rules: list[QuotaRule] = attrs.field(factory=list)
    seen: set[str] = attrs.field(factory=set)
    problems: list[Problem] = attrs.field(factory=list)
    _rule_names: set[str] = attrs.field(factory=set)

    def add(self, rule: QuotaRule) -> None:
        if rule.name and rule.name in self._rule_names and rule.source is not None:
            message = f'resource quota rule name "{rule.name}" appears more than once in its set'
            raise SyntaxProblemError(message, rule.source, "give it another name")
        self._rule_names.add(rule.name)
        self.rules.append(rule)

    def finished(self) -> RuleSet:
        return RuleSet(self.name, tuple(self.rules), self.description, self.enabled, self.source)


def _set_name_text(line: LogicalLine) -> str:
    """Consume the name of a set: a word, and what follows it up to the next attribute."""
    line.peek()
    start = line.at
    line.word(_NAME)
    while line.peek() not in ("", "}") and line.next_word() not in ATTRIBUTES:
        line.word(_NAME)
    return line.text[start : line.at].rstrip(" \t")


def check_set_name(name: str, source: Source) -> None:
    """Check the name of a set, as the qmaster does when it adds one.

    :raises ContentProblemError: invalid name.
    """
    if problem := set_name_problem(name):
        raise ContentProblemError(problem, source, HINT)


def read_boolean(line: LogicalLine) -> bool:
    """Parse the value of ``enabled``.

    :raises SyntaxProblemError: invalid value.
    """
    source, start = line.source(), line.at
    text = line.word()
    if line.peek() not in ("", "}") and line.next_word() not in ATTRIBUTES:
        text = line.text[start:].strip(" \t}")
    if text.lower() not in _TRUTH:
        raise SyntaxProblemError(f'error parsing value "{quotable(text)}"', source, "write TRUE or FALSE")
    return _TRUTH[text.lower()]

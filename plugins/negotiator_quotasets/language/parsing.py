"""The parser of resource quota sets, and of single attributes in the files of ``qconf -Aattr``; it reports every problem with its place.

Source: "Resource Quota Sets", grammar; sge_resource_quota(5); qconf(1), ``-Aattr``. Sets as the specification prints them are accepted: a
set may be on one line, blanks around commas and braces are ignored, a set is enabled by default, and ``limit slots=20`` stands for
``limit to slots=20``. A description is quoted, or the rest of the line, as the qmaster takes it; a closing brace ends the set, even in
quotes. Time and memory are linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

import attrs

from negotiator.plugin import Problem, Severity, Source
from negotiator_quotasets.complexes import Complexes
from negotiator_quotasets.language.lexer import (
    ContentProblemError,
    LogicalLine,
    SyntaxProblemError,
    logical_lines,
    quotable,
)
from negotiator_quotasets.language.model import SCOPES, QuotaRule, RuleLimit, RuleSet
from negotiator_quotasets.language.rules import (
    HINT,
    KnownObjects,
    keyword,
    missing_value,
    read_filter,
    read_limits,
    read_name,
    read_rule,
    set_name_problem,
)

_PIECE = re.compile(r"\\.|\"", re.DOTALL)
_WORD = re.compile(r".[^ \t\"]*")
_NONE = re.compile(r"NONE(?![^ \t}])", re.IGNORECASE)
_MAX_PROBLEMS = 100
_NAME = re.compile(r"[^ \t}]+")
_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "0"), False
)
ATTRIBUTES = ("name", "description", "enabled", "limit")


def read_description(line: LogicalLine, words: tuple[str, ...]) -> str:
    """Parse a description; a quoted one, or NONE, may be followed by one of ``words`` on the same line.

    Quotes may be inside, also a single one (``17" screens``); only a quote at the beginning needs a second one.

    :raises SyntaxProblemError: unclosed quote, or unprintable characters.
    """
    source, start = line.source(), line.at
    end = _end(line.text, start)
    if end > start:
        line.at = end
    if line.at == start or not (line.peek() in ("", "}") or line.next_word() in words):
        line.at = len(line.text)
        quotes = sum(piece[0] == '"' for piece in _PIECE.finditer(line.text, start))
        if quotes == 1 and line.text.startswith('"', start):
            hint = 'end it with a double quote, and write a quote inside it as \\"'
            raise SyntaxProblemError("the description has a quote that is not closed", source, hint)
    text = line.text[start : line.at].strip(" \t")
    if "}" in text:
        raise _closed(line, line.text.index("}", start))
    if not text.replace("\t", " ").isprintable() or text.endswith("\\"):
        hint = "leave out what cannot be printed, and a backslash at the end, which would join lines"
        raise SyntaxProblemError("the description has a character that cannot be stored", source, hint)
    return text


def _closed(line: LogicalLine, at: int) -> SyntaxProblemError:
    """Return Grid Engine's error for a set that ends in its description: the next word does not begin another one.

    The line is that of the character after the word.
    """
    rest = line.text[at + 1 :].lstrip(" \t")
    word = _WORD.match(rest)
    ends = not word or word.end() == len(rest)
    message = (
        f'each value in the attribute value list in line {line.source(at).line + ends} should begin with "{{"'
    )
    return SyntaxProblemError(
        message, line.source(at), "a closing brace ends the set: leave it out of the description", fatal=True
    )


def _end(text: str, start: int) -> int:
    """Return the end of a description that is quoted or NONE; ``start`` for any other."""
    if text.startswith('"', start):
        closing = next((piece for piece in _PIECE.finditer(text, start + 1) if piece[0] == '"'), None)
        return start if closing is None else closing.end()
    none = _NONE.match(text, start)
    return start if none is None else none.end()


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

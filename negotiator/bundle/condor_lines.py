r"""Read the definitions of an HTCondor-style configuration file.

Source: the HTCondor manual, "Introduction to Configuration" (macros, comments and line continuations, multi-line
values), and HTCondor 25 itself where the manual does not specify it: every line is trimmed, also those that continue another;
blanks may follow ``\``; an empty line ends a continuation; a comment inside a continuation is skipped.
A directive that could silently leave out a definition (``if``, ``include``, ``use``) is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import attrs

from negotiator.bundle.nodes import shown
from negotiator.bundle.text import LocatedText, SourceText
from negotiator.records import Problem, Severity

MAX_DEFINITIONS = 100_000

_BLANK = " \t\n\v\f\r"
_NAME = re.compile(r"[A-Za-z0-9_./]+", re.ASCII)
_WORD = re.compile(r"[^\s=:]*")
_CONDITIONAL = re.compile(r":?(if|elif|else|endif)(?!\S)", re.IGNORECASE)
_COMMAND = re.compile(r"@?(use|include|error|warning)(?:\s[^=:]*)?:\s*", re.IGNORECASE)
_OPERATOR = re.compile(r"\s*(@=|=|:)\s*")


@attrs.frozen(eq=False)
class Definition:
    """``NAME = value``, macros not yet replaced. ``at`` is the index of the name."""

    name: str
    at: int
    value: LocatedText

    @property
    def file(self) -> SourceText:
        """The file of the definition."""
        return self.value.file


def read_definitions(file: SourceText) -> tuple[tuple[Definition, ...], tuple[Problem, ...]]:
    """Return all definitions of a file in their order, and all problems of its lines."""
    reader = _DefinitionReader(file)
    for line in _logical_lines(file, reader.problems):
        reader.take(line)
    reader.finish()
    return tuple(reader.definitions), tuple(reader.problems)


def _logical_lines(file: SourceText, problems: list[Problem]) -> Iterator[LocatedText]:
    """Yield the logical lines of a file: trimmed, continuation lines joined, without comments and empty lines."""
    pieces: list[tuple[int, int]] = []
    for start, end in _physical_lines(file.text):
        if pieces and file.text.startswith("#", start):
            if not file.text.endswith("\\", start, end):
                problems.append(_comment_inside(file, start))
            continue
        if not pieces and (start == end or file.text.startswith("#", start)):
            continue
        if file.text.endswith("\\", start, end):
            pieces.append((start, end - 1))
            continue
        yield _joined(file, [*pieces, (start, end)])
        pieces = []
    if pieces:
        yield _joined(file, pieces)


def _comment_inside(file: SourceText, at: int) -> Problem:
    message = r"a comment inside a continued line, without \ at its end: the continued line extends below it"
    hint = r"this follows HTCondor's manual; HTCondor 25 reads it differently: end the comment with \, or move it"
    return file.problem(Severity.WARNING, at, message, hint)


def _physical_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line without surrounding white space."""
    at = 0
    for line in text.split("\n"):
        start = at + len(line) - len(line.lstrip(_BLANK))
        stripped = line.strip(_BLANK)
        yield start, start + len(stripped)
        at += len(line) + 1


def _joined(file: SourceText, pieces: list[tuple[int, int]]) -> LocatedText:
    if len(pieces) == 1:
        start, end = pieces[0]
        return LocatedText(file.text[start:end], file, range(start, end), start)
    text = "".join(file.text[start:end] for start, end in pieces)
    offsets = list(chain.from_iterable(range(start, end) for start, end in pieces))
    return LocatedText(text, file, offsets, offsets[0] if offsets else pieces[0][0])


@attrs.define(eq=False)
class _Block:
    """A multi-line value in progress: ``NAME @=tag``."""

    name: str
    at: int
    end: str
    lines: list[LocatedText] = attrs.field(factory=list)


@attrs.define(eq=False)
class _DefinitionReader:
    """Collects definitions from logical lines."""

    file: SourceText
    definitions: list[Definition] = attrs.field(factory=list)
    problems: list[Problem] = attrs.field(factory=list)
    block: _Block | None = None
    conditions: int = 0

    def take(self, line: LocatedText) -> None:
        if self.block is not None:
            self._inside(self.block, line)
        elif not self._unsupported(line) and not self.conditions:
            self._definition(line)

    def finish(self) -> None:
        if self.block is not None:
            message = f"the value of {shown(self.block.name)} has no end tag"
            self._error(self.block.at, message, f"end it with a line {shown(self.block.end)}")

    def _inside(self, block: _Block, line: LocatedText) -> None:
        if line.text != block.end:
            if line.text:
                block.lines.append(line)
            return
        self.block = None
        text = "\n".join(each.text for each in block.lines)
        offsets = [index for each in block.lines for index in (*each.offsets, each.index(len(each.text)))][
            :-1
        ]
        self._add(
            block.name, block.at, LocatedText(text, self.file, offsets, offsets[0] if offsets else block.at)
        )

    def _unsupported(self, line: LocatedText) -> bool:
        if condition := _CONDITIONAL.match(line.text):
            self._condition(condition[1].lower(), line.at)
            return True
        if command := _COMMAND.match(line.text):
            self._command(command[1].lower(), line, command.end())
            return True
        return line.text.startswith("[") and not re.search("[=:]", line.text)

    def _condition(self, word: str, at: int) -> None:
        """Report one error for each conditional block, and skip its lines."""
        if word == "endif" and self.conditions:
            self.conditions -= 1
        elif word == "if" or not self.conditions:
            if not self.conditions:
                hint = "keep only the definitions for this pool"
                self._error(at, f"{shown(word)}: conditions are not supported", hint)
            self.conditions += word == "if"

    def _command(self, word: str, line: LocatedText, end: int) -> None:
        if word in {"error", "warning"}:
            severity = Severity.ERROR if word == "error" else Severity.WARNING
            message = f"message of the file: {line.text[end : end + 200]}"
            self.problems.append(self.file.problem(severity, line.at, message))
        else:
            hint = "write out its definitions"
            self._error(line.at, f"{shown(word)} is not supported", hint)

    def _definition(self, line: LocatedText) -> None:
        word = _WORD.match(line.text)
        name = word[0] if word else ""
        operator = _OPERATOR.match(line.text, len(name))
        if operator is None or not _NAME.fullmatch(name):
            self._error(line.at, "expected NAME = expression", _advice(line.text))
            return
        if operator[1] == ":":
            message = f"{name} is set with a colon, which is obsolete in HTCondor"
            at = line.index(operator.start(1))
            self.problems.append(self.file.problem(Severity.WARNING, at, message, f"write {name} = ..."))
        if operator[1] == "@=":
            self.block = _Block(name, line.at, f"@{line.text[operator.end() :]}")
            return
        start = operator.end()
        offsets = line.offsets[start:]
        at = offsets[0] if offsets else line.index(len(line.text))
        self._add(name, line.at, LocatedText(line.text[start:], self.file, offsets, at))

    def _add(self, name: str, at: int, value: LocatedText) -> None:
        if len(self.definitions) < MAX_DEFINITIONS:
            self.definitions.append(Definition(name, at, value))
        elif len(self.definitions) == MAX_DEFINITIONS:
            self._error(at, f"more than {MAX_DEFINITIONS} definitions", "is it a configuration file?")

    def _error(self, at: int, message: str, hint: str = "") -> None:
        self.problems.append(self.file.error(at, message, hint))


def _advice(text: str) -> str:
    if re.match(r"\S+\s*\+=", text):
        return "to add to a value, write NAME = $(NAME) ..."
    if re.match(r"\S+@=", text):
        return "put a blank before @="
    if re.match(r"[^=]*\$\(", text):
        return "macros in names are not supported: write the name out"
    if "=" in text:
        return "a name consists of letters, digits, _ and ."
    return "end a continued line with a backslash"

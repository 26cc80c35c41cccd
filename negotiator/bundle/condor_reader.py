"""Read HTCondor-style configuration files into one set of definitions: conditions and included files are followed.

Source: the HTCondor manual, "Introduction to Configuration", and HTCondor 25.14 itself. What only HTCondor can know
(templates of ``use``, files outside the bundle, some conditions) is left out with a notice or a warning; a setting of the
bundle that depends on it is an error where it is used (``condor_macros``).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

import attrs

from negotiator.bundle.condor_conditions import ConditionalBlocks
from negotiator.bundle.condor_lines import (
    OUT_OF_ORDER,
    Definition,
    DumpedLines,
    Uncertain,
    is_dump,
    logical_lines,
)
from negotiator.bundle.condor_macros import Knobs
from negotiator.bundle.text import LocatedText, SourceText, shown
from negotiator.records import Problem, Severity

MAX_DEFINITIONS = 100_000
MAX_DEPTH = 8  # files that include each other, as in HTCondor
MAX_INCLUDED = 4_000_000  # characters of all included files

_NAME = re.compile(r"[A-Za-z0-9_./]+", re.ASCII)
_WORD = re.compile(r"[^\s=:]*")
_CONDITIONAL = re.compile(r":?(if|elif|else|endif)(?!\S)\s*", re.IGNORECASE)
_COMMAND = re.compile(r"@?(use|include|error|warning)(\s[^=:]*)?:\s*", re.IGNORECASE)
_OPERATOR = re.compile(r"\s*(@=|=|:)\s*")
_MACRO = re.compile(r"\$\(")


@attrs.define(eq=False)
class ConfigurationReader:
    """The definitions and problems of all files that were read.

    :param included: returns a file of the bundle by its name, relative to the folder, or None.
    """

    included: Callable[[str], SourceText | None]
    knobs: Knobs = attrs.field(factory=Knobs)
    problems: list[Problem] = attrs.field(factory=list)
    count: int = 0
    included_size: int = 0

    def read(self, file: SourceText) -> None:
        """Add the definitions of a file to those of the files before."""
        _FileReader(self, file, including=(file.name,)).run()

    def add(self, definition: Definition) -> None:
        """Add one definition, up to a number that no configuration reaches."""
        self.count += 1
        if self.count <= MAX_DEFINITIONS:
            self.knobs.add(definition)
        elif self.count == MAX_DEFINITIONS + 1:
            message = f"more than {MAX_DEFINITIONS} definitions"
            self.problems.append(definition.file.error(definition.at, message, "is it a configuration file?"))


@attrs.define(eq=False)
class _Block:
    """A multi-line value in progress: ``NAME @=tag``."""

    name: str
    at: int
    end: str
    lines: list[LocatedText] = attrs.field(factory=list)


@attrs.define(eq=False)
class _FileReader:
    """Reads one file, and those that it includes."""

    reader: ConfigurationReader
    file: SourceText
    outside: Uncertain | None = None  # why it is unknown whether HTCondor includes this file
    including: tuple[str, ...] = ()
    block: _Block | None = None
    blocks: ConditionalBlocks = attrs.field(init=False)
    dump: DumpedLines | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.blocks = ConditionalBlocks(self.reader.knobs)
        self.dump = DumpedLines(self.file) if is_dump(self.file) else None

    def run(self) -> None:
        for line in logical_lines(self.file, self.reader.problems):
            self._take(line)
        if self.block is not None:
            message = f"the value of {shown(self.block.name)} has no end tag"
            self._error(self.block.at, message, f"end it with a line {shown(self.block.end)}")
        elif self.blocks.unfinished is not None:
            self._error(self.blocks.unfinished, "'if' without endif", "end it with a line endif")

    def _take(self, line: LocatedText) -> None:
        if self.block is not None:
            self._inside(self.block, line)
        elif condition := _CONDITIONAL.match(line.text):
            rest = _tail(line, condition.end())
            message = self.blocks.take(condition[1].lower(), rest, line.at)
            if message:
                self._error(line.at, message, "remove it, or add the if")
        elif self.blocks.active:
            self._active(line)

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
        at = offsets[0] if offsets else block.at
        self._add(block.name, block.at, LocatedText(text, self.file, offsets, at))

    def _active(self, line: LocatedText) -> None:
        if command := _COMMAND.match(line.text):
            word, options = command[1].lower(), (command[2] or "").lower().split()
            self._command(word, options, line, _tail(line, command.end()))
        elif not (line.text.startswith("[") and not re.search("[=:]", line.text)):
            self._definition(line)

    def _command(self, word: str, options: list[str], line: LocatedText, argument: LocatedText) -> None:
        if word == "include":
            self._include(options, line, argument)
        elif word == "use":
            category = " ".join(options).upper()
            message = f"use {category}:{argument.text[:200]} has no effect here"
            hint = "its settings are those of HTCondor's own daemons; write out those that a policy uses"
            self._report(Severity.NOTICE, line.at, message, hint)
        else:
            certain = word == "error" and self._uncertain() is None
            severity = Severity.ERROR if certain else Severity.WARNING
            self._report(severity, line.at, f"message of the file: {argument.text[:200]}")

    def _include(self, options: list[str], line: LocatedText, argument: LocatedText) -> None:
        """Read a file of the bundle in place of the line; report any other file, and each command, as not read."""
        if "command" in options or argument.text.endswith("|"):
            self._not_included(line, "commands are not run", "write its output to a file of the bundle")
            return
        name = self.reader.knobs.expand_text(argument)
        if isinstance(name, Problem):
            self._not_included(line, name.message, name.hint)
            return
        path = posixpath.normpath(name.text)
        if not path or posixpath.isabs(path) or path.split("/")[0] in {"..", "."}:
            self._not_included(line, "it is not in the bundle", "copy it, and name it relative to the bundle")
        elif path in self.including or len(self.including) > MAX_DEPTH:
            self._error(line.at, f"{shown(path)} includes itself, or files include each other too deeply")
        elif (file := self.reader.included(path)) is not None:
            self._read(file, path, line)
        elif "ifexist" not in options:
            self._not_included(line, f"the bundle has no file {shown(path)}", "copy it into the bundle")

    def _read(self, file: SourceText, path: str, line: LocatedText) -> None:
        within = self.reader.included_size <= MAX_INCLUDED
        self.reader.included_size += len(file.text) + 1_000
        if self.reader.included_size <= MAX_INCLUDED:
            _FileReader(self.reader, file, self._uncertain(), (*self.including, path)).run()
        elif within:  # one error for the whole bundle
            self._error(line.at, "the included files are too many or too large", "include fewer")

    def _not_included(self, line: LocatedText, message: str, hint: str) -> None:
        message = f"not included: {message}; settings in it have no effect here"
        self._report(Severity.WARNING, line.at, message, hint)

    def _definition(self, line: LocatedText) -> None:
        word = _WORD.match(line.text)
        name = word[0] if word else ""
        operator = _OPERATOR.match(line.text, len(name))
        written = self._expanded(name, line) if operator and _MACRO.search(name) else name
        valid = operator is not None and _NAME.fullmatch(written) is not None
        if self.dump is not None and not self.dump.starts(written if valid else "", line):
            self._continues(self.dump, written if valid else "", line, operator)
        elif operator is None or not valid:
            self._no_definition(line, name)
        elif operator[1] == "@=":
            self.block = _Block(written, line.at, f"@{line.text[operator.end() :]}")
        else:
            if operator[1] == ":":
                message = f"{name} is set with a colon, which is obsolete in HTCondor"
                at = line.index(operator.start(1))
                self._report(Severity.WARNING, at, message, f"write {name} = ...")
            self._add(written, line.at, _tail(line, operator.end()))

    def _expanded(self, name: str, line: LocatedText) -> str:
        """Return a name with its macros replaced; the name itself if that is not possible."""
        expanded = self.reader.knobs.expand_text(attrs.evolve(line, text=name, offsets=()))
        return name if isinstance(expanded, Problem) else expanded.text

    def _no_definition(self, line: LocatedText, name: str) -> None:
        if _MACRO.search(name) and _OPERATOR.match(line.text, len(name)):
            message = f"{name} is not set: the macros in its name are not known here"
            self._report(Severity.WARNING, line.at, message, "write the name out")
        else:
            self._error(line.at, "expected NAME = expression", _advice(line.text))

    def _continues(
        self, dump: DumpedLines, name: str, line: LocatedText, operator: re.Match[str] | None
    ) -> None:
        """Mark the value above, of which the line is a part, as unknown; the line's own definition is uncertain."""
        if (definition := dump.cut()) is not None:
            self.reader.add(definition)
        if name and operator:
            value = _tail(line, operator.end())
            self.reader.add(Definition(name, line.at, value, OUT_OF_ORDER))

    def _add(self, name: str, at: int, value: LocatedText) -> None:
        definition = Definition(name, at, value, self._uncertain())
        if self.dump is not None:
            self.dump.last = definition
        self.reader.add(definition)

    def _uncertain(self) -> Uncertain | None:
        if (unknown := self.blocks.unknown) is None:
            return self.outside
        hint = "define it without the condition, or define what the condition reads"
        return Uncertain(f"it depends on the condition {unknown}", hint)

    def _error(self, at: int, message: str, hint: str = "") -> None:
        self._report(Severity.ERROR, at, message, hint)

    def _report(self, severity: Severity, at: int, message: str, hint: str = "") -> None:
        self.reader.problems.append(self.file.problem(severity, at, message, hint))


def _tail(line: LocatedText, start: int) -> LocatedText:
    """Return the part of a line from an offset on."""
    offsets = line.offsets[start:]
    at = offsets[0] if offsets else line.index(len(line.text))
    return LocatedText(line.text[start:], line.file, offsets, at)


def _advice(text: str) -> str:
    if re.match(r"\S+\s*\+=", text):
        return "to add to a value, write NAME = $(NAME) ..."
    if re.match(r"\S+@=", text):
        return "put a blank before @="
    if "=" in text:
        return "a name consists of letters, digits, _ and ."
    return "end a continued line with a backslash"

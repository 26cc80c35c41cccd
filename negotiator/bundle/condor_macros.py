"""Replace the macros in HTCondor-style definitions, and evaluate numeric macro functions: ``$INT(NAME)``, ``$REAL(NAME,%.2f)``.

Source: the HTCondor manual, "Introduction to Configuration", configuration file macros and macro functions, and HTCondor 25.14. Two rules are stricter
here. An undefined macro without default is an error, not an empty text, because an expression without one of its parts is
another policy. So is a value that only HTCondor can know: only values that are the same at any time are accepted. Both are errors only where a
value is used. HTCondor's own macros are predefined, and so are settings whose default is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

import attrs

from negotiator.bundle.condor_lines import Definition, Uncertain
from negotiator.bundle.text import LocatedText, SourceText
from negotiator.hooks.settings import constant_number
from negotiator.records import Problem

SUBSYSTEM = "negotiator."

#: The macros that HTCondor 25.14 defines for configuration files (``param_info.in``), the same on all machines.
PREDEFINED: Final = {
    "ActivityTimer": "(time() - EnteredCurrentActivity)",
    "BackgroundLoad": "0.3",
    "BigJob": "(TARGET.ImageSize >= (50 * 1024))",
    "ContinueIdleTime": "5 * $(MINUTE)",
    "HighLoad": "0.5",
    "HOUR": "3600",
    "IsMPI": "(TARGET.JobUniverse == $(MPI))",
    "IsNegotiator": "true",
    "IsStandard": "(TARGET.JobUniverse == $(STANDARD))",
    "IsVanilla": "(TARGET.JobUniverse == $(VANILLA))",
    "IsVM": "(TARGET.JobUniverse == $(VM))",
    "MaxSuspendTime": "10 * $(MINUTE)",
    "MaxVacateTime": "10 * $(MINUTE)",
    "MediumJob": "(TARGET.ImageSize >= (15 * 1024) && TARGET.ImageSize < (50 * 1024))",
    "MINUTE": "60",
    "MPI": "8",
    "SmallJob": "(TARGET.ImageSize <  (15 * 1024))",
    "STANDARD": "1",
    "StartIdleTime": "15 * $(MINUTE)",
    "StateTimer": "(time() - EnteredCurrentState)",
    "SUBSYSTEM": "NEGOTIATOR",
    "VANILLA": "5",
    "VM": "13",
}
_OWN_FILE: Final = "HTCondor's defaults"
MAX_DEPTH = 100
MAX_STEPS = 10_000
MAX_TEXT = 1_000_000
MAX_TEXTS = 10_000_000  # characters of all texts that are expanded while files are read
MACRO_COST = 100  # characters that a macro counts as

_REFERENCE = re.compile(
    r"(?<!\$)\$(?:\(([A-Za-z0-9_.]+)([):])|(INT|REAL)\(([^()$,]*)(?:,([^()$]*))?\))", re.ASCII
)
_FUNCTION = re.compile(
    r"(?<!\$)\$(ENV|CHOICE|RANDOM_CHOICE|RANDOM_INTEGER|SUBSTR|INT|REAL|STRING|EVAL|BASENAME|DIRNAME|F[fpduwnxbqa]*)\("
)
_NAME = re.compile(r"[A-Za-z0-9_.]+", re.ASCII)


#: The number of the definition that HTCondor itself has, before those of all files.
_PREDEFINED: Final = -1

#: The definitions in expansion, the outermost first, by name and number; a default counts as one too.
_Active: TypeAlias = tuple[tuple[str, int], ...]
_FORMATS = {
    "INT": re.compile(r"(?:[^%]|%%)*%[-+ 0#]*\d{0,2}(?:\.\d{1,2})?[dixXo](?:[^%]|%%)*"),
    "REAL": re.compile(r"(?:[^%]|%%)*%[-+ 0#]*\d{0,2}(?:\.\d{1,2})?[eEfF](?:[^%]|%%)*"),
}
_DEFAULTS = {"INT": "%d", "REAL": "%.16G"}
_LARGEST = 2.0**63


class _Piece(NamedTuple):
    """A part of a value: plain text, a reference to a macro, or a numeric function of a macro or an expression."""

    start: int
    end: int
    name: str = ""
    default: tuple[int, int] | None = None
    function: str = ""
    form: str | None = None


@attrs.frozen(eq=False)
class _MacroError(Exception):
    problem: Problem


class Knobs:
    """The definitions of all files; a later definition overrides an earlier one. Names ignore case.

    ``NEGOTIATOR.NAME`` takes precedence over ``NAME``, in any order.
    """

    def __init__(self, definitions: Iterable[Definition] = (), *, literal: bool = False) -> None:
        """Collect definitions.

        :param literal: their macros have been replaced already: what is left is part of the values.
        """
        self._literal = literal
        self._all: dict[str, list[Definition]] = {}
        self._predefined: dict[str, Definition] = {}
        self._used: set[str] = set()
        self._steps = 0
        self._spent = 0
        self.predefine(PREDEFINED)
        for definition in definitions:
            self.add(definition)

    def predefine(self, values: Mapping[str, str]) -> None:
        """Set the values of names before the definitions of all files."""
        for name, text in values.items():
            value = LocatedText(text, SourceText(_OWN_FILE, text), range(len(text)), 0)
            self._predefined[name.lower()] = Definition(name, 0, value)

    def add(self, definition: Definition) -> None:
        """Add a definition, which overrides those of the same name so far."""
        self._all.setdefault(definition.name.lower(), []).append(definition)

    def predefined(self, name: str) -> str | None:
        """Return the value that a name has before the definitions of all files; None if it has none."""
        found = self._predefined.get(name.lower())
        return None if found is None else found.value.text

    def names(self) -> tuple[str, ...]:
        """Return all defined names in lower case, with their prefix if they have one."""
        return tuple(self._all)

    def definitions(self, key: str) -> tuple[Definition, ...]:
        """Return all definitions of exactly this name; the last one is in effect."""
        return tuple(self._all[key])

    def was_used(self, key: str) -> bool:
        """True if an expanded value or a condition refers to it."""
        return key in self._used

    def is_defined(self, name: str) -> bool | None:
        """True if a definition so far gives a name a value, False if it unsets the name, None if neither is certain."""
        found = self._all.get(name.lower())
        if not found:
            return True if name.lower() in self._predefined else None
        self._used.add(name.lower())
        return None if found[-1].uncertain else bool(found[-1].value.text)

    def refers_to_itself(self, definition: Definition) -> bool:
        """True if a definition extends an earlier one, as in ``A = $(A) more``."""
        return any(
            piece.name.lower() == definition.name.lower()
            for piece in _pieces(definition.value.text)
            if piece.name
        )

    def expand(self, key: str) -> LocatedText | Problem:
        """Return the value in effect of this name, macros replaced; or its problem.

        Characters from a macro have the place of the macro.
        """
        last = len(self._all[key]) - 1
        definition = self._all[key][last]
        if definition.uncertain:
            return _unknown(definition, definition.uncertain).problem
        return definition.value if self._literal else self._expand(definition.value, (key, last))

    def expand_text(self, value: LocatedText) -> LocatedText | Problem:
        """Return a text with the macros defined so far replaced; or its problem."""
        if self._spent > MAX_TEXTS:
            return value.file.error(value.at, "too many conditions or names with macros")
        expanded = self._expand(value, ("", 0))
        self._spent += MACRO_COST * self._steps + (0 if isinstance(expanded, Problem) else len(expanded.text))
        return expanded

    def _expand(self, value: LocatedText, outermost: tuple[str, int]) -> LocatedText | Problem:
        self._steps = 0
        text: list[str] = []
        offsets: list[int] = []
        try:
            for piece, part in self._parts(value, (outermost,)):
                text.append(part)
                if piece.name:
                    offsets += [value.index(piece.start)] * len(part)
                else:
                    offsets += value.offsets[piece.start : piece.end]
        except _MacroError as fault:
            return fault.problem
        return LocatedText("".join(text), value.file, offsets, value.at, replaced="".join(text) != value.text)

    def _parts(self, value: LocatedText, active: _Active) -> Iterator[tuple[_Piece, str]]:
        """Yield the pieces of a value, each with its expansion."""
        size = 0
        for piece in _pieces(value.text):
            part = self._replace(piece, value, active)
            size += len(part)
            if size > MAX_TEXT:
                message = f"more than {MAX_TEXT} characters after replacing macros"
                raise _fault(value, piece.start, message)
            yield piece, part

    def _expanded(self, value: LocatedText, active: _Active) -> str:
        return "".join(part for _, part in self._parts(value, active))

    def _replace(self, piece: _Piece, value: LocatedText, active: _Active) -> str:
        """Return the expansion of a piece of a value inside the active definitions."""
        if not piece.name:
            return self._plain(piece, value)
        self._steps += 1
        if self._steps > MAX_STEPS or len(active) > MAX_DEPTH:
            raise _fault(value, piece.start, "too many macros, or macros nested too deeply")
        if piece.name.upper() == "DOLLAR":
            return "$"
        if piece.function:
            return self._number(piece, value, active)
        found = self._find(piece.name.lower(), active)
        if found is not None:
            definition = self._certain(found)
            if definition.value.text or piece.default is None:
                return self._expanded(definition.value, (*active, found))
        if piece.default is None:
            message = f"$({piece.name}) is not defined in the bundle"
            hint = f"define {piece.name}, or give a default: $({piece.name}:...)"
            raise _fault(value, piece.start, message, hint)
        return self._expanded(_part(value, *piece.default), (*active, active[-1]))

    def _number(self, piece: _Piece, value: LocatedText, active: _Active) -> str:
        """Return the number of a function, whose argument is the name of a macro or else an expression."""
        found = self._find(piece.name.lower(), active) if _NAME.fullmatch(piece.name) else None
        expression = (
            self._expanded(self._certain(found).value, (*active, found)) if found is not None else piece.name
        )
        try:
            return number_text(piece.function, expression, piece.form)
        except ValueError as error:
            message = f"${piece.function}({piece.name}): {error}"
            raise _fault(value, piece.start, message, "write out its value") from error

    def _certain(self, found: tuple[str, int]) -> Definition:
        name, number = found
        definition = self._predefined[name] if number == _PREDEFINED else self._all[name][number]
        if definition.uncertain:
            raise _unknown(definition, definition.uncertain)
        return definition

    def _find(self, name: str, active: _Active) -> tuple[str, int] | None:
        """Return the definition that a name refers to; in its own definition, the one before it."""
        key, number = active[-1]
        if name == key:
            self._used.add(name)
            return (name, number - 1) if number > 0 or (not number and name in self._predefined) else None
        for candidate in (SUBSYSTEM + name, name):
            if candidate == key or candidate not in self._all:
                continue
            self._used.add(candidate)
            found = candidate, len(self._all[candidate]) - 1
            if any(candidate == each for each, _ in active):
                names = " -> ".join(
                    f"$({each})" for each in dict.fromkeys((*(n for n, _ in active), candidate))
                )
                value = self._all[candidate][found[1]].value
                raise _fault(
                    value,
                    0,
                    f"circular macros: {names} -> $({candidate})",
                    "replace one of them by plain text",
                )
            return found
        return (name, _PREDEFINED) if name in self._predefined else None

    def _plain(self, piece: _Piece, value: LocatedText) -> str:
        text = value.text[piece.start : piece.end]
        if function := _FUNCTION.search(text):
            at = piece.start + function.start()
            message = f"the macro function ${function[1]} is not supported"
            raise _fault(value, at, message, "write out its value")
        return text


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    while reference := _REFERENCE.search(text, at):
        start, end = reference.span()
        default = None
        if reference[3]:
            if start > at:
                yield _Piece(at, start)
            yield _Piece(start, end, reference[4], function=reference[3], form=reference[5])
            at = end
            continue
        if reference[2] == ":":
            closing = _closing(text, end)
            if closing < 0:
                break
            default, end = (end, closing), closing + 1
        if start > at:
            yield _Piece(at, start)
        yield _Piece(start, end, reference[1], default)
        at = end
    if at < len(text):
        yield _Piece(at, len(text))


def _closing(text: str, start: int) -> int:
    """Return the index where the parenthesis open at ``start`` is closed, or -1."""
    depth = 1
    for found in re.finditer(r"[()]", text[start:]):
        depth += 1 if found[0] == "(" else -1
        if not depth:
            return start + found.start()
    return -1


def _part(value: LocatedText, start: int, end: int) -> LocatedText:
    offsets = value.offsets[start:end]
    return LocatedText(value.text[start:end], value.file, offsets, offsets[0] if offsets else value.at)


def _unknown(definition: Definition, why: Uncertain) -> _MacroError:
    message = f"the value of {definition.name} is not known here: {why.reason}"
    return _MacroError(definition.file.error(definition.at, message, why.hint))


def _fault(value: LocatedText, offset: int, message: str, hint: str = "") -> _MacroError:
    return _MacroError(value.file.error(value.index(offset), message, hint))


def number_text(function: str, expression: str, form: str | None) -> str:
    """Return the text of a number as ``$INT`` or ``$REAL`` writes it.

    :param expression: a ClassAd expression without attributes; macros are replaced already.
    :param form: a format of C with text around it, or None for the default.
    :raises ValueError: the expression is not such a number, or the format is not supported; the message says why.
    """
    try:
        number = constant_number(expression)
    except ValueError as error:
        raise ValueError(f"its argument {error}") from error
    if function == "INT":
        if not abs(number) < _LARGEST:
            raise ValueError("the number does not fit into 64 bits")
        number = int(number)
    form = _DEFAULTS[function] if form is None else form
    if form != _DEFAULTS[function] and not _FORMATS[function].fullmatch(form):
        raise ValueError(f"the format {form!r} is not supported")
    return form % number

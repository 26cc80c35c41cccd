"""Evaluate the conditions of ``if`` and ``elif`` in HTCondor-style files, and follow their blocks.

Source: the HTCondor manual, "Introduction to Configuration" (conditionals), and HTCondor 25.14 itself. A condition that only
HTCondor can decide, or that it would refuse, is unknown: the definitions below it count as uncertain.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

import attrs

from negotiator.bundle.condor_macros import Knobs
from negotiator.bundle.text import LocatedText, shown
from negotiator.records import Problem

HTCONDOR_VERSION = (25, 14, 1)
"""The version of HTCondor that is followed here, and compared with by ``if version``."""

_VERSION = re.compile(r"version\s+(==|!=|<=|>=|<|>)\s*(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?", re.IGNORECASE)
_DEFINED = re.compile(r"defined\s+(\S.*)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*", re.ASCII)
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_WORDS = {"true": True, "t": True, "yes": True, "false": False, "f": False, "no": False, "": False}
_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@attrs.frozen(eq=False)
class UnknownCondition:
    """A condition that can't be decided: its text, its place, and why."""

    text: LocatedText
    reason: str

    def __str__(self) -> str:
        """Return the condition with its place and the reason."""
        return f"{shown(self.text.text)} in {self.text.source} ({self.reason})"


def condition_value(condition: LocatedText, knobs: Knobs) -> bool | str:
    """Return the value of a condition for the definitions read so far, or why it is unknown."""
    text = condition.text.strip()
    if text.startswith("!"):
        value = _value(text[1:].strip(), condition, knobs)
        return value if isinstance(value, str) else not value
    return _value(text, condition, knobs)


def _value(text: str, condition: LocatedText, knobs: Knobs) -> bool | str:
    expanded = knobs.expand_text(attrs.evolve(condition, text=text, offsets=()))
    if isinstance(expanded, Problem):
        return expanded.message
    text = expanded.text.strip()
    if asked := _DEFINED.fullmatch(text):
        return _is_defined(asked[1], knobs)
    if version := _VERSION.fullmatch(text):
        wanted = tuple(int(part) for part in version.groups()[1:] if part)
        return _COMPARE[version[1]](HTCONDOR_VERSION[: len(wanted)], wanted)
    if _NUMBER.fullmatch(text):
        return float(text) != 0
    return _WORDS.get(text.lower(), "HTCondor accepts no such condition")


def _is_defined(name: str, knobs: Knobs) -> bool | str:
    defined = knobs.is_defined(name) if _NAME.fullmatch(name) else None
    if defined is None:
        return f"only HTCondor knows whether it has {name}"
    return defined


@attrs.define(eq=False)
class _OpenBlock:
    """An ``if`` whose ``endif`` has not been read yet."""

    at: int
    outer: bool  # the lines around the block are read
    active: bool = False  # the lines of the present branch are read
    decided: bool = False  # a branch was certainly taken
    unknown: UnknownCondition | None = None  # the last condition so far that could not be decided


@attrs.define(eq=False)
class ConditionalBlocks:
    """The conditional blocks that are open at a line of a file."""

    knobs: Knobs
    _open: list[_OpenBlock] = attrs.field(factory=list)

    @property
    def active(self) -> bool:
        """True if lines are read here, with or without certainty."""
        return not self._open or self._open[-1].active

    @property
    def unknown(self) -> UnknownCondition | None:
        """The innermost condition that decides whether HTCondor reads this line; None if it certainly does."""
        return next((block.unknown for block in reversed(self._open) if block.unknown), None)

    @property
    def unfinished(self) -> int | None:
        """The place of the innermost ``if`` without ``endif``, or None."""
        return self._open[-1].at if self._open else None

    def take(self, word: str, condition: LocatedText, at: int) -> str:
        """Follow a line ``if``, ``elif``, ``else`` or ``endif``; return a message if it belongs to no ``if``."""
        if word == "if":
            self._open.append(_OpenBlock(at, outer=self.active))
        elif not self._open:
            return f"{shown(word)} without if"
        if word == "endif":
            self._open.pop()
            return ""
        block = self._open[-1]
        if word == "else" and condition.text.lower().startswith("if "):
            word, condition = "elif", attrs.evolve(condition, text=condition.text[3:], offsets=())
        if not block.outer or block.decided:
            block.active = False
        elif word == "else":
            block.active = block.decided = True
        else:
            self._branch(block, condition)
        return ""

    def _branch(self, block: _OpenBlock, condition: LocatedText) -> None:
        value = condition_value(condition, self.knobs)
        if isinstance(value, str):
            block.unknown = UnknownCondition(condition, value)
        block.active = value is not False
        block.decided = value is True

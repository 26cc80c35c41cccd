"""Reads the lines of the REPL: from a terminal, with history and completion, or from a pipe."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import attrs

from negotiator.classad import Side, function_names
from negotiator.cli.session import COMMANDS, Session

PROMPT = "> "
MOST_HISTORY = 1000

#: The characters that end a word to complete. Not the dot: MY. is completed with the attributes of MY.
DELIMITERS = " \t\n!%^&*()-=+[]{}|;:,<>/?~\"'"


def piped_lines() -> Iterator[str]:
    """Yield the lines of standard input; bytes that are not UTF-8 become lone surrogates, as in ads."""
    for line in sys.stdin.buffer if sys.stdin else ():
        yield line.decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def line_editing(session: Session) -> Iterator[None]:
    """Provide line editing, completion and a history, if Python was built with readline."""
    readline = _readline()
    if readline is None:
        yield
        return
    completer = _Completer(session, readline)
    readline.set_completer_delims(DELIMITERS)
    readline.set_completer(completer)
    readline.parse_and_bind("tab: complete")
    readline.set_history_length(MOST_HISTORY)
    file = history_file()
    with contextlib.suppress(OSError):
        if file:
            readline.read_history_file(file)
    try:
        yield
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):  # without a history the session works all the same
            if file:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                readline.write_history_file(file)


def history_file() -> Path | None:
    """Return the file of the history, in the state folder of the XDG Base Directory Specification; None without a home."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        state = named if named.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:  # no home folder
        return None
    return state / "negotiator" / "repl_history"


def completions(session: Session, line: str, begin: int, end: int) -> list[str]:
    """Return the completions of ``line[begin:end]``: commands, files, attributes or functions."""
    word = line[begin:end]
    command, blank, rest = line[:end].partition(" ")
    if command.startswith(":") and not blank:
        return [name for name in COMMANDS if name.startswith(word.lower())]
    if command in {":my", ":target"}:
        return _files(rest.lstrip(), len(word))
    return sorted(name for name in _names(session, word) if name.lower().startswith(word.lower()))


def _names(session: Session, word: str) -> Iterable[str]:
    scope, dot, _ = word.rpartition(".")
    if not dot:
        names = {name for each in session.ads.values() for name in each.ad}
        return names | {f"{name}(" for name in function_names()} | {f"{side}." for side in Side}
    side = Side.__members__.get(scope.upper())
    each = session.ads.get(side) if side else None
    return [f"{scope}.{name}" for name in each.ad] if each else []


def _files(path: str, shown: int) -> list[str]:
    """Return the paths with this beginning, each from the last ``shown`` characters of the beginning on, as readline expects."""
    found = sorted(glob.glob(f"{glob.escape(path)}*"))  # noqa: PTH207 - the spelling of the path is kept
    return [(f"{each}/" if Path(each).is_dir() else each)[len(path) - shown :] for each in found]


@attrs.define
class _Completer:
    """The completer of readline, which is called for one completion after the other."""

    session: Session
    readline: ModuleType
    matches: list[str] = attrs.field(factory=list)

    def __call__(self, _text: str, state: int) -> str | None:
        if state == 0:
            line, begin, end = (
                self.readline.get_line_buffer(),
                self.readline.get_begidx(),
                self.readline.get_endidx(),
            )
            self.matches = completions(self.session, line, begin, end)
        return self.matches[state] if state < len(self.matches) else None


def _readline() -> ModuleType | None:
    try:
        import readline  # noqa: PLC0415 - it changes the terminal, and not every Python has it
    except ImportError:
        return None
    return readline

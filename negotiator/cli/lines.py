"""Where the lines of the REPL come from: a terminal, with history and completion, or a pipe."""

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

#: What ends a word that is completed. A dot does not: what may follow MY. are the attributes of MY.
DELIMITERS = " \t\n!%^&*()-=+[]{}|;:,<>/?~\"'"


def piped_lines() -> Iterator[str]:
    """Give the lines of standard input; bytes that are no text are kept as those of ads are."""
    for line in sys.stdin.buffer if sys.stdin else ():
        yield line.decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def line_editing(session: Session) -> Iterator[None]:
    """Edit lines, complete words and keep a history, where Python was built with the means to."""
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
        with contextlib.suppress(OSError):  # a history that can't be kept is no reason to complain
            if file:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                readline.write_history_file(file)


def history_file() -> Path | None:
    """Say where the history is kept: in the folder for the state of programs (XDG Base Directory Specification)."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        state = named if named.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:  # there is no home
        return None
    return state / "negotiator" / "repl_history"


def completions(session: Session, line: str, begin: int, end: int) -> list[str]:
    """Give what ``line[begin:end]`` may be the beginning of: a command, a file, an attribute, a function."""
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
        names = {name for held in session.ads.values() for name in held.ad}
        return names | {f"{name}(" for name in function_names()} | {f"{side}." for side in Side}
    side = Side.__members__.get(scope.upper())
    held = session.ads.get(side) if side else None
    return [f"{scope}.{name}" for name in held.ad] if held else []


def _files(path: str, shown: int) -> list[str]:
    """Give the paths that begin so, each without what readline does not take as a part of the word."""
    found = sorted(glob.glob(f"{glob.escape(path)}*"))  # noqa: PTH207 - the spelling of the path is kept
    return [(f"{each}/" if Path(each).is_dir() else each)[len(path) - shown :] for each in found]


@attrs.define
class _Completer:
    """What readline asks for one completion after the other."""

    session: Session
    readline: ModuleType
    found: list[str] = attrs.field(factory=list)

    def __call__(self, _text: str, state: int) -> str | None:
        if state == 0:
            line, begin, end = (
                self.readline.get_line_buffer(),
                self.readline.get_begidx(),
                self.readline.get_endidx(),
            )
            self.found = completions(self.session, line, begin, end)
        return self.found[state] if state < len(self.found) else None


def _readline() -> ModuleType | None:
    try:
        import readline  # noqa: PLC0415 - it takes hold of the terminal, and not every Python has it
    except ImportError:
        return None
    return readline

"""Replays transcripts of qconf with the command: output, streams, exit codes, and the text that the editor was given.

A transcript is a section: entries with ``command``, ``user``, ``rc``, ``stdout``, ``stderr``, and optionally ``files``,
``editor`` and ``editor_saw``. State carries over from entry to entry. ``gridengine_departures`` lists the departures from
the recorded output, with reasons; after one, the session continues from the recorded state.
"""

import contextlib
import fnmatch
import gzip
import itertools
import re
import shlex
import socket
from pathlib import Path

import attrs
import yaml

from commands import invoke
from gridengine_departures import expected, is_done
from gridengine_site import options
from negotiator.app.context import ProgramContext
from negotiator_quotasets.commands.qconf import qconf
from negotiator_quotasets.language import parse_sets
from negotiator_quotasets.qconf.context import PLUGIN
from negotiator_quotasets.qconf.files import NEW_FILE

PROGRAM = "qconf"
HOST = "qm"
"""The host on which the transcripts were recorded."""

_CASES = Path(__file__).parents[1] / "conformance" / "gridengine" / "env_std.yaml.gz"
ENV = yaml.safe_load(gzip.decompress(_CASES.read_bytes()))
"""The cluster on which the transcripts were recorded."""

ONE = "{\n   name         one\n   description  NONE\n   enabled      TRUE\n   limit        to slots=1\n}\n"
TWO = ONE.replace("one", "two").replace("=1", "=2")
SCALAR = ("-mattr", "resource_quota", "enabled")

_SLEEP = re.compile(r"\bsleep [0-9.]+;? *")  # Grid Engine compares times of files in seconds


@attrs.frozen
class Answer:
    """The output and the exit code of a command.

    ``both`` are both streams in their order; ``saw`` is the text that the editor was given, None if it was not run.
    """

    stdout: str
    stderr: str
    rc: int
    both: str = ""
    saw: str | None = None


@attrs.frozen
class FinalState:
    """The state after a section: the text of the sets, and the files of the working folder."""

    sets: str = ""
    files: dict[str, str] = attrs.field(factory=dict)


class Session:
    """A site on which commands are run one after another, in a working folder."""

    def __init__(self, folder, site_factory):
        self.places = site_factory(folder / "site")
        self.home, self.cwd, self.private = (folder / name for name in ("home", "cwd", "private"))
        for each in (self.home, self.cwd, self.private):
            each.mkdir()
        self.refused = set()  # names of sets that Grid Engine accepted
        self.unspecified = set()  # sets from texts without ``enabled``

    @property
    def sets(self):
        """The text of all sets."""
        file = self.places.bundle / NEW_FILE
        return file.read_text() if file.exists() else ""

    @sets.setter
    def sets(self, text):
        (self.places.bundle / NEW_FILE).write_text(text)

    @property
    def engine(self):
        """The objects that the bundle declares."""
        return ProgramContext().bundle(self.places).settings(PLUGIN).gridengine

    def parsed(self, text):
        """Return the sets and the problems of a text."""
        return parse_sets(text, "text", self.engine.all_complexes)

    def write(self, files):
        """Write files to the working folder."""
        for name, text in files.items():
            (self.cwd / name).write_text(text)

    def qconf(self, words, user="root", editor=None):
        """Run ``qconf`` as a user; ``editor`` is a script for the file ``$1``."""
        saw = self.private / "saw"
        saw.unlink(missing_ok=True)
        env = {"HOME": str(self.home), "EDITOR": str(self._script(editor, saw))}
        with contextlib.chdir(self.cwd):
            done = invoke(qconf, [*words, *options(self.places)], ProgramContext(lambda: (user, ())), env=env)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        who = f"{user}@{socket.gethostname()} "
        printed = (done.stdout, done.stderr, done.output)
        out, err, both = (text.replace(who, f"{user}@{HOST} ") for text in printed)
        return Answer(out, err, done.exit_code, both, saw.read_text() if saw.exists() else None)

    def _script(self, editor, saw):
        script = self.private / "editor"
        body = "exit 99" if editor is None else _SLEEP.sub("", editor)
        script.write_text(f'#!/bin/sh\ncp "$1" {shlex.quote(str(saw))}\n{body}\n')
        script.chmod(0o700)
        return script


class UnknownCommandError(Exception):
    """A command line that the runner does not support."""


def words_of(command):
    """Return the words of a shell command line; punctuation is a separate word."""
    return list(_lexer(command))


def _lexer(command, *, posix=True):
    lexer = shlex.shlex(command, posix=posix, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "", True
    return lexer


def expanded_words(command, folder):
    """Return the words of a command line; as in a shell, a bare pattern becomes the files of a folder that match it."""
    raw = list(_lexer(command, posix=False)) if "*" in command or "?" in command else ()
    words = words_of(command)
    if len(raw) != len(words):
        return words
    files = sorted(path.name for path in folder.iterdir())
    return [
        name
        for bare, word in zip(raw, words, strict=True)
        for name in ((bare == word and fnmatch.filter(files, word)) or [word])
    ]


def stages(words):
    """Yield each command of a line, whether its streams are joined, its filters, and its output file."""
    for part in _split(words, ";"):
        first, *filters = _split(part, "|")
        joined = first[-3:] == ["2", ">&", "1"]
        target = None
        last = filters[-1] if filters else first
        if ">" in last:
            at = last.index(">")
            target = last[at + 1]
            del last[at:]
        yield first[:-3] if joined else first, joined, filters, target


def _split(words, separator):
    groups = itertools.groupby(words, key=lambda word: word == separator)
    return [list(group) for is_separator, group in groups if not is_separator]


def filtered(text, filters):
    """Return a text filtered by ``head -N`` and ``grep -v PATTERN``."""
    lines = text.splitlines(keepends=True)
    for program, *arguments in filters:
        match (program, *arguments):
            case ("head", count):
                lines = lines[: -int(count)]
            case ("grep", "-v", pattern):
                lines = [line for line in lines if not re.search(pattern, line)]
            case _:
                raise UnknownCommandError(f"{program} {' '.join(arguments)}")
    return "".join(lines)


def run_command(session, entry):
    """Run the command line of an entry, with its redirections and filters."""
    out, err, rc, saw = "", "", 0, None
    for words, joined, filters, target in stages(expanded_words(entry["command"], session.cwd)):
        if words[0] != PROGRAM:
            raise UnknownCommandError(entry["command"])
        answer = session.qconf(words[1:], entry["user"], entry.get("editor"))
        text = answer.both if joined else answer.stdout
        err += "" if joined else answer.stderr
        text = filtered(text, filters)
        if target:
            (session.cwd / target).write_text(text)
        else:
            out += text
        rc, saw = (0 if filters else answer.rc), answer.saw
    return Answer(out, err, rc, saw=saw)


def is_ours(entry):
    """True if an entry is a call of qconf."""
    return entry["command"].split()[0] == PROGRAM


def run_section(entries, site_factory, tmp_path, before=None):
    """Run a section; return a text for each entry that differs, and the final state.

    :param site_factory: writes a site below a folder, and returns its targets.
    :param before: the state at its beginning.
    """
    session = Session(tmp_path, site_factory)
    before = before or FinalState()
    ours = [entry for entry in entries if is_ours(entry)]
    first = _shown_first(ours)
    session.sets = first or before.sets
    session.write(before.files)
    differences = []
    for entry, after in itertools.zip_longest(ours, ours[1:]):
        differences += _entry(session, entry, after, first)
    files = {path.name: path.read_text() for path in session.cwd.iterdir()}
    return differences, FinalState(session.sets, files)


def run_sections(sections, site_factory, tmp_path):
    """Run sections in their order; return the differences of each.

    A section began either from the final state of the one before, or from an empty one; which of them was not recorded:
    the one that fits is taken.
    """
    found, left = {}, FinalState()
    for number, (name, entries) in enumerate(sections.items()):
        if not any(map(is_ours, entries)):
            continue
        tries = []
        for way, before in enumerate((left, attrs.evolve(left, sets=""))):
            if way and not left.sets:
                break
            folder = tmp_path / f"{number}-{way}"
            folder.mkdir()
            tries.append(run_section(entries, site_factory, folder, before))
            if not tries[-1][0]:
                break
        found[name], left = min(tries, key=lambda each: len(each[0]))
    return found


def _shown_first(entries):
    """Return the sets at the beginning of a section: those that are shown before the first change."""
    for entry in entries:
        if is_done(entry):
            return ""
        if words_of(entry["command"])[1] == "-srqs" and entry["rc"] == 0:
            return entry["stdout"]
    return ""


def _entry(session, entry, after, first):
    """Return the differences of an entry.

    The sets at the beginning of a section were restored now and then, which was not recorded: an entry may be about the
    current sets or about the first ones, as long as the sets shown next fit too.
    """
    is_change = first and words_of(entry["command"])[1].endswith("attr")
    if not is_change:
        return _once(session, entry)
    look = [after] if after and words_of(after["command"])[1] == "-srqs" else []
    sets = session.sets
    wrong = _all(session, [entry, *look])
    if wrong:
        session.sets = first
        if not _all(session, [entry, *look]):
            return []
        session.sets = sets
        wrong = _once(session, entry)
    return wrong


def _all(session, entries):
    return [line for entry in entries for line in _once(session, entry)]


def _once(session, entry):
    """Run an entry, and return a text if it differs."""
    session.write(entry.get("files", {}))
    try:
        wanted = expected(session, entry)
        answer = run_command(session, entry)
    except UnknownCommandError as error:
        return [f"$ {entry['command']}\n  unsupported by the runner: {error}"]
    wrong = [
        f"  {what}: {got!r}, expected {want!r}" for what, got, want in wanted.compared(answer) if got != want
    ]
    wrong += wanted.afterwards(session)
    return ["\n".join([f"{entry['user']} $ {entry['command']}", *wrong])] if wrong else []

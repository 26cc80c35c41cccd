"""Runs transcripts of qconf against the command: what is printed, on which stream, how it ends, what the editor saw.

A transcript is a section: entries with ``command``, ``user``, ``rc``, ``stdout``, ``stderr``, and where there are some
``files``, ``editor`` and ``editor_saw``. State carries over from entry to entry. Where the program departs from what was
recorded, ``gridengine_departures`` says so, with the reason, and the session goes on from the recorded state.
"""

import contextlib
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
from negotiator_quotasets.language import parse_sets
from negotiator_quotasets.qconf import qconf
from negotiator_quotasets.qconf.context import PLUGIN
from negotiator_quotasets.qconf.file_changes import NEW_FILE

PROGRAM = "qconf"
HOST = "qm"
"""Where the transcripts were recorded."""

_CASES = Path(__file__).parents[1] / "conformance" / "gridengine" / "env_std.yaml.gz"
ENV = yaml.safe_load(gzip.decompress(_CASES.read_bytes()))
"""The cluster that transcripts were recorded on."""

ONE = "{\n   name         one\n   description  NONE\n   enabled      TRUE\n   limit        to slots=1\n}\n"
TWO = ONE.replace("one", "two").replace("=1", "=2")
SCALAR = ("-mattr", "resource_quota", "enabled")

_SLEEP = re.compile(r"\bsleep [0-9.]+;? *")  # the real one tells a saved file by the second


@attrs.frozen
class Answer:
    """What a command printed, and how it ended.

    ``both`` is all of it as it came; ``saw`` what the editor was given, None where it was not called.
    """

    stdout: str
    stderr: str
    rc: int
    both: str = ""
    saw: str | None = None


@attrs.frozen
class Left:
    """What a section leaves behind: the text of the sets, and the files where commands were run."""

    sets: str = ""
    files: dict[str, str] = attrs.field(factory=dict)


class Session:
    """A site on which commands are run one after another, in a folder of their own."""

    def __init__(self, folder, site_factory):
        self.places = site_factory(folder / "site")
        self.home, self.cwd, self.desk = (folder / name for name in ("home", "cwd", "desk"))
        for each in (self.home, self.cwd, self.desk):
            each.mkdir()
        self.refused = set()  # names of sets that the real one took
        self.unsaid = set()  # sets of which it was not said whether they are enabled

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
        """What is declared in the bundle."""
        return ProgramContext().bundle(self.places).settings(PLUGIN).gridengine

    def parsed(self, text):
        """The sets of a text, and what is wrong with it."""
        return parse_sets(text, "text", self.engine.all_complexes)

    def write(self, files):
        """Put files where commands are run."""
        for name, text in files.items():
            (self.cwd / name).write_text(text)

    def qconf(self, words, user="root", editor=None):
        """Run ``qconf`` as somebody; ``editor`` is what a script does with the file ``$1``."""
        saw = self.desk / "saw"
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
        script = self.desk / "editor"
        body = "exit 99" if editor is None else _SLEEP.sub("", editor)
        script.write_text(f'#!/bin/sh\ncp "$1" {shlex.quote(str(saw))}\n{body}\n')
        script.chmod(0o700)
        return script


class UnknownCommandError(Exception):
    """A command line of which the runner knows too little."""


def words_of(command):
    """The words of a line of the shell; what is punctuation is a word of its own."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "", True
    return list(lexer)


def stages(command):
    """The commands of a line: for each whether its errors are joined, what it pipes through, and where it writes to."""
    for words in _split(words_of(command), ";"):
        first, *filters = _split(words, "|")
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
    """What is left of a text after ``head -N`` and ``grep -v PATTERN``."""
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
    """Run the line of an entry; what is joined, filtered or written is so at once."""
    out, err, rc, saw = "", "", 0, None
    for words, joined, filters, target in stages(entry["command"]):
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
    """Whether it is a command of qconf."""
    return entry["command"].split()[0] == PROGRAM


def run_section(entries, site_factory, tmp_path, before=None):
    """Run a section; gives what differs, a text for each entry, and what is left.

    :param site_factory: writes a site below a folder, and gives its places.
    :param before: what is there when it begins.
    """
    session = Session(tmp_path, site_factory)
    before = before or Left()
    ours = [entry for entry in entries if is_ours(entry)]
    first = _shown_first(ours)
    session.sets = first or before.sets
    session.write(before.files)
    told = []
    for entry, after in itertools.zip_longest(ours, ours[1:]):
        told += _entry(session, entry, after, first)
    files = {path.name: path.read_text() for path in session.cwd.iterdir()}
    return told, Left(session.sets, files)


def run_sections(sections, site_factory, tmp_path):
    """Run sections in their order; gives for each what differs.

    Some sections go on with what the one before left, others began anew, which was not recorded: the one that fits is
    taken.
    """
    found, left = {}, Left()
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
    """The sets that were there when a section began: those that are shown before anything was changed."""
    for entry in entries:
        if is_done(entry):
            return ""
        if words_of(entry["command"])[1] == "-srqs" and entry["rc"] == 0:
            return entry["stdout"]
    return ""


def _entry(session, entry, after, first):
    """What differs in an entry.

    Where sets were there before a section, they were put back now and then, which was not recorded: an entry may be about
    the ones that are there, or about the first ones, as long as what is shown next fits, too.
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
    """Run an entry; a text for what differs."""
    session.write(entry.get("files", {}))
    try:
        wanted = expected(session, entry)
        answer = run_command(session, entry)
    except UnknownCommandError as error:
        return [f"$ {entry['command']}\n  the runner does not know: {error}"]
    wrong = [
        f"  {what}: {got!r}, expected {want!r}" for what, got, want in wanted.compared(answer) if got != want
    ]
    wrong += wanted.afterwards(session)
    return ["\n".join([f"{entry['user']} $ {entry['command']}", *wrong])] if wrong else []

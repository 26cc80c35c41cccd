"""Replays transcripts of qquota with the command, on a bundle and a pool that are written for it."""

import contextlib
import re
import shlex

import attrs

from commands import invoke
from gridengine_site import RUNNING, options, write_site
from negotiator.app.context import ProgramContext
from negotiator_quotasets.commands.qquota import qquota
from negotiator_quotasets.language import format_sets
from negotiator_quotasets.qquota.command import PLUGIN

_ADD = "qconf -Arqs "
#: A rule and its limit at the beginning of a line of the table.
_LIMIT = re.compile(r"^([^<\s]\S* +)(\S+=\S+)", re.MULTILINE)
_OF_ALL = re.compile(r'cluster-wide sge_qquota file has "(.*)"')


@attrs.frozen
class Answer:
    """The output and the exit code of a command."""

    stdout: str
    stderr: str
    rc: int


#: Rows of rules with ``projects !*`` or ``pes !*``, expanded or not, in the table and in XML.
_HIDDEN = re.compile(
    r"^[^<\s]\S* +\S+ +(?:.* )?(?:projects|pes) (?:-|\S*!\*[,}]?)(?: .*)?\n"
    r"|^ <qquota_rule .*\n(?:   .*\n)*?   (?:<xprojects>\*|<xpes>\*|<projects>-|<pes>-)<.*\n(?:   .*\n)* </qquota_rule>\n",
    re.MULTILINE,
)


def without_hidden_rows(report):
    """Return a report without the rows that Grid Engine hides; a table without rows is empty."""
    shown = _HIDDEN.sub("", report)
    return "" if shown.endswith(f"{'-' * 80}\n") else shown


def with_limits_cut_off(table):
    """Return a table as Grid Engine prints it: a limit has at most 20 characters."""
    return _LIMIT.sub(lambda line: f"{line[1]}{line[2][:20]}", table)


class Session:
    """A site on which commands are run one after another; the caller has an empty home."""

    def __init__(self, folder, env, running=RUNNING, files=None):
        self.places = write_site(folder, env, running, files)
        self.home, self.cwd = folder / "home", folder / "cwd"
        self.home.mkdir()
        self.cwd.mkdir()

    def run(self, *words, user="root"):
        """Run ``qquota`` as a user."""
        site = ProgramContext(lambda: (user, ()))
        with contextlib.chdir(self.cwd):
            done = invoke(qquota, [*words, *options(self.places)], site, env={"HOME": str(self.home)})
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Answer(done.stdout, done.stderr, done.exit_code)

    def write(self, name, text):
        """Write a file of the bundle."""
        (self.places.bundle / name).write_text(text)

    def add(self, name, text):
        """Write the valid sets of a text to a file of the bundle: Grid Engine drops the others, see NOTES."""
        engine = ProgramContext().bundle(self.places).settings(PLUGIN).gridengine
        parsed = engine.parse_sets(text, name)
        self.write(name, text if parsed.of_syntax or not parsed.problems else format_sets(parsed.sets))

    def rules(self, *limits):
        """Replace the rules of the only set; each is given without its ``limit``."""
        lines = "".join(f"   limit {each}\n" for each in limits)
        self.write("rules.rqs", f"{{\n   name a\n   enabled TRUE\n{lines}}}\n")

    def defaults(self, text):
        """Write the default switches for everybody."""
        self.write("sge_qquota", text)


def run_qquota(entries, folder, env, running=RUNNING):
    """Run the entries of a section; yield each ``qquota`` entry with its answer.

    Files of an entry are written to its working folder. A note about the default switches applies from its entry on.
    """
    session = Session(folder, env, running)
    for entry in entries:
        for name, text in entry.get("files", {}).items():
            (session.cwd / name).write_text(text)
        if of_all := _OF_ALL.search(entry.get("note", "")):
            session.defaults(of_all[1])
        if entry["command"].startswith(_ADD):
            name = entry["command"].removeprefix(_ADD)
            session.add(f"{name}.rqs", entry["files"][name])
        command, *words = shlex.split(entry["command"])
        if command == "qquota":
            yield entry, session.run(*words, user=entry["user"])

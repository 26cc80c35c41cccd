"""Conformance cases of Grid Engine, recorded from a real qmaster: loading them, and their verdicts.

A folder of cases has files ``*.yaml`` and ``*.yaml.gz``, each a list, and ``env_NAME.yaml``, the cluster of ``env: NAME``. The
keys of a case select its runner: ``section`` a session of commands, ``request`` or ``requests`` a decision, all others the
parser. An unreadable case is reported with its file; nothing is raised for it.
"""

import contextlib
import itertools
import re
import tempfile
from functools import cached_property
from pathlib import Path

import attrs

from golden import UnreadableError, case_files, plain_or_gzipped, yaml_content
from gridengine_cluster import Cluster
from gridengine_decisions import departure, differences
from gridengine_parse import check_parse, is_about_text
from gridengine_qquota import run_qquota, with_limits_cut_off, without_hidden_rows
from gridengine_sessions import Session, is_ours, run_sections
from gridengine_site import write_site

PASSED, DEPARTED, FAILED, UNREAD = "passed", "otherwise, as listed", "failed", "could not be read"


@attrs.frozen
class Folder:
    """A folder of cases; clusters that it lacks are looked for in ``spare``."""

    path: Path
    spare: Path

    def files(self):
        """Return the names of its files of cases, sorted."""
        return [name for name in case_files(self.path, ".yaml") if not name.startswith("env_")]

    def files_with_sessions(self):
        """Return the names of those that have sessions of commands; unreadable ones are reported by ``verdict``."""
        with_sessions = []
        for name in self.files():
            with contextlib.suppress(UnreadableError):
                with_sessions += [name] if sections(self.read(name)) else []
        return with_sessions

    def read(self, name):
        """Return the cases of a file. Raises ``UnreadableError``."""
        return yaml_content(self.path / name)

    def env(self, name):
        """Return the cluster of a name, as a mapping."""
        for folder in (self.path, self.spare):
            path = plain_or_gzipped(folder / f"env_{name}.yaml")
            if path.exists():
                return yaml_content(path)
        raise ValueError(f"{self.path} has no env_{name}.yaml")

    @cached_property
    def clusters(self):
        """Clusters by name, loaded when they are first used."""
        return {}

    def cluster(self, name):
        """Return a cluster for decisions."""
        if name not in self.clusters:
            self.clusters[name] = Cluster.of(self.env(name))
        return self.clusters[name]


def sections(cases):
    """Return the sessions of a file by section, in their order."""
    found = {}
    for case in cases if isinstance(cases, list) else []:
        if isinstance(case, dict) and "section" in case:
            found.setdefault(case["section"], []).append(case)
    return found


def verdict(folder, name):
    """Return the counts of verdicts of a file without its sessions, and a text for each failure."""
    counts = dict.fromkeys((PASSED, DEPARTED, FAILED, UNREAD), 0)
    failures = []
    try:
        cases = folder.read(name)
    except UnreadableError as error:
        return {**counts, UNREAD: 1}, [f"{name}: {error}"]
    for number, case in enumerate(cases if isinstance(cases, list) else [cases], 1):
        if isinstance(case, dict) and "section" in case:
            continue
        try:
            outcome, wrong = _judged(folder, case)
        except (KeyError, TypeError, ValueError, AttributeError, UnreadableError) as error:
            outcome, wrong = UNREAD, [f"{type(error).__name__}: {error}"]
        counts[outcome] += 1
        label = case.get("id", number) if isinstance(case, dict) else number
        failures += [f"{name}: {label}: {each}" for each in wrong]
    return counts, failures


def _judged(folder, case):
    cluster = folder.cluster(case["env"])
    if "request" in case or "requests" in case or "request" in case["expect"]:
        wrong, listed = differences(case, cluster), departure(case) is not None
    elif is_about_text(case):
        found = check_parse(case, cluster.complexes, hosts=list(cluster.env["hosts"]))
        wrong, listed = [found] if found else [], "conflicts_with_seed" in case
    elif is_command(case):
        with tempfile.TemporaryDirectory() as place:
            wrong, listed = _command_differences(folder, case, Path(place)), False
    else:
        raise ValueError("unknown kind of case: neither a text nor a request nor a command")
    if wrong:
        return FAILED, wrong
    return DEPARTED if listed else PASSED, []


def is_command(case):
    """True if a case is the output of one qconf command, from the specification."""
    return "command" in case["expect"]


def sessions(folder, name, tmp_path):
    """Return for each section of a file how many lines were run, and a text for each that differs."""
    found = {}
    by_section = sections(folder.read(name))

    def site(place):
        return write_site(place, folder.env("std"))

    asking = {key for key, entries in by_section.items() if any(map(_asks, entries))}
    changing = {key: entries for key, entries in by_section.items() if key not in (*ASKING, *NOT_RUN)}
    changed = run_sections(changing, site, tmp_path)
    assert set(changed) == {key for key, entries in changing.items() if any(map(is_ours, entries))}
    for key, wrong in changed.items():
        found[f"{key}, qconf"] = sum(map(is_ours, by_section[key])), wrong
    for key in sorted(asking - set(NOT_RUN)):
        place = tmp_path / key
        place.mkdir()
        done = list(run_qquota(by_section[key], place, folder.env("std")))
        wrong = [text for entry, answer in done if (text := _difference(entry, answer))]
        found[f"{key}, qquota"] = len(done), wrong
    return found


def _asks(entry):
    return entry["command"].startswith("qquota")


#: The sections that call qquota on their sets, and those that need a cluster to submit to.
ASKING, NOT_RUN = ("qquota",), ("qsub-qstat",)
#: A limit that Grid Engine did not evaluate; NOTES: it is not unlimited.
_UNKNOWN = re.compile(r"/9999( *)")


def _difference(entry, answer):
    """Return the differences of an answer of qquota from the recorded one, in which limits are cut off.

    NOTES: Grid Engine hides rules for jobs without project or parallel environment; that is not copied.
    """
    answer = attrs.evolve(answer, stdout=with_limits_cut_off(without_hidden_rows(answer.stdout)))
    pairs = itertools.zip_longest(entry["stdout"].splitlines(), answer.stdout.splitlines(), fillvalue="")
    lines = [(want, _UNKNOWN.sub(_same_limit(got), want)) for want, got in pairs]
    stdout = "".join(f"{want}\n" for _, want in lines)
    wanted = {"stdout": stdout, "stderr": entry["stderr"], "rc": entry["rc"]}
    wrong = [
        f"  {what}: {getattr(answer, what)!r}, expected {want!r}"
        for what, want in wanted.items()
        if getattr(answer, what) != want
    ]
    return "\n".join([f"{entry['user']} $ {entry['command']}", *wrong]) if wrong else ""


def _same_limit(line):
    found = re.search(r"=\d+(/\d+ *)", line)
    return found[1] if found else ""


def _command_differences(folder, case, place):
    """Return the differences of the output of one command from the specification."""
    expect = case["expect"]
    session = Session(place, lambda each: write_site(each, folder.env(case["env"])))
    session.sets = _ONE
    session.write({"FILE": expect.get("file", _ONE.replace("slots=5", "slots=6")) + "\n"})
    answer = session.qconf(expect["command"].split()[1:])
    text = answer.stdout + answer.stderr
    wrong = [] if answer.rc == expect.get("exit_code", 0) else [f"exit code {answer.rc}"]
    wrong += [] if expect.get("message", "") in text else [f"{text!r} lacks {expect['message']!r}"]
    wrong += [] if expect.get("error_contains", "") in answer.stderr else [f"{answer.stderr!r}"]
    return wrong


_ONE = "{\n   name         set\n   description  NONE\n   enabled      TRUE\n   limit        to slots=5\n}\n"

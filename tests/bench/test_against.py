"""``make bench-against``: its pools, its comparison of decisions, and a small run of the working tree beside itself."""

import hashlib
import importlib
import json
import shutil
import subprocess
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from negotiator_bench.against import (
    POOLS,
    ROOT,
    Comparison,
    CycleTargets,
    Difference,
    ProcessFigures,
    Tree,
    against,
    checked_out,
    compare,
    print_comparisons,
)
from negotiator_bench.against_worker import CYCLES, CycleFigures, WorkerTask
from negotiator_bench.errors import BenchError, ProcessFailedError

TINY = attrs.evolve(POOLS["plain-100"], slots=20, classes=2)


def in_repository():
    """Return True if the working tree is in a git repository."""
    git = shutil.which("git")
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", "HEAD"]
    return git is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


needs_repository = pytest.mark.skipif(not in_repository(), reason="the sources are not in a git repository")


@pytest.mark.parametrize("name", ["plain-100", "large"])
def test_the_working_tree_decides_as_it_does_itself_in_a_pool_that_is_served(tmp_path, name):
    trees = Tree.of("one", ROOT, tmp_path / "one"), Tree.of("other", ROOT, tmp_path / "other")
    found = compare(name, attrs.evolve(POOLS[name], slots=2000, classes=50), trees, 1)
    assert found.differences == []
    assert not found.is_judged
    for first, unchanged, changed in (side.cycles for side in found.rounds[0]):
        assert (first.slots, first.requests) == (2000, 50)
        assert min(first.matches, unchanged.matches, changed.matches) > 50
        assert [each.updated for each in (first, unchanged, changed)] == [False, True, True]
        assert first.digests["counts"] == unchanged.digests["counts"]
        assert unchanged.digests["outcomes"] != changed.digests["outcomes"]
        assert all(each.seconds > each.decide > 0 for each in (first, unchanged, changed))
        parts = {"counts", "matches", "outcomes", "counters", "journal", "journal requestcpus"}
        assert parts <= first.digests.keys()


def test_one_in_fifty_slots_and_requests_changes_for_the_third_cycle(tmp_path):
    pool = attrs.evolve(TINY, slots=120, classes=70)
    pool.write(tmp_path / "pool")
    ads = {file.stem: file.read_text().split("\n\n")[:-1] for file in (tmp_path / "pool").iterdir()}
    for kind in ("jobs", "present"):
        pairs = list(zip(ads[kind], ads[f"{kind}-changed"], strict=True))
        changed = [row for row, (one, other) in enumerate(pairs) if one != other]
        assert changed == ([0, 50] if kind == "jobs" else [0, 50, 100])
        keys = ("ClusterId", "GlobalJobId", "User ") if kind == "jobs" else ("Name", "MyAddress")
        for one, other in pairs:
            assert [[line for line in ad.splitlines() if line.startswith(keys)] for ad in (one,)] == [
                [line for line in ad.splitlines() if line.startswith(keys)] for ad in (other,)
            ]
    names = [next(line for line in ad.splitlines() if line.startswith("Name ")) for ad in ads["slots"]]
    changed = [
        next(line for line in ad.splitlines() if line.startswith("Name ")) for ad in ads["slots-changed"]
    ]
    assert changed == [names[0], names[50], names[100]]
    assert len(ads["slots"]) == 120


def test_attacks_of_a_hostile_pool_are_of_owners_of_their_own(tmp_path):
    attrs.evolve(TINY, is_hostile=True).write(tmp_path / "pool")
    jobs = (tmp_path / "pool" / "jobs.ads").read_text().split("\n\n")[:-1]
    owners = {line for ad in jobs for line in ad.splitlines() if line.startswith("Owner ")}
    assert len(owners) > 10
    numbers = [line for ad in jobs for line in ad.splitlines() if line.startswith("GlobalJobId ")]
    assert len(set(numbers)) == len(numbers) == len(jobs)


class Recorded:
    """A tree that gives answers without running anything: lines of decisions."""

    def __init__(self, name, *lines):
        self.name, self.root, self.lines = name, ROOT, lines

    def measure(self, task):
        figures = []
        for cycle in CYCLES[: task.cycles]:
            digests = {}
            with Path(task.decisions, f"{cycle}.jsonl").open("w") as file:
                for part, *values in self.lines:
                    file.write(f"{json.dumps([part, *values])}\n")
                    text = digests.get(part, "") + repr(values)
                    digests[part] = hashlib.sha256(text.encode()).hexdigest()
                    if part == "journal":
                        for name, value in values[-1]:
                            digests[f"journal {name}"] = repr(value)
            figures.append(CycleFigures(1.0, 1.0, 2, 2, 2, False, digests))
        return ProcessFigures(tuple(figures), 0.5)


def test_of_each_part_that_differs_the_first_difference_is_printed():
    one = Recorded("before", ["matches", "1.0", "a", 0.0], ["matches", "2.0", "b", 0.0], ["outcomes", "u", 3])
    other = Recorded("here", ["matches", "1.0", "a", 0.0], ["matches", "2.0", "c", 1.5], ["outcomes", "u", 3])
    found = compare("plain-100", TINY, (one, other), 2)
    (difference,) = found.differences
    assert (difference.part, difference.cycle) == ("matches", "first")
    assert difference.text.splitlines() == [
        "number 2",
        '  before: ["2.0", "b", 0.0]',
        '  here: ["2.0", "c", 1.5]',
    ]


def test_an_attribute_that_one_side_has_alone_is_a_difference_of_its_own():
    one = Recorded("before", ["journal", "1.0", [["cpus", 1]]])
    other = Recorded("here", ["journal", "1.0", [["cpus", 1], ["owner", "u"]]])
    found = compare("plain-100", TINY, (one, other), 1)
    assert "journal owner" in [each.part for each in found.differences]
    assert found.unexpected(("journal", "journal owner")) == []
    assert found.unexpected(("plain-100",)) == []
    assert [each.part for each in found.unexpected(("journal owner",))] == ["journal"]


def figures(*seconds, gigabytes=1.0):
    cycles = tuple(CycleFigures(each, each, 2, 2, 2, False, {}) for each in seconds)
    return ProcessFigures(cycles, gigabytes)


def test_targets_are_judged_by_the_median_of_the_ratios_of_the_rounds(capsys):
    pool = attrs.evolve(TINY, targets=CycleTargets((4, 10, None), seconds=2, gigabytes=1))
    found = Comparison("small", pool, is_judged=True)
    found.rounds = [(figures(8, 9, 9), figures(2, 1, 1)), (figures(5, 9, 9), figures(1, 1, 1))]
    found.rounds.append((figures(2, 9, 9), figures(1, 1, 1, gigabytes=2.0)))
    assert found.ratios(0) == [4, 5, 2]
    assert [found.judged(cycle) for cycle in range(3)] == ["4, met", "10, missed", ""]
    print_comparisons([found], "abc")
    printed = capsys.readouterr().out
    assert "2.00-5.00" in printed
    assert "2 s, met; 1 GB, missed" in printed
    found.is_judged = False
    assert {found.judged(cycle) for cycle in range(3)} == {""}


@pytest.fixture
def measured(monkeypatch):
    """Make every pool one whose outcomes differ; nothing is checked out."""
    module = importlib.import_module("negotiator_bench.against")

    def measure(name, pool, _trees, _rounds):
        found = Comparison(name, pool, is_judged=False)
        found.rounds.append((figures(1, 1, 1), figures(1, 1, 1)))
        found.differences.append(Difference("outcomes", "first", "number 1"))
        return found

    monkeypatch.setattr(module, "compare", measure)
    monkeypatch.setattr(module, "_git", lambda *_: "")
    monkeypatch.setattr(module.Tree, "of", Tree)


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("arguments", "code"), [((), 1), (("--accept", "outcomes"), 0), (("--accept", "mixed,counters"), 1)]
)
def test_decisions_that_differ_are_an_exit_code_unless_they_are_accepted(arguments, code):
    done = CliRunner().invoke(against, ["HEAD", "--pools", "plain-100,mixed", *arguments])
    assert done.exit_code == code
    assert "DIFFERENT: outcomes" in done.stdout
    assert "plain-100, first cycle, outcomes differ: number 1" in done.stderr
    done = CliRunner().invoke(against, ["HEAD", "--pools", "large", "--json", *arguments])
    assert done.exit_code == code
    assert json.loads(done.stdout)["pools"][0]["differences"][0]["part"] == "outcomes"


def test_a_tree_without_the_program_is_an_error(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    tree = Tree.of("empty", tmp_path, tmp_path / "metadata")
    with pytest.raises(ProcessFailedError, match="which is not in"):
        tree.measure(WorkerTask(str(tmp_path), "", "", "", "", 1, 50))


@needs_repository
def test_a_commit_is_checked_out_as_long_as_it_is_needed():
    with checked_out("HEAD") as folder:
        assert (folder / "negotiator" / "cycle" / "loop.py").is_file()
    assert not folder.exists()
    assert (
        str(folder)
        not in subprocess.run(
            ["git", "-C", str(ROOT), "worktree", "list"], capture_output=True, check=True, text=True
        ).stdout
    )


@needs_repository
@pytest.mark.parametrize("commit", ["no-such-commit", "--help"])
def test_a_commit_that_is_not_there_is_an_error(commit):
    with pytest.raises(BenchError, match="no such commit"), checked_out(commit):
        pass


@pytest.mark.parametrize("arguments", [[], ["HEAD", "--pools", "plain"], ["HEAD", "--rounds", "0"]])
def test_a_wrong_command_line_is_refused(arguments):
    assert CliRunner().invoke(against, arguments).exit_code == 2

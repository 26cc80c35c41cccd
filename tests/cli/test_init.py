"""A new bundle passes check and its tests; plugins offer the bundles, also those that others install."""

import subprocess
import sys
from pathlib import Path

import pytest

from distributions import install
from negotiator.app.new_bundle import StartingBundles
from new_bundles import files, remarks, run

ROOT = Path(__file__).parents[2]
OFFERED = StartingBundles.of_installed_plugins().offered
QUEUES = "partitions: [{name: default, queues: [{name: root, submitacl: '*'}]}]\n"

#: Partitions of Slurm, each a group with a quota.
SLURM = """
from negotiator.plugin import *

def make(request):
    if request.answers["quota"] == "0":
        raise InvalidCallError("a quota of 0 lets nobody run; answer at least 1")
    names = [file.text.partition("=")[2].strip() for file in request.files] or ["debug"]
    knobs = [f"GROUP_NAMES = {', '.join(names)}"]
    knobs += [f"GROUP_QUOTA_{name} = {request.answers['quota']}" for name in names]
    made = {"pool.yaml": f"# of {request.folder}\\norder: submitters\\n".encode()}
    made["slurm.conf"] = "\\n".join(knobs).encode()
    jobs = [SampleJob({"AccountingGroup": f"{name}.alice"}, machine="node1") for name in names]
    return StartingFiles(made, sample_jobs=lambda partition: jobs)

@hookimpl
def negotiator_starting_bundles():
    yield StartingBundle(
        name="slurm", description="partitions of Slurm as groups", make=make, own_files="Your own slurm.conf",
        recognizes=lambda text: text.startswith("PartitionName="),
        questions=(StartingQuestion("quota", "Slots of each partition", "4"),),
    )
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def installed(tmp_path_factory, monkeypatch, request):
    """Return a function that installs a plugin with the given code; it is unloaded in the end."""
    folder = tmp_path_factory.mktemp("site-packages")
    monkeypatch.syspath_prepend(folder)

    def plugin(code, name="slurm"):
        install(folder, name, f"negotiator_{name}", source=code)
        request.addfinalizer(lambda: sys.modules.pop(f"negotiator_{name}", None))

    return plugin


@pytest.fixture
def _terminal(monkeypatch):
    monkeypatch.setattr("negotiator.cli.init._is_terminal", lambda: True)


@pytest.mark.parametrize("system", OFFERED)
def test_a_new_bundle_passes_check_without_a_remark_and_its_tests_cover_its_rules(system):
    code, output = run("init", "site", "--from", system)
    assert (code, "site: ok\n" in output) == (0, True)
    assert remarks("site") == []
    assert run("test", "--bundle", "site", "--fail-uncovered")[0] == 0


@pytest.mark.parametrize("system", OFFERED)
def test_each_key_of_a_new_bundle_is_explained_above_it(system):
    run("init", "site", "--from", system)
    lines = Path("site", "pool.yaml").read_text().splitlines()
    keys = [number for number, line in enumerate(lines) if line and line[0] not in "# "]
    assert keys
    assert all(lines[number - 1].startswith("#") for number in keys)


def test_two_commands_show_a_cycle():
    assert run("init", "--example", "pool")[0] == 0
    assert {path.name for path in Path("pool").iterdir()} == {
        path.name for path in (ROOT / "examples" / "first-pool").glob("*.ads")
    }
    code, output = run("run", "pool")
    assert code == 0
    assert output.startswith("Cycle 1 over 33 slots, 9 idle jobs: 7 matched")


@pytest.mark.parametrize(
    ("system", "limit"), [("yunikorn", "root.users.tester"), ("gridengine", "per_user/share")]
)
def test_the_limits_of_a_new_bundle_refuse_jobs_of_the_example_pool(system, limit):
    assert run("init", "site", "--from", system, "--example", "pool")[0] == 0
    code, output = run("run", "--no-audit", "--bundle", "site", "pool")
    assert code == 0
    assert limit in output.partition("Not matched")[2]


def test_no_file_is_changed():
    """Neither a file that exists nor any other one is written."""
    Path("site").mkdir()
    Path("site", "pool.yaml").write_text("order: names\n")
    code, output = run("init", "site", "--from", "htcondor")
    assert code == 1
    assert "site/pool.yaml: exists already, and nothing was written" in output
    assert [path.name for path in Path("site").iterdir()] == ["pool.yaml"]
    assert Path("site", "pool.yaml").read_text() == "order: names\n"
    Path("site", "site_test.yaml").write_text("tests: []\n")
    code, output = run("init", "site", "--from", "htcondor")
    assert code == 1
    assert "exist already, and nothing was written; name another folder, or move the files away" in output


def test_a_dead_link_is_not_followed():
    Path("site").mkdir()
    Path("site", "pool.yaml").symlink_to("elsewhere")
    assert run("init", "site", "--from", "htcondor")[0] == 1
    assert not Path("elsewhere").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "Missing FOLDER, or --example POOL."),
        (["site"], 2, "Missing --from (htcondor, yunikorn, gridengine), or --file FILE."),
        (["--from", "htcondor", "--example", "pool"], 2, "--from, --file and --answer need FOLDER"),
        (["site", "--from", "yunikron"], 2, "unknown starting bundle 'yunikron'; did you mean yunikorn?"),
        (["site", "--file", "own", "--file", "own"], 2, "own: named twice"),
        (["site", "--file", "own"], 2, "own: recognized by no starting bundle; choose one: --from htcondor|"),
        (["site", "--file", "queues", "--file", "knobs"], 2, "recognized by htcondor, yunikorn; choose one"),
        (
            ["site", "--from", "htcondor", "--answer", "a=b"],
            2,
            "unknown question 'a'; this starting bundle has none",
        ),
        (["site", "--from", "htcondor", "--answer", "a"], 2, "'a': write NAME=VALUE"),
    ],
)
def test_an_invalid_call_says_what_to_do(words, code, message):
    files(own="?", queues=QUEUES, knobs="GROUP_NAMES = a\n")
    found, output = run("init", *words)
    assert (found, message in output) == (code, True), output
    assert not Path("site").exists()


@pytest.mark.usefixtures("_terminal")
def test_on_a_terminal_questions_are_asked():
    files(queues=QUEUES)
    code, output = run("init", input="mine\nyunikorn\nqueues\n")
    assert code == 0, output
    assert "Start from (htcondor, yunikorn, gridengine) [htcondor]:" in output
    assert "Your own queues.yaml (Enter: examples):" in output
    assert Path("mine", "queues.yaml").read_text() == QUEUES


def test_the_list_has_each_bundle_with_its_plugin_and_the_files_that_it_takes():
    code, output = run("init", "--list")
    assert code == 0
    for name, offered in OFFERED.items():
        (line,) = (line for line in output.splitlines() if line.split()[:2] == [name, offered.plugin])
        assert offered.record.description in line
        assert offered.record.own_files in line


def test_the_shell_completes_the_names_of_bundles(monkeypatch):
    monkeypatch.setenv("_NEGOTIATOR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "negotiator init --from y")
    monkeypatch.setenv("COMP_CWORD", "3")
    words = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'negotiator'; from negotiator.__main__ import main; main()",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["plain,yunikorn"]


def test_a_plugin_that_somebody_else_installed_offers_its_own_bundle(installed):
    """It is listed, recognizes its files, gets the answers, and its sample jobs become a test."""
    installed(SLURM)
    assert "quota: Slots of each partition" in run("init", "--list")[1]
    options = files(first="PartitionName=physics", second="PartitionName=students")
    code, output = run("init", "site", *options, "--answer", "quota=7")
    assert (code, remarks("site")) == (0, []), output
    assert Path("site", "pool.yaml").read_text() == "# of site\norder: submitters\n"
    assert "GROUP_QUOTA_students = 7" in Path("site", "slurm.conf").read_text()
    test = Path("site", "site_test.yaml").read_text()
    assert "{Owner: alice, AccountingGroup: students.alice, Requirements: TARGET.Machine" in test
    assert "{job: 3.0, verdict: matched, queue: root.default}" in test
    assert run("test", "--bundle", "site")[0] == 0


@pytest.mark.usefixtures("_terminal")
def test_on_a_terminal_the_questions_of_a_bundle_are_asked_unless_they_are_answered(installed):
    installed(SLURM)
    code, output = run("init", "one", "--from", "slurm", input="9\n")
    assert (code, "Slots of each partition [4]:" in output) == (0, True), output
    assert "GROUP_QUOTA_debug = 9" in Path("one", "slurm.conf").read_text()
    code, output = run("init", "two", "--from", "slurm", "--answer", "quota=5", input="")
    assert (code, "Slots of each partition" in output) == (0, False), output


def test_without_a_terminal_the_default_is_the_answer(installed):
    installed(SLURM)
    assert run("init", "site", "--from", "slurm")[0] == 0
    assert "GROUP_QUOTA_debug = 4" in Path("site", "slurm.conf").read_text()


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        ('"quota", "Slots of each partition"', [], "Missing --answer quota=VALUE: Slots of each partition"),
        ('"quota", "Slots", "4", ("4", "8")', ["quota=5"], "invalid answer quota=5; there are: 4, 8"),
        ('"quota", "Slots"', ["quotas=5"], "unknown question 'quotas'; did you mean quota?"),
        ('"quota", "Slots"', ["quota=0"], "error: a quota of 0 lets nobody run; answer at least 1"),
    ],
)
def test_an_invalid_answer_says_what_to_do(installed, question, answer, message):
    installed(SLURM.replace('"quota", "Slots of each partition", "4"', question))
    words = [word for each in answer for word in ("--answer", each)]
    code, output = run("init", "site", "--from", "slurm", *words)
    assert (code, message in output) == (2, True), output
    assert not Path("site").exists()


def test_a_bundle_without_files_of_its_own_takes_none(installed):
    installed(SLURM.replace('own_files="Your own slurm.conf",', ""))
    code, output = run("init", "site", "--from", "slurm", *files(own="PartitionName=a"))
    assert (code, "the starting bundle slurm has no use for a --file" in output) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def make(request):", "def make(request):\n    return 1 / 0", "ZeroDivisionError: division by zero"),
        (
            "return StartingFiles(made",
            "return StartingFiles({'../pool.yaml': b''}",
            "inside the bundle, got '../pool.yaml'",
        ),
        (
            "return StartingFiles(made",
            "return StartingFiles({'pool.yaml': ''}",
            "bytes as content of pool.yaml",
        ),
        ("return StartingFiles(made", "return dict(made", "expected StartingFiles, got"),
        ("lambda text: text", "lambda text: text.x", "AttributeError"),
    ],
)
def test_a_failure_of_a_plugin_is_named_and_nothing_is_written(installed, old, new, message):
    installed(SLURM.replace(old, new))
    code, output = run("init", "site", *files(own="PartitionName=a"))
    assert (code, message in output) == (7, True), output
    assert "plugin slurm" in output
    assert not Path("site").exists()


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("[3]", "expected a SampleJob, got int"),
        ("[SampleJob({'My.Owner': 'a'})]", "expected the name of an attribute, got 'My.Owner'"),
        (
            "[SampleJob({'Rank': ()})]",
            "expected a string, a number or a bool as Rank of a SampleJob, got tuple",
        ),
    ],
)
def test_a_bundle_whose_sample_jobs_fail_is_written_without_a_test(installed, jobs, message):
    installed(SLURM.replace("lambda partition: jobs", f"lambda partition: {jobs}"))
    code, output = run("init", "site", "--from", "slurm")
    assert (code, message in output, "the bundle has no test" in output) == (7, True, True), output
    assert sorted(path.name for path in Path("site").iterdir()) == ["pool.yaml", "slurm.conf"]


def test_the_other_bundles_are_offered_if_a_plugin_fails(installed):
    installed(
        "from negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_starting_bundles(): return 1 / 0\n"
    )
    code, output = run("init", "site", "--from", "htcondor")
    assert (code, "its starting bundles are missing" in output) == (0, True), output


def test_a_second_bundle_of_a_name_is_refused(installed):
    installed(SLURM.replace('name="slurm"', 'name="htcondor"'))
    code, output = run("init", "site", "--from", "htcondor")
    assert (code, "plugin slurm: plugin condor offers a starting bundle htcondor already" in output) == (
        0,
        True,
    )
    assert Path("site", "negotiator.conf").exists()


def test_the_command_works_without_a_terminal_in_a_process_of_its_own(tmp_path):
    words = [sys.executable, "-m", "negotiator", "init"]
    done = subprocess.run(words, cwd=tmp_path, input="", capture_output=True, text=True, check=False)
    assert (done.returncode, "Missing FOLDER" in done.stderr) == (2, True)

"""A new bundle passes check, its tests pass, and an administrator's own files are enforced in it."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.app.check import check_bundle
from negotiator.app.new_bundle import PoolSystem
from negotiator.app.new_bundle.gridengine_objects import GridEngineObjects
from negotiator.app.new_bundle.quota_names import QuotaNames
from negotiator.cli import main
from negotiator.cli.commands.init import SYSTEMS
from negotiator.hooks.command_targets import CommandTargets
from negotiator_quotasets.complexes.standard import STANDARD

ROOT = Path(__file__).parents[2]

QUOTAS = """\
{
   name         per_host
   description  "users @nobody to slots=1 is a text"
   enabled      TRUE
   limit        name lab users !@staff hosts @lab to slots=0
   limit        users {roland} projects p1 \\
                queues all.q to compiler_lic=3,h_rt=1:00:00
}
"""
COMPLEXES = """\
#name               shortcut   type        relop requestable consumable default  urgency
#----------------------------------------------------------------------------------------
arch                a          RESTRING    ==    YES         NO         NONE     0
compiler_lic        cl         INT         <=    YES         YES        0        0
"""
USERSET = "name    staff\ntype    ACL\nfshare  0\noticket 0\nentries roland,andre,@unixstaff\n"
HOSTGROUP = "group_name @lab\nhostlist lab1 lab2 \\\n         lab3\n"
QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: production
            submitacl: john
            resources: {max: {vcore: 4}}
          - name: tests
            submitacl: " testers"
          - name: namespaces
            parent: true
            submitacl: "*"
    placementrules:
      - name: provided
      - name: tag
        value: namespace
        create: true
        parent: {name: fixed, value: root.namespaces}
"""
CONDOR = "GROUP_NAMES = physics, \\\n  biology\nGROUP_QUOTA_physics = 1\nGROUP_QUOTA_biology = 0\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the program in a folder of its own; it returns the exit code and the output."""
    monkeypatch.chdir(tmp_path)

    def call(*words, **more):
        done = CliRunner().invoke(main, words, **more)
        return done.exit_code, done.output

    return call


def files(**texts):
    for name, text in texts.items():
        Path(name).write_text(text)
    return [word for name in texts for word in ("--file", name)]


def remarks(folder):
    return [str(problem) for problem in check_bundle(CommandTargets(bundle=Path(folder))).problems]


def test_the_option_has_every_system():
    assert tuple(PoolSystem) == SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_new_bundle_passes_check_without_a_remark_and_its_tests_cover_its_rules(run, system):
    code, output = run("init", "site", "--from", system)
    assert (code, "site: ok\n" in output) == (0, True)
    assert remarks("site") == []
    assert run("test", "--bundle", "site", "--fail-uncovered")[0] == 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_key_of_a_new_bundle_is_explained_above_it(run, system):
    run("init", "site", "--from", system)
    lines = Path("site", "pool.yaml").read_text().splitlines()
    keys = [number for number, line in enumerate(lines) if line and line[0] not in "# "]
    assert keys
    assert all(lines[number - 1].startswith("#") for number in keys)


def test_two_commands_show_a_cycle(run):
    assert run("init", "--example", "pool")[0] == 0
    assert {path.name for path in Path("pool").iterdir()} == {
        path.name for path in (ROOT / "examples" / "first-pool").glob("*.ads")
    }
    code, output = run("run", "pool")
    assert code == 0
    assert output.startswith("Cycle 1 over 33 slots, 19 jobs: 7 matched")


@pytest.mark.parametrize(
    ("system", "limit"), [("yunikorn", "root.users.tester"), ("gridengine", "per_user/share")]
)
def test_the_limits_of_a_new_bundle_refuse_jobs_of_the_example_pool(run, system, limit):
    assert run("init", "site", "--from", system, "--example", "pool")[0] == 0
    code, output = run("run", "--no-audit", "--bundle", "site", "pool")
    assert code == 0
    assert limit in output.partition("Not matched")[2]


def test_no_file_is_changed(run):
    """Neither a file that exists nor any other one is written."""
    Path("site").mkdir()
    Path("site", "pool.yaml").write_text("order: names\n")
    code, output = run("init", "site", "--from", "htcondor")
    assert code == 1
    assert "site/pool.yaml: exists already, and nothing was written" in output
    assert [path.name for path in Path("site").iterdir()] == ["pool.yaml"]
    assert Path("site", "pool.yaml").read_text() == "order: names\n"


def test_a_dead_link_is_not_followed(run):
    Path("site").mkdir()
    Path("site", "pool.yaml").symlink_to("elsewhere")
    assert run("init", "site", "--from", "htcondor")[0] == 1
    assert not Path("elsewhere").exists()


def test_own_queues_are_unchanged_and_their_test_has_what_each_queue_decides(run):
    code, output = run("init", "site", *files(queues=QUEUES))
    assert (code, remarks("site")) == (0, []), output
    assert Path("site", "queues.yaml").read_text() == QUEUES
    assert run("test", "--bundle", "site")[0] == 0
    test = Path("site", "site_test.yaml").read_text()
    assert "{Owner: john, Queue: root.production, ClusterId: 3}" in test
    assert "{job: 3.0, verdict: matched, queue: root.production}" in test
    assert (
        "{job: 4.0, verdict: denied, rule: maximum of root.production}" in test
    )  # five cores of at most four
    assert "groups: {alice_testers: [testers]}" in test
    assert "{job: 2.0, verdict: matched, queue: root.namespaces.development}" in test  # the tag of a rule


def test_own_queues_in_a_config_map_are_read(run):
    text = "kind: ConfigMap\ndata:\n  queues.yaml: |\n" + "".join(
        f"    {line}\n" for line in QUEUES.splitlines()
    )
    code, output = run("init", "site", "--from", "yunikorn", *files(configs=text))
    assert code == 0, output
    assert run("queues", "root.production", "--bundle", "site")[0] == 0


def test_own_quota_sets_have_the_objects_that_they_name(run):
    """Members that no file has are to be filled in, and complexes are guessed, with a remark."""
    code, output = run("init", "site", *files(quotas=QUOTAS))
    assert (code, remarks("site")) == (0, []), output
    assert Path("site", "quotas.rqs").read_text() == QUOTAS
    objects = Path("site", "gridengine.yaml").read_text()
    assert "staff: []  # nobody yet: write the members that qconf -su staff prints" in objects
    assert "'@lab': []" in objects
    assert "A guess, as the quota sets limit compiler_lic" in objects
    assert "h_rt" not in objects.partition("complexes:")[2]
    assert run("test", "--bundle", "site")[0] == 0


def test_own_quota_sets_with_what_qconf_prints_are_enforced(run):
    own = files(quotas=QUOTAS, complexes=COMPLEXES, staff=USERSET, lab=HOSTGROUP)
    code, output = run("init", "site", *own)
    assert (code, remarks("site")) == (0, []), output
    objects = Path("site", "gridengine.yaml").read_text()
    assert "staff: [roland, andre, '@unixstaff']" in objects
    assert "'@lab': [lab1, lab2, lab3]" in objects
    assert "shortcut: cl" in objects
    assert "A guess" not in objects
    test = Path("site", "site_test.yaml").read_text()
    assert "{job: 2.0, verdict: denied, rule: per_host/lab}" in test
    assert "{job: 3.0, verdict: denied, rule: per_host/2}" in test
    assert "Queue: root.all.q, RequestCompiler_lic: 4" in test
    assert run("test", "--bundle", "site")[0] == 0


def test_own_settings_of_the_negotiator_are_enforced(run):
    code, output = run("init", "site", *files(condor_config=CONDOR))
    assert (code, remarks("site")) == (0, []), output
    assert Path("site", "condor_config").read_text() == CONDOR
    test = Path("site", "site_test.yaml").read_text()
    assert "AccountingGroup: biology.alice" in test
    assert run("test", "--bundle", "site")[0] == 0


def test_a_file_whose_name_a_bundle_does_not_read_gets_one(run):
    run("init", "site", "--from", "htcondor", *files(dump=CONDOR))
    assert Path("site", "dump.conf").read_text() == CONDOR


def test_errors_in_own_files_are_printed_with_their_lines_and_the_files_stay(run):
    code, output = run("init", "site", *files(queues=QUEUES.replace("name: tag", "name: tags")))
    assert code == 1
    assert "site/queues.yaml:16:15: error: unknown placement rule tags" in output
    assert "negotiator check site" in output
    assert not Path("site", "site_test.yaml").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "Missing FOLDER, or --example POOL."),
        (["site"], 2, "Missing --from (htcondor, yunikorn, gridengine), or --file FILE."),
        (["--from", "htcondor", "--example", "pool"], 2, "--from and --file need FOLDER"),
        (["site", "--from", "yunikorn", "--file", "own"], 2, "own: it has no partitions"),
        (
            ["site", "--from", "gridengine", "--file", "own"],
            2,
            "own: neither resource quota sets (qconf -srqs)",
        ),
        (["site", "--file", "own", "--file", "own"], 2, "own: named twice"),
        (
            ["site", "--from", "htcondor", "--file", "own", "--file", "sub/own"],
            2,
            "another file is called own.conf",
        ),
    ],
)
def test_an_invalid_call_says_what_to_do(run, words, code, message):
    Path("own").write_text("A = 1\n")
    Path("sub").mkdir()
    Path("sub", "own").write_text("B = 1\n")
    found, output = run("init", *words)
    assert (found, message in output) == (code, True), output
    assert not Path("site").exists()


def test_on_a_terminal_questions_are_asked(run, monkeypatch):
    monkeypatch.setattr("negotiator.cli.init._is_terminal", lambda: True)
    files(queues=QUEUES)
    code, output = run("init", input="mine\nyunikorn\nqueues\n")
    assert code == 0, output
    assert "Which system do you know (htcondor, yunikorn, gridengine) [htcondor]:" in output
    assert Path("mine", "queues.yaml").read_text() == QUEUES


def test_names_with_wildcards_and_in_descriptions_are_no_objects():
    names = QuotaNames.of(QUOTAS + "limit users {u*,@a?} hosts * to slots=1\n")
    assert (names.users, names.usersets, names.hostgroups) == (("roland",), ("staff",), ("lab",))
    assert (names.projects, names.queues) == (("p1",), ("all.q",))
    assert names.complexes == ("slots", "compiler_lic", "h_rt")


def test_complexes_that_need_no_declaration_are_those_of_the_plugin():
    assert [each.name for each in STANDARD if GridEngineObjects().is_guess(each.name)] == []
    assert GridEngineObjects().is_guess("compiler_lic")


def test_the_command_works_without_a_terminal_in_a_process_of_its_own(tmp_path):
    words = [sys.executable, "-m", "negotiator", "init"]
    done = subprocess.run(words, cwd=tmp_path, input="", capture_output=True, text=True, check=False)
    assert (done.returncode, "Missing FOLDER" in done.stderr) == (2, True)

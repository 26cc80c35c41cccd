"""``negotiator test``: policies are tested by cycles over small pools; differences name file, line and reason."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from defusedxml import ElementTree

from negotiator.app.executors import workers
from negotiator.app.policy_tests import PolicyTestProgress, run_tests
from negotiator.cli import main
from negotiator.cli.batch_progress import PolicyTestLine
from negotiator.engines.choice import EngineChoice
from negotiator.hooks.command_targets import CommandTargets

POLICIES = Path(__file__).parents[2] / "policies"
BUNDLE = """
policies:
  - name: fast-machines
    applies_to: startd
    expression: MY.Mips < 1000
  - name: not-for-zoe
    applies_to: match
    expression: MY.Owner =!= "zoe"
groups: {map: groups.yaml}
"""
TESTS = """
slots:
  - {Name: slot1@fast, Mips: 4000}
  - {Name: slot1@slow, Mips: 100}
  - {Name: slot1@other, Mips: 3000}
  - {Name: slot1@unknown}
tests:
  - name: jobs run on fast machines
    jobs:
      - {Owner: sue}
      - {Owner: zoe}
    matches: 1
    expect:
      - {job: 1.0, verdict: matched, slot: slot1@fast}
      - {job: 1.1, verdict: denied, rule: not-for-zoe}
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "bundle"
    folder.mkdir(mode=0o755)
    (folder / "pool.yaml").write_text(BUNDLE)
    (folder / "groups.yaml").write_text("anna: [physics]\n")
    (folder / "a_test.yaml").write_text(TESTS)
    monkeypatch.chdir(tmp_path)
    return folder


def run(*words):
    return CliRunner().invoke(main, ["test", "--bundle", "bundle", *words])


def with_test(site, text):
    (site / "a_test.yaml").write_text(f"{TESTS}{text}")


#: Rules of example bundles that their tests do not see at work: ruleset1 gives out fewer licences than ruleset2, hundreds of
#: applications are too many for a test.
NOT_COVERED = {
    "resource-quotas": "ruleset2/1",
    "queue-configuration": "maxapplications of ",
}


def test_the_example_bundles_have_tests_that_pass_and_see_all_of_their_rules():
    done = CliRunner().invoke(main, ["test", str(POLICIES), "--format", "json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    folders = {path.name for path in POLICIES.iterdir() if path.is_dir() and not path.is_symlink()}
    assert {Path(each["file"]).parent.name for each in found["tests"]} == folders - {"__pycache__"}
    uncovered = [(Path(each["file"]).parent.name, each["rule"]) for each in found["uncovered"]]
    assert [pair for pair in uncovered if not pair[1].startswith(NOT_COVERED.get(pair[0], "nothing"))] == []


def test_the_bundle_of_the_example_plugin_has_tests_at_different_times():
    folder = str(POLICIES.parent / "examples" / "maintenance")
    done = CliRunner().invoke(main, ["test", "--plugins-dir", folder, f"{folder}/bundle"])
    assert (done.exit_code, done.output) == (0, "4 tests passed, 0 failed\n")


@pytest.mark.usefixtures("site")
def test_tests_that_pass_are_counted_with_the_rules_they_have_seen():
    done = run()
    assert (done.exit_code, done.output) == (
        0,
        "1 test passed, 0 failed; 2 of 2 rules covered\n",
    )


@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        ("job: 1.0, verdict: denied", "verdict: expected denied, got matched"),
        ("job: 1.0, slot: slot1@slow", "slot: expected slot1@slow, got slot1@fast"),
        ("job: 1.1, verdict: matched", "verdict: expected matched, got denied"),
        ("job: 1.1, rule: other", "rule: expected other, got not-for-zoe"),
        ("job: 1.1, text: elsewhere", "text: expected 'elsewhere' in the reason"),
        ("job: 1.1, numbers: {limit: 4}", "numbers: expected limit 4, got none"),
        ("job: 1.0, queue: root.x", "queue: expected root.x, got root.default"),
    ],
)
def test_a_difference_names_its_line_and_what_was_decided(site, expectation, message):
    with_test(site, f"      - {{{expectation}}}\n")
    done = run()
    (row,) = [line for line in done.output.splitlines() if "a_test.yaml:" in line]
    assert done.exit_code == 1
    assert "bundle/a_test.yaml:16:15" in row
    assert message in row


def test_groups_running_jobs_and_the_time_are_those_of_the_test(site):
    (site / "queues.yaml").write_text(
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: ' physics'\n"
        "        limits: [{users: ['*'], maxresources: {vcore: 1}}]\n"
        "        queues: [{name: all}]\n    placementrules: [{name: fixed, value: root.all}]\n"
    )
    with_test(
        site,
        """
  - name: physicists have one processor each
    now: 1800000000
    groups: {carl: [physics]}
    running:
      - {Owner: anna, ClusterId: 9, RemoteHost: slot1@fast}
    slots:
      - {Name: slot1@fast, Mips: "= time() == 1800000000 ? 2000 : 0"}
      - {Name: slot2@fast, Mips: 5000}
      - {Name: slot3@fast, Mips: 5000}
      - {Name: slot4@fast, Mips: 5000}
    jobs: [{Owner: anna}, {Owner: carl}, {Owner: eve}]
    expect:
      - {job: 1.0, verdict: waiting, numbers: {used: 1000, limit: 1000}}
      - {job: 1.1, verdict: matched}
      - {job: 1.2, verdict: denied}
""",
    )
    (site / "a_test.yaml").write_text(
        (site / "a_test.yaml").read_text().replace("matches: 1", "matches: 0", 1)
    )
    done = run("--format", "json")
    by_name = {each["name"]: each for each in json.loads(done.output)["tests"]}
    assert by_name["physicists have one processor each"]["mismatches"] == []


ACCOUNTS = """
slots: [{repeat: 8}]
tests:
  - name: shares
    accounts:
      ann@test: {priority: 6, factor: 1000}
      sue@test: {priority: 2}
    jobs:
      - {repeat: 8, Owner: ann, ClusterId: 1}
      - {repeat: 8, Owner: sue, ClusterId: 2}
    granted: {ann@test: 2, sue@test: 6, root.default: 8}
"""


def test_accounts_decide_about_shares(site):
    (site / "a_test.yaml").write_text(ACCOUNTS)
    assert run().exit_code == 0
    (site / "a_test.yaml").write_text(ACCOUNTS.replace("ann@test: 2", "ann@test: 3"))
    assert "a_test.yaml:11:25: " in run().output
    assert "granted: expected ann@test 3, got 2 (ann@test 2, root.default 8, sue@test 6)" in run().output


def test_priorities_decay_since_the_last_cycle_and_running_jobs_raise_them(site):
    """After a half-life of a day the priorities are (6 + 0) / 2 and (2 + 4) / 2: alike."""
    (site / "a_test.yaml").write_text(
        ACCOUNTS.replace("[{repeat: 8}]", "[{repeat: 8}, {Machine: other, Name: slot9@other, Cpus: 4}]")
        .replace(
            "granted: {ann@test: 2, sue@test: 6, root.default: 8}", "granted: {ann@test: 6, sue@test: 2}"
        )
        .replace(
            "    jobs:",
            "    since_last_cycle: 86400\n    running: [{Owner: sue, RemoteHost: slot9@other}]\n    jobs:",
        )
    )
    assert run().exit_code == 0, run().output


def test_the_ceiling_of_an_account_is_the_reason(site):
    (site / "a_test.yaml").write_text(
        "slots: [{}, {}]\ntests:\n  - name: a ceiling\n    accounts: {ann@test: {ceiling: 1}}\n"
        "    jobs: [{Owner: ann}, {Owner: ann}]\n"
        "    expect: [{job: 1.1, verdict: waiting, code: ceiling, numbers: {used: 1, limit: 1}}]\n"
    )
    assert run().exit_code == 0, run().output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("factor: 1000", "factor: 0"),
            "a_test.yaml:6:31: error: factor of ann@test: setfactor needs a value from",
        ),
        (("factor: 1000", "fcator: 1000"), "did you mean factor?"),
        (("ann@test: {", "anne@test: {"), "no job of the test has the account anne@test"),
        (("ann@test: {", "ann: {"), "there are: ann@test, sue@test"),
        (("repeat: 8, Owner: ann", "repeat: 0, Owner: ann"), "repeat: invalid number '0'"),
        (("repeat: 8, Owner: ann", "repeat: 8, ProcId: 4"), "ProcId is that of one ad, repeat makes several"),
        (
            ("root.default: 8", "root.default: many"),
            "granted: the number of matches of root.default must be a whole number",
        ),
        (("accounts:", "now: 2026-03-02T08:00:00\n    accounts:"), "a_test.yaml:5:10: error: now: invalid"),
        (
            ("accounts:", "now: yesterday\n    accounts:"),
            "write seconds since the epoch, or date, time and zone",
        ),
    ],
)
def test_mistakes_in_accounts_and_times_name_their_places(site, change, message):
    assert change[0] in ACCOUNTS
    (site / "a_test.yaml").write_text(ACCOUNTS.replace(*change))
    done = run()
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_an_order_without_accounts_refuses_them(site):
    (site / "pool.yaml").write_text(f"{BUNDLE}order: queues\n")
    (site / "a_test.yaml").write_text(ACCOUNTS)
    done = run()
    assert done.exit_code == 2
    assert "the order of the bundle, queues, has no accounts" in done.output
    assert "hint: with accounts: order: submitters" in done.output


def test_the_job_that_ends_the_rules_that_only_warn_and_the_record_of_a_match_are_compared(site):
    (site / "pool.yaml").write_text(
        "PREEMPTION_REQUIREMENTS: 'true'\naudit: {matches: MY.Owner == \"bob\"}\n"
        'policies: [{name: not-ann, applies_to: match, expression: MY.Owner != "ann", mode: warn}]\n'
    )
    text = """
slots: [{Name: slot1@a}]
tests:
  - name: ann takes the slot of bob
    accounts: {bob@test: {priority: 50}}
    running: [{Owner: bob, RemoteHost: slot1@a}]
    jobs: [{Owner: ann, ClusterId: 2}]
    expect: [{job: 2.0, preempts: bob@test, warnings: [not-ann], recorded: false}]
"""
    (site / "a_test.yaml").write_text(text)
    assert run().exit_code == 0, run().output
    wrong = {"bob@test, warn": "eve@test, warn", "[not-ann]": "[]", "recorded: false": "recorded: true"}
    for right, other in wrong.items():
        text = text.replace(right, other)
    (site / "a_test.yaml").write_text(text)
    found = run().output
    assert "preempts: expected eve@test, got bob@test" in found
    assert "warnings: expected none, got not-ann" in found
    assert "recorded: expected true, got false" in found


def test_access_is_compared_with_the_rule_that_decides(site):
    (site / "queues.yaml").write_text(
        "partitions: [{name: default, queues: [{name: root, submitacl: ' physics', adminacl: olga}]}]\n"
    )
    text = """
tests:
  - name: access
    groups: {carl: [physics]}
    access:
      - {user: anna, may: submit, queue: root.a}
      - {user: carl, may: submit, queue: root.a, rule: submitacl of root}
      - {user: eve, may: submit, queue: root.a, groups: [chemistry], granted: false}
      - {user: olga, may: administer, queue: root.a, rule: adminacl of root}
      - {user: olga, may: configure, granted: false}
"""
    (site / "a_test.yaml").write_text(text)
    assert run().exit_code == 0, run().output
    wrong = text.replace("may: configure, granted: false", "may: configure").replace("adminacl of root", "x")
    (site / "a_test.yaml").write_text(wrong)
    found = run().output
    assert "a_test.yaml:9:16: " in found
    assert (
        "olga: administer root.a: rule: expected x, got adminacl of root (adminacl of root has user olga)"
        in found
    )
    assert "olga: configure: expected granted, got denied (scheduleracl does not have olga)" in found


def test_an_undefined_expression_fails_a_strict_test(site):
    with_test(site, "  - name: a slot without Mips\n    slots: [{Name: slot1@x}]\n    jobs: [{Owner: sue}]\n")
    assert run().exit_code == 0
    done = run("--strict-undefined")
    assert done.exit_code == 1
    assert "undefined or invalid: fast-machines" in done.output


def uncovered(*words):
    """Return what the tests have not seen, by rule: the place of the rule, and the values."""
    found = json.loads(run("--format", "json", *words).output)["uncovered"]
    return {each["rule"]: (f"{Path(each['file']).name}:{each['line']}", each["missing"]) for each in found}


def test_expressions_are_covered_if_they_were_seen_true_false_and_undefined(site):
    text = (
        TESTS.replace("zoe", "joe").replace("denied, rule: not-for-joe", "matched").replace("matches: 1", "")
    )
    (site / "a_test.yaml").write_text(text.replace("  - {Name: slot1@unknown}\n", ""))
    assert uncovered() == {
        "fast-machines": ("pool.yaml:5", ["undefined (without MY.Mips)"]),
        "not-for-zoe": ("pool.yaml:8", ["false"]),
    }
    assert list(uncovered("--strict-undefined")) == ["not-for-zoe"]
    row = next(line for line in run().output.splitlines() if "fast-machines" in line)
    assert row.split() == [
        "expressions",
        "fast-machines",
        "bundle/pool.yaml:5:17",
        "undefined",
        "(without",
        "MY.Mips)",
    ]


RULES = {
    "pool.yaml": """
concurrency_limits: {matlab: 1, large: 1}
CONCURRENCY_LIMIT_DEFAULT: 1
scheduleracl: " operators"
""",
    "slots.rqs": "{\n  name hosts\n  enabled TRUE\n  limit users {*} to slots=1\n  limit users * to slots=9\n}\n",
    "queues.yaml": """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            adminacl: olga
            limits: [{users: [sue, "*"], maxresources: {vcore: 1}}, {groups: [g], maxapplications: 1}]
          - name: b
            maxapplications: 1
            resources: {max: {vcore: 1}}
          - name: c
    placementrules:
      - {name: provided}
      - {name: fixed, value: root.b}
""",
}


def test_every_kind_of_rule_is_covered_once_it_decides(site):
    for name, text in RULES.items():
        (site / name).write_text(text)
    (site / "a_test.yaml").write_text("tests: [{name: nothing}]\n")
    assert {rule: place for rule, (place, _) in uncovered().items()} == {
        "provided": "queues.yaml:16",
        "fixed": "queues.yaml:17",
        "scheduleracl": "pool.yaml:4",
        "submitacl of root": "queues.yaml:5",
        "adminacl of root.a": "queues.yaml:8",
        "maximum of root.b": "queues.yaml:11",
        "maxapplications of root.b": "queues.yaml:11",
        "limit of user sue at root.a": "queues.yaml:10",
        "limit of user * at root.a": "queues.yaml:10",
        "limit of group g at root.a": "queues.yaml:10",
        "concurrency limit matlab": "pool.yaml:2",
        "concurrency limit large": "pool.yaml:2",
        "concurrency limit *": "pool.yaml:3",
        "hosts/1": "slots.rqs:4",
        "hosts/2": "slots.rqs:5",
    }
    (site / "a_test.yaml").write_text(
        """
slots: [{repeat: 5}]
groups: {olga: [operators], kim: [g], tom: [g]}
tests:
  - name: limits of users
    jobs:
      - {Owner: olga, Queue: root.a}
      - {Owner: sue, Queue: root.a, RequestCpus: 2, ClusterId: 2}
      - {Owner: ann, Queue: root.a, RequestCpus: 2, ClusterId: 3}
      - {Owner: kim, Queue: root.a, ClusterId: 4}
      - {Owner: tom, Queue: root.a, ClusterId: 5}
    expect:
      - {job: 2.0, rule: limit of user sue at root.a}
  - name: maxima of a queue
    jobs:
      - {Owner: ann, RequestCpus: 2}
      - {Owner: ann, ClusterId: 2}
      - {Owner: eve, ClusterId: 3}
  - name: licences and hosts
    slots: [{repeat: 2, Machine: a, Cpus: 2}]
    jobs:
      - {repeat: 2, Owner: ann, Queue: root.c}
      - {Owner: bob, Queue: root.c, ClusterId: 6, ConcurrencyLimits: "large.idl:2"}
      - {Owner: eve, Queue: root.c, ClusterId: 7, ConcurrencyLimits: "spice:2"}
    access:
      - {user: olga, may: configure}
"""
    )
    found = uncovered()
    assert list(found) == ["concurrency limit matlab", "hosts/2"]
    assert run("--fail-uncovered").exit_code == 1
    assert run().exit_code == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("verdict: matched", "verdict: macthed"), "did you mean matched?"),
        (("job: 1.0", "job: 9.9"), "the test has no job 9.9"),
        (("{Owner: sue}", "{Owner: sue, Rank: = 1 +}"), "a_test.yaml:10:28: error: Rank: "),
        (
            ("jobs:", "running: [{RemoteHost: slot1@x}]\n    jobs:"),
            "needs the name of a slot of the test as RemoteHost",
        ),
        (("jobs:", "running: [{RemoteHost: slot1@fats}]\n    jobs:"), "hint: did you mean slot1@fast?"),
        (("jobs:", "running: [{Owner: sue}]\n    jobs:"), "hint: there are: slot1@fast, slot1@other"),
        (("tests:", "test:"), "unknown key 'test'"),
        (("name: jobs", "naem: jobs"), "the key 'name' is missing"),
    ],
)
def test_mistakes_of_a_file_are_reported_with_their_places(site, change, message):
    (site / "a_test.yaml").write_text(TESTS.replace(*change))
    done = run()
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_without_tests_the_command_says_where_it_looked(site):
    (site / "a_test.yaml").unlink()
    done = run()
    assert (done.exit_code, "no tests in bundle: name files" in done.output) == (2, True)


def test_rules_that_were_asked_and_did_not_decide_are_not_covered(site):
    for name, text in RULES.items():
        (site / name).write_text(text)
    (site / "a_test.yaml").write_text(
        "slots: [{}]\ntests:\n  - name: asked\n    jobs: [{Owner: ann}]\n"
        "    access: [{user: ann, may: configure, granted: false}]\n"
    )
    found = uncovered()
    assert {"provided", "scheduleracl", "adminacl of root.a"} <= found.keys()
    assert found.keys().isdisjoint({"fixed", "submitacl of root"})


def test_reports_for_other_programs_have_every_difference(site):
    with_test(site, "      - {job: 1.0, slot: slot1@slow}\n")
    suite = ElementTree.fromstring(run("--format", "junit").output.encode())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "expected slot1@slow" in suite[0][0].get("message")
    assert run("--format", "github").output.startswith(
        "::error file=bundle/a_test.yaml,line=16,title=jobs run on fast machines::job 1.0: slot: expected slot1@slow"
    )
    (result,) = json.loads(run("--format", "sarif").output)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 16, "startColumn": 15}
    found = json.loads(run("--format", "json").output)
    assert (found["failed"], [each["rule"] for each in found["expressions"]]) == (
        1,
        ["fast-machines", "not-for-zoe"],
    )


def test_reports_for_other_programs_have_the_rules_that_are_not_covered(site):
    with_test(site, "  - name: more\n")
    (site / "pool.yaml").write_text(f"{BUNDLE}concurrency_limits: {{matlab: 1}}\n")
    text = "no test has seen this rule at work"
    coverage = ElementTree.fromstring(run("--format", "junit").output.encode())[1]
    assert (coverage.get("name"), coverage.get("failures"), coverage.get("skipped")) == ("coverage", "0", "1")
    assert coverage[0][0].get("message") == text
    done = run("--format", "junit", "--fail-uncovered")
    assert (done.exit_code, ElementTree.fromstring(done.output.encode())[1].get("failures")) == (1, "1")
    assert (
        run("--format", "github").output
        == f"::notice file=bundle/pool.yaml,line=10,title=concurrency limit matlab::{text}\n"
    )
    (result,) = json.loads(run("--format", "sarif", "--fail-uncovered").output)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("policy-coverage", "error")


def test_watching_runs_the_tests_again_when_a_file_changes(site):
    command = [sys.executable, "-m", "negotiator", "test", "--bundle", "bundle", "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=site.parent) as process:
        try:
            assert "1 test passed" in process.stdout.readline()
            with_test(site, "      - {job: 1.0, slot: slot1@slow}\n")
            end = time.monotonic() + 60
            line = ""
            while "0 tests passed, 1 failed" not in line and time.monotonic() < end:
                line = process.stdout.readline()
            assert "0 tests passed, 1 failed" in line
        finally:
            process.kill()


def test_progress_counts_the_tests_and_those_that_failed(site):
    with_test(site, "  - {name: a wrong number, matches: 7}\n" * 20)
    found = []
    with workers(EngineChoice()) as here:
        run_tests(CommandTargets(bundle=site), (), here, found.append)
    assert found == [
        PolicyTestProgress(0, 21, 0),
        PolicyTestProgress(16, 21, 15),
        PolicyTestProgress(21, 21, 20),
    ]
    line = PolicyTestLine()
    line.show(found[1])
    assert line.text(8.0) == "16 of 21 tests, 15 failed, 0.5 s each, 2 s left"

"""``negotiator test``: policies are tested by cycles over small pools; differences name file, line and reason."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from defusedxml import ElementTree

from bundle_with_tests import TESTS
from negotiator.app.executors import workers
from negotiator.app.policy_tests import PolicyTestProgress, run_tests
from negotiator.cli import main
from negotiator.cli.batch import PolicyTestLine
from negotiator.engines.choice import EngineChoice
from negotiator.hooks.command_targets import CommandTargets
from processes import LongCommand

POLICIES = Path(__file__).parents[2] / "policies"


def test_the_bundle_of_the_example_plugin_has_tests_at_different_times():
    folder = str(POLICIES.parent / "examples" / "maintenance")
    done = CliRunner().invoke(main, ["test", "--plugins-dir", folder, f"{folder}/bundle"])
    assert (done.exit_code, done.output) == (0, "4 tests passed, 0 failed\n")


def test_tests_that_pass_are_counted_with_the_rules_they_have_seen(tested_bundle):
    done = tested_bundle.run()
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
def test_a_difference_names_its_line_and_what_was_decided(tested_bundle, expectation, message):
    tested_bundle.add(f"      - {{{expectation}}}\n")
    done = tested_bundle.run()
    (row,) = [line for line in done.output.splitlines() if "a_test.yaml:" in line]
    assert done.exit_code == 1
    assert "bundle/a_test.yaml:16:15" in row
    assert message in row


def test_groups_running_jobs_and_the_time_are_those_of_the_test(tested_bundle):
    tested_bundle.write(
        "queues.yaml",
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: ' physics'\n"
        "        limits: [{users: ['*'], maxresources: {vcore: 1}}]\n"
        "        queues: [{name: all}]\n    placementrules: [{name: fixed, value: root.all}]\n",
    )
    text = f"""{TESTS}
  - name: physicists have one processor each
    now: 1800000000
    groups: {{carl: [physics]}}
    running:
      - {{Owner: anna, ClusterId: 9, RemoteHost: slot1@fast}}
    slots:
      - {{Name: slot1@fast, Mips: "= time() == 1800000000 ? 2000 : 0"}}
      - {{Name: slot2@fast, Mips: 5000}}
      - {{Name: slot3@fast, Mips: 5000}}
      - {{Name: slot4@fast, Mips: 5000}}
    jobs: [{{Owner: anna}}, {{Owner: carl}}, {{Owner: eve}}]
    expect:
      - {{job: 1.0, verdict: waiting, numbers: {{used: 1000, limit: 1000}}}}
      - {{job: 1.1, verdict: matched}}
      - {{job: 1.2, verdict: denied}}
"""
    tested_bundle.replace_tests(text.replace("matches: 1", "matches: 0", 1))
    by_name = {each["name"]: each for each in tested_bundle.report()["tests"]}
    assert by_name["physicists have one processor each"]["mismatches"] == []


def test_the_job_that_ends_the_rules_that_only_warn_and_the_record_of_a_match_are_compared(tested_bundle):
    tested_bundle.write(
        "pool.yaml",
        "PREEMPTION_REQUIREMENTS: 'true'\naudit: {matches: MY.Owner == \"bob\"}\n"
        'policies: [{name: not-ann, applies_to: match, expression: MY.Owner != "ann", mode: warn}]\n',
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
    tested_bundle.pass_with(text)
    wrong = {"bob@test, warn": "eve@test, warn", "[not-ann]": "[]", "recorded: false": "recorded: true"}
    for right, other in wrong.items():
        text = text.replace(right, other)
    found = tested_bundle.run_with(text).output
    assert "preempts: expected eve@test, got bob@test" in found
    assert "warnings: expected none, got not-ann" in found
    assert "recorded: expected true, got false" in found


def test_access_is_compared_with_the_rule_that_decides(tested_bundle):
    tested_bundle.write(
        "queues.yaml",
        "partitions: [{name: default, queues: [{name: root, submitacl: ' physics', adminacl: olga}]}]\n",
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
    tested_bundle.pass_with(text)
    wrong = text.replace("may: configure, granted: false", "may: configure").replace("adminacl of root", "x")
    found = tested_bundle.run_with(wrong).output
    assert "a_test.yaml:9:16: " in found
    assert (
        "olga: administer root.a: rule: expected x, got adminacl of root (adminacl of root has user olga)"
        in found
    )
    assert "olga: configure: expected granted, got denied (scheduleracl does not have olga)" in found


def test_an_undefined_expression_fails_a_strict_test(tested_bundle):
    tested_bundle.add(
        "  - name: a slot without Mips\n    slots: [{Name: slot1@x}]\n    jobs: [{Owner: sue}]\n"
    )
    assert tested_bundle.run().exit_code == 0
    done = tested_bundle.run("--strict-undefined")
    assert done.exit_code == 1
    assert "undefined or invalid: fast-machines" in done.output


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
def test_mistakes_of_a_file_are_reported_with_their_places(tested_bundle, change, message):
    done = tested_bundle.run_with(TESTS.replace(*change))
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_without_tests_the_command_says_where_it_looked(tested_bundle):
    (tested_bundle.folder / "a_test.yaml").unlink()
    done = tested_bundle.run()
    assert (done.exit_code, "no tests in bundle: name files" in done.output) == (2, True)


def test_reports_for_other_programs_have_every_difference(tested_bundle):
    tested_bundle.add("      - {job: 1.0, slot: slot1@slow}\n")
    suite = ElementTree.fromstring(tested_bundle.run("--format", "junit").output.encode())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "expected slot1@slow" in suite[0][0].get("message")
    assert tested_bundle.run("--format", "github").output.startswith(
        "::error file=bundle/a_test.yaml,line=16,title=jobs run on fast machines::job 1.0: slot: expected slot1@slow"
    )
    (result,) = json.loads(tested_bundle.run("--format", "sarif").output)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 16, "startColumn": 15}
    found = tested_bundle.report()
    assert (found["failed"], [each["rule"] for each in found["expressions"]]) == (
        1,
        ["fast-machines", "not-for-zoe"],
    )


def test_watching_runs_the_tests_again_when_a_file_changes(tested_bundle):
    with LongCommand("test", "--bundle", "bundle", "--watch", cwd=tested_bundle.folder.parent) as command:
        command.wait_for("^1 test passed")
        tested_bundle.add("      - {job: 1.0, slot: slot1@slow}\n")
        command.wait_for("0 tests passed, 1 failed")


def test_progress_counts_the_tests_and_those_that_failed(tested_bundle):
    tested_bundle.add("  - {name: a wrong number, matches: 7}\n" * 20)
    found = []
    with workers(EngineChoice()) as here:
        run_tests(CommandTargets(bundle=tested_bundle.folder), (), here, found.append)
    assert found == [
        PolicyTestProgress(0, 21, 0),
        PolicyTestProgress(16, 21, 15),
        PolicyTestProgress(21, 21, 20),
    ]
    line = PolicyTestLine()
    line.show(found[1])
    assert line.text(8.0) == "16 of 21 tests, 15 failed, 0.5 s each, 2 s left"

"""``negotiator test``: policies are tested by cycles over small pools; differences name file, line and reason."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from defusedxml import ElementTree

from negotiator.cli import main

POLICIES = Path(__file__).parents[2] / "policies"
BUNDLE = """
policies:
  - name: fast-machines
    applies_to: startd
    expression: MY.Mips < 1000
  - name: not-for-zoe
    applies_to: match
    expression: MY.Owner != "zoe"
groups: {map: groups.yaml}
"""
TESTS = """
slots:
  - {Name: slot1@fast, Mips: 4000}
  - {Name: slot1@slow, Mips: 100}
  - {Name: slot1@other, Mips: 3000}
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


@pytest.mark.parametrize("file", sorted(POLICIES.rglob("*_test.yaml")), ids=lambda file: file.name)
def test_the_tests_of_the_example_bundles_pass(file):
    done = CliRunner().invoke(main, ["test", "--bundle", str(file.parent), "--strict-undefined", str(file)])
    assert done.exit_code == 0, done.output


@pytest.mark.usefixtures("site")
def test_tests_that_pass_are_counted_with_the_expressions_they_have_seen():
    done = run()
    assert (done.exit_code, done.output) == (
        0,
        "1 test passed, 0 failed; 2 of 2 expressions seen true and false\n",
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
    assert "bundle/a_test.yaml:15:15" in row
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


def test_an_undefined_expression_fails_a_strict_test(site):
    with_test(site, "  - name: a slot without Mips\n    slots: [{Name: slot1@x}]\n    jobs: [{Owner: sue}]\n")
    assert run().exit_code == 0
    done = run("--strict-undefined")
    assert done.exit_code == 1
    assert "undefined or invalid: fast-machines" in done.output


def test_expressions_that_were_seen_with_one_value_only_are_listed(site):
    (site / "a_test.yaml").write_text(
        TESTS.replace("zoe", "joe").replace("denied, rule: not-for-joe", "matched")
    )
    assert "not-for-zoe" in run().output.partition("not seen both true and false")[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("verdict: matched", "verdict: macthed"), "did you mean matched?"),
        (("job: 1.0", "job: 9.9"), "the test has no job 9.9"),
        (("{Owner: sue}", "{Owner: sue, Rank: = 1 +}"), "a_test.yaml:9:28: error: Rank: "),
        (
            ("jobs:", "running: [{RemoteHost: slot1@x}]\n    jobs:"),
            "needs the name of a slot of the test as RemoteHost",
        ),
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


def test_reports_for_other_programs_have_every_difference(site):
    with_test(site, "      - {job: 1.0, slot: slot1@slow}\n")
    suite = ElementTree.fromstring(run("--format", "junit").output.encode())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "expected slot1@slow" in suite[0][0].get("message")
    assert run("--format", "github").output.startswith(
        "::error file=bundle/a_test.yaml,line=15,title=jobs run on fast machines::job 1.0: slot: expected slot1@slow"
    )
    (result,) = json.loads(run("--format", "sarif").output)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 15, "startColumn": 15}
    found = json.loads(run("--format", "json").output)
    assert (found["failed"], [each["rule"] for each in found["expressions"]]) == (
        1,
        ["fast-machines", "not-for-zoe"],
    )


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

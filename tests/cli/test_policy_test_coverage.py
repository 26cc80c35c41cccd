"""``negotiator test`` names the rules that no test has seen at work."""

import json
from pathlib import Path

from click.testing import CliRunner
from defusedxml import ElementTree

from bundle_with_tests import BUNDLE, TESTS
from negotiator.cli import main

POLICIES = Path(__file__).parents[2] / "policies"
#: Rules of example bundles that their tests do not see at work: ruleset1 gives out fewer licences than ruleset2, hundreds of
#: applications are too many for a test.
NOT_COVERED = {
    "resource-quotas": "ruleset2/1",
    "queue-configuration": "maxapplications of ",
}
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


def test_the_example_bundles_have_tests_that_pass_and_see_all_of_their_rules():
    done = CliRunner().invoke(main, ["test", str(POLICIES), "--format", "json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    folders = {path.name for path in POLICIES.iterdir() if path.is_dir() and not path.is_symlink()}
    assert {Path(each["file"]).parent.name for each in found["tests"]} == folders - {"__pycache__"}
    uncovered = [(Path(each["file"]).parent.name, each["rule"]) for each in found["uncovered"]]
    assert [pair for pair in uncovered if not pair[1].startswith(NOT_COVERED.get(pair[0], "nothing"))] == []


def test_expressions_are_covered_if_they_were_seen_true_false_and_undefined(tested_bundle):
    text = (
        TESTS.replace("zoe", "joe").replace("denied, rule: not-for-joe", "matched").replace("matches: 1", "")
    )
    tested_bundle.replace_tests(text.replace("  - {Name: slot1@unknown}\n", ""))
    assert tested_bundle.uncovered() == {
        "fast-machines": ("pool.yaml:5", ["undefined (without MY.Mips)"]),
        "not-for-zoe": ("pool.yaml:8", ["false"]),
    }
    assert list(tested_bundle.uncovered("--strict-undefined")) == ["not-for-zoe"]
    row = next(line for line in tested_bundle.run().output.splitlines() if "fast-machines" in line)
    assert row.split() == [
        "expressions",
        "fast-machines",
        "bundle/pool.yaml:5:17",
        "undefined",
        "(without",
        "MY.Mips)",
    ]


def test_every_kind_of_rule_is_covered_once_it_decides(tested_bundle):
    for name, text in RULES.items():
        tested_bundle.write(name, text)
    tested_bundle.replace_tests("tests: [{name: nothing}]\n")
    assert {rule: place for rule, (place, _) in tested_bundle.uncovered().items()} == {
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
    tested_bundle.replace_tests(
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
    found = tested_bundle.uncovered()
    assert list(found) == ["concurrency limit matlab", "hosts/2"]
    assert tested_bundle.run("--fail-uncovered").exit_code == 1
    assert tested_bundle.run().exit_code == 0


def test_rules_that_were_asked_and_did_not_decide_are_not_covered(tested_bundle):
    for name, text in RULES.items():
        tested_bundle.write(name, text)
    tested_bundle.replace_tests(
        "slots: [{}]\ntests:\n  - name: asked\n    jobs: [{Owner: ann}]\n"
        "    access: [{user: ann, may: configure, granted: false}]\n"
    )
    found = tested_bundle.uncovered()
    assert {"provided", "scheduleracl", "adminacl of root.a"} <= found.keys()
    assert found.keys().isdisjoint({"fixed", "submitacl of root"})


def test_reports_for_other_programs_have_the_rules_that_are_not_covered(tested_bundle):
    tested_bundle.add("  - name: more\n")
    tested_bundle.write("pool.yaml", f"{BUNDLE}concurrency_limits: {{matlab: 1}}\n")
    text = "no test has seen this rule at work"
    coverage = ElementTree.fromstring(tested_bundle.run("--format", "junit").output.encode())[1]
    assert (coverage.get("name"), coverage.get("failures"), coverage.get("skipped")) == ("coverage", "0", "1")
    assert coverage[0][0].get("message") == text
    done = tested_bundle.run("--format", "junit", "--fail-uncovered")
    assert (done.exit_code, ElementTree.fromstring(done.output.encode())[1].get("failures")) == (1, "1")
    assert (
        tested_bundle.run("--format", "github").output
        == f"::notice file=bundle/pool.yaml,line=10,title=concurrency limit matlab::{text}\n"
    )
    (result,) = json.loads(tested_bundle.run("--format", "sarif", "--fail-uncovered").output)["runs"][0][
        "results"
    ]
    assert (result["ruleId"], result["level"]) == ("policy-coverage", "error")

"""``negotiator policies``: what people read, the JSON, and the rules that did nothing."""

import json

import attrs
import pytest
from click.testing import CliRunner

from negotiator.app.cycles import last_cycles
from negotiator.cli import main
from negotiator.runtime.cycle_history import write_history
from pools import job, slot, write_ads

BUNDLE = """\
policies:
  - name: not-for-zoe
    applies_to: match
    expression: MY.Owner != "zoe"
  - name: not-on-old
    applies_to: match
    expression: TARGET.Old =!= true
    mode: warn
  - name: never
    applies_to: startd
    expression: MY.Memory < 1
"""


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """One job takes the slot that a policy would deny it, the other is denied both."""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "pool.yaml").write_text(BUNDLE)
    jobs = [
        job(n, Owner=f'"{name}"', User=f'"{name}@d"', Rank="TARGET.Old =?= true")
        for n, name in enumerate(("zoe", "ann"))
    ]
    write_ads(tmp_path / "pool.ads", slot(0, Old="true"), slot(1), *jobs)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, code=0):
    done = CliRunner().invoke(main, [*words, "--bundle", "bundle"])
    assert done.exit_code == code, done.output
    return done.output


def cells(output):
    """Return the cells of each row by rule."""
    rows = (line.split() for line in output.splitlines() if line.startswith("  expressions: "))
    return {row[1]: row[2:] for row in rows}


def test_each_rule_has_its_counts_and_in_parentheses_those_of_no_other_rule():
    output = run("policies", "--pool", "pool.ads")
    assert output.startswith("A cycle now: 2 slots, 2 jobs, 1 match, 1 job without a slot.")
    assert cells(output) == {
        "not-for-zoe": ["pool.yaml:4:17", "enforce", "2", "(1)", "1", "(1)"],
        "not-on-old": ["pool.yaml:7:17", "warn", "2", "(1)", "1", "(0)", "1", "(1)"],
        "never": ["pool.yaml:11:17", "enforce"],
    }
    assert "DID NOTHING IN" not in output


def test_with_a_state_each_rule_says_in_how_many_cycles_it_did_nothing():
    for _ in range(2):
        run("run", "pool.ads", "--state", "state", "--audit-log", "log")
    output = run("policies", "--pool", "pool.ads", "--state", "state")
    assert cells(output)["never"][2:5] == ["all", "2", "cycles"]
    assert cells(output)["not-for-zoe"][2:] == ["1", "(1)", "1", "(1)"]
    idle = json.loads(run("policies", "--pool", "pool.ads", "--state", "state", "--idle", "2", "--json"))
    assert [(each["rule"], each["activity"]["idle"]) for each in idle["rules"]] == [("never", 2)]


def test_a_rule_with_another_text_than_in_the_last_cycle_is_not_one_that_did_something(tmp_path):
    run("run", "pool.ads", "--state", "state", "--audit-log", "log")
    (tmp_path / "bundle" / "pool.yaml").write_text(BUNDLE.replace("MY.Memory < 1", "MY.Memory < 2"))
    output = run("policies", "--pool", "pool.ads", "--state", "state")
    assert " ".join(cells(output)["never"][2:]) == "no cycle was counted"


def test_a_state_without_a_saved_pool_has_its_last_cycle():
    """Of it is not known what only one rule did."""
    run("run", "pool.ads", "--state", "state", "--audit-log", "log")
    output = run("policies", "--state", "state")
    assert output.startswith("Cycle 1: 2 slots, 2 jobs, 1 match, 1 job without a slot.")
    assert cells(output)["not-for-zoe"] == ["pool.yaml:4:17", "enforce", "2", "1"]
    assert cells(output)["not-on-old"] == ["pool.yaml:7:17", "warn", "2", "1", "1"]
    values = json.loads(run("policies", "--state", "state", "--json"))
    assert values["cycle"] == 1
    counts = {each["rule"]: each["counts"] for each in values["rules"]}["not-for-zoe"]
    assert (counts["slots"], "slots_alone" in counts) == (2, False)


def test_a_last_cycle_before_many_failed_ones_has_its_rules_but_no_sizes(tmp_path):
    run("run", "pool.ads", "--state", "state", "--audit-log", "log")
    history = last_cycles(tmp_path / "state")
    write_history(tmp_path / "state", attrs.evolve(history, cycles=()))
    output = run("policies", "--state", "state")
    assert output.startswith("Cycle 1: 0 slots")
    assert cells(output)["not-for-zoe"][2] == "2"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "missing pool"),
        (("--state", "state"), "missing pool"),
        (("--pool", "pool.ads", "--idle", "2"), "no negotiator has counted cycles"),
        (("--pool", "pool.ads", "--idle", "0"), "0 is not in the range"),
    ],
)
def test_a_call_that_cannot_be_answered_says_what_is_missing(site, words, text):
    (site / "state").mkdir()
    assert text in " ".join(run("policies", *words, code=2).split())

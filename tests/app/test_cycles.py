"""The last cycles of a negotiator, as ``run`` and ``serve`` write them beside its state."""

import json

import pytest
from click.testing import CliRunner

from negotiator.app.cycles import CycleEntry, CycleHistory, last_cycles
from negotiator.cli import main
from negotiator.errors import StateError
from negotiator.runtime.cycle_history import MOST_CYCLES, MOST_RULES, write_history
from pools import job, slot, write_ads

BUNDLE = """
NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Memory < 2000
policies:
  - name: not-for-zoe
    applies_to: match
    expression: '(MY.Owner ?: "") != "zoe"'
  - name: maybe-later
    applies_to: match
    expression: '(MY.Owner ?: "") != "ada"'
    mode: warn
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A bundle and a pool: one slot is discarded, one job is denied, two are matched under a warning, one waits."""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "pool.yaml").write_text(BUNDLE)
    owners = ["zoe", "ada", "ada", "ada"]
    jobs = [job(n, Owner=f'"{owner}"', User=f'"{owner}@d"') for n, owner in enumerate(owners)]
    write_ads(tmp_path / "jobs.ads", *jobs)
    write_ads(tmp_path / "slots.ads", slot(0), slot(1), slot(2, Memory="1000"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*options):
    pool = ["--bundle", "bundle", "--state", "state", "--audit-log", "log", *options]
    done = CliRunner().invoke(main, ["run", "jobs.ads", "slots.ads", *pool])
    assert done.exit_code == 0, done.output


@pytest.fixture
def last(site):
    run()
    return last_cycles(site / "state")


def test_a_cycle_has_its_sizes_and_the_seconds_of_each_part(last):
    (entry,) = last.cycles
    assert (entry.number, entry.slots, entry.jobs, entry.matches, entry.unmatched) == (1, 3, 4, 2, 2)
    parts = {"read", "cycle", "record_intent", "settle", "record_outcome"}
    stations = {"admit", "place", "order", "match", "charge"}
    assert set(entry.seconds) == parts | stations
    assert sum(entry.seconds[each] for each in stations) <= entry.seconds["cycle"]


def test_each_rule_has_what_it_discarded_removed_and_decided(last):
    rules = {each.rule: each for each in last.last.rules}
    gate = rules["NEGOTIATOR_PE_STARTD_ONLY_EXPR"]
    assert (gate.ads, gate.requests, gate.station) == (1, 0, "admit")
    denied = rules["not-for-zoe"]
    assert (denied.requests, denied.removed, denied.decisive, denied.mode) == (1, 2, 1, "enforce")
    assert (denied.plugin, denied.source.rpartition("/")[2]) == ("expressions", "pool.yaml:6:18")
    assert rules["maybe-later"].mode == "warn"
    assert rules["maybe-later"].decisive == 0


def test_a_submitter_has_its_share_and_why_its_jobs_wait(last):
    shares = {each.holder: each for each in last.last.shares}
    assert set(shares) == {"zoe@d", "ada@d"}
    ada = shares["ada@d"]
    assert (ada.granted, ada.waiting, ada.used_before, ada.used) == (2, 1, 0.0, 8.0)
    assert ada.unit == "slot weight"
    assert shares["zoe@d"].entitled == pytest.approx(4.0)
    assert (shares["zoe@d"].granted, shares["zoe@d"].code) == (0, "job_constraint")


def test_plugins_have_their_calls(last):
    used = {each.name: each for each in last.last.plugins}
    assert used["expressions"].calls > 0
    assert not used["expressions"].is_off


def test_a_later_process_adds_its_cycles(site, last):
    run()
    assert len(last_cycles(site / "state").cycles) == 2
    assert last_cycles(site / "state").cycles[0] == last.cycles[0]


def test_a_history_that_cannot_be_read_is_reported_and_begun_anew(site):
    run()
    (site / "state" / "cycles.json").write_text("{")
    with pytest.raises(StateError, match=r"cycles\.json: cannot read the last cycles"):
        last_cycles(site / "state")
    run()
    assert len(last_cycles(site / "state").cycles) == 1


@pytest.mark.parametrize(
    "values",
    [
        [],
        {"version": 2, "cycles": [], "last": None},
        {"version": 1, "cycles": [{"begun": "x", "ended": 0, "bundle": "b"}], "last": None},
        {
            "version": 1,
            "cycles": [],
            "last": {"number": 1, "ended": 1, "rules": 5, "shares": [], "plugins": []},
        },
    ],
)
def test_values_of_wrong_types_are_refused(tmp_path, values):
    (tmp_path / "cycles.json").write_text(json.dumps(values))
    with pytest.raises(StateError, match="cannot read the last cycles"):
        last_cycles(tmp_path)


def test_the_oldest_cycles_are_dropped(tmp_path):
    history = CycleHistory()
    for number in range(MOST_CYCLES + 3):
        history = history.with_cycle(CycleEntry(number=number, begun=1.0, ended=2.0, bundle="b"))
    write_history(tmp_path, history)
    numbers = [each.number for each in last_cycles(tmp_path).cycles]
    assert numbers == list(range(3, MOST_CYCLES + 3))


def test_a_state_without_cycles_has_no_history(tmp_path):
    assert last_cycles(tmp_path) == CycleHistory()


def idle_cycles(site):
    return {each.rule: (each.cycles, each.active, each.idle) for each in last_cycles(site / "state").rules}


def test_each_rule_of_the_bundle_counts_the_cycles_in_which_it_did_nothing(site):
    run()
    assert idle_cycles(site) == {
        "NEGOTIATOR_PE_STARTD_ONLY_EXPR": (1, 1, 0),
        "not-for-zoe": (1, 1, 0),
        "maybe-later": (1, 1, 0),
    }
    (site / "jobs.ads").write_text("")
    run()
    run()
    assert idle_cycles(site)["NEGOTIATOR_PE_STARTD_ONLY_EXPR"] == (3, 3, 0)
    assert idle_cycles(site)["maybe-later"] == (3, 1, 2)
    (entry,) = [each for each in last_cycles(site / "state").rules if each.rule == "maybe-later"]
    assert entry.last == entry.since == last_cycles(site / "state").cycles[0].ended


def test_counting_begins_anew_for_a_rule_with_another_text_and_goes_on_for_one_that_moved(site):
    run()
    bundle = site / "bundle" / "pool.yaml"
    bundle.write_text("# moved\n" + BUNDLE.replace('"zoe"', '"eve"'))
    run()
    assert {rule: counts[0] for rule, counts in idle_cycles(site).items()} == {
        "NEGOTIATOR_PE_STARTD_ONLY_EXPR": 2,
        "not-for-zoe": 1,
        "maybe-later": 2,
    }
    bundle.write_text("{}")
    run()
    assert idle_cycles(site) == {}


def test_a_limit_that_only_warns_did_something_in_a_cycle_with_matches_that_it_would_deny(site):
    (site / "bundle" / "queues.yaml").write_text(
        "partitions: [{name: default, placementrules: [{name: fixed, value: root.a}], queues: [{name: root, submitacl: '*',"
        " queues: [{name: a, limits: [{users: ['*'], maxresources: {vcore: 1}}], properties: {negotiator.limits.mode: warn}}]}]}]"
    )
    jobs = [job(n, Owner='"ada"', RequestCpus="1") for n in range(2)]
    write_ads(site / "jobs.ads", *jobs)
    run()
    assert idle_cycles(site)["limit of user * at root.a"] == (1, 1, 0)
    effects = {each.rule: each.warned for each in last_cycles(site / "state").last.rules}
    assert effects["limit of user * at root.a"] == 1
    assert effects["maybe-later"] == 2


def test_a_rule_with_several_reasons_counts_each_request_and_match_once(site):
    """Two parts of an expression, and a limit of two resources."""
    (site / "bundle" / "pool.yaml").write_text(BUNDLE.replace('"zoe"', '"zoe" && MY.User != "zoe@d"'))
    (site / "bundle" / "queues.yaml").write_text(
        "partitions: [{name: default, placementrules: [{name: fixed, value: root.a}], queues: [{name: root, submitacl: '*',"
        " queues: [{name: a, limits: [{users: ['*'], maxresources: {vcore: 1, gpus: 1}}], properties:"
        " {negotiator.limits.mode: warn}}]}]}]"
    )
    own = {"Requirements": "true", "RequestCpus": "1", "RequestGpus": "1"}
    jobs = [
        job(n, Owner=f'"{name}"', User=f'"{name}@d"', **own) for n, name in enumerate(("zoe", "ada", "ada"))
    ]
    write_ads(site / "jobs.ads", *jobs)
    write_ads(site / "slots.ads", *(slot(n) for n in range(4)))
    run()
    effects = {each.rule: each for each in last_cycles(site / "state").last.rules}
    assert (effects["not-for-zoe"].requests, effects["not-for-zoe"].jobs) == (1, 1)
    assert effects["limit of user * at root.a"].warned == 1


def test_a_failed_cycle_counts_for_no_rule(site):
    run()
    history = last_cycles(site / "state")
    failed = history.with_cycle(CycleEntry(begun=1.0, ended=2.0, bundle="b", failure="no answer"))
    assert (failed.rules, failed.last, len(failed.cycles)) == (history.rules, history.last, 2)


def test_of_too_many_rules_the_first_are_counted_and_the_others_are_a_number(site):
    run()
    history = last_cycles(site / "state")
    (first, *_), details = history.rules, history.last
    many = history.with_cycle(history.cycles[0], details, [first] * (MOST_RULES + 3))
    assert (len(many.rules), many.rules_left_out) == (MOST_RULES, 3)

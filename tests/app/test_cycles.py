"""The last cycles of a negotiator, as ``run`` and ``serve`` write them beside its state."""

import json

import pytest
from click.testing import CliRunner

from negotiator.app.cycles import CycleEntry, CycleHistory, last_cycles
from negotiator.cli import main
from negotiator.errors import StateError
from negotiator.runtime.cycle_history import MOST_CYCLES, write_history
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

"""Time limits of a cycle: who has no time left, what the records say of it, and that a replay decides the same."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cycle_clock import SlowMatching, load, requests_of, timed
from fair_share import submitter
from negotiator.audit.records import recorded_stops, records_by_kind
from negotiator.bundle import check_bundle
from negotiator.cycle.cycle_time import RecordedTime, TimeStop
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle, TimeLimit
from pools import NOW, job, slot, snapshot

ORDERS = ("names", "queues", "submitters")
GROUPS = "GROUP_NAMES: a, b\nGROUP_QUOTA_a: 3\nGROUP_QUOTA_b: 4\nGROUP_ACCEPT_SURPLUS: true\n"
KNOBS = {limit: f"NEGOTIATOR_MAX_TIME_PER_{limit.name}" for limit in TimeLimit}
KNOBS[TimeLimit.SPIN] = "NEGOTIATOR_MAX_TIME_PER_PIESPIN"


def pool(slots=20, **counts):
    """Return a pool of slots, and submitters with so many requests of one job each."""
    jobs = [each for name, count in counts.items() for each in requests_of(name, count)]
    ads = [submitter(name, count) for name, count in counts.items()]
    return snapshot([slot(number, Cpus="1") for number in range(slots)], jobs, submitters=ads)


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


class Site:
    """Folders of bundles with time limits."""

    def __init__(self, folder):
        self.folder, self.made = folder, 0

    def bundle(self, clock, order="submitters", more="", **limits):
        self.made += 1
        folder = self.folder / str(self.made)
        folder.mkdir()
        lines = [f"order: {order}", "accounting: {trust_names: true}"]
        lines += [f"{KNOBS[TimeLimit(name)]}: {seconds}" for name, seconds in limits.items()]
        (folder / "pool.yaml").write_text("\n".join([*lines, more]))
        return load(folder, clock)


def counts(result):
    """Return the number of matches of each submitter."""
    found = {}
    for match in result.matches:
        name = match.submitter.partition("@")[0]
        found[name] = found.get(name, 0) + 1
    return found


def codes(result):
    """Return the codes of the rejections of each submitter."""
    found = {}
    for each in result.rejections:
        found.setdefault(each.submitter.partition("@")[0], set()).add(each.reason.code)
    return found


def stops(result):
    return [each.stop for each in result.reached]


def slow_for(name, seconds=30.0):
    """Return a clock by which each turn of this submitter takes so long."""
    return SlowMatching(lambda request: seconds if request.submitter.startswith(name) else 0.0)


@pytest.mark.parametrize("order", ORDERS)
def test_a_submitter_without_time_is_skipped_and_the_others_are_served(site, order):
    """By default a submitter has 60 seconds: two turns of 30."""
    clock = slow_for("ann")
    result = timed(site.bundle(clock, order), pool(ann=5, sue=5), clock)
    assert counts(result) == {"ann": 2, "sue": 5}
    assert codes(result) == {"ann": {"time_per_submitter"}}
    (stop,) = stops(result)
    assert (stop.limit, stop.submitter, stop.schedd) == (TimeLimit.SUBMITTER, "ann@d", "h")


def test_the_reason_names_the_setting_its_place_and_the_limit(site):
    clock = slow_for("ann")
    result = timed(site.bundle(clock, submitter=45), pool(ann=5), clock)
    (reached,) = result.reached
    assert {each.reason.text for each in result.rejections} == {
        "the submitter reached its time limit in this cycle: NEGOTIATOR_MAX_TIME_PER_SUBMITTER is 45 s"
    }
    where = reached.reason.provenance
    assert (where.rule, str(where.source)) == ("NEGOTIATOR_MAX_TIME_PER_SUBMITTER", "pool.yaml:3:1")
    assert reached.reason.numbers == {"limit": 45}


@pytest.mark.parametrize("order", ORDERS)
def test_the_submitters_of_a_schedd_share_its_time(site, order):
    clock = SlowMatching(lambda _request: 30.0)
    bundle = site.bundle(clock, order, submitter=1000, schedd=90)
    jobs = [*requests_of("ann", 5), *requests_of("sue", 5), *requests_of("zoe", 2, "other")]
    ads = [submitter("ann", 5), submitter("sue", 5), submitter("zoe", 2, ScheddName='"other"')]
    slots = [slot(number, Cpus="1") for number in range(20)]
    result = timed(bundle, snapshot(slots, jobs, submitters=ads), clock)
    found = counts(result)
    assert found["ann"] + found.get("sue", 0) == 3
    assert found["zoe"] == 2
    assert [(each.limit, each.submitter, each.schedd) for each in stops(result)] == [
        (TimeLimit.SCHEDD, "", "h")
    ]
    assert set.union(*codes(result).values()) == {"time_per_schedd"}


@pytest.mark.parametrize("order", ORDERS)
def test_after_the_time_of_the_cycle_nobody_has_a_turn(site, order):
    clock = SlowMatching(lambda _request: 30.0)
    result = timed(site.bundle(clock, order, cycle=80, submitter=1000), pool(ann=5, sue=5), clock)
    assert len(result.matches) == 3
    assert set.union(*codes(result).values()) == {"time_per_cycle"}
    assert stops(result) == [TimeStop(TimeLimit.CYCLE, "", "", 3)]


def test_after_the_time_of_a_spin_a_submitter_goes_on_in_the_next(site):
    """A spin of ann has two turns: so sue is served in between, and all get their slots in the end."""
    clock = slow_for("ann")
    result = timed(site.bundle(clock, submitter=1000, schedd=1000, piespin=60), pool(ann=5, sue=5), clock)
    assert counts(result) == {"ann": 5, "sue": 5}
    assert [each.submitter for each in result.journal] == ["ann@d"] * 2 + ["sue@d"] * 5 + ["ann@d"] * 3
    assert [each.turn for each in stops(result)] == [2, 9]


@pytest.mark.parametrize("order", ORDERS)
def test_an_administrator_ends_the_cycle_at_the_next_turn(site, order):
    clock = SlowMatching(lambda _request: 1.0)
    bundle = site.bundle(clock, order)
    result = timed(bundle, pool(ann=5), clock, is_stopped=lambda: clock.now >= 2)
    assert counts(result) == {"ann": 2}
    assert codes(result) == {"ann": {"cycle_stopped"}}
    assert stops(result) == [TimeStop(TimeLimit.ADMINISTRATOR, "", "", 2)]


def test_with_accounting_groups_a_submitter_without_time_leaves_the_slots_to_others(site):
    """In all rounds, those of other groups included."""
    clock = slow_for("a.ann")
    bundle = site.bundle(clock, more=GROUPS)
    result = timed(bundle, pool(7, **{"a.ann": 5, "b.zoe": 7}), clock)
    assert (len(result.matches), [each.stop.submitter for each in result.reached]) == (7, ["a.ann@d"])
    assert sum(match.submitter == "a.ann@d" for match in result.matches) == 2


def test_a_request_without_a_matching_slot_keeps_its_reason(site):
    clock = slow_for("ann", 60.0)
    never = job(9, GlobalJobId='"h#7.9#1"', JobPrio="5", Owner='"ann"', User='"ann@d"', Requirements="false")
    jobs = [never, *requests_of("ann", 2)]
    found = snapshot([slot()], jobs, submitters=[submitter("ann", 3)])
    result = timed(site.bundle(clock), found, clock)
    assert {each.first_job: each.reason.code for each in result.rejections} == {
        "1.9": "job_requirements",
        "7.0": "time_per_submitter",
        "7.1": "time_per_submitter",
    }


@pytest.mark.parametrize("order", ORDERS)
def test_without_a_limit_reached_the_result_is_that_of_a_cycle_without_time(site, order):
    clock = SlowMatching(lambda _request: 0.1)
    bundle, found = site.bundle(clock, order), pool(ann=5, sue=5)
    with_time = timed(bundle, found, clock)
    without = run_cycle(found, bundle, Cycle(1, NOW, bundle.digest))
    assert with_time.reached == ()
    assert comparable(with_time) == comparable(without)


def comparable(result):
    """Return all that a cycle decides and leaves; the record of the order as a text, since NaN differs from itself."""
    return records_by_kind(result), result.state.digest, repr(result.order)


SECONDS = st.integers(1, 9)


@given(
    order=st.sampled_from([(order, "") for order in ORDERS] + [("submitters", GROUPS)]),
    limits=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(["cycle", "submitter", "schedd", "piespin"], SECONDS)
    ),
    takes=st.lists(st.floats(0, 4), min_size=1, max_size=30),
    stopped=st.none() | st.integers(0, 20),
    waiting=st.dictionaries(st.sampled_from(["ann", "sue", "a.ann", "b.zoe"]), st.integers(1, 6), min_size=1),
    slots=st.integers(1, 12),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_replay_with_the_recorded_stops_decides_the_same(
    site, order, limits, takes, stopped, waiting, slots
):
    """Also where several limits are reached at one turn, and whatever the clock shows."""
    lengths = iter(())

    def next_length(_request):
        nonlocal lengths
        return next(lengths, 0.0)

    clock = SlowMatching(next_length)
    bundle, found = site.bundle(clock, *order, **limits), pool(slots, **waiting)
    lengths = iter(takes)
    result = timed(bundle, found, clock, is_stopped=lambda: stopped is not None and clock.now >= stopped)
    records = json.loads(json.dumps(records_by_kind(result).get("time_stop", [])))
    time = RecordedTime(recorded_stops(records))
    again = run_cycle(found, bundle, Cycle(1, NOW, bundle.digest), time=time)
    assert comparable(again) == comparable(result)
    assert again.reached == result.reached


def test_the_limits_are_read_from_an_htcondor_file(tmp_path):
    (tmp_path / "pool.yaml").write_text("order: submitters\n")
    (tmp_path / "condor_config").write_text("A = 7\nNEGOTIATOR_MAX_TIME_PER_CYCLE = $(A)\n")
    clock = SlowMatching()
    limits = load(tmp_path, clock).time_limits
    assert [limits.seconds(limit) for limit in TimeLimit] == [7, 60, 120, 120, float("inf")]
    assert str(limits.sources[TimeLimit.CYCLE]) == "condor_config:2:1"


@pytest.mark.parametrize("value", ["0", "-5", "soon", "1.5"])
def test_an_invalid_limit_is_refused_with_its_line(tmp_path, value):
    (tmp_path / "pool.yaml").write_text(f"order: names\nNEGOTIATOR_MAX_TIME_PER_CYCLE: {value}\n")
    (problem,) = check_bundle(tmp_path)
    assert str(problem).startswith("pool.yaml:2:")
    assert "error" in str(problem)

"""The quota interface: may a job start now, with how many slots, and which rules say no."""

import pytest

from negotiator_quotasets.deciding import (
    PE_SLOTS,
    ROUND_ROBIN,
    AllocationDecision,
    AllocationSimulator,
    Denier,
    Job,
)
from negotiator_quotasets.pool import Offers
from quota_sets import COMPLEXES, parsed, rules, spots

PES = {"mpi": ROUND_ROBIN, "smp": PE_SLOTS}


def desk(text, slots="9", everywhere=(), **hosts):
    """Two queues on two hosts, each with so many slots."""
    places = spots("lxa", "sol", queues=("all.q", "fast.q"), num_proc=[2, 4])
    offers = Offers(dict(everywhere), lambda name: hosts.get(name, [None, None]), lambda _: {"slots": slots})
    return AllocationSimulator(parsed(text), COMPLEXES, {"staff": ("roland",)}, places, offers, PES)


def run(own, *jobs):
    for job in jobs:
        own.run(job)
    return own


ALICE = Job("alice")


def test_a_job_may_run_where_all_rules_have_room():
    """And counts from then on."""
    own = desk(rules("users {*} to slots=1"))
    assert own.decide(ALICE) == AllocationDecision(allowed=True, slots=1)
    run(own, ALICE)
    assert own.decide(ALICE) == AllocationDecision(False, 0, frozenset({Denier("r/1", "alice/////")}))
    assert own.decide(Job("bob")).allowed
    assert dict(own.ledger.counters())[("r/1", "slots", "alice", "", "", "", "")] == 1


def test_to_ask_changes_nothing():
    """However often."""
    own = desk(rules("to slots=3"))
    assert {own.decide(Job("a", pe="mpi", slots=3)) for _ in range(3)} == {
        AllocationDecision(allowed=True, slots=3)
    }
    assert dict(own.ledger.counters()) == {}


def test_what_runs_is_charged_by_the_rule_of_its_place_whatever_the_limits():
    """By what it asked for and the slots that it has."""
    own = run(
        desk(rules("queues {fast.q} hosts {*} to lic=1", "to slots=1")),
        Job("a", pe="mpi", slots=4, resources={"lic": "2"}, queue="fast.q", host="LXA"),
        Job("a", slots=3, queue="all.q", host="sol"),
    )
    own_counters = {key[:2] + key[5:]: amount for key, amount in own.ledger.counters() if key[0] != "queue"}
    assert own_counters == {("r/1", "lic", "fast.q", "lxa"): 8, ("r/2", "slots", "", ""): 3}


def test_a_job_that_runs_nowhere_is_an_error():
    """A queue or a host that is not there."""
    with pytest.raises(ValueError, match=r"no queue 'no\.q' on a host 'sol'"):
        desk(rules("to slots=1")).run(Job("a", queue="no.q", host="sol"))


@pytest.mark.parametrize(
    ("job", "slots", "limit", "allowed", "found"),
    [
        (Job("a", pe="mpi", slots=8), "2", 99, True, 8),
        (Job("a", pe="mpi", slots=9), "2", 99, False, 8),
        (Job("a", pe="smp", slots=4), "2", 99, True, 4),
        (Job("a", pe="smp", slots=5), "2", 99, False, 4),
        (Job("a", pe="mpi", slots=4), "2", 3, False, 3),
        (Job("a", pe="mpi", slots=2, host="sol", queue="all.q"), "2", 99, True, 2),
        (Job("a", pe="mpi", slots=3, host="sol", queue="all.q"), "2", 99, False, 2),
    ],
)
def test_the_slots_of_a_job_are_spread_or_on_one_host(job, slots, limit, allowed, found):
    """As its environment says; the most that it could have is told."""
    decided = desk(rules(f"to slots={limit}"), slots).decide(job)
    assert (decided.allowed, decided.slots) == (allowed, found)


def test_a_rule_for_each_host_bounds_what_each_gives():
    """Formulas too."""
    own = desk(rules("hosts {*} to slots=$num_proc"))
    assert own.decide(Job("a", pe="mpi", slots=6)).allowed
    decided = own.decide(Job("a", pe="mpi", slots=7))
    assert (decided.slots, decided.denied_by) == (
        6,
        frozenset({Denier("r/1", "////lxa/"), Denier("r/1", "////sol/")}),
    )
    assert own.decide(Job("a", pe="smp", slots=4)).allowed
    assert not own.decide(Job("a", pe="smp", slots=5)).allowed


def test_what_is_taken_once_has_to_be_there_once():
    """A consumable of kind JOB, whatever the number of slots."""
    own = desk(rules("users {*} to shared=2"))
    assert own.decide(Job("a", pe="mpi", slots=9, resources={"shared": "2"})).allowed
    decided = own.decide(Job("a", pe="mpi", slots=9, resources={"shared": "2.1"}))
    assert decided.denied_by == {Denier("r/1", "a/////")}


def test_what_is_not_consumed_is_compared_after_what_is():
    """The rule that says no, and where its counters are full that one."""
    own = desk(rules("to slots=1", name="first") + rules("users {*} to h_rt=10", name="second"))
    decided = own.decide(Job("a", resources={"h_rt": "20"}))
    assert decided == AllocationDecision(False, 0, frozenset({Denier("second/1", "a/////")}))
    run(own, ALICE)
    assert own.decide(Job("a", resources={"h_rt": "20"})).denied_by == {Denier("first/1", "/////")}


def test_a_layer_below_the_sets_says_no_where_these_do_not():
    """What the pool has, what hosts have."""
    own = desk(rules("to lic=5"), everywhere={"lic": "3"})
    decided = own.decide(Job("a", resources={"lic": "4"}))
    assert decided == AllocationDecision(
        False, 0, frozenset(), frozenset({"cannot run globally because it exceeds what the pool has"})
    )
    assert own.decide(Job("a", resources={"lic": "6"})).denied_by == {Denier("r/1", "/////")}
    decided = desk(rules("to slots=5"), arch=["lx", "sol"]).decide(Job("a", resources={"arch": "hp"}))
    assert (decided.denied_by, decided.by_other_layer) == (frozenset(), {"it offers only arch=lx, sol"})


@pytest.mark.parametrize("resources", [{"slots": "2"}, {"nothing": "2"}, {"load_avg": "2"}])
def test_what_may_not_be_requested_is_no_question_for_the_rules(resources):
    """Slots are asked for by the environment; others are unknown, or not requestable."""
    decided = desk(rules("to slots=0")).decide(Job("a", resources=resources))
    assert (decided.denied_by, decided.by_other_layer) == (frozenset(), {"request"})


@pytest.mark.parametrize("value", ["x", "-1", "", "infinity"])
def test_an_amount_that_is_none_is_an_error(value):
    """With the words of Grid Engine."""
    with pytest.raises(ValueError, match="lic"):
        desk(rules("to slots=1")).decide(Job("a", resources={"lic": value}))


def test_nothing_is_asked_for_where_more_is_used_than_allowed():
    """Denied where the counter is over-full; passed where it is full."""
    for used, allowed in (("2", True), ("3", False)):
        own = run(desk(rules("to lic=2")), Job("bob", resources={"lic": used}))
        assert own.decide(Job("alice", resources={"lic": "0"})).allowed is allowed


def test_what_says_no_to_all_places_ends_the_search():
    """What later places would say is not told, as in Grid Engine."""
    own = desk(rules("hosts {sol} to slots=0", name="h") + rules("to slots=1", name="t"))
    decided = own.decide(Job("a", pe="mpi", slots=2))
    assert (decided.slots, decided.denied_by) == (1, {Denier("t/1", "/////")})
    only = desk(rules("hosts {sol} to slots=0", name="h")).decide(Job("a", host="sol"))
    assert only.denied_by == {Denier("h/1", "////sol/")}


def test_the_layers_are_not_asked_where_a_set_says_no():
    """The quota sets are the first layer."""
    own = run(desk(rules("to slots=1"), arch=["lx", "sol"]), ALICE)
    decided = own.decide(Job("a", resources={"arch": "hp"}))
    assert (decided.denied_by, decided.by_other_layer) == ({Denier("r/1", "/////")}, frozenset())

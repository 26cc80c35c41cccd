"""Jobs of Grid Engine, decided through the hooks and the ledger: how many slots they may have, and which rules deny them."""

import pytest

from gridengine_allocation import PE_SLOTS, ROUND_ROBIN, Decision, Denier, Job
from gridengine_cluster import Site
from quota_sets import COMPLEXES_YAML, rules

PES = {"mpi": ROUND_ROBIN, "smp": PE_SLOTS}


def site(slots=9, of_pool=None, arch=None):
    """Two queues on two hosts, each with so many slots."""
    values = [{"num_proc": "2"}, {"num_proc": "4"}]
    for each, name in zip(values, arch or (), strict=bool(arch)):
        each["arch"] = name
    engine = {
        **COMPLEXES_YAML,
        "usersets": {"staff": ["roland"]},
        "complex_values": of_pool or {},
        "hosts": {host: {"complex_values": had} for host, had in zip(("lxa", "sol"), values, strict=True)},
        "queues": {"all": {"slots": slots}, "fast": {"slots": slots}},
    }
    hosts = ["lxa", "sol"]
    return Site.of(hosts, {"all": hosts, "fast": hosts}, PES, engine)


STANDARD_SITE = site()


def allocation(text, where=STANDARD_SITE, running=()):
    """Where jobs are decided about under a text of rule sets, beside these jobs."""
    found = where.allocation(text)
    for job in running:
        found.run(job)
    return found


ALICE = Job("alice")


def test_a_job_is_denied_where_a_counter_is_full():
    """By the rule, and the expanded values, of the counter."""
    own = allocation(rules("users {*} to slots=1"))
    assert own.decide(ALICE) == Decision(allowed=True, slots=1)
    own.run(ALICE)
    assert own.decide(ALICE) == Decision(False, 0, frozenset({Denier("r/1", "alice/////")}))
    assert own.decide(Job("bob")).allowed
    assert own.usage().counters.sums["r/1", "slots", "alice", "", "", "", ""] == 1


def test_a_running_job_is_charged_whatever_the_limits():
    """By the rule that applies on its host, for what it requested and its slots."""
    running = (
        Job("a", pe="mpi", slots=4, resources={"lic": "2"}, queue="fast", host="LXA"),
        Job("a", slots=3, queue="all", host="sol"),
    )
    text = rules("queues {fast} hosts {*} to lic=1", "to slots=1")
    sums = allocation(text, running=running).usage().counters.sums
    found = {key[:2] + key[5:]: amount for key, amount in sums.items() if key[0] != "queue"}
    assert found == {("r/1", "lic", "fast", "lxa"): 8, ("r/2", "slots", "", ""): 3}


@pytest.fixture(scope="module")
def small():
    """With 2 slots of each queue on each host."""
    return site(2)


@pytest.mark.parametrize(
    ("job", "limit", "allowed", "slots"),
    [
        (Job("a", pe="mpi", slots=8), 99, True, 8),
        (Job("a", pe="mpi", slots=9), 99, False, 8),
        (Job("a", pe="smp", slots=4), 99, True, 4),
        (Job("a", pe="smp", slots=5), 99, False, 4),
        (Job("a", pe="mpi", slots=4), 3, False, 3),
        (Job("a", pe="mpi", slots=2, host="sol", queue="all"), 99, True, 2),
        (Job("a", pe="mpi", slots=3, host="sol", queue="all"), 99, False, 2),
    ],
)
def test_the_slots_of_a_job_are_spread_over_hosts_or_on_one(small, job, limit, allowed, slots):
    """As its parallel environment says."""
    decision = allocation(rules(f"to slots={limit}"), small).decide(job)
    assert (decision.allowed, decision.slots) == (allowed, slots)


def test_a_rule_per_host_limits_the_slots_of_each_host():
    """A formula too."""
    own = allocation(rules("hosts {*} to slots=$num_proc"))
    assert own.decide(Job("a", pe="mpi", slots=6)).allowed
    decision = own.decide(Job("a", pe="mpi", slots=7))
    deniers = {Denier("r/1", "////lxa/"), Denier("r/1", "////sol/")}
    assert (decision.slots, decision.denied_by) == (6, deniers)
    assert own.decide(Job("a", pe="smp", slots=4)).allowed
    assert not own.decide(Job("a", pe="smp", slots=5)).allowed


def test_a_consumable_of_kind_job_is_charged_once():
    """Whatever the number of slots."""
    own = allocation(rules("users {*} to shared=2"), site(of_pool={"shared": "100"}))
    assert own.decide(Job("a", pe="mpi", slots=9, resources={"shared": "2"})).allowed
    decision = own.decide(Job("a", pe="mpi", slots=9, resources={"shared": "2.1"}))
    assert decision.denied_by == {Denier("r/1", "a/////")}


def test_the_first_set_that_denies_a_job_is_named():
    """Whether it limits a consumable or not."""
    text = rules("to slots=1", name="first") + rules("users {*} to h_rt=10", name="second")
    job = Job("a", resources={"h_rt": "20"})
    assert allocation(text).decide(job) == Decision(False, 0, frozenset({Denier("second/1", "a/////")}))
    assert allocation(text, running=[ALICE]).decide(job).denied_by == {Denier("first/1", "/////")}


def test_a_capacity_below_the_sets_denies_without_a_rule():
    """Of the pool or of a host; the quota sets come first."""
    own = allocation(rules("to lic=5"), site(of_pool={"lic": "3"}))
    assert own.decide(Job("a", resources={"lic": "4"})) == Decision(allowed=False, slots=0)
    assert own.decide(Job("a", resources={"lic": "6"})).denied_by == {Denier("r/1", "/////")}
    job = Job("a", resources={"arch": "hp"})
    where = site(arch=["lx", "sol"])
    assert allocation(rules("to slots=1"), where).decide(job) == Decision(allowed=False, slots=0)
    assert allocation(rules("to slots=1"), where, [ALICE]).decide(job).denied_by == {Denier("r/1", "/////")}


@pytest.mark.parametrize("value", ["x", "-1", "", "infinity"])
def test_a_job_with_an_invalid_amount_is_not_allowed(value):
    decision = allocation(rules("to slots=1")).decide(Job("a", resources={"lic": value}))
    assert decision == Decision(allowed=False, slots=0)


def test_a_request_of_0_is_denied_where_more_is_used_than_allowed():
    """And allowed where just all of it is used."""
    where = site(of_pool={"lic": "100"})
    for used, allowed in (("2", True), ("3", False)):
        own = allocation(rules("to lic=2"), where, [Job("bob", resources={"lic": used})])
        assert own.decide(Job("alice", resources={"lic": "0"})).allowed is allowed


def test_a_rule_that_denies_on_all_hosts_ends_the_search():
    """Rules that deny later are not named, as in Grid Engine."""
    own = allocation(rules("hosts {sol} to slots=0", name="h") + rules("to slots=0", name="t"))
    assert own.decide(Job("a", pe="mpi", slots=2)).denied_by == {Denier("t/1", "/////")}
    only = allocation(rules("hosts {sol} to slots=0", name="h")).decide(Job("a", host="sol"))
    assert only.denied_by == {Denier("h/1", "////sol/")}

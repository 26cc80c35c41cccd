"""Steps of evaluation are charged to the owner of the ad that causes them; nobody else loses anything."""

import pytest

from negotiator.bundle import default_bundle, load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.work_accounts import STEPS_EACH_MACHINE, WorkAccounts, owner_of
from negotiator.hooks.ad_kinds import AdKind
from negotiator.plugin import Cycle
from negotiator.records import Mode
from pools import NOW, cycle, job, matched, slot, snapshot, write_bundle

ZOE = {"Owner": '"zoe"', "User": '"zoe@d"'}
MALLORY = {"Owner": '"mallory"', "User": '"mallory@d"'}
CONTEXTS = "{" + ",".join(f"[Memory = {n}]" for n in range(400)) + "}"


def expensive(read):
    """A condition that is true after some 10,000 steps for each pair of ads."""
    return f"size(evalInEachContext(Memory + {read} > 0, Contexts)) > 0"


def reasons(result, job_id):
    """The codes of the reasons for a request without matches."""
    (outcome,) = [each for each in result.outcomes if each.first_unmatched == job_id]
    return {removal.reason.code for removal in outcome.removals if removal.removed}


def test_an_owner_whose_expressions_take_too_many_steps_gets_no_slot_and_others_do():
    """The request is set aside with a reason of its own."""
    slots = [slot(n, Mips=str(n)) for n in range(300)]
    mine = job(1, Contexts=CONTEXTS, Requirements=expensive("TARGET.Mips"), **MALLORY)
    result = cycle(snapshot(slots, [mine, job(2, **ZOE)]))
    assert [name for name, _ in matched(result)] == ["1.2"]
    assert reasons(result, "1.1") == {"work_exceeded"}


def test_all_requests_of_an_owner_share_one_allowance():
    """Splitting the work over many jobs does not help; a plain job of the same owner waits as well."""
    slots = [slot(n, Mips=str(n)) for n in range(40)]
    split = [
        job(n, Contexts=CONTEXTS, Requirements=expensive(f"TARGET.Mips * {n}"), **MALLORY)
        for n in range(1, 9)
    ]
    result = cycle(snapshot(slots, [*split, job(9, **MALLORY), job(10, **ZOE)]))
    assert reasons(result, "1.9") == {"work_exceeded"}
    assert "1.10" in dict(matched(result))


def test_a_result_that_was_cut_short_is_not_used_for_another_owner():
    """Both owners have the same condition; only one of them has steps left when it is evaluated."""
    slots = [slot(n, Mips=str(n)) for n in range(10)]
    condition = expensive("TARGET.Mips")
    shared = {"Contexts": CONTEXTS, "Requirements": condition}
    before = [
        job(n, Contexts=CONTEXTS, Requirements=expensive(f"TARGET.Mips * {n}"), **MALLORY)
        for n in range(1, 9)
    ]
    result = cycle(snapshot(slots, [*before, job(9, **shared, **MALLORY), job(10, **shared, **ZOE)]))
    assert reasons(result, "1.9") == {"work_exceeded"}
    assert "1.10" in dict(matched(result))


def test_a_machine_pays_for_the_expressions_of_its_slots():
    """Jobs that refer to such an attribute are matched with all other slots."""
    chain = " + ".join(["size(evalInEachContext(Memory + TARGET.Mine > 0, Contexts))"] * 60)
    hostile = slot(0, Machine='"m"', Contexts=CONTEXTS, Speed=f"0 * ({chain})")
    slots = [hostile, *(slot(n, Machine=f'"n{n}"', Speed="1") for n in range(1, 20))]
    jobs = [job(n, Mine=str(n), Requirements="TARGET.Speed < 2", **ZOE) for n in range(1, 16)]
    result = cycle(snapshot(slots, jobs))
    assert len(matched(result)) == 15
    assert "s0@h" not in dict(map(reversed, matched(result)))


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("TARGET.Mine + MY.Mips * 0 < 99", id="equal"),
        pytest.param("TARGET.Mine + MY.Mips * 0 < 9{0}", id="one shape"),
        pytest.param("TARGET.Mine + size(split(MY.Words)) < 99", id="equal values"),
    ],
)
def test_a_machine_without_steps_takes_nothing_from_machines_with_an_expression_like_its_own(start):
    """Such expressions are evaluated together; the first machine has no steps left."""
    chain = " + ".join(["size(evalInEachContext(Memory + TARGET.Mine > 0, Contexts))"] * 60)
    costly = {"Machine": '"m"', "Contexts": CONTEXTS, "Speed": f"0 * ({chain})"}
    plain = [{"Machine": f'"n{n}"', "Speed": "1"} for n in range(1, 20)]
    slots = [
        slot(n, Mips=str(n), Words=f'"a {n % 2}"', Requirements=start.format(n), **own)
        for n, own in enumerate([costly, *plain])
    ]
    jobs = [job(n, Mine=str(n), Requirements="TARGET.Speed < 2", **ZOE) for n in range(1, 16)]
    result = cycle(snapshot(slots, jobs))
    assert len(matched(result)) == 15


def test_expressions_of_the_administrator_are_charged_to_nobody(tmp_path):
    """Otherwise a long central expression would set aside the jobs of all users."""
    long = " && ".join(f'regexp("{n}|s",MY.Name)' for n in range(40))
    bundle = write_bundle(tmp_path / "b", f"NEGOTIATOR_PE_RESOURCE_EXPR: {long}\n")
    slots = [slot(n) for n in range(200)]
    jobs = [job(n, RequestCpus=str(n), Requirements=f"TARGET.Cpus > -{n}", **ZOE) for n in range(1, 60)]
    assert len(matched(cycle(snapshot(slots, jobs), bundle))) == 59


def test_concurrency_limits_that_take_too_many_steps_are_charged_to_their_request(tmp_path):
    """The plugin is called for the other requests as before, in this cycle and in later ones."""
    bundle = write_bundle(tmp_path / "b", "concurrency_limits:\n  matlab: 3\n")
    slots = [slot(n) for n in range(50)]
    slow = 'regexps("(a|aa)+$",strcat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",TARGET.Name),"x")'
    hostile = [job(n, ConcurrencyLimits=f"strcat({slow},{slow},{slow})", **MALLORY) for n in range(1, 3)]
    pool = snapshot(slots, [*hostile, job(5, ConcurrencyLimits='"matlab"', **ZOE)])
    for _ in range(4):
        result = cycle(pool, bundle)
        assert [name for name, _ in matched(result)] == ["1.5"]
        assert not result.failures


def test_ads_without_an_owner_share_an_allowance():
    """An Owner that is an expression is none: it could name another user."""
    pool = snapshot([slot()], [job(1, Owner='strcat("z","oe")', User='"x@d"'), job(2, **ZOE)])
    assert [owner_of(pool.jobs.ad(row)) for row in range(2)] == ["x@d", "zoe"]


def test_gates_are_charged_to_the_ads_that_they_test():
    """The administrator's expression costs nobody anything, the attributes of an ad their owner."""
    pool = snapshot([slot()], [job(1, **MALLORY)])
    work = WorkAccounts.of(pool.slots, pool.jobs)
    payers = work.for_ads(Cycle(1, NOW, "0"), AdKind.STARTD).payers
    assert payers.rows(pool.slots.ad(0)).steps == STEPS_EACH_MACHINE
    assert payers.expression.steps > STEPS_EACH_MACHINE


SLOW = 'ifThenElse(regexp("(a|aa)+$",strcat("{letters}",{read},"x")),2,1)'


def slow(read):
    """An amount that takes many steps."""
    return SLOW.format(letters="a" * 30, read=read)


def test_amounts_that_take_too_many_steps_are_charged_before_the_match():
    """They are read of the job alone, when its request is made."""
    costly = [job(n, RequestCpus=slow(f'"{n}"'), **MALLORY) for n in range(1, 40)]
    result = cycle(snapshot([slot(n) for n in range(50)], [*costly, job(50, **ZOE)]))
    assert "1.50" in dict(matched(result))
    assert reasons(result, "1.39") == {"work_exceeded"}


@pytest.mark.parametrize("mode", Mode)
def test_a_match_whose_attributes_cannot_be_evaluated_is_withdrawn(tmp_path, mode):
    """A later cycle would count it for too little; what it was charged is released."""
    modes = f"concurrency_limit_modes: {{matlab: {mode}}}\n"
    bundle = write_bundle(tmp_path / "b", f"concurrency_limits:\n  matlab: 100\n{modes}")
    costly = job(1, RequestGPUs=slow("TARGET.Name"), ConcurrencyLimits='"matlab"', **MALLORY)
    costly = costly.with_items([("_condor_RESOURCE_COUNT", 60)]).project(
        set(costly.names()) - {"JobStatus"} | {"_condor_RESOURCE_COUNT"}
    )
    result = cycle(snapshot([slot(n) for n in range(60)], [costly, job(2, **ZOE)]), bundle)
    assert [name for name, _ in matched(result)] == ["1.2"]
    assert reasons(result, "1.1") == {"work_exceeded"}
    assert not any(amount for key, amount in result.ledger.counters(mode) if "matlab" in key)


def test_priorities_that_are_slow_to_read_cost_nobody_elses_priority():
    """The second job of zoe has the higher one, as an expression."""
    slow = 'size(regexps("(a|aa)+$", strcat("' + "a" * 30 + '", "{}!"), "x"))'
    jobs = [job(n, JobPrio=slow.format(n), **MALLORY) for n in range(10, 210)]
    jobs += [job(1, JobPrio="1 + 1", **ZOE), job(2, JobPrio="1 + 2", **ZOE)]
    result = cycle(snapshot([slot(0, Requirements='TARGET.Owner == "zoe"')], jobs))
    assert [name for name, _ in matched(result)] == ["1.2"]


def names_of_one_person(owners):
    """A costly job of each of some owners: three of them take more than all may take together."""
    chain = [expensive(f"TARGET.Mips * {n}") for n in range(1, 9)]
    return [
        job(n, Contexts=CONTEXTS, Owner=f'"m{n}"', User=f'"m{n}@d"', Requirements=" && ".join(chain))
        for n in range(owners)
    ]


def test_one_person_with_many_names_takes_no_more_than_two_owners_may():
    """The names after these wait for the next cycle; plain jobs of others are matched as ever."""
    slots = [slot(n, Mips=str(n)) for n in range(10)]
    result = cycle(snapshot(slots, [*names_of_one_person(12), job(50, **ZOE)]))
    waiting = [n for n in range(12) if "work_waits" in reasons_of(result, f"1.{n}")]
    assert len(waiting) >= 6
    assert "1.50" in dict(matched(result))
    assert result.state.costly_owners == tuple(sorted(f"m{n}" for n in range(12) if n not in waiting))


def test_owners_who_waited_come_before_those_who_did_not_until_everybody_had_a_turn():
    slots, served = [slot(n, Mips=str(n)) for n in range(10)], []
    pool, state = snapshot(slots, names_of_one_person(8)), None
    for number in range(1, 20):
        result = run_cycle(pool, load_bundle(default_bundle()), Cycle(number, NOW, "0"), state)
        waiting = {n for n in range(8) if "work_waits" in reasons_of(result, f"1.{n}")}
        last = set() if state is None else {int(name[1:]) for name in state.costly_owners}
        served += sorted(set(range(8)) - waiting)
        state = CycleState.decode(result.state.encode())  # as a recorded cycle has it
        assert last <= waiting
        if not state.costly_owners:
            break
    assert sorted(served) == list(range(8))


def test_an_owner_with_a_costly_job_does_not_wait_for_one_who_takes_all_that_an_owner_may():
    slots = [slot(n, Mips=str(n)) for n in range(300)]
    mine = job(1, Contexts=CONTEXTS, Requirements=expensive("TARGET.Mips"), **MALLORY)
    other = job(2, Contexts=CONTEXTS, Requirements=expensive("1"), **ZOE)
    result = cycle(snapshot(slots, [mine, other]))
    assert [name for name, _ in matched(result)] == ["1.2"]


def reasons_of(result, job_id):
    """The codes of the reasons for a request, also if it has a match."""
    return {
        removal.reason.code
        for outcome in result.outcomes
        if f"{outcome.request.first_job}".endswith(job_id)
        for removal in outcome.removals
        if removal.removed
    }

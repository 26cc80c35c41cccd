"""Slots whose expressions are hard to evaluate are matched one by one: exactly, and without any change for other slots."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pools
from negotiator.classad import Environment, Table, bind, evaluate, is_true, parse
from negotiator.classad.columnar import MemoryBudget
from negotiator.cycle.rank import Ranks
from negotiator.cycle.requirements import Requirements
from negotiator.hooks.order_type import DEFAULT_RANKS
from pools import NOW, job, slot, snapshot

ENV = Environment(now=NOW)
WHOLE = bind(parse("MY.Requirements"))
HARD = {
    "reads anything": {"Start": 'unparse(Memory) =!= "x"'},
    "evaluates a text": {"Memory": 'eval("2000 + 48")'},
    "refers to itself": {"A": "B", "B": "A", "Start": "A =?= undefined || true"},
    "a long chain": {f"N{n}": f"N{n + 1} + 1" for n in range(60)} | {"N60": "0", "Mips": "N0"},
    "a scope of its own": {"MY": '"x"'},
    "its Requirements": {"Mips": "ifThenElse(MY.Requirements =?= undefined, 7, 9)"},
    "very many": {f"E{n}": f"E{n} + {n}" for n in range(200)},
}
JOBS = st.fixed_dictionaries(
    {
        "RequestMemory": st.sampled_from(["100", "2000", "9000", "100 + 1"]),
        "Requirements": st.sampled_from(
            [
                "TARGET.Memory >= RequestMemory",
                "TARGET.Mips > 8 || TARGET.Memory > 3000",
                'TARGET.Memory >= RequestMemory && unparse(RequestMemory) =!= ""',
                "true",
            ]
        ),
        "Rank": st.sampled_from(["0.0", "TARGET.Mips", "RequestMemory - TARGET.Memory", "-TARGET.Memory"]),
    }
)
SLOTS = st.fixed_dictionaries(
    {
        "Memory": st.sampled_from(["1000", "2048", "4096"]),
        "Mips": st.sampled_from(["1", "9", "20"]),
        "Requirements": st.just("Start && TARGET.RequestMemory <= MY.Memory"),
        "Start": st.sampled_from(["true", "TARGET.RequestMemory > 50", "MY.Mips > 5"]),
    }
)


@given(
    st.lists(SLOTS, min_size=3, max_size=12),
    st.lists(st.sampled_from([*HARD]), min_size=1, max_size=3),
    st.lists(JOBS, min_size=1, max_size=4),
)
def test_each_slot_is_matched_and_ranked_as_by_itself(easy, hard, jobs):
    made = [*easy[:-1], *(HARD[name] | {"Requirements": "Start && true"} for name in hard), easy[-1]]
    slots = [
        slot(n, **{"Start": "true", "Memory": "2048", "Mips": "3"} | each) for n, each in enumerate(made)
    ]
    for number, own in enumerate(jobs):
        request = job(number, **own)
        result = pools.cycle(snapshot(slots, [request]))
        fitting = [n for n, each in enumerate(slots) if matches(request, each)]
        (outcome,) = result.outcomes
        assert outcome.candidates == len(fitting)
        best = min(fitting, key=lambda n: (order(request, slots[n]), n), default=None)
        assert [match.slot for match in result.matches] == ([] if best is None else [f"s{best}@h"])


@pytest.mark.parametrize("name", HARD)
def test_a_hard_slot_is_set_apart_and_the_conditions_of_others_are_split(name):
    slots = [
        slot(n, Memory=str(1000 + n), Start="true", Requirements="Start && MY.Memory > 0") for n in range(80)
    ]
    slots[7] = slot(7, **{"Requirements": "Start", "Start": "true"} | HARD[name])
    requirements = Requirements(Table.from_ads(slots), ENV, MemoryBudget())
    assert requirements.hard.rows.tolist() == [7]
    assert all(7 not in each.rows for each in requirements.layers)
    assert len(requirements.layers) == 2


def test_plain_slots_are_not_hard_whatever_they_differ_in():
    slots = [slot(n, Memory=str(n), Start=f"TARGET.RequestMemory < {n}") for n in range(40)]
    assert Requirements(Table.from_ads(slots), ENV, MemoryBudget()).hard is None


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    st.integers(-3, 3),
    st.sampled_from(
        ["Own - TARGET.Memory", "(Own + TARGET.Memory)", "TARGET.Memory - Own", "TARGET.Memory + MY.Own"]
    ),
)
def test_a_rank_that_adds_an_integer_of_the_job_is_that_of_each_slot(memories, own, rank):
    slots = Table.from_ads(slot(n, Memory=str(each), Cpus="1", Rank="0") for n, each in enumerate(memories))
    ranks = Ranks(Requirements(slots, ENV, MemoryBudget()).dependencies, ENV, MemoryBudget(), DEFAULT_RANKS)
    for number in range(own, own + 15):  # from the twelfth on, slots are sorted once
        request = job(Own=str(number), Rank=rank)
        rows, found = ranks.choose(request, np.ones(len(memories), np.bool_), len(memories), ENV)
        assert found.tolist() == [
            float(evaluate(parse(rank), request, slots.ad(row), ENV)) for row in rows.tolist()
        ]
        assert rows.tolist() == sorted(
            range(len(memories)), key=lambda row: (order(request, slots.ad(row)), row)
        )


def matches(request, offer):
    """Return whether the Requirements of both sides are true."""
    return all(is_true(evaluate(WHOLE, *pair, ENV)) for pair in ((request, offer), (offer, request)))


def order(request, offer):
    """Return what sorts a slot: the pool's rank, then the job's; the smallest is the best."""
    pool, own = (
        evaluate(DEFAULT_RANKS.before, offer, request, ENV),
        evaluate(parse("MY.Rank"), request, offer, ENV),
    )
    lowest = -float(np.finfo(np.float64).max)
    with np.errstate(over="ignore"):
        before = float(np.float32(pool if isinstance(pool, int | float) else lowest))
    return -before, -float(own if isinstance(own, int | float) else 0.0)

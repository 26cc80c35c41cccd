"""The stations *match* and *charge* with the slot matcher of a cycle: candidates, and the best of them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pools
from negotiator.bundle import load_bundle
from negotiator.classad import Table, evaluate, evaluate_table, is_true, parse
from negotiator.cycle.charge import charge
from negotiator.cycle.charges import ClaimReceipts
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.match import MatchCandidates, SlotMatcher, match
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.cycle.recount import Recount
from negotiator.ledger import Ledger
from negotiator.plugin import Cycle, Request
from negotiator.queues import QueueTree
from pools import job, slot, snapshot

CYCLE = Cycle(1, pools.NOW, "0")
ENV = CYCLE.environment


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Return a bundle without policies and plugins."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "pool.yaml").write_text("audit: {matches: none}\n")
    return load_bundle(folder, entry_points=False)


def request(ad, count=1):
    """Return the request of so many jobs."""
    return Request("tester@d", "node1", ad, count, "1.0", applications=("node1#1",) * count)


def matcher_of(slots):
    """Return the matcher of a cycle with these slots."""
    return SlotMatcher.of(OfferedSlots(slots), ENV)


def candidates(matcher, ad, bundle):
    """Return whether each slot is a candidate of a job."""
    return match(request(ad), matcher, bundle, CYCLE).among.tolist()


def chosen(matcher, ad, among, count, bundle):
    """Return the slots that the station *charge* grants to so many jobs, and the job's Rank of them."""
    asked = request(ad, count)
    found = MatchCandidates(asked, among, int(np.count_nonzero(among)), (), (), ())
    in_use = Recount(Ledger(), ClaimReceipts(), {}, np.zeros(0, np.intp))
    declared = DeclaredCharges(matcher.slots, QueueTree.of(bundle.partition.root, pools.NOW), bundle)
    granted = charge(asked, found, matcher, in_use, partial(declared.of, asked, CYCLE), CYCLE)
    return granted.rows, granted.ranks


CLAUSES = [
    "TARGET.Memory >= MY.RequestMemory", "TARGET.RequestMemory <= MY.Memory", "A == TARGET.A", "MY.A =?= TARGET.A", "true",
    'TARGET.Arch == "X"', "Start", "B", "ifThenElse(A, B, true)", "countMatches(MY.P, TARGET.L) >= 0", "Memory > 500",
    "countMatches(TARGET.P, TARGET.L) >= 0", "countMatches(MY.Nope, TARGET.L) =?= 0", "isUndefined(Requirements)",
    "unresolved(TARGET.A) =!= 5", "TARGET.Requirements", "MY.Requirements =!= false", "time() > 5", 'eval("A") =!= 3',
]  # fmt: skip
CELLS = [
    "1",
    "1.0",
    "true",
    "512",
    '"X"',
    "undefined",
    "error",
    "TARGET.A + 1",
    "MY.B",
    "A",
    "TARGET.Start",
    "B && true",
]
attributes = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.sampled_from(CELLS) for name in ("A", "B", "Start", "RequestMemory", "P", "Rank")},
        "Memory": st.sampled_from(["256", "512", "MY.A", "1024.0"]),
        "Arch": st.sampled_from(['"X"', '"y"', "A"]),
        "L": st.sampled_from(["{ [ q = 1 ], [ Memory = 5 ] }", "{ }", "A"]),
        "TARGET": st.sampled_from(CELLS),
    },
)
requirements = st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=4).map(" && ".join)
pairs = st.lists(st.tuples(attributes, requirements), min_size=1, max_size=4)


def ads(make, described, repeats=1):
    return [
        make(n, **({"Memory": None} | items), Requirements=text)
        for n, (items, text) in enumerate(described * repeats)
    ]


@settings(deadline=None)
@given(pairs, pairs, st.integers(1, 2))
def test_candidates_equal_pairwise_evaluation(bare, slots, jobs, repeats):
    """Whatever the expressions of both sides, and in whatever order alike and different jobs come."""
    slot_ads, job_ads = ads(slot, slots, repeats), ads(job, jobs)
    matcher = matcher_of(Table.from_ads(slot_ads))
    whole = parse("MY.Requirements")
    for job_ad in [*job_ads, *job_ads]:
        wanted = [
            is_true(evaluate(whole, job_ad, offered, ENV)) and is_true(evaluate(whole, offered, job_ad, ENV))
            for offered in slot_ads
        ]
        assert candidates(matcher, job_ad, bare) == wanted


def test_an_expression_with_a_call_that_changes_the_scope_is_not_split(bare):
    """After countMatches(TARGET.x, ...) names are looked up in the other ad, so conjuncts are not evaluated separately."""
    moved = "countMatches(TARGET.P, TARGET.L) >= 0 && Memory > 500"
    offered = Table.from_ads([slot(P="true", L="{ [ q = 1 ] }", Memory="512"), slot(Memory="512")])
    job_ad = job(Memory="1", Requirements=moved)
    assert candidates(matcher_of(offered), job_ad, bare) == [True, False]


def test_without_requirements_nothing_matches(bare):
    """Neither a job nor a slot without them."""
    matcher = matcher_of(Table.from_ads([slot(), slot(Requirements=None)]))
    assert candidates(matcher, job(), bare) == [True, False]
    assert candidates(matcher, job(Requirements=None), bare) == [False, False]
    assert candidates(matcher_of(Table.from_ads([])), job(), bare) == []


@pytest.fixture
def counted(monkeypatch):
    calls = []

    def count(*args, **kwargs):
        calls.append(args[0])
        return evaluate_table(*args, **kwargs)

    monkeypatch.setattr("negotiator.classad.columnar.column_cache.evaluate_table", count)
    return calls


START = 'TARGET.Owner != "eve" && TARGET.RequestMemory <= MY.Memory'


def test_a_thousand_classes_share_a_few_conjuncts(bare, counted):
    """Each different conjunct is evaluated once, whichever job class it comes from."""
    matcher = matcher_of(
        Table.from_ads([slot(n, Memory=str(256 * n), Mips=str(n), Requirements=START) for n in range(9)])
    )
    for n in range(1000):
        job_requirements = f"TARGET.Memory >= RequestMemory && TARGET.Mips > {n % 5} && (TARGET.Cpus == 4)"
        job_ad = job(
            n, RequestMemory=str(64 * (n % 7)), Requirements=job_requirements, Owner=f'"user{n % 3}"'
        )
        expected = [row > n % 5 and 256 * row >= 64 * (n % 7) for row in range(9)]
        assert candidates(matcher, job_ad, bare) == expected
    assert len(counted) <= 7 + 5 + 3 + 2


def test_slots_with_different_requirements_are_evaluated_separately(bare):
    """Some slots share a START, others have another or none."""
    starts = [START, "MY.Memory > 300", None, START, "TARGET.RequestMemory <= MY.Memory"]
    offered = [
        slot(n, Memory=str(256 * (n % 3)), Requirements="Start", Start=start)
        for n, start in enumerate(starts * 4)
    ]
    matcher = matcher_of(Table.from_ads(offered))
    whole = parse("MY.Requirements")
    for memory in ("100", "400", "Base * 2"):
        for owner in ('"eve"', '"zoe"'):
            job_ad = job(RequestMemory=memory, Base="150", Owner=owner, Requirements="TARGET.Memory < 600")
            expected = [
                is_true(evaluate(parse("Memory < 600"), each)) and is_true(evaluate(whole, each, job_ad))
                for each in offered
            ]
            assert candidates(matcher, job_ad, bare) == expected


@pytest.mark.parametrize("start", ["isUndefined(Start)", "isUndefined(MY.Start)", "Again =?= undefined"])
def test_an_expression_that_refers_to_itself_is_not_evaluated_apart(bare, start):
    """The reference is undefined within the evaluation of the attribute only."""
    offered = [slot(n, Requirements="Start", Start=start, Again="MY.Start") for n in range(3)]
    matcher = matcher_of(Table.from_ads(offered))
    expected = [is_true(evaluate(parse("MY.Requirements"), each, job())) for each in offered]
    assert candidates(matcher, job(), bare) == expected


RANKS = st.sampled_from(["TARGET.Mips", "TARGET.Mips * MY.Factor", "0.0", 'real("NaN")', "TARGET.Text", None])
NUMBERS = st.sampled_from(["1", "2", "2.5", "-1", 'real("NaN")', 'real("-INF")', '"x"', None])


@settings(deadline=None)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.booleans()), min_size=1, max_size=12),
    RANKS,
    st.integers(1, 13),
    st.integers(0, 2**12 - 1),
)
@example([('real("NaN")', None, True), ('real("-INF")', None, True)], "TARGET.Mips", 5, 3)
def test_the_granted_slots_are_the_first_of_a_full_sort(bare, offers, rank, count, bits):
    """By the pool's order (the slot's Rank of the job, then small slots), the job's Rank, and the order of rows."""
    table = Table.from_ads(
        [
            slot(n, Mips=mips, Rank=own, Memory="1" if small else "2")
            for n, (mips, own, small) in enumerate(offers)
        ]
    )
    matcher = matcher_of(table)
    job_ad = job(Rank=rank, Factor="3")
    among = np.array([bits >> row & 1 for row in range(len(offers))], bool)
    rows, ranks = chosen(matcher, job_ad, among, count, bare)
    by_pool, by_job = matcher.ranks.of(np.arange(len(offers)), job_ad, ENV)
    low = float("-inf")
    keys = [[low if np.isnan(value) else value for value in column.tolist()] for column in (by_pool, by_job)]
    expected = sorted(np.flatnonzero(among).tolist(), key=lambda row: (-keys[0][row], -keys[1][row], row))[
        :count
    ]
    assert rows.tolist() == expected
    assert np.array_equal(ranks, by_job[expected], equal_nan=True)


def test_a_random_rank_is_drawn_for_the_candidates_only(bare):
    """It is never cached: the candidates get the numbers in their order, each time from the cycle's seed."""
    matcher = matcher_of(Table.from_ads([slot(n) for n in range(8)]))
    chance = job(Rank="random(1000000)")
    found = [
        chosen(matcher, chance, np.isin(np.arange(8), rows), 3, bare)
        for rows in ([0, 1, 2], [5, 6, 7], [5, 6, 7])
    ]
    assert [sorted(ranks.tolist()) for _, ranks in found[1:]] == [sorted(found[0][1].tolist())] * 2
    assert len(set(found[0][1].tolist())) == 3
    assert found[1][0].tolist() == [row + 5 for row in found[0][0].tolist()]


def test_the_random_numbers_of_a_request_do_not_depend_on_earlier_ones():
    """Each request draws from the cycle's seed anew, whatever is cached."""
    lucky = job(7, Requirements="random(1000) < 500 && TARGET.Memory > 1", Kind="7")
    alone = pools.cycle(snapshot([slot(n) for n in range(30)], [lucky]))
    first = job(1, Requirements="random(10) < 5", JobPrio="5")
    both = pools.cycle(snapshot([slot(n) for n in range(30)], [first, lucky]))
    (own,) = alone.outcomes
    assert own.candidates > 0
    assert own.removals[0].rejected == both.outcomes[1].removals[0].rejected


def test_slots_that_are_taken_are_no_candidates(bare):
    matcher = matcher_of(Table.from_ads([slot(number) for number in range(9)]))
    matcher.take(np.array([1]))
    matcher.take(np.array([4, 8]))
    found = match(request(job()), matcher, bare, CYCLE)
    assert np.flatnonzero(~found.among).tolist() == [1, 4, 8]
    assert [(each.removed, each.rejected) for each in found.removals] == [(3, 3)]

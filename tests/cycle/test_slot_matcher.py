"""The stations *match* and *charge* with the slot matcher of a cycle: candidates, and the best of them for a job."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pools
from negotiator.bundle import load_bundle
from negotiator.classad import Table, evaluate, evaluate_table, is_true, parse
from negotiator.cycle.charge import charge
from negotiator.cycle.claim_receipts import ClaimReceipts
from negotiator.cycle.match import MatchCandidates, SlotMatcher, match
from negotiator.cycle.recount import Recount
from negotiator.ledger import Ledger
from negotiator.plugin import Cycle, Request
from negotiator.queues import QueueTree
from pools import job, slot, snapshot

CYCLE = Cycle(1, pools.NOW, "0")
ENV = CYCLE.environment


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A bundle without policies and plugins."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "pool.yaml").write_text("audit: {matches: none}\n")
    return load_bundle(folder, entry_points=False)


def request(ad, count=1):
    """The request of so many jobs."""
    return Request("tester@d", "node1", ad, count, "1.0", applications=("node1#1",) * count)


def candidates(matcher, ad, bundle):
    """Whether each slot is a candidate of a job."""
    return match(request(ad), matcher, bundle, CYCLE).among.tolist()


def chosen(matcher, ad, among, count, bundle):
    """The slots that the station *charge* grants to so many jobs, and the job's Rank of them."""
    found = MatchCandidates(among, int(np.count_nonzero(among)), (), (), ())
    in_use, queues = Recount(Ledger(), ClaimReceipts(), {}), QueueTree.of(bundle.partition.root, pools.NOW)
    granted = charge(request(ad, count), found, matcher, in_use, queues, bundle, CYCLE)
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
def test_candidates_are_those_of_asking_pair_by_pair(bare, slots, jobs, repeats):
    """Whatever the expressions of both sides, and in whatever order jobs that are alike and others come."""
    slot_ads, job_ads = ads(slot, slots, repeats), ads(job, jobs)
    matcher = SlotMatcher.of(Table.from_ads(slot_ads), ENV)
    whole = parse("MY.Requirements")
    for asking in [*job_ads, *job_ads]:
        wanted = [
            is_true(evaluate(whole, asking, offered, ENV)) and is_true(evaluate(whole, offered, asking, ENV))
            for offered in slot_ads
        ]
        assert candidates(matcher, asking, bare) == wanted


def test_the_rest_of_an_expression_is_where_a_call_has_moved_to(bare):
    """After countMatches(TARGET.x, ...) names are looked up in the other ad: the conjuncts cannot be evaluated one by one."""
    moved = "countMatches(TARGET.P, TARGET.L) >= 0 && Memory > 500"
    offered = Table.from_ads([slot(P="true", L="{ [ q = 1 ] }", Memory="512"), slot(Memory="512")])
    asking = job(Memory="1", Requirements=moved)
    assert candidates(SlotMatcher.of(offered, ENV), asking, bare) == [True, False]


def test_without_requirements_nothing_matches(bare):
    """Neither a job without any nor a slot without any."""
    matcher = SlotMatcher.of(Table.from_ads([slot(), slot(Requirements=None)]), ENV)
    assert candidates(matcher, job(), bare) == [True, False]
    assert candidates(matcher, job(Requirements=None), bare) == [False, False]
    assert candidates(SlotMatcher.of(Table.from_ads([]), ENV), job(), bare) == []


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
    matcher = SlotMatcher.of(
        Table.from_ads([slot(n, Memory=str(256 * n), Mips=str(n), Requirements=START) for n in range(9)]), ENV
    )
    for n in range(1000):
        asks = f"TARGET.Memory >= RequestMemory && TARGET.Mips > {n % 5} && (TARGET.Cpus == 4)"
        asking = job(n, RequestMemory=str(64 * (n % 7)), Requirements=asks, Owner=f'"user{n % 3}"')
        expected = [row > n % 5 and 256 * row >= 64 * (n % 7) for row in range(9)]
        assert candidates(matcher, asking, bare) == expected
    assert len(counted) <= 7 + 5 + 3 + 2


def test_slots_with_different_requirements_are_evaluated_apart(bare):
    """Some slots share a START, some have another or none, and each is tested by its own."""
    starts = [START, "MY.Memory > 300", None, START, "TARGET.RequestMemory <= MY.Memory"]
    offered = [
        slot(n, Memory=str(256 * (n % 3)), Requirements="Start", Start=start)
        for n, start in enumerate(starts * 4)
    ]
    matcher = SlotMatcher.of(Table.from_ads(offered), ENV)
    whole = parse("MY.Requirements")
    for memory in ("100", "400", "Base * 2"):
        for owner in ('"eve"', '"zoe"'):
            asking = job(RequestMemory=memory, Base="150", Owner=owner, Requirements="TARGET.Memory < 600")
            expected = [
                is_true(evaluate(parse("Memory < 600"), each)) and is_true(evaluate(whole, each, asking))
                for each in offered
            ]
            assert candidates(matcher, asking, bare) == expected


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
def test_the_best_are_those_that_a_sort_of_all_would_put_first(bare, offers, rank, count, bits):
    """The pool's order first (a slot's Rank of the job, then small ones), then the job's Rank, then the order of rows."""
    table = Table.from_ads(
        [
            slot(n, Mips=mips, Rank=own, Memory="1" if small else "2")
            for n, (mips, own, small) in enumerate(offers)
        ]
    )
    matcher = SlotMatcher.of(table, ENV)
    asking = job(Rank=rank, Factor="3")
    among = np.array([bits >> row & 1 for row in range(len(offers))], bool)
    rows, ranks = chosen(matcher, asking, among, count, bare)
    by_pool, by_job = matcher.ranks.of(np.arange(len(offers)), asking, ENV)
    low = float("-inf")
    keys = [[low if np.isnan(value) else value for value in column.tolist()] for column in (by_pool, by_job)]
    expected = sorted(np.flatnonzero(among).tolist(), key=lambda row: (-keys[0][row], -keys[1][row], row))[
        :count
    ]
    assert rows.tolist() == expected
    assert np.array_equal(ranks, by_job[expected], equal_nan=True)


def test_a_rank_of_chance_is_drawn_for_the_candidates_only(bare):
    """It is never cached: the numbers go to the slots that are left, in their order, each time from the cycle's seed."""
    matcher = SlotMatcher.of(Table.from_ads([slot(n) for n in range(8)]), ENV)
    chance = job(Rank="random(1000000)")
    found = [
        chosen(matcher, chance, np.isin(np.arange(8), rows), 3, bare)
        for rows in ([0, 1, 2], [5, 6, 7], [5, 6, 7])
    ]
    assert [sorted(ranks.tolist()) for _, ranks in found[1:]] == [sorted(found[0][1].tolist())] * 2
    assert len(set(found[0][1].tolist())) == 3
    assert found[1][0].tolist() == [row + 5 for row in found[0][0].tolist()]


def test_what_one_request_draws_does_not_depend_on_those_before_it():
    """Each request draws from the cycle's seed anew, whatever is cached."""
    lucky = job(7, Requirements="random(1000) < 500 && TARGET.Memory > 1", Kind="7")
    alone = pools.cycle(snapshot([slot(n) for n in range(30)], [lucky]))
    first = job(1, Requirements="random(10) < 5", JobPrio="5")
    both = pools.cycle(snapshot([slot(n) for n in range(30)], [first, lucky]))
    (own,) = alone.outcomes
    assert own.candidates > 0
    assert own.removals[0].rejected == both.outcomes[1].removals[0].rejected

"""The column cache: the values of evaluation, computed once for ads that are alike, in bounded memory."""

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import (
    Ad,
    Environment,
    Side,
    Table,
    evaluate_table,
    parse,
    parse_ad,
    unparse_value,
)
from negotiator.classad.columnar import ColumnCache, DependencyIndex, MemoryBudget, TrueRows
from negotiator.classad.context import AdValue, ListValue

ENV = Environment(now=1_700_000_000.0, seed=5)


@attrs.frozen(eq=False)
class Values:
    """The values of a column, each with its type."""

    texts: list
    nbytes: int = 100

    @classmethod
    def of(cls, column):
        values = [column.value(row) for row in range(len(column))]
        shown = [unparse_value(v) if isinstance(v, ListValue | AdValue) else repr(v) for v in values]
        return cls([f"{type(v).__name__} {text}" for v, text in zip(values, shown, strict=True)])


def cache_of(rows, convert=Values.of, budget=None):
    table = Table.from_ads([parse_ad(row) if isinstance(row, str) else row for row in rows])
    return ColumnCache(DependencyIndex(table), ENV, convert, budget or MemoryBudget())


def evaluated(cache, expr, other, side):
    return Values.of(
        evaluate_table(expr, cache.dependencies.table, other, side=side, env=attrs.evolve(ENV))
    ).texts


PLAIN = [
    "1",
    "1.0",
    "true",
    "0.0",
    "-0.0",
    '"1"',
    "undefined",
    "error",
    "(1)",
    "-1",
    "A + 1",
    "TARGET.A",
    "MY.B",
    "time()",
]
shadows = st.dictionaries(
    st.sampled_from(["A", "B", "C", "my", "TARGET", "Requirements"]), st.sampled_from(PLAIN), max_size=4
).map(lambda items: "[" + "; ".join(f"{name} = {text}" for name, text in items.items()) + "]")
texts = st.one_of(
    expressions(max_leaves=8),
    st.sampled_from(
        [
            "A >= TARGET.B", "TARGET.A =?= MY.A", "MY.A =!= TARGET.A && B", "A", "TARGET.C || MY.C", "C ? A : B", "time() > A",
            "member(A, {1, MY.B, TARGET.B})", "ifThenElse(A, B, TARGET.C)", "MY.Requirements", "countMatches(MY.A, {[B = A]})",
            "isUndefined(evalInEachContext(C, TARGET.L)) && A == 1", "TARGET.MY", "strcat(A, B) == TARGET.s", 'eval("A") == B',
        ]
    ),
)  # fmt: skip


@settings(deadline=None)
@given(
    st.lists(texts, min_size=1, max_size=3),
    st.lists(ads("OnlyRow") | shadows, min_size=1, max_size=4),
    st.lists(ads("OnlyOther") | shadows, min_size=1, max_size=4),
)
def test_the_cache_gives_the_values_of_evaluation(exprs, rows, others):
    """For any expression of either side and any ads in turn, from the cache or not: the same types and values."""
    cache = cache_of(rows)
    for _ in range(2):
        for other in map(parse_ad, others):
            for expr in map(parse, exprs):
                for side in Side:
                    assert cache.get(expr, other, side).texts == evaluated(cache, expr, other, side)


def test_the_other_ad_that_an_attribute_of_the_own_one_selects_is_a_dependency():
    cache = cache_of(["[A = 0; C = MY.TARGET.A]"])
    for other in map(parse_ad, ["[]", "[A = 0]", "[A = 1]"]):
        expr = parse("TARGET.C")
        assert cache.get(expr, other, Side.TARGET).texts == evaluated(cache, expr, other, Side.TARGET)


KINDS = ["1", "1.0", "true", "0.0", "-0.0", "0", "false", '"1"', '"A"', '"a"', "undefined", "error", None]


@pytest.mark.parametrize("text", ["MY.A =?= TARGET.A", "MY.A / TARGET.B", "string(A)", "TARGET.Back"])
@pytest.mark.parametrize("side", Side)
def test_values_of_different_types_are_different_keys(text, side):
    """In Python 1, 1.0 and true are equal, and -0.0 is 0.0; a missing attribute is not an undefined one."""
    cells = [f"A = {kind}; B = 1.0;" if kind else "B = 2;" for kind in KINDS]
    cache = cache_of([f"[{cell} Back = TARGET.A]" for cell in cells])
    for other in [parse_ad(f"[{cell}]") for cell in cells]:
        assert cache.get(parse(text), other, side).texts == evaluated(cache, parse(text), other, side)


@pytest.fixture
def counted(monkeypatch):
    calls = []

    def count(*args, **kwargs):
        calls.append(args[0])
        return evaluate_table(*args, **kwargs)

    monkeypatch.setattr("negotiator.classad.columnar.column_cache.evaluate_table", count)
    return calls


def slots(count=4):
    return [f'[Memory = {256 * n}; Disk = {n}; Start = TARGET.Owner != "eve"]' for n in range(count)]


def job(**items):
    return Ad([(name, parse(str(value))) for name, value in items.items()])


def test_ads_alike_in_the_attributes_read_share_an_evaluation(counted):
    """Jobs that request the same memory share one, whatever expression gives the amount, on either side."""
    cache = cache_of(slots())
    requirements = parse("TARGET.Memory >= MY.RequestMemory"), Side.TARGET
    offers = parse("TARGET.RequestMemory <= MY.Memory"), Side.MY
    also = parse("Memory >= 512"), Side.TARGET
    memory = ["512", "2 * 256", "ifThenElse(Used =!= undefined, Used, 512)", "Half + Half"]
    jobs = [job(RequestMemory=memory[n % 4], Half=256, ClusterId=n) for n in range(100)]
    found = {
        tuple(cache.get(expr, job, side).texts) for job in jobs for expr, side in (requirements, offers, also)
    }
    assert found == {("bool False", "bool False", "bool True", "bool True")}
    assert len(counted) == 1


def test_the_same_text_is_evaluated_once_however_often_it_was_parsed(counted):
    """Jobs are parsed one by one: trees are compared, not objects."""
    cache = cache_of(slots())
    for n in range(20):
        cache.get(
            parse(f"TARGET.Memory >= {n % 2} && {'target' if n % 3 else 'TARGET'}.Disk < 3"),
            job(A=n),
            Side.TARGET,
        )
    assert len(counted) == 2


def test_attributes_read_by_expressions_of_the_rows_are_part_of_the_key(counted):
    """A slot's START reads Owner: jobs with different owners are not alike, those with different ClusterIds are."""
    cache = cache_of(slots())
    found = [
        cache.get(parse("Start"), job(Owner=f'"{owner}"', ClusterId=n), Side.MY).texts[0]
        for n, owner in enumerate(["eve", "zoe", "eve", "zoe"])
    ]
    assert found == ["bool False", "bool True"] * 2
    assert len(counted) == 2


def test_attributes_read_by_expressions_of_the_other_ad_are_part_of_the_key(counted):
    """Two jobs with the same expression may differ in an attribute that it reads."""
    cache = cache_of(slots())
    requirements = parse("TARGET.Memory >= MY.Ask + TARGET.Disk")
    for used in (1, 500, 1, 500):
        other = job(Ask="Base + TARGET.Disk", Base="Used + 1", Used=used)
        assert cache.get(requirements, other, Side.TARGET).texts == evaluated(
            cache, requirements, other, Side.TARGET
        )
    assert len(counted) == 2


@pytest.mark.parametrize("text", ["random(1000)", "Chance", 'eval("random(1000)")', "TARGET.Luck"])
def test_random_values_are_not_cached(text):
    """Each time another number is drawn, from the state that the caller gives."""
    cache = cache_of(["[Chance = random(1000); Luck = random(1000)]"])
    env = attrs.evolve(ENV)
    other = parse_ad("[Luck = random(1000)]")
    assert len({cache.get(parse(text), other, Side.MY, env).texts[0] for _ in range(20)}) > 1


def test_the_time_is_that_of_the_cache():
    """The clock does not move during a cycle."""
    cache = cache_of(slots(1))
    assert cache.get(parse("time()"), job(), Side.MY).texts == ["int 1700000000"]
    assert cache.get(parse("time()"), job(A=1), Side.MY, Environment(now=5.0)).texts == ["int 1700000000"]


def test_beyond_the_memory_budget_expressions_are_evaluated_each_time(counted):
    """A user may send any number of different conjuncts: memory is bounded, and the answers stay right."""
    budget = MemoryBudget(20_000)
    cache = cache_of(slots(), TrueRows.from_column, budget)
    for n in [*range(100), *range(100)]:
        truth = cache.get(parse(f"TARGET.Memory > {n} * 10"), job(), Side.TARGET)
        assert truth.rows.tolist() == [256 * row > n * 10 for row in range(4)]
    assert 0 <= budget.left < 20_000
    assert 100 < len(counted) < 200


def test_the_index_of_dependencies_is_emptied_when_it_is_full(monkeypatch, counted):
    """In the next epoch the same columns are found in the cache by their texts."""
    monkeypatch.setattr("negotiator.classad.columnar.dependencies.MAX_BYTES", 50_000)
    cache = cache_of(slots(), TrueRows.from_column)
    for n in [*range(60), *range(60)]:
        other = job(Ask=f"Base * {n}", Base=10)
        truth = cache.get(parse(f"TARGET.Memory > MY.Ask + {n % 7}"), other, Side.TARGET)
        assert truth.rows.tolist() == [256 * row > n * 10 + n % 7 for row in range(4)]
    assert cache.dependencies.epoch > 2
    assert len(counted) == 60


@pytest.mark.parametrize("length", [98, 99, 100])
@pytest.mark.parametrize(
    "text", ["X0 == 1", "true && X0 == 1", "true && (Yes && (X0 == 1))", "Yes && TARGET.X0 == 1"]
)
def test_an_expression_near_the_limits_is_not_folded(text, length):
    """After folding it might be within the limits: without ``true &&`` it has one level fewer."""
    chain = "; ".join(f"X{n} = X{n + 1} + 0 + 0 + 0" for n in range(length))
    deep, plain = parse_ad(f"[{chain}; X{length} = 1; Yes = true]"), parse_ad("[Yes = true]")
    for row, other in ((deep, plain), (plain, deep)):
        cache = cache_of([row, plain])
        for side in Side:
            assert cache.get(parse(text), other, side).texts == evaluated(cache, parse(text), other, side)


def test_expressions_with_too_many_attributes_are_not_cached(counted):
    """A hostile expression may name very many attributes."""
    cache = cache_of(slots())
    wide = parse(" || ".join(f"MY.A{n}" for n in range(300)) + " || TARGET.Memory > 300")
    for n in range(3):
        assert cache.get(wide, job(**{f"A{m}": "false" for m in range(300)}, B=n), Side.TARGET).texts[
            1:3
        ] == [
            "bool False",
            "bool True",
        ]
    assert len(counted) == 3


@given(st.lists(st.booleans(), max_size=40))
def test_true_rows_take_a_bit_each_and_are_those_of_their_mask(mask):
    true = TrueRows.from_mask(np.array(mask, np.bool_))
    assert true.rows.tolist() == mask
    assert (true.size, true.count) == (len(mask), sum(mask))
    assert true.nbytes == (-(-len(mask) // 8) if len(set(mask)) == 2 else 1)


def test_true_rows_are_counted_and_read_only():
    """Masks are shared between requests, so they cannot be written."""
    cache = cache_of(slots(), TrueRows.from_column)
    some = cache.get(parse("TARGET.Memory > 300"), job(), Side.TARGET)
    every = cache.get(parse("true"), job(), Side.TARGET)
    number = cache.get(parse("TARGET.Disk - 1"), job(), Side.TARGET)
    assert (some.count, some.has_false, every.count, every.has_false, number.count) == (
        2,
        True,
        4,
        False,
        3,
    )
    assert not some.rows.flags.writeable
    assert every.rows.shape == (4,)


def test_a_table_without_rows_has_no_true_rows():
    """A gate may have discarded all slots."""
    cache = cache_of([], TrueRows.from_column)
    truth = cache.get(parse("TARGET.Memory > MY.A"), job(A=1), Side.TARGET)
    assert (truth.rows.shape, truth.count, truth.has_false) == ((0,), 0, False)

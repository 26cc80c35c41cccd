"""What is kept of columns: always what evaluation gives, found once for ads that are alike, bounded."""

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import (
    ClassAd,
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


def keeping(rows, make=Values.of, room=None):
    table = Table.from_ads([parse_ad(row) if isinstance(row, str) else row for row in rows])
    return ColumnCache(DependencyIndex(table), ENV, make, room or MemoryBudget())


def wanted(kept, expr, other, side):
    return Values.of(evaluate_table(expr, kept.reaches.table, other, side=side, env=attrs.evolve(ENV))).texts


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
def test_what_is_kept_is_what_evaluation_gives(exprs, rows, others):
    """For any expression of either side and ads one after the other, the first time and again: kind and value."""
    kept = keeping(rows)
    for _ in range(2):
        for other in map(parse_ad, others):
            for expr in map(parse, exprs):
                for side in Side:
                    assert kept.of(expr, other, side).texts == wanted(kept, expr, other, side)


KINDS = ["1", "1.0", "true", "0.0", "-0.0", "0", "false", '"1"', '"A"', '"a"', "undefined", "error", None]


@pytest.mark.parametrize("text", ["MY.A =?= TARGET.A", "MY.A / TARGET.B", "string(A)", "TARGET.Back"])
@pytest.mark.parametrize("side", Side)
def test_values_are_told_apart_by_kind(text, side):
    """1, 1.0 and true are the same to Python, and -0.0 is 0.0; a lacking attribute is not an undefined one."""
    cells = [f"A = {kind}; B = 1.0;" if kind else "B = 2;" for kind in KINDS]
    kept = keeping([f"[{cell} Back = TARGET.A]" for cell in cells])
    for other in [parse_ad(f"[{cell}]") for cell in cells]:
        assert kept.of(parse(text), other, side).texts == wanted(kept, parse(text), other, side)


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
    return ClassAd([(name, parse(str(value))) for name, value in items.items()])


def test_ads_alike_in_what_is_read_share_whatever_else_they_say(counted):
    """Jobs that ask for as much memory are one evaluation, by whatever expression they come to it, on either side."""
    kept = keeping(slots())
    asks = parse("TARGET.Memory >= MY.RequestMemory"), Side.TARGET
    offers = parse("TARGET.RequestMemory <= MY.Memory"), Side.MY
    also = parse("Memory >= 512"), Side.TARGET
    memory = ["512", "2 * 256", "ifThenElse(Used =!= undefined, Used, 512)", "Half + Half"]
    jobs = [job(RequestMemory=memory[n % 4], Half=256, ClusterId=n) for n in range(100)]
    found = {tuple(kept.of(expr, job, side).texts) for job in jobs for expr, side in (asks, offers, also)}
    assert found == {("bool False", "bool False", "bool True", "bool True")}
    assert len(counted) == 1


def test_the_same_text_is_evaluated_once_however_often_it_was_parsed(counted):
    """Jobs are parsed one by one: what counts is the tree."""
    kept = keeping(slots())
    for n in range(20):
        kept.of(
            parse(f"TARGET.Memory >= {n % 2} && {'target' if n % 3 else 'TARGET'}.Disk < 3"),
            job(A=n),
            Side.TARGET,
        )
    assert len(counted) == 2


def test_what_expressions_of_the_rows_read_of_the_other_ad_tells_it_apart(counted):
    """A slot's START reads the job: jobs that differ there are not alike, those that differ elsewhere are."""
    kept = keeping(slots())
    found = [
        kept.of(parse("Start"), job(Owner=f'"{owner}"', ClusterId=n), Side.MY).texts[0]
        for n, owner in enumerate(["eve", "zoe", "eve", "zoe"])
    ]
    assert found == ["bool False", "bool True"] * 2
    assert len(counted) == 2


def test_an_expression_of_the_other_ad_is_followed_to_what_it_reads(counted):
    """Two jobs with the same expression differ in what it is made of."""
    kept = keeping(slots())
    asks = parse("TARGET.Memory >= MY.Ask + TARGET.Disk")
    for used in (1, 500, 1, 500):
        other = job(Ask="Base + TARGET.Disk", Base="Used + 1", Used=used)
        assert kept.of(asks, other, Side.TARGET).texts == wanted(kept, asks, other, Side.TARGET)
    assert len(counted) == 2


@pytest.mark.parametrize("text", ["random(1000)", "Chance", 'eval("random(1000)")', "TARGET.Luck"])
def test_chance_is_never_kept(text):
    """Each time another number is drawn, from what the caller gives to draw from."""
    kept = keeping(["[Chance = random(1000); Luck = random(1000)]"])
    env = attrs.evolve(ENV)
    other = parse_ad("[Luck = random(1000)]")
    assert len({kept.of(parse(text), other, Side.MY, env).texts[0] for _ in range(20)}) > 1


def test_the_clock_stands_still_for_as_long_as_anything_is_kept():
    """Time is the cycle's."""
    kept = keeping(slots(1))
    assert kept.of(parse("time()"), job(), Side.MY).texts == ["int 1700000000"]
    assert kept.of(parse("time()"), job(A=1), Side.MY, Environment(now=5.0)).texts == ["int 1700000000"]


def test_what_has_no_room_is_evaluated_each_time_and_stays_right(counted):
    """A user may send any number of different conjuncts: memory is bounded, not the answers."""
    room = MemoryBudget(20_000)
    kept = keeping(slots(), TrueRows.of, room)
    for n in [*range(100), *range(100)]:
        truth = kept.of(parse(f"TARGET.Memory > {n} * 10"), job(), Side.TARGET)
        assert truth.rows.tolist() == [256 * row > n * 10 for row in range(4)]
    assert 0 <= room.left < 20_000
    assert 100 < len(counted) < 200


def test_what_is_known_of_expressions_is_forgotten_before_it_grows_too_large(monkeypatch, counted):
    """Forgotten means found out again, with the same answers, from what is still kept."""
    monkeypatch.setattr("negotiator.classad.columnar.dependencies.MAX_BYTES", 50_000)
    kept = keeping(slots(), TrueRows.of)
    for n in [*range(60), *range(60)]:
        other = job(Ask=f"Base * {n}", Base=10)
        truth = kept.of(parse(f"TARGET.Memory > MY.Ask + {n % 7}"), other, Side.TARGET)
        assert truth.rows.tolist() == [256 * row > n * 10 + n % 7 for row in range(4)]
    assert kept.reaches.generation > 2
    assert len(counted) == 60


@pytest.mark.parametrize("length", [98, 99, 100])
@pytest.mark.parametrize(
    "text", ["X0 == 1", "true && X0 == 1", "true && (Yes && (X0 == 1))", "Yes && TARGET.X0 == 1"]
)
def test_an_expression_near_the_limits_is_evaluated_as_it_stands(text, length):
    """With less to do it might be within the limits: each ``true &&`` leaves one level fewer."""
    chain = "; ".join(f"X{n} = X{n + 1} + 0 + 0 + 0" for n in range(length))
    deep, plain = parse_ad(f"[{chain}; X{length} = 1; Yes = true]"), parse_ad("[Yes = true]")
    for row, other in ((deep, plain), (plain, deep)):
        kept = keeping([row, plain])
        for side in Side:
            assert kept.of(parse(text), other, side).texts == wanted(kept, parse(text), other, side)


def test_more_attributes_than_a_key_may_have_are_evaluated_each_time(counted):
    """A hostile expression names very many attributes."""
    kept = keeping(slots())
    wide = parse(" || ".join(f"MY.A{n}" for n in range(300)) + " || TARGET.Memory > 300")
    for n in range(3):
        assert kept.of(wide, job(**{f"A{m}": "false" for m in range(300)}, B=n), Side.TARGET).texts[1:3] == [
            "bool False",
            "bool True",
        ]
    assert len(counted) == 3


def test_truth_counts_the_rows_and_is_read_only():
    """Masks are shared between requests: nobody writes into them."""
    kept = keeping(slots(), TrueRows.of)
    some = kept.of(parse("TARGET.Memory > 300"), job(), Side.TARGET)
    every = kept.of(parse("true"), job(), Side.TARGET)
    number = kept.of(parse("TARGET.Disk - 1"), job(), Side.TARGET)
    assert (some.count, some.some_false, every.count, every.some_false, number.count) == (
        2,
        True,
        4,
        False,
        3,
    )
    assert not some.rows.flags.writeable
    assert every.rows.shape == (4,)


def test_a_table_without_rows_has_a_truth_without_rows():
    """All slots may have been kept out."""
    kept = keeping([], TrueRows.of)
    truth = kept.of(parse("TARGET.Memory > MY.A"), job(A=1), Side.TARGET)
    assert (truth.rows.shape, truth.count, truth.some_false) == ((0,), 0, False)

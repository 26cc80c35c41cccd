"""Evaluation by columns: the values of the scalar evaluator in every row, for any expression and ads."""

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls import words
from expressions import ads, expressions
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Ad,
    Environment,
    Side,
    Table,
    bind,
    evaluate,
    evaluate_table,
    is_true,
    parse,
    parse_ad,
    unparse_value,
)
from negotiator.classad.context import AdValue, ListValue
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.scalar import evaluate_part
from oracle import Oracle, available

ENV = Environment(now=1_700_000_000.0)


LITERALS = [
    "0", "1", "-1", "2", "3", "7", "-7", "64", "9223372036854775807", "-9223372036854775808",
    "0.0", "-0.0", "1.0", "2.5", "-3.5", "1e308", "1e-300", "9007199254740993", "9007199254740992", "9007199254740992.0",
    "true", "false", "undefined", "error",
    '"a"', '"A"', '"b"', '"ab"', '"_"', '""', '"é"', '"É"', '"10"', '"9"',
]  # fmt: skip
ODD = ['real("NaN")', 'real("-INF")', "{1, A, 2}", "[A = 5; X = B]", "relTime(60)", "(5)", "-(2)", "+3.5"]
NAMES = ["A", "B", "C", "a", "Requirements", "Onlyrow", "OnlyOther", "S"]
REFERENCES = [*NAMES, *(f"MY.{name}" for name in NAMES), *(f"TARGET.{name}" for name in NAMES)]
RARE = [
    "CurrentTime - A", "MY.TARGET.A", "other.B", "LEFT.A", ".A", "parent.A", "N.A", "N.B", "MY.N.X", "{A, B}[A]",
    'eval("A + B")', "unparse(A)", "size(S)", "member(A, {1, B, S})", "strcat(S, A)", "min({A, TARGET.B})",
    "evalInEachContext(A, {N, [A = 2]})", "countMatches(A > 1, {N})", 'stringListMember(S, "a,b")', "floor(A)",
    "ifThenElse(A, B, S)", "ifThenElse(A)", "isUndefined(A)", "isString(S)", "isError(B / A)", "isReal(A)",
    "nosuch(A)", "MY", "~A", "A & B", "A << 3", "time() > A", "[q = A].q", "[q = A].B", "L[1]", "sum(L)", "sum(TARGET.L)",
]  # fmt: skip
BINARY = [
    *"+-*/%", "<", "<=", "==", "!=", ">", ">=", "=?=", "=!=", "is", "isnt", "&&", "||", "&&", "||",
    "==", "<", "&", ">>",
]  # fmt: skip

leaves = st.one_of(
    st.sampled_from(REFERENCES),
    st.sampled_from(REFERENCES),
    st.sampled_from(LITERALS),
    st.sampled_from(ODD + RARE),
)


def _compound(inner):
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(BINARY), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(BINARY), inner),
        st.builds("({}({}))".format, st.sampled_from(["-", "+", "!", "~", ""]), inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("(({}) ?: ({}))".format, inner, inner),
        st.builds("isUndefined({})".format, inner),
    )


mixed = st.recursive(leaves, _compound, max_leaves=8)
cells = st.one_of(st.sampled_from(LITERALS), st.sampled_from(LITERALS), mixed)
row_ads = st.dictionaries(
    st.sampled_from(["A", "B", "C", "S", "N", "L", "Requirements", "A", "B", "C", "S"]), cells, max_size=6
)
rare_ads = st.one_of(
    row_ads,
    row_ads,
    row_ads,
    st.builds(
        lambda ad, name, cell: {**ad, name: cell},
        row_ads,
        st.sampled_from(["MY", "TARGET", "CurrentTime"]),
        cells,
    ),
)


def _ad(cells_by_name, only):
    return parse_ad(
        "[" + "; ".join(f"{name} = {text}" for name, text in {**cells_by_name, only: "3"}.items()) + "]"
    )


def _canonical(value):
    """Return a value with its type: in Python 1, 1.0 and True are equal."""
    text = unparse_value(value) if isinstance(value, ListValue | AdValue) else repr(value)
    return f"{type(value).__name__} {text}"


def _scalar(expr, row, other, side):
    return evaluate(expr, row, other, ENV) if side is Side.MY else evaluate(expr, other or Ad(), row, ENV)


def check(expr, rows, other, side):
    """Assert that every row has the value of the scalar evaluator, and that derived arrays agree."""
    table = Table.from_ads(rows)
    column = evaluate_table(expr, table, other, side=side, env=ENV)
    wanted = [_scalar(expr, row, other, side) for row in rows]
    assert [_canonical(column.value(row)) for row in range(len(rows))] == [
        _canonical(value) for value in wanted
    ]
    assert column.is_true().tolist() == [is_true(value) for value in wanted]
    numbers = [float(value) if type(value) in (bool, int, float) else -5.0 for value in wanted]
    assert np.array_equal(column.numbers(-5.0), numbers, equal_nan=True)


@settings(deadline=None)
@given(
    mixed,
    st.lists(rare_ads, min_size=1, max_size=7),
    st.one_of(st.none(), rare_ads),
    st.sampled_from(Side),
    st.lists(st.integers(0, 6), max_size=8),
)
def test_every_row_has_the_value_of_the_scalar_evaluator(text, rows, other, side, repeats):
    """For random expressions over random ads, on either side, alone or in a match, with rows that occur twice."""
    made = [_ad(row, "OnlyRow") for row in rows]
    made += [made[row % len(made)] for row in repeats]
    check(parse(text), made, None if other is None else _ad(other, "OnlyOther"), side)


@settings(deadline=None)
@given(
    expressions(),
    st.lists(ads("OnlyMine"), min_size=1, max_size=5),
    st.none() | ads("OnlyOther"),
    st.sampled_from(Side),
)
def test_every_construct_of_the_language(text, rows, other, side):
    """Also for the expressions of the scalar evaluator's tests: nested ads, lists, every kind of reference."""
    check(parse(text), [parse_ad(row) for row in rows], None if other is None else parse_ad(other), side)


@pytest.fixture(scope="module")
def oracle():
    if not available():
        pytest.skip("HTCondor's Python package is not installed")
    process = Oracle()
    yield process
    process.close()


@settings(deadline=None)
@given(
    expressions(),
    st.lists(ads("OnlyMine"), min_size=2, max_size=6),
    st.none() | ads("OnlyOther"),
    st.sampled_from(Side),
)
def test_every_row_has_the_value_that_htcondor_computes(oracle, text, rows, other, side):
    """Type and value, reals to the bit, among rows of other types, on either side of a match and alone."""
    if side is Side.TARGET:
        other = other or "[]"
    last = len(rows)
    pairs = [(at, None if other is None else last) for at in range(last)]
    questions = [[text, *(pair if side is Side.MY else reversed(pair))] for pair in pairs]
    expected = oracle.ask_all([*rows, other or "[]"], questions)
    if expected is None:
        return
    table = Table.from_ads([parse_ad(row) for row in rows])
    column = evaluate_table(
        parse(text), table, None if other is None else parse_ad(other), side=side, env=ENV
    )
    assert [words(column.value(row)) for row in range(last)] == expected


@settings(deadline=None)
@given(mixed, st.lists(rare_ads, min_size=1, max_size=5), rare_ads, st.sampled_from(Side))
def test_bound_scopes_mean_the_ads_themselves(text, rows, other, side):
    """After ``bind`` an ad that defines MY or TARGET changes nothing, by columns as by the scalar evaluator."""
    check(bind(parse(text)), [_ad(row, "OnlyRow") for row in rows], _ad(other, "OnlyOther"), side)


ROWS = [
    '[A = 1; B = A + 1; S = "x"]',
    '[A = 2.5; B = TARGET.A; S = "X"]',
    "[A = true; S = undefined]",
    "[A = undefined; B = 5; S = error]",
    '[B = "text"]',
    "[A = 9223372036854775807; B = -1]",
    "[A = -9223372036854775808; B = 0]",
    "[A = {1, 2}; B = [q = 1]]",
    "[A = B; B = A]",
    "[A = A + 1; B = A]",
    "[A = floor(B); B = A]",
    "[A = [X = MY.B]; B = 3]",
    "[]",
]  # fmt: skip
OTHER = (
    '[A = 100; B = TARGET.A; Deep = MY.B + 1; Circle = TARGET.Back; T = "x"; L = {A, B}; M = {MY.A}; Z = Z]'
)

SELECTED = [
    "A", "MY.A", "TARGET.A", "A + B", "A - B", "A * B", "A / B", "A % B", "-A", "+A", "!A", "A == B", "A < B", "A =?= B",
    "A =!= undefined", "A && B", "A || B", "A ? B : S", "A ?: 1", "TARGET.Deep", "Deep", "T == S", "T =?= S", "S < T",
    "TARGET.B", "Circle", "Z", "L[0]", "sum(TARGET.L)", "TARGET.L[1]", "isList(A)", "A.q", "B.q", "CurrentTime", "A =?= A",
    "error || A", "A || error", "false && A", "true || A", "undefined && A", "1.0 / A", "-1.0 / B", "A % 0", "A & 3",
    "symmetricMatch", "LEFT.A", "TARGET", "MY.TARGET.A", "strcat(A, B)", "random() < 2", 'eval("A")',
    "countMatches(q > 0, {B})", "sum(TARGET.M)", "floor(A)", "TARGET.M[0]",
    'countMatches(Nope, L) =?= 5 || T == "x"', "MY.X =?= UNDEFINED", "A.X", "strcat(TARGET.B, MY.B)", "A is B", "(((A)))", 'A > 1 && B > 1 && S == "x" && T == "x" && A < 1000 && B != 3',
]  # fmt: skip


@pytest.mark.parametrize("text", SELECTED)
@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("other", [OTHER, "[]", "[MY = 1; A = 2]", "[TARGET = [A = 6]; A = 2]", None])
def test_selected_expressions(text, side, other):
    """Each operator and each kind of reference, over rows that mix all kinds and absence."""
    check(parse(text), [parse_ad(row) for row in ROWS], None if other is None else parse_ad(other), side)


NUMBERS = [text for text in LITERALS if '"' not in text]
EDGES = [
    *LITERALS,
    "-1.0",
    "-2",
    "4611686018427387904",
    'real("NaN")',
    'real("-INF")',
    None,
]


def _pairs(texts):
    cells = [f"A = {text}; " if text else "" for text in texts]
    return [parse_ad(f"[{left}{right.replace('A', 'B', 1)}]") for left in cells for right in cells]


@pytest.mark.parametrize(
    "texts",
    [
        EDGES,
        NUMBERS,
        ["1", "{1}", "[A = 1]", "relTime(60)", '"a"', None],
        ["1", "-7", "3", "0", "-1", "-9223372036854775808"],
        ["true", "false"],
    ],
)
def test_operators_on_every_pair_of_values(texts):
    """Each operator on columns of all kinds, of numbers only, of integers and of booleans only, in every pairing."""
    rows = _pairs(texts)
    table = Table.from_ads(rows)
    for op in dict.fromkeys(BINARY):
        expr = parse(f"A {op} B")
        column = evaluate_table(expr, table)
        for row, ad in enumerate(rows):
            assert _canonical(column.value(row)) == _canonical(evaluate(expr, ad)), (
                op,
                ad.get("A"),
                ad.get("B"),
            )
    for text in ("-A", "+A", "!A", "A ? B : 5", "A ?: B", "isError(A)", "ifThenElse(A, B, A)"):
        check(parse(text), rows, None, Side.MY)


@pytest.mark.parametrize("constant", [*LITERALS, 'real("-INF")', "{1}"])
def test_operators_with_a_constant_on_either_side(constant):
    """A column with a value that is the same for all rows."""
    rows = [parse_ad(f"[A = {text}]" if text else "[]") for text in EDGES]
    for op in dict.fromkeys(BINARY):
        check(parse(f"MY.A {op} TARGET.C"), rows, parse_ad(f"[C = {constant}]"), Side.MY)
        check(parse(f"MY.C {op} TARGET.A"), rows, parse_ad(f"[C = {constant}]"), Side.TARGET)


def test_an_unscoped_name_falls_through_in_the_rows_that_lack_it_only():
    """Absent is not undefined: the other ad is searched only if the own ad does not have the attribute."""
    table = Table.from_ads([parse_ad("[A = 1]"), parse_ad("[]"), parse_ad("[A = undefined]")])
    column = evaluate_table(parse("A"), table, parse_ad("[A = 7]"), env=ENV)
    assert [column.value(row) for row in range(3)] == [1, 7, UNDEFINED]


@pytest.mark.parametrize(
    "text", ["A" + " || A" * 350, "A" + " + 1" * 500, "(" * 160 + "A" + ")" * 160, "!" * 300 + "A"]
)
def test_deep_expressions_give_the_result_of_the_scalar_evaluator(text):
    """Long chains and deep nesting neither raise nor differ, whether or not they are too deep to evaluate."""
    check(parse(text), [parse_ad(row) for row in ROWS], parse_ad(OTHER), Side.MY)


def test_long_chains_of_attributes_give_the_result_of_the_scalar_evaluator():
    """A chain of 500 attributes is too deep, one of 100 is not; neither ends in a RecursionError."""
    for length in (50, 100, 350, 500):
        chain = "; ".join(f"X{at} = X{at + 1} + 1" for at in range(length))
        row = parse_ad(f"[{chain}; X{length} = 0]")
        check(parse("X0"), [row, parse_ad("[X0 = 1]")], None, Side.MY)
        check(parse("TARGET.X0"), [parse_ad("[A = 1]"), row], row, Side.MY)


@pytest.mark.parametrize("depth", [0, 50, 100, 110, 120, 160])
@pytest.mark.parametrize("text", ["({X0}[0])", "X0 + (X0)", "X0 + ({X0}[0])", "X0 + (floor(X0))"])
def test_the_depth_of_an_evaluated_attribute_counts_each_time_it_is_used(depth, text):
    """X0 is 288 levels high: used again below many parentheses it is too deep, though it is not evaluated again."""
    hops = "; ".join(f"X{at} = X{at + 1}{' + 1' * 46}" for at in range(6))
    row = parse_ad(f"[{hops}; X6 = 0]")
    nested = text.replace("(", "(" * depth, 1)[::-1].replace(")", ")" * depth, 1)[::-1]
    check(parse(nested), [row, parse_ad("[X0 = 1]")], row, Side.MY)


@pytest.mark.parametrize(
    "text", ["isUndefined(evalInEachContext(Nope, TARGET.L)) && A == 1", "countMatches(Nope, L) > 9"]
)
def test_expressions_with_calls_that_move_the_evaluator_are_evaluated_as_a_whole(text):
    """After such a call, later names of the same expression are looked up elsewhere."""
    rows = [parse_ad(row) for row in ("[A = 1]", "[A = 2]", "[A = 1; L = {[q = 1]}]", "[]")]
    check(parse(text), rows, parse_ad("[L = {[q = 1], [q = 2]}; A = 1]"), Side.MY)


def test_work_that_doubles_each_time_is_an_error_as_it_is_for_one_ad(monkeypatch):
    """Steps count as they do for one ad, though by columns each attribute is evaluated once."""
    monkeypatch.setattr("negotiator.classad.context.scope.MAX_STEPS", 20_000)
    monkeypatch.setattr("negotiator.classad.columnar.footprints.MAX_STEPS", 2_000)
    doubling = "; ".join(f"X{at} = X{at + 1} + X{at + 1}" for at in range(16))
    rows = [parse_ad(f"[{doubling}; X16 = 1]"), parse_ad("[X0 = 2]"), parse_ad("[X0 = X4; X4 = 7]")]
    for text in ("X0", "floor(X0) == 1", "X6"):
        check(parse(text), rows, None, Side.MY)
    assert [evaluate_table(parse("X0"), Table.from_ads(rows)).value(row) is ERROR for row in range(3)] == [
        *(True, False, False),
    ]


def test_rows_are_grouped_by_the_attributes_that_their_expressions_read():
    """A function without a kernel is evaluated for each different B in rows where A reads B, likewise for C."""
    rows = [
        parse_ad(f"[A = {expr}; B = {b}; C = {c}]")
        for expr in ("B + 1", "C + 1", "[X = MY.D; D = 7].X", "{B, C}[1]")
        for b in range(3)
        for c in range(3)
    ]
    for text in ("floor(A)", "strcat(A)", "floor(TARGET.E)", "floor(TARGET.F)"):
        check(parse(text), rows, parse_ad("[E = TARGET.A; F = max({TARGET.B, TARGET.C})]"), Side.MY)


def test_a_table_without_rows_has_a_column_without_rows():
    """Nothing is evaluated."""
    column = evaluate_table(parse("A + B > 2"), Table.from_ads([]), parse_ad("[A = 1]"), side=Side.TARGET)
    assert len(column) == 0
    assert column.is_true().shape == (0,)


def test_many_expressions_of_few_rows_each():
    """An attribute with a different expression in almost every row is evaluated."""
    rows = [parse_ad(f"[A = B + {row}; B = {row % 3}]") for row in range(60)]
    rows += [parse_ad("[A = B * 2; B = 4]")] * 40
    check(parse("A > 10"), rows, parse_ad("[B = 1]"), Side.MY)
    check(parse("TARGET.A + B"), rows, parse_ad("[B = 1]"), Side.TARGET)


def test_the_scalar_evaluator_runs_once_for_equal_rows(monkeypatch):
    """A function without a kernel is called once for each different value of the attributes it reads."""
    calls = []

    def counted(*args):
        calls.append(args)
        return evaluate_part(*args)

    monkeypatch.setattr("negotiator.classad.columnar.batch.evaluate_part", counted)
    rows = [parse_ad(f'[Version = "8.{row % 3}.0"; Name = "slot{row}"]') for row in range(300)]
    column = evaluate_table(
        parse('versionGE(split(TARGET.Version)[0], "8.1.0")'),
        Table.from_ads(rows),
        Ad(),
        side=Side.TARGET,
    )
    assert column.is_true().tolist() == [row % 3 > 0 for row in range(300)]
    assert len(calls) == 3


def test_a_function_of_values_is_called_once_for_equal_arguments(monkeypatch):
    """Equal in kind and value, whatever attributes they come from."""
    calls = []
    function = FUNCTIONS["strcat"]

    def counted(args, env):
        calls.append(args)
        return function.call(args, env)

    monkeypatch.setitem(FUNCTIONS, "strcat", attrs.evolve(function, call=counted))
    cells = [
        "1",
        "1.0",
        "true",
        '"1"',
        '"a"',
        '"A"',
        "undefined",
        "error",
        "0.0",
        "-0.0",
        "2",
        "3 - 1",
        "{2}",
        "false",
    ]
    rows = [parse_ad(f"[A = {cell}]") for cell in [*cells, *cells]]
    check(parse("strcat(A, OnlyOther)"), rows[:12], parse_ad("[OnlyOther = A]"), Side.MY)
    calls.clear()
    table = Table.from_ads([row for row in rows if row.get("A") != parse("{2}")])
    evaluate_table(parse("strcat(A, 5)"), table)
    assert len(calls) == len(cells) - 2


def test_results_are_read_only():
    """Columns are shared, so they cannot be written."""
    table = Table.from_ads([parse_ad("[A = 1]"), parse_ad("[A = 2]")])
    column = evaluate_table(parse("A > 1"), table)
    for array in (column.is_true(), column.numbers(0.0), column.kinds):
        assert not array.flags.writeable

"""Comparisons of a column with many constants: after a few of them its sorted values are used, and nothing else changes."""

from hypothesis import example, given
from hypothesis import strategies as st

from negotiator.classad import Table, evaluate, evaluate_table, parse, parse_ad
from negotiator.classad.columnar import DependencyIndex

ROWS = 5000
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1]),
    st.sampled_from([-0.0, 0.5, 2.0, 1e300, 9007199254740993.0]),
    st.booleans(),
)
CELLS = st.one_of(NUMBERS, st.sampled_from(['"a"', "undefined", "error", "A / 2", 'real("NaN")']))


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def values(column, rows):
    return [repr(column.value(row)) for row in rows]


@given(cells=st.lists(CELLS, min_size=1, max_size=6), constants=st.lists(NUMBERS, min_size=1, max_size=4))
@example(cells=[2**53, 2**53 + 1], constants=[2**53 + 1])
@example(cells=[1, 2.0, True], constants=[1, 2.0, True, -0.0])
@example(cells=['real("NaN")', 1.0], constants=[1.0])
def test_repeated_comparisons_with_constants_are_those_of_scalar_evaluation(cells, constants):
    ads = [parse_ad(f"[A = 3; X = {text(cell)}]") for cell in cells]
    table = Table.from_ads((ads * ROWS)[:ROWS])
    index = DependencyIndex(table)
    for constant in constants * 8:
        for op in OPERATORS:
            for written in (f"MY.X {op} {text(constant)}", f"{text(constant)} {op} MY.X"):
                expr = parse(written)
                column = evaluate_table(expr, table, dependencies=index)
                expected = [repr(evaluate(expr, ad)) for ad in ads]
                assert [repr(column.value(row)) for row in range(len(ads))] == expected, written
                assert column.is_true()[: len(ads)].tolist() == [each == "True" for each in expected]

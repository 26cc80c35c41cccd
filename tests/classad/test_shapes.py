"""Expressions that differ only in their constants are evaluated together, with the values that each has by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.classad import Ad, Environment, Side, Table, evaluate, evaluate_table, parse
from negotiator.classad.columnar import DependencyIndex, shape_of
from negotiator.classad.columnar.shapes import shaped_parts

SHAPES = (
    "TARGET.RequestMemory <= {0}",
    'LoadAvg < {0} || TARGET.Owner == "u{0}"',
    'stringListMember(TARGET.Owner, "ann,u{0}") && Cpus > {1}',
    "ifThenElse(isUndefined(TARGET.RequestGPUs), true, GPUs > {0})",
    "Memory =?= {0} ? {1} : TARGET.Memory + {0}.5",
    '-{0} + {1} * Cpus ?: "x{0}"',
    'unparse(Cpus) == "{0}"',
    'eval("Cpus > {0}")',
    "{{ {0}, Cpus }}[0] == {1}",
    'regexp("u{0}", TARGET.Owner)',
    "{0} / {1} > Missing",
)  # fmt: skip

numbers = st.integers(0, 40)
texts = st.lists(st.tuples(st.sampled_from(SHAPES), numbers, numbers), min_size=30, max_size=60)
JOBS = [
    "",
    'RequestMemory = 20; Owner = "u7"; Memory = 3',
    'RequestMemory = Cpus * 3; Owner = strcat("u", 4); RequestGPUs = 1',
    'MY = [Cpus = 9]; TARGET = [RequestMemory = 1]; Owner = "ann"',
]


def pool(chosen):
    """Return a table whose Start has these texts, each twice."""
    ads = [
        Ad(
            [
                ("Start", parse(text.format(one, two))),
                ("Cpus", number % 5),
                ("LoadAvg", number / 7),
                ("GPUs", number % 2),
                ("Memory", one),
            ]
        )
        for number, (text, one, two) in enumerate(chosen * 2)
    ]
    return Table.from_ads(ads)


@settings(max_examples=60, deadline=None)
@given(texts, st.sampled_from(JOBS))
def test_an_attribute_of_many_texts_has_the_values_of_each_ad(chosen, job):
    table, other = pool(chosen), Ad([(n, e) for n, e in parse(f"[{job}]").items])
    env = Environment(now=1.0, seed=1)
    expected = [repr(evaluate(parse("MY.Start"), ad, other, env)) for ad in table.ads]
    for index in (None, DependencyIndex(table)):
        for _ in range(2):
            column = evaluate_table(parse("MY.Start"), table, other, env=env, dependencies=index)
            assert [repr(value) for value in column.values(np.arange(len(table)))] == expected


def test_an_attribute_that_reads_the_slot_alone_is_right_for_a_job_that_changes_the_meaning_of_my():
    table = pool([("LoadAvg < {0} && MY.Cpus < {1}", number, number % 4) for number in range(40)])
    index, env = DependencyIndex(table), Environment()
    for job in JOBS[::-1] + JOBS:
        other = Ad([(n, e) for n, e in parse(f"[{job}]").items])
        expected = [repr(evaluate(parse("Start"), ad, other, env)) for ad in table.ads]
        found = evaluate_table(parse("Start"), table, other, side=Side.MY, env=env, dependencies=index)
        assert [repr(value) for value in found.values(np.arange(len(table)))] == expected


@pytest.mark.parametrize("text", ["Cpus", "true", "unparse(5)", 'eval("5")', "{1, 2}[0]", "[a = 1].a", "random(5)", "+".join(["1"] * 80)])  # fmt: skip
def test_an_expression_whose_value_may_depend_on_its_text_has_no_shape(text):
    assert shape_of(parse(text)) is None


def test_constants_of_different_types_are_evaluated_apart():
    one, other, third = (shape_of(parse(text)) for text in ("Cpus > 1", "Cpus > 1.0", "Cpus > 2"))
    assert one.key == third.key != other.key
    assert (one.constants, third.constants) == ((1,), (2,))
    assert one.expr == third.expr


def test_a_text_of_many_rows_is_evaluated_by_columns_though_it_is_the_only_one_of_its_shape():
    common = [("LoadAvg < {0} || Missing", 3, 0)] * 40
    table = pool(common + [('unparse(Cpus) == "{0}"', number, 0) for number in range(20)])
    parts = shaped_parts(table, "Start")
    assert sorted(len(part.rows) for part in parts if part.expr is not None) == [80]
    assert [len(part.rows) for part in parts if part.expr is None] == [40]


def test_a_name_that_all_slots_have_is_never_looked_up_in_the_job():
    slots = Table.from_ads(
        Ad([("Memory", parse("TotalMemory / 8")), ("TotalMemory", size)]) for size in (8, 16)
    )
    index = DependencyIndex(slots)
    assert index.is_of_rows_alone(parse("MY.Memory"))
    assert not index.is_of_rows_alone(parse("MY.Memory + Absent"))
    assert not index.is_of_rows_alone(parse("TARGET.TotalMemory"))


@pytest.mark.parametrize(
    "text", ['regexp("(a+)+b", TARGET.Owner)', f'strcat("{"x" * 1001}", TARGET.Owner) == "y"']
)
def test_an_expression_whose_constant_may_make_it_costly_has_no_shape(text):
    """The ads of a shape share its cost."""
    assert shape_of(parse(text)) is None

"""Formulas, and their values on a host."""

from fractions import Fraction

import pytest

from negotiator_quotasets.complexes import STANDARD, ComplexType
from negotiator_quotasets.language import evaluate_formula
from negotiator_quotasets.language.model import FormulaError, read_formula


def value(text, type_=ComplexType.INT, **values):
    return evaluate_formula(read_formula(text, STANDARD, numeric=True), type_, values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$num_proc", 3),
        ("$num_proc*5", 15),
        ("$num_proc*2+1", 7),
        ("5+$num_proc", 8),
        ("10-$num_proc", 7),
        ("1-$num_proc", -2),
        ("$num_proc+$num_proc", 6),
        ("$num_proc*1.5", 4),
        ("$num_proc*.1", 0),
    ],
)
def test_a_formula_is_computed_with_the_values_of_a_host(text, expected):
    """A limit of an INT is rounded down."""
    assert value(text, num_proc=Fraction(3)) == expected


def test_other_types_are_not_rounded():
    """A limit of memory or of a double is exact."""
    assert value("$num_proc*1.5", ComplexType.DOUBLE, num_proc=Fraction(3)) == Fraction(9, 2)


@pytest.mark.parametrize("values", [{}, {"num_proc": None}])
def test_a_host_without_the_value_has_no_result(values):
    """Neither 0 nor unlimited: the caller decides."""
    assert value("$num_proc*2+1", **values) is None


@pytest.mark.parametrize(
    "text",
    [
        "$",
        "$nosuch",
        "$num_proc/2",
        "2*$num_proc",
        "$num_proc*1k",
        "$num_proc*-1",
        "$num_proc**2",
        "+$num_proc",
        "$num_proc-",
        "5*2+$num_proc",
        "$arch",
        "$rerun",
        "$num_proc" + "+1" * 100,
        "$num_proc*" + "9" * 41,
    ],
)
def test_a_formula_outside_the_grammar_is_refused(text):
    """Grid Engine accepts most of these, and then limits nothing."""
    with pytest.raises(FormulaError, match="dynamical_limit"):
        read_formula(text, STANDARD, numeric=True)

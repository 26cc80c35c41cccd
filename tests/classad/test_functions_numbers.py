"""Functions of numbers: floor, ceil, ceiling, round, pow, quantize, random, interval."""

import pytest
from hypothesis import given, settings

from calls import ANYTHING, agrees, calls, cases, needs_htcondor, spelled, up_to, value
from negotiator.classad import ERROR, Environment, evaluate, parse

TABLE = r"""
floor(-1.5) => -2
floor("2.9") => 2
ceil(-1.5) => -1
CEILING(1.5) => 2
round(2.5) => 2
round(3.5) => 4
round(-0.5) => 0
round("x") => error
round(undefined) => error
floor(true) => 1
floor(1e30) => -9223372036854775808
floor(9223372036854775807) => 9223372036854775807
pow(2, 10) => 1024
pow(-2, 3) => -7
pow(3, 35) => 50031545098999704
pow(2, 63) => -9223372036854775808
pow(10, 400) => -9223372036854775808
pow(0, 0) => 1
pow(2, -1) => 0.5
pow("2", 3) => 8.0
pow(10.0, 400) => real("INF")
pow(0, -1) => real("INF")
pow(-8, 0.5) => real("NaN")
pow(undefined, 1) => error
pow(2) => error
quantize(13, 8) => 16
quantize(-13, 8) => 0
quantize(3.2, 8) => 8.0
quantize(-2, 2.5) => -0.0
quantize(13, {4, 8}) => 16
quantize(5, {4, 8}) => 8
quantize(5, {"8"}) => "8"
quantize(5, {}) => 5
quantize(5, {"x"}) => error
quantize("5", 0) => "5"
quantize(5, 1e-9) => 5
quantize(9223372036854775807, 2) => -9223372036854775808
quantize(undefined, 8) => error
random("a") => error
random(true) => error
random(1, 2) => error
random(1) => 0
random(0) => error
random(-1.5) => error
interval(0) => "0"
interval(65) => "1:05"
interval(3600) => "1:00:00"
interval(100000) => "1+03:46:40"
interval(-61) => "-1:01"
interval(-100000) => "-1+03:46:40"
interval(4294967297) => "1"
interval("65.9") => "1:05"
interval(undefined) => error
"""


@pytest.mark.parametrize(("call", "value"), cases(TABLE))
def test_values(call, value):
    """Each call of the table has its value, of its kind."""
    assert spelled(call) == spelled(value)


@needs_htcondor
@pytest.mark.parametrize("call", [call for call, _ in cases(TABLE)])
def test_table_is_htcondors(call):
    """HTCondor's library has the values of the table."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["floor", "ceil", "ceiling", "round", "interval"], ANYTHING))
def test_rounding(call):
    """Rounding any value agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["pow"], ANYTHING, ANYTHING))
def test_powers(call):
    """Powers of any values agree with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["quantize"], ANYTHING, ANYTHING | up_to(ANYTHING, 3)))
def test_multiples(call):
    """Quantizing any value to a step or a list of steps agrees with HTCondor."""
    assert agrees(call)


def test_the_division_that_crashes_htcondor_is_an_error():
    """The quotient that does not fit 64 bits, which crashes HTCondor, is an error."""
    assert value("quantize(-9223372036854775806, -1)") is ERROR


def test_random_numbers_depend_on_the_seed():
    """Equal seeds give equal numbers, other seeds others, all in their range."""

    def drawn(seed):
        env = Environment(seed=seed)
        return [evaluate(parse(call), env=env) for call in ["random(1000)", "random()", "random(2.5)"] * 20]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert all(0 <= number < 1000 for number in drawn(3)[::3])
    assert all(0.0 <= number <= 1.0 for number in drawn(3)[1::3])
    assert all(isinstance(number, float) and 0.0 <= number <= 2.5 for number in drawn(3)[2::3])

"""Operators: the tables of SEMANTICS section 3."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import ERROR, UNDEFINED, evaluate, parse, unparse_value
from negotiator.classad.context import BINARY
from negotiator.classad.context.operators import INT_MAX, INT_MIN, compare_folded, wrap
from negotiator.classad.syntax import Binary, Literal, Unary
from negotiator.classad.values import AbsTime, RelTime

PROBES = """
true + true => 2
1/0 => error
1.0/0 => error
-1.0/0 => real("-INF")
0.0/0.0 => real("NaN")
real("INF")+1 => error
real("-INF")+1 => real("-INF")
1e308*10 => error
-1e308*10 => real("-INF")
9223372036854775807+1 => -9223372036854775808
9223372036854775807+true => -9223372036854775808
(-9223372036854775807-1)/-1 => 9223372036854775807
(-9223372036854775807-1)%-1 => 0
-7/2 => -3
-7%3 => -1
7%-3 => 1
5.0%2 => error
5%0 => error
-true => error
+true => error
-relTime(60) => relTime("-01:00")
!0.5 => false
!real("NaN") => false
!"a" => error
!undefined => undefined
~5 => -6
~true => error
1<<65 => 2
-8>>>0 => 0
-8>>>1 => 9223372036854775804
-8>>-1 => -8
-8>>1 => -4
-8>>100 => -1
8>>-1 => 0
true & 1 => error
6 & 3 => 2
6 ^ 3 => 5
9007199254740993 == 9007199254740992.0 => true
"abc" == "ABC" => true
"a" < "_" => false
"10" < "9" => true
1 == "1" => error
true == 1 => true
{} == {} => error
real("NaN") != real("NaN") => true
undefined == undefined => undefined
"" == undefined => undefined
undefined + {} => undefined
"a" + error => error
undefined + error => error
1 is 1.0 => false
true is 1 => false
"a" is "A" => false
"a" isnt "A" => true
undefined is undefined => true
error is error => true
{1} is {1} => error
{} is undefined => false
[] isnt [] => error
0.0 is -0.0 => true
real("NaN") is real("NaN") => false
false && error => false
error && false => error
undefined && false => false
undefined && error => error
undefined && 1 => undefined
"a" && false => error
false && "a" => false
true && "a" => error
true && 5 => true
true && undefined && 0 => false
undefined || true => true
1 || error => true
false || 0.5 => true
false || undefined || 0.0 => undefined
undefined || "a" => error
0.5 ? 1 : 2 => 1
"x" ? 1 : 2 => error
undefined ? 1 : 2 => undefined
error ?: 1 => error
0 ?: 2 => 0
undefined ?: undefined ?: 3 => 3
{1,2}[1] => 2
{1,2}[2] => error
{1,2}[true] => error
{1,2}[1.0] => error
{1,2}[4294967296] => 1
{1,2}[undefined] => undefined
{1,2}["a"] => error
"abc"[0] => error
[a=1]["A"] => 1
[a=1]["b"] => undefined
[a=1][0] => error
{[a=1],[a=2]}.a => { 1,2 }
{1,2}.a => { error,error }
(5).x => error
nosuch.x => undefined
absTime("2000-01-01T00:00:00Z") - absTime("1999-12-31T23:00:00Z") => relTime("01:00:00")
relTime(60) * 2 => relTime("02:00")
isRelTime(relTime(60) / 0) => true
"""


def probes():
    return [line.split(" => ") for line in PROBES.strip().splitlines()]


@pytest.mark.parametrize(("text", "value"), probes())
def test_the_probes_of_the_specification(text, value):
    """Operators have the values of the probes, which HTCondor's library has confirmed."""
    assert unparse_value(evaluate(parse(text))) == value


integers = st.integers(INT_MIN, INT_MAX) | st.integers(-5, 5)
numbers = integers | st.booleans() | st.floats()
values = (
    numbers
    | st.text(max_size=4)
    | st.sampled_from(
        [UNDEFINED, ERROR, RelTime(60.0), RelTime(math.inf), AbsTime(0, 0), AbsTime(INT_MAX, 3600)]
    )
)
STRICT = sorted(set(BINARY) - {"&&", "||", "=?=", "=!="})


@given(st.sampled_from(sorted(BINARY)), values, values)
def test_every_operator_has_a_value_for_every_pair_of_values(op, left, right):
    """No pair of operands raises, and integers stay within 64 bits."""
    result = evaluate(Binary(op, Literal(left), Literal(right)))
    assert type(result) is not int or INT_MIN <= result <= INT_MAX


@given(st.sampled_from("+-!~"), values)
def test_every_operator_has_a_value_for_every_operand(op, value):
    """No operand raises, and integers stay within 64 bits."""
    result = evaluate(Unary(op, Literal(value)))
    assert type(result) is not int or INT_MIN <= result <= INT_MAX


@given(st.sampled_from(STRICT), values)
def test_error_before_undefined_before_the_wrong_kind(op, value):
    """Strict operators return the exceptional operand, whichever side it is on."""
    apply = BINARY[op]
    assert apply(value, ERROR) is ERROR
    assert apply(ERROR, value) is ERROR
    expected = ERROR if value is ERROR else UNDEFINED
    assert apply(value, UNDEFINED) is expected
    assert apply(UNDEFINED, value) is expected


@given(integers, integers)
def test_integers_wrap_at_64_bits(left, right):
    """Sums, differences and products are modulo 2**64; quotient and remainder give the dividend."""
    for op, exact in (("+", left + right), ("-", left - right), ("*", left * right)):
        assert (BINARY[op](left, right) - exact) % 2**64 == 0
    if right != 0 and (left, right) != (INT_MIN, -1):
        quotient, remainder = BINARY["/"](left, right), BINARY["%"](left, right)
        assert quotient * right + remainder == left
        assert abs(remainder) < abs(right)
        assert remainder == 0 or (remainder < 0) == (left < 0)


@given(st.integers())
def test_wrapping_is_stable(number):
    """A wrapped number is in range, is the same modulo 2**64, and wraps to itself."""
    wrapped = wrap(number)
    assert INT_MIN <= wrapped <= INT_MAX
    assert (wrapped - number) % 2**64 == 0
    assert wrap(wrapped) == wrapped


@given(st.text(max_size=6), st.text(max_size=6))
def test_order_of_strings(left, right):
    """Strings are ordered by their UTF-8 bytes with A to Z folded."""
    one, other = (text.encode("utf-8", "surrogatepass").lower() for text in (left, right))
    assert compare_folded(left, right) == (one > other) - (one < other)


def test_letters_beyond_ascii_have_case():
    """Only A to Z fold, as in HTCondor."""
    assert evaluate(parse('"É" == "é"')) is False
    assert evaluate(parse('"\\351" == "\\311"')) is False


@pytest.mark.parametrize("value", [True, 1, -1, 0.5, math.nan])
def test_true_conditions(value):
    """Booleans and numbers are conditions; NaN is true."""
    assert evaluate(Unary("!", Literal(value))) is False

"""Functions of lists: sum, avg, min, max, member, identicalMember, anyCompare, allCompare."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls import ANYTHING, NUMBERS, agrees, calls, cases, needs_htcondor, spelled, up_to

TABLE = r"""
sum({}) => 0
sum({1, 2.0}) => 3.0
sum({true}) => true
sum({true, true}) => 2
sum({undefined, 1}) => 1
sum({9223372036854775807, 1}) => -9223372036854775808
sum({1, "a"}) => error
sum(undefined) => undefined
sum(1) => error
avg({}) => 0
avg({1, 2}) => 1.5
avg({true}) => 1.0
avg({1e308, 1e308}) => error
min({}) => undefined
max({undefined}) => undefined
max({true}) => true
max({true, false}) => 1
max({1, 2.0, 3}) => 3.0
min({2, 2.0}) => 2.0
min({real("NaN"), 1}) => real("NaN")
max({1, real("NaN")}) => 1.0
max({error}) => error
member("a", {1, "A"}) => true
member(1, {error, 1.0}) => true
member(undefined, {undefined}) => undefined
member(1, undefined) => undefined
member(error, {1}) => error
member({1}, {1}) => error
member(1, "a") => error
identicalMember("a", {"A"}) => false
identicalMember(1, {1.0, true}) => false
identicalMember(undefined, {undefined}) => true
identicalMember(error, {error}) => true
identicalMember(1, undefined) => undefined
identicalMember(undefined, 5) => error
anyCompare("<", {5, 1}, 2) => true
anyCompare("<", {}, error) => false
anyCompare("==", {undefined, 1}, 1) => false
anyCompare("==", {1, undefined}, 1) => true
anyCompare("<", {1}, "a") => error
anyCompare("=?=", {1}, 1) => error
anyCompare("is", {1}, error) => false
anyCompare(undefined, {1}, 1) => undefined
anyCompare("<", undefined, error) => undefined
allCompare(">=", {2, 3.5}, 2) => true
allCompare("isnt", {1, 2}, 2) => false
allCompare("==", {undefined}, 1) => false
allCompare("==", {}, 1) => true
allCompare(1, {}, 1) => error
"""

OPERATORS = st.sampled_from(['"<"', '"<="', '"=="', '"!="', '">"', '">="', '"is"', '"isnt"', '"=?="'])


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
@given(calls(["sum", "avg", "min", "max"], up_to(NUMBERS | ANYTHING, 5) | ANYTHING))
def test_any_lists(call):
    """Sums, means and bounds of any lists agree with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["sum", "avg", "min", "max"], up_to(NUMBERS | st.sampled_from(["true", "undefined"]), 5)))
def test_lists_of_numbers(call):
    """Sums, means and bounds of lists of numbers agree with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["member", "identicalMember"], ANYTHING, up_to(ANYTHING, 5) | ANYTHING))
def test_members(call):
    """Searching any list for any value agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["anyCompare", "allCompare"], OPERATORS | ANYTHING, up_to(ANYTHING, 3) | ANYTHING, ANYTHING))
def test_comparisons(call):
    """Comparing any list with any value agrees with HTCondor."""
    assert agrees(call)

"""Functions of lists in a string: stringListSize .. stringListsIntersect."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls import ANYTHING, NUMBER_TEXTS, agrees, calls, cases, needs_htcondor, quoted, spelled, texts

TABLE = r"""
stringListSize(" a , b,, c\t") => 3
stringListSize("a b", "") => 1
stringListSize("a;b", ";") => 2
stringListSize(undefined) => error
stringListSum("1,2,3") => 6
stringListSum("1,2.0") => 3.0
stringListSum("") => 0.0
stringListSum("1,a") => error
stringListSum("1a,2") => 3.0
stringListSum("0x10") => 16.0
stringListSum("0x") => error
stringListSum("infi") => error
stringListSum("1-2") => 1
stringListSum("9223372036854775807,1") => -9223372036854775808
stringListAvg("1,2") => 1
stringListAvg("1,2.0") => 1.5
stringListMin("3,-5") => -5
stringListMin("") => undefined
stringListMin("1e39") => 340282346638528859811704183484516925440.0
stringListMax("-5,-6") => 0
stringListMax("") => undefined
stringListMember("a", " a , b ") => true
stringListMember("a b", "x, a b ,y", ",") => true
stringListMember("A", "a") => false
stringListMember("", "a,,b") => false
stringListMember("a", undefined) => false
stringListMember(undefined, undefined) => undefined
stringListMember("a", "a", undefined) => true
stringListMember(1, "1") => error
stringListIMember("A", "a") => true
stringListIMember("É", "é") => false
stringListSubsetMatch("a,b", "b,a,c") => true
stringListSubsetMatch("a,d", "b,a,c") => false
stringListSubsetMatch("", "") => true
stringListSubsetMatch(",", "a") => false
stringListSubsetMatch(undefined, "a") => true
stringListISubsetMatch("A,b", "b,a,c") => true
stringList_regexpMember("^b$", "a b") => true
stringList_regexpMember("^b$", "a b", ";") => false
stringList_regexpMember("A", "a,b", ",", "I") => true
stringList_regexpMember("a", "") => undefined
stringList_regexpMember("[", "") => error
stringList_regexpMember("a", undefined) => error
stringListsIntersect("a,b", "b c") => true
stringListsIntersect("a,b", "\tb") => false
stringListsIntersect("a,b", "B") => false
stringListsIntersect("a;b", "b", ";") => true
stringListsIntersect("a b", "a b", "") => true
stringListsIntersect("a", undefined) => undefined
stringListsIntersect("a", 1) => error
"""

SUMMARIES = ["stringListSize", "stringListSum", "stringListAvg", "stringListMin", "stringListMax"]
MEMBERS = ["stringListMember", "stringListIMember", "stringListSubsetMatch", "stringListISubsetMatch"]
MEMBERS += ["stringListsIntersect"]
LISTS = texts("aAbB ,;\t\n1-+.e0x", 14)
DELIMITERS = texts(", ;ab\n", 3)
PATTERNS = st.sampled_from(["a", "^b$", "A", "[", "", "a*", "(?i)A", r"\d", "a b"]).map(quoted)
ITEMS = st.lists(st.integers(-99, 99).map(str) | st.floats(-99, 99).map(repr), max_size=4).map(
    lambda items: quoted(",".join(items))
)


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
@given(calls(SUMMARIES, ITEMS | ANYTHING) | calls(SUMMARIES, ITEMS | NUMBER_TEXTS, DELIMITERS | ANYTHING))
def test_summaries(call):
    """Sizes, sums, means and bounds agree with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(MEMBERS, LISTS | ANYTHING, LISTS | ANYTHING) | calls(MEMBERS, LISTS, LISTS, DELIMITERS | ANYTHING)
)
def test_members(call):
    """Members, subsets and intersections agree with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(["stringList_regexpMember"], PATTERNS, LISTS | ANYTHING)
    | calls(["stringList_regexpMember"], PATTERNS, LISTS, DELIMITERS, texts("imsxIMq", 3) | ANYTHING)
)
def test_patterns(call):
    """Searching the items agrees with HTCondor."""
    assert agrees(call)

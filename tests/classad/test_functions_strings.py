"""Functions of strings: strcat, join, substr, toUpper, toLower, strcmp, stricmp, size, split."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls import ANYTHING, agrees, calls, cases, needs_htcondor, spelled, texts, up_to

TABLE = r"""
strcat() => ""
strcat("a", 1, 2.5, true) => "a12.500000000000000E+00true"
strcat("a", undefined, error) => undefined
strcat("a", error, undefined) => error
strcat({1}, [a = 1]) => "{ 1 }[ a = 1 ]"
strcat(substr("aé", 0, 2), substr("aé", 2)) == "aé" => true
join() => ""
join(",") => ""
join(",", "a", "b") => "a,b"
join(",", undefined, "b") => "b"
join(",", "", "a", "", "b") => "a,,b"
join(",", {"a", "", "b"}) => "a,,b"
join({undefined, "a"}) => "a"
join({}) => ""
join(undefined, "a", "b") => "ab"
join(",", {undefined}) => undefined
join(undefined) => undefined
join(",", {"a", error}) => error
join(1, {2, 3}) => "213"
join(",", {"a"}, "b") => "{ \"a\" },b"
substr("hello", 1) => "ello"
substr("hello", 1, -1) => "ell"
substr("hello", 1, 0) => ""
substr("hello", -2) => "lo"
substr("hello", -20, 2) => "he"
substr("hello", 1, -9) => ""
substr("hello", 0, -9) => ""
substr("hello", 4294967297) => "ello"
substr("hello", 2147483647, 2147483647) => ""
substr("aé", 0, 1) => "a"
substr(12345, 1) => error
substr("a", 1.0) => error
substr(undefined, error) => undefined
toUpper("aé") => "Aé"
toLower("AÉ") => "aÉ"
toUpper(1.5) => "1.500000000000000E+00"
toUpper(undefined) => undefined
strcmp("a", "b") => -1
strcmp("é", "z") => 1
strcmp(1, "1") => 0
strcmp(undefined, error) => undefined
strcmp("a", error) => error
stricmp("A", "a") => 0
stricmp("A", "_") => 1
strcmp("a") => error
size("aé") => 3
size({1, 2}) => 2
size([a = 1; A = 2]) => 1
size(undefined) => undefined
size(5) => error
split("a, b ,c") => {"a", "b", "", "c"}
split("a,,b") => {"a", "", "b"}
split(" a\t\tb ") => {"a", "b"}
split(",a,") => {"a"}
split("a b;c;;d", "; ") => {"a", "b", "c", "", "d"}
split("a]b^c", "]^-") => {"a", "b", "c"}
split("a", "") => {"a"}
split("") => {}
split(undefined) => error
split("a", 5) => error
"""

WORDS = texts("aAbBcé_.-0123456789 ,;\t")
LISTS = texts("aAbB ,;\t\n1-+]^", 14)
OFFSETS = st.integers(-12, 12).map(str)


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
@given(calls(["strcat", "join"], WORDS | ANYTHING, ANYTHING | up_to(WORDS | ANYTHING, 4), WORDS))
def test_joining(call):
    """Joining any values agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(["join"], WORDS | ANYTHING, up_to(WORDS | ANYTHING, 4))
    | calls(["join"], up_to(WORDS | ANYTHING, 4))
)
def test_joining_lists(call):
    """Joining a list agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(["substr"], WORDS | ANYTHING, OFFSETS | ANYTHING)
    | calls(["substr"], WORDS, OFFSETS, OFFSETS | ANYTHING)
)
def test_cutting(call):
    """Cutting strings agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(["toUpper", "toLower", "size"], WORDS | ANYTHING)
    | calls(["strcmp", "stricmp"], WORDS, WORDS | ANYTHING)
)
def test_comparing(call):
    """Changing case, comparing and counting agree with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["split"], LISTS | ANYTHING) | calls(["split"], LISTS, texts(", ;a]^-\n", 3) | ANYTHING))
def test_splitting(call):
    """Splitting at any separators agrees with HTCondor."""
    assert agrees(call)

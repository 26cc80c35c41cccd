"""Functions of regular expressions: regexp, regexpMember, regexps, replace, replaceall."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls import ANYTHING, agrees, calls, cases, needs_htcondor, quoted, spelled, texts, up_to

TABLE = r"""
regexp("a", "ABC", "i") => true
regexp("a", "ABC", "I") => false
regexp("^b", "a\nb") => false
regexp("^b", "a\nb", "m") => true
regexp("a.b", "a\nb", "s") => true
regexp("a b # c", "ab", "x") => true
regexp("[", "a") => error
regexp("", "") => true
regexp("é", "É", "i") => false
regexp("(*UTF)é", "É", "i") => true
regexp("\\x{41}", "A") => true
regexp("\\u0041", "A") => error
regexp("^\\C\\C$", "é") => true
regexp("(?<a>x)\\k<a>", "xx") => true
regexp("a", 5) => error
regexp("a", undefined) => undefined
regexp(5, "a", undefined) => undefined
regexp(undefined, error) => error
regexp("a", "a", 5) => error
regexp("(a+)+$", "aaaaaaaaaaaaaaaaaaaa!") => false
regexp("(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") => error
regexpMember("a", {"b", undefined, "a"}) => true
regexpMember("a", {"b", undefined}) => undefined
regexpMember("a", {"b", 5}) => error
regexpMember("a", {"a", 5}) => true
regexpMember("[", {"a"}) => false
regexpMember("a", {}) => false
regexpMember("A", {"a"}, "i") => true
regexpMember(5, undefined) => undefined
regexpMember("a", "a") => error
regexps("(.)b", "ab", "<\\1\\0>") => "<aab>"
regexps("a", "b", "c") => ""
regexps("a", "xaxa", "-", "f") => "x-xa"
regexps("a", "xaxa", "-", "g") => "--"
replace("a", "xaxa", "-") => "x-xa"
replace("a", "b", "c") => "b"
replace("a", "a", "\\1") => error
replace("(a)(z)?", "a", "\\2") => error
replace("(z)?(a)", "xax", "[\\1]") => "x[]x"
replace("a", "a", "\\n\\") => "\\n\\"
replaceall("a", "xaxa", "<\\0>") => "x<a>x<a>"
replaceall("^", "abc", "-") => "-abc"
replaceall("b*", "abc", "-") => error
replaceall("$", "abc", "-") => error
replaceall("a", undefined, "-") => undefined
replaceall("a", error, undefined) => error
replaceall("a", 5, "-") => error
"""

SIMPLE = ["a", "a*", "(a)(b)?", "(a|b)+", "^a", "a$", "", ".", "[ab]", "x*", "(z)?a", "[", "(", " a", "a{2}"]
SIMPLE += ["b*", "$", "^", "é"]
BACKSLASHES = [r"\b", r"\x{41}", r"\d+", r"\K", r"a\Kb", r"\Ga", r"\C", r"\s", r"\x4", r"\Qa.b\E", r"[\w-]+"]
GROUPS = [
    "(?i)A",
    "(?=a)",
    "(?<=a)b",
    "(a)(?:b(c))?",
    "(?<n>a)",
    "(?m)^",
    "(*UTF)é",
    "[[:alpha:]]",
    "(?#c)a",
    "a #c",
]
PATTERNS = st.sampled_from(SIMPLE + BACKSLASHES + GROUPS).map(quoted)
SUBJECTS = texts("aabbcAB é\n12 ")
TEMPLATES = texts("\\\\\\0123xé", 6)
LETTERS = texts("imsxfgIM", 3)
REPLACING = ["regexps", "replace", "replaceall"]


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
@given(
    calls(["regexp"], PATTERNS, SUBJECTS | ANYTHING)
    | calls(["regexp"], PATTERNS, SUBJECTS, LETTERS | ANYTHING)
)
def test_searching(call):
    """Searching with any of these patterns agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(["regexpMember"], PATTERNS, up_to(SUBJECTS | ANYTHING, 3) | ANYTHING)
    | calls(["regexpMember"], PATTERNS, up_to(SUBJECTS, 3), LETTERS)
)
def test_searching_lists(call):
    """Searching lists agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(REPLACING, PATTERNS, SUBJECTS, TEMPLATES)
    | calls(REPLACING, PATTERNS, SUBJECTS, TEMPLATES | ANYTHING, LETTERS | ANYTHING)
)
def test_replacing(call):
    """Replacing agrees with HTCondor."""
    assert agrees(call)

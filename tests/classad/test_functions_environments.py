"""Functions of environments and arguments: envV1ToV2, mergeEnvironment, argsToList, listToArgs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calls import ANYTHING, agrees, calls, cases, needs_htcondor, spelled, texts, up_to

TABLE = r"""
envV1ToV2("A=1;B=2") => "A=1 B=2"
envV1ToV2("|B=2;3|A=1") => "A=1 B=2;3"
envV1ToV2("  A=1 2;\nB= 3") => "A=1' '2 B=' '3"
envV1ToV2("A$$(b)") => "A$$(b)"
envV1ToV2("$A=1$B=2;3") => "A=1 B=2;3"
envV1ToV2("A") => error
envV1ToV2("=1") => error
envV1ToV2("") => ""
envV1ToV2(undefined) => undefined
envV1ToV2(1) => error
mergeEnvironment() => ""
mergeEnvironment("Z=1 A=2", undefined, "A='b ''c'") => "A=b' '''c Z=1"
mergeEnvironment("A='1") => error
mergeEnvironment("A") => error
mergeEnvironment(1) => error
argsToList("a 'b c' d''e") => {"a", "b c", "de"}
argsToList("''") => {""}
argsToList("it''''s 'it''s'") => {"it's", "it's"}
argsToList("a 'b") => error
argsToList("a 'b c'", 1) => {"a", "'b", "c'"}
argsToList("", 2) => {}
argsToList("a", 3) => error
argsToList("a", undefined) => error
listToArgs({"a", "b c", "", "it's"}) => "a b' 'c '' it''''s"
listToArgs({"a", "", "c"}, 1) => "a  c"
listToArgs({"", "a"}, 1) => "a"
listToArgs({"b c"}, 1) => error
listToArgs({1}) => error
listToArgs({}) => ""
listToArgs("a") => error
"""

ENVIRONMENTS = texts("AB=== '' ;;|^\n$$x\t", 14)
VERSIONS = st.sampled_from(["1", "2"]) | ANYTHING


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
    calls(["envV1ToV2", "mergeEnvironment"], ENVIRONMENTS | ANYTHING)
    | calls(["mergeEnvironment"], ENVIRONMENTS, ENVIRONMENTS | ANYTHING)
)
def test_environments(call):
    """Converting and merging environments agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["argsToList"], ENVIRONMENTS | ANYTHING) | calls(["argsToList"], ENVIRONMENTS, VERSIONS))
def test_arguments(call):
    """Splitting and joining arguments agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(["listToArgs"], up_to(ENVIRONMENTS, 3) | ANYTHING)
    | calls(["listToArgs"], up_to(ENVIRONMENTS | ANYTHING, 3), VERSIONS)
)
def test_lists_of_arguments(call):
    """Joining lists of arguments agrees with HTCondor."""
    assert agrees(call)

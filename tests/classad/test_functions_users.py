"""Functions of users and slots: splitUserName, splitSlotName, userHome, userMap."""

import pytest
from hypothesis import given, settings

from calls import ANYTHING, agrees, calls, cases, needs_htcondor, spelled, texts

TABLE = r"""
splitUserName("a@b@c") => {"a", "b@c"}
splitUserName("a") => {"a", ""}
splitUserName("@") => {"", ""}
splitUserName(undefined) => error
splitSlotName("slot1@h") => {"slot1", "h"}
splitSlotName("h") => {"", "h"}
userHome(undefined) => undefined
userHome(undefined, "/d") => "/d"
userHome(5) => error
userHome(5, "/d") => "/d"
userHome("no such user", "") => undefined
userMap("map", "user") => undefined
userMap("map", "user", "preferred") => undefined
userMap("map", "user", "preferred", 5) => 5
userMap(1, "user", "preferred", 5) => 5
userMap(error, "user", "preferred", 5) => error
userMap("map") => error
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
@given(calls(["splitUserName", "splitSlotName"], texts("a@é ", 5) | ANYTHING))
def test_names(call):
    """Splitting any name agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(
    calls(["userMap"], ANYTHING, ANYTHING, ANYTHING)
    | calls(["userMap"], ANYTHING, ANYTHING, ANYTHING, ANYTHING)
)
def test_maps(call):
    """Maps that are not configured agree with HTCondor."""
    assert agrees(call)


def test_homes_are_not_looked_up():
    """The home of a user of this machine is undefined too: values must not depend on the machine."""
    assert spelled('userHome("root")') == spelled("undefined")


@needs_htcondor
def test_the_comparison_can_fail():
    """HTCondor looks homes up as configured here, so the comparison with it would show a difference."""
    assert not agrees('userHome("root")')

"""Tests of kinds and conversions: isUndefined .. isRelTime, int, real, string, bool."""

import pytest
from hypothesis import given, settings

from calls import ANYTHING, agrees, calls, cases, needs_htcondor, spelled

TABLE = r"""
isUndefined(nowhere) => true
isUndefined(error) => false
isError(1/0) => true
isError(undefined) => false
isBoolean(1) => false
isInteger(true) => false
isInteger(1.0) => false
isReal(1.0) => true
isString("") => true
isList({}) => true
isClassAd([]) => true
isAbsTime(absTime(0)) => true
isRelTime(relTime(0)) => true
isRelTime(1.0) => false
ISSTRING("a") => true
isString() => error
isString("a", "b") => error
int(1.9) => 1
int(-1.9) => -1
int(true) => 1
int(" 12abc") => 12
int("0x10") => 16
int("") => error
int("abc") => error
int(1e19) => -9223372036854775808
int("9223372036854775807") => -9223372036854775808
int(real("NaN")) => -9223372036854775808
int(undefined) => undefined
int({}) => error
int(absTime(7, 60)) => 7
int(relTime(-2.7)) => -2
int(relTime(1e10)) => -2147483648
real("1e") => 1.0
real("0x1.8p1") => 3.0
real("0x") => 0.0
real(".") => error
real("-infinite") => real("-INF")
real("nanosecond") => real("NaN")
real("1e400") => real("INF")
real(relTime(2.5)) => 2.0
string(1) => "1"
string(0.1) => "1.000000000000000E-01"
string(-0.0) => "-0.0"
string(real("INF")) => "real(\"INF\")"
string(true) => "true"
string("a\"b") => "a\"b"
string({1, "a"}) => "{ 1,\"a\" }"
string([a = 1]) => "[ a = 1 ]"
string(absTime(0, 3600)) => "1970-01-01T01:00:00+01:00"
string(relTime(-93784.5)) => "-1+02:03:04"
string(relTime(1e10)) => "--24855+-3:-14:-8"
string(undefined) => undefined
string(error) => error
bool("TRUE") => true
bool("False") => false
bool("yes") => undefined
bool(0.5) => true
bool(real("NaN")) => true
bool(0) => false
bool(relTime(0.5)) => false
bool(absTime(1)) => error
bool({}) => error
"""

NAMES = [f"is{kind}" for kind in ["Undefined", "Error", "Boolean", "Integer", "Real", "String", "List"]]
NAMES += ["isClassAd", "isAbsTime", "isRelTime", "int", "real", "string", "bool"]


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
@given(calls(NAMES, ANYTHING))
def test_any_value(call):
    """Tests and conversions of any value agree with HTCondor."""
    assert agrees(call)

"""Functions of versions: versioncmp, versionLT .. versionEQ, version_in_range."""

import pytest
from hypothesis import given, settings

from calls import ANYTHING, agrees, calls, cases, needs_htcondor, spelled, texts

TABLE = r"""
versionGE("8.10", "8.9") => true
versionLT("1.2", "1.10") => true
versionGT("1.2", "1.10") => false
versionLE("1", "1") => true
versionEQ("1.0", "1") => false
VERSIONeq("1", 1) => true
versioncmp("1.2", "1.10") => -1
versioncmp("1.02", "1.1") => -1
versioncmp("10.01", "10.001") => 1
versioncmp("a", "é") => 158
versioncmp("1a", "1b") => -1
versioncmp("100", "20") => 1
versioncmp("", "") => 0
versioncmp(undefined, error) => undefined
versioncmp("1", error) => error
version_in_range("1.5", "1.2", "1.10") => true
version_in_range("1.1", "1.2", "1.10") => false
version_in_range("1", "1", "1") => true
version_in_range(undefined, "1", "2") => error
version_in_range(error, undefined, "2") => undefined
versionLT("1") => error
"""

VERSIONS = texts("00123456789..a-é", 9)
COMPARISONS = ["versioncmp", "versionLT", "versionLE", "versionGT", "versionGE", "versionEQ"]


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
@given(calls(COMPARISONS, VERSIONS, VERSIONS | ANYTHING))
def test_versions(call):
    """Comparing any two versions agrees with HTCondor."""
    assert agrees(call)


@needs_htcondor
@settings(max_examples=max(200, settings().max_examples), deadline=None)
@given(calls(["version_in_range"], VERSIONS | ANYTHING, VERSIONS | ANYTHING, VERSIONS | ANYTHING))
def test_ranges(call):
    """Ranges of versions agree with HTCondor."""
    assert agrees(call)

"""Usage rows as lines of text."""

import pytest

from negotiator_quotasets.complexes import STANDARD, Complexes
from negotiator_quotasets.language import NameFilter
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.usage_rows import UsageRow, table_lines

COMPLEXES = Complexes(STANDARD)
HOSTS = Hosts(["Durin", "lxa"], {})


def line(filters, values=None, resource="slots", limit="5", used="1"):
    """The one line below the header."""
    row = UsageRow("a/1", filters, values or {}, COMPLEXES.find(resource), limit, used)
    *_, found = table_lines([row], HOSTS)
    return found


def test_without_rows_there_is_no_header():
    assert list(table_lines([], HOSTS)) == []


@pytest.mark.parametrize(
    ("filters", "values", "text"),
    [
        ({}, {}, "-"),
        ({"users": NameFilter(("@eng",), ("bob",))}, {}, "users @eng,!bob"),
        ({"users": NameFilter(("@eng",), ("bob",), expanded=True)}, {}, "users {@eng,!bob}"),
        ({"users": NameFilter(("@eng",), ("bob",), expanded=True)}, {"users": "al"}, "users al"),
        (
            {"projects": NameFilter((), ("p1",)), "hosts": NameFilter(("durin", "@lx"))},
            {},
            "projects !p1 hosts Durin,@lx",
        ),
    ],
)
def test_filters_are_printed_as_in_rules_and_expanded_ones_by_their_value(filters, values, text):
    """Hosts are spelled as the pool spells them."""
    assert line(filters, values) == f"a/1                slots=1/5            {text}"


def test_a_limit_longer_than_its_column_is_printed_whole():
    """A part of a limit would look like a smaller one."""
    assert line({}, limit="12345678901234567890") == "a/1                slots=1/12345678901234567890 -"


def test_a_limit_of_a_complex_that_is_not_consumed_has_no_usage():
    assert line({}, resource="arch", limit="x86", used=None) == "a/1                arch=x86             -"


@pytest.mark.parametrize("name", ["\x1b[2J", "\n[2J", "\u202e[2J"])
def test_control_characters_are_replaced(name):
    """Names of users and projects come from job ads."""
    found = line({"users": NameFilter(("*",), expanded=True)}, {"users": name})
    assert found == "a/1                slots=1/5            users \N{REPLACEMENT CHARACTER}[2J"

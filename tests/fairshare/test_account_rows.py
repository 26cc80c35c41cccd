"""The rows of accounts in the state."""

import json

import pytest
from hypothesis import given

from account_strategies import RECORDS
from negotiator_fairshare.accounts import AccountRecord
from negotiator_fairshare.accounts.state_rows import from_row, to_row


@given(RECORDS)
def test_an_account_is_what_its_row_says(record):
    row = json.loads(json.dumps(to_row("u@d", record)))
    assert from_row(row) == ("u@d", record)


def test_a_new_account_has_only_a_name():
    assert to_row("u@d", AccountRecord()) == {"Name": "u@d"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], "must be an object"),
        ({}, "name of an account"),
        ({"Name": ""}, "name of an account"),
        ({"Name": "a\nb"}, "name of an account"),
        ({"Name": "u" * 1001}, "name of an account"),
        ({"Name": "u@d", "Priority": "1"}, "Priority must be a number"),
        ({"Name": "u@d", "Priority": True}, "Priority must be a number"),
        ({"Name": "u@d", "Priority": float("nan")}, "Priority is out of range"),
        ({"Name": "u@d", "Priority": 10**400}, "Priority is out of range"),
        ({"Name": "u@d", "Ceiling": 2**63}, "Ceiling is out of range"),
        ({"Name": "u@d", "Ceiling": 1, "CEILING": 2}, "Ceiling is given twice"),
        ({"Name": "u@d", "ResourcesUsed": -1}, "must not be negative"),
        ({"Name": "u@d", "Note": 1}, "Note must be ClassAd text"),
        ({"Name": "u@d", "Note": "a\nb"}, "Note must be ClassAd text"),
        ({"Name": "u@d", "no name": "1"}, "must be an identifier"),
        ({"Name": "u@d"} | {f"X{number}": "1" for number in range(101)}, "further attributes"),
    ],
)
def test_a_damaged_row_is_refused_with_its_attribute(row, message):
    with pytest.raises(ValueError, match=message):
        from_row(row)

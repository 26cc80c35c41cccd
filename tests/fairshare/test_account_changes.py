"""Changes of accounts by administrators."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.plugin import AccountChangeKind
from negotiator_fairshare.accounts import AccountRecord, Accounts, AccountSettings
from negotiator_fairshare.accounts.changes import AccountChange, changed

NOW = 1_800_000_000
SETTINGS = AccountSettings()
RECORD = AccountRecord(accumulated_usage=60.0, weighted_accumulated_usage=90.0, begin_usage=7, factor=50.0)
ACCOUNTS = Accounts(records={"u@d": RECORD, "v@d": RECORD}, last_update=NOW)


def after(kind, value=None, duration=0, accounts=ACCOUNTS, now=NOW):
    return changed(accounts, AccountChange(kind, "u@d", value, duration), now, SETTINGS)[0]


@pytest.mark.parametrize(
    ("kind", "value", "field", "expected"),
    [
        (AccountChangeKind.PRIORITY, 12.3456789, "priority", 12.345679),
        (AccountChangeKind.PRIORITY, 0.1, "priority", 0.5),
        (AccountChangeKind.FACTOR, 250, "factor", 250.0),
        (AccountChangeKind.CEILING, 10, "ceiling", 10),
        (AccountChangeKind.FLOOR, 3, "floor", 3),
        (AccountChangeKind.ACCUMULATED, 7200, "weighted_accumulated_usage", 7200.0),
        (AccountChangeKind.BEGIN, 1_700_000_000, "begin_usage", 1_700_000_000),
        (AccountChangeKind.LAST, 1_700_000_000, "last_usage", 1_700_000_000),
    ],
)
def test_a_value_is_set_and_all_others_stay(kind, value, field, expected):
    accounts = after(kind, value)
    assert getattr(accounts.get("u@d"), field) == expected
    assert accounts.get("v@d") == RECORD


def test_a_value_of_an_unknown_name_makes_an_account():
    """As with condor_userprio: a ceiling may be set before the first job."""
    assert after(AccountChangeKind.CEILING, 4, accounts=Accounts()).get("u@d") == AccountRecord(ceiling=4)


def test_usage_is_reset_for_one_or_all():
    one = after(AccountChangeKind.RESET)
    assert (one.get("u@d").accumulated_usage, one.get("u@d").begin_usage) == (0.0, NOW)
    assert one.get("v@d") == RECORD
    everybody, text = changed(ACCOUNTS, AccountChange(AccountChangeKind.RESET_ALL), NOW, SETTINGS)
    assert {each.weighted_accumulated_usage for each in everybody.records.values()} == {0.0}
    assert text == "The accumulated usage was reset for all users"


def test_an_account_is_deleted():
    assert after(AccountChangeKind.DELETE).records == {"v@d": RECORD}


def test_a_lease_of_a_factor_returns_to_the_factor_of_the_knobs():
    """The factor of a name without account is written down when its lease begins."""
    accounts = after(AccountChangeKind.FACTOR, 5, duration=60, accounts=Accounts())
    assert accounts.get("u@d").factor == 5.0
    assert accounts.updated(NOW + 60, AccountSettings(default_factor=3.0)).get("u@d").factor == 1000.0


def test_a_lease_is_cancelled():
    accounts = after(
        AccountChangeKind.CANCEL_CEILING, accounts=after(AccountChangeKind.CEILING, 5, duration=60)
    )
    assert (accounts.get("u@d").ceiling, accounts.get("u@d").ceiling_lease_expiration) == (-1, 0)


@pytest.mark.parametrize("kind", [AccountChangeKind.RESET, AccountChangeKind.DELETE])
def test_what_needs_an_account_is_refused_without_one(kind):
    with pytest.raises(ValueError, match="no account named u@d"):
        after(kind, accounts=Accounts())


@pytest.mark.parametrize(
    ("kind", "value", "duration", "words"),
    [
        (AccountChangeKind.CANCEL_FACTOR, None, 0, "no priority-factor lease in effect for u@d"),
        (AccountChangeKind.CANCEL_CEILING, None, 0, "no ceiling lease in effect for u@d"),
        (AccountChangeKind.FACTOR, 0.5, 60, "priority factor must be >= 1"),
        (AccountChangeKind.CEILING, -2, 60, "ceiling must be -1 (unlimited) or non-negative"),
        (AccountChangeKind.FLOOR, -1, 60, "floor must be non-negative"),
        (AccountChangeKind.FLOOR, 1, -60, "lease duration must be positive"),
    ],
)
def test_a_lease_is_refused_in_the_words_of_condor_negotiator(kind, value, duration, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        after(kind, value, duration, accounts=Accounts())


@pytest.mark.parametrize(("value", "priority"), [(-5, 0.5), (0.1, 0.5), (7, 7.0)])
def test_a_priority_below_the_least_one_becomes_that(value, priority):
    accounts = after(AccountChangeKind.PRIORITY, value)
    assert accounts.get("u@d").priority == priority


@pytest.mark.parametrize(
    ("kind", "value", "duration"),
    [
        (AccountChangeKind.FACTOR, 0.5, 0),
        (AccountChangeKind.PRIORITY, float("nan"), 0),
        (AccountChangeKind.PRIORITY, None, 0),
        (AccountChangeKind.CEILING, -2, 0),
        (AccountChangeKind.CEILING, 2.5, 0),
        (AccountChangeKind.FLOOR, -1, 0),
        (AccountChangeKind.LAST, 1e300, 0),
        (AccountChangeKind.DELETE, 1, 0),
        (AccountChangeKind.PRIORITY, 1, 60),
        (AccountChangeKind.FLOOR, 1, -60),
    ],
)
def test_invalid_changes_cannot_be_made(kind, value, duration):
    with pytest.raises(ValueError, match=r"needs a|takes no|duration"):
        AccountChange(kind, "u@d", value, duration)


@given(
    st.sampled_from([AccountChangeKind.FACTOR, AccountChangeKind.CEILING]),
    st.text(st.characters(categories=["L", "N"]), min_size=1),
    st.integers(1, 10**6),
    st.integers(0, 10**6),
)
def test_a_change_is_what_its_text_says(kind, name, value, duration):
    change = AccountChange(kind, name, value, duration)
    assert AccountChange.from_text(change.to_text()) == change


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"kind":"setprio"}',
        '{"kind":"other","name":"u@d"}',
        '{"kind":"setprio","name":"u@d","value":"1"}',
        '{"kind":"setprio","name":"u@d","value":true}',
        '{"kind":"setprio","name":7,"value":1}',
        '{"kind":"setprio","name":"u@d","value":1,"more":1}',
        '{"kind":"setfloor","name":"u@d","value":1,"duration":1.5}',
        "[" * 100_000,
    ],
)
def test_damaged_texts_of_changes_are_refused(text):
    with pytest.raises(ValueError):
        AccountChange.from_text(text)

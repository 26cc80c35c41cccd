"""Import and export of ``Accountantnew.log``."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from account_strategies import NAMES, RECORDS
from negotiator.plugin import PoolError
from negotiator_fairshare.accounts import (
    AccountRecord,
    Accounts,
    AccountSettings,
    ResourceRecord,
    log_records,
)
from negotiator_fairshare.accounts.log_records import MAX_LINE, MAX_PROBLEMS, log_text, parse_log, read_log
from real_condor import real_condor

REAL = Path(__file__).parent / "data" / "Accountantnew.log"


def parsed(*lines, end="\n"):
    return parse_log(io.BytesIO(("\n".join(lines) + end).encode()), "Accountantnew.log")


def account(*lines):
    return ["101 Customer.u@d * *", *(f"103 Customer.u@d {line}" for line in lines)]


def test_a_log_of_condor_negotiator_is_read():
    """Written by condor_negotiator 25.14.1, with settings of condor_userprio."""
    imported = read_log(REAL)
    assert (imported.problems, imported.set_aside) == ((), ())
    accounts = imported.accounts
    assert accounts.last_update == 1795358368
    assert accounts.get("alice@example.org") == AccountRecord(
        priority=0.50006,
        factor=250.0,
        accumulated_usage=5.0,
        weighted_accumulated_usage=10.0,
        begin_usage=1795358368,
        last_usage=1795358368,
        resources_used=1,
        weighted_resources_used=2.0,
        ceiling=10,
    )
    assert accounts.get("bob@example.org").floor_lease_expiration == 1795361969
    assert accounts.get("group_a").hierarchical_weighted_resources_used == 1.333333
    key = "slot1@n1.example.org@<10.0.0.1:9618>"
    assert accounts.resources[key] == ResourceRecord("group_a.bob@example.org", 1.333333, 1795358368)


@given(st.dictionaries(NAMES, RECORDS, max_size=4), st.dictionaries(NAMES, NAMES, max_size=3))
def test_what_is_exported_is_imported(records, users):
    resources = {
        key: ResourceRecord(user, 1.5, 7, 'lic:2 "x\\', {"NumCpMatches": "2"}) for key, user in users.items()
    }
    accounts = Accounts(records=records, resources=resources, last_update=1_800_000_000)
    content, left_out = log_text(accounts, 1_800_000_000)
    imported = parse_log(io.BytesIO(content), "log")
    assert (imported.accounts, imported.problems, left_out) == (accounts, (), ())


def test_names_with_white_space_are_not_exported():
    content, left_out = log_text(Accounts(records={"a b@d": AccountRecord(floor=1)}), 1)
    assert left_out == ("a b@d",)
    assert b"a b@d" not in content


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("103 Customer.u@d Priority abc", "Priority must be a number"),
        ("103 Customer.u@d Priority", "Priority has no value"),
        ('103 Customer.u@d Priority real("INF")', "Priority must be a number"),
        ("103 Customer.u@d Priority 1e999", "Priority is out of range"),
        (f"103 Customer.u@d Ceiling {'9' * 5000}", "Ceiling must be a number"),
        ("103 Customer.u@d 12 3", "its attribute is missing or invalid"),
        ("103 Customer.u@d Note (((", "expected"),
        ('103 Customer.u@d Note "a\tb"', "its attribute is missing or invalid"),
    ],
)
def test_a_damaged_row_is_set_aside_with_its_line(line, message):
    imported = parsed(*account("Floor 2"), line, "101 Customer.v@d * *", "103 Customer.v@d Floor 3")
    assert imported.set_aside == ("u@d",)
    assert imported.accounts.records == {"v@d": AccountRecord(floor=3)}
    problem, *_ = imported.problems
    assert message in problem.message
    assert str(problem).startswith("Accountantnew.log:3: error:")


@pytest.mark.parametrize(
    "line", ["", "rubbish", "999 Customer.u@d", "103", "103 ", "101", "108 x", "103 \x00 A 1"]
)
def test_a_line_that_is_no_record_is_reported_and_the_rest_is_read(line):
    imported = parsed(line, *account("Floor 2"))
    assert imported.accounts.get("u@d").floor == 2
    assert [problem.source.line for problem in imported.problems][:1] == [1]


def test_a_line_that_is_not_utf_8_is_reported():
    content = b"103 Customer.\xff Floor 1\n101 Customer.u@d * *\n"
    imported = parse_log(io.BytesIO(content), "log")
    assert list(imported.accounts.records) == ["u@d"]
    assert "not UTF-8" in imported.problems[0].message


def test_an_unfinished_transaction_at_the_end_is_dropped():
    imported = parsed(*account("Floor 2"), "105", "103 Customer.u@d Floor 9")
    assert imported.accounts.get("u@d").floor == 2
    assert "has no end" in imported.problems[0].message
    assert imported.problems[0].source.line == 3


def test_a_transaction_whose_end_is_damaged_is_kept():
    imported = parsed(*account("Floor 2"), "105", "103 Customer.u@d Floor 9", "10x", "105", "106")
    assert imported.accounts.get("u@d").floor == 9
    assert [problem.source.line for problem in imported.problems[:2]] == [5, 6]
    assert "the transaction of line 3 has no end" in imported.problems[1].message


def test_a_last_line_without_end_is_left_out():
    imported = parsed(*account("Floor 2", "Floor 1"), end="0")
    assert imported.accounts.get("u@d").floor == 2
    assert imported.set_aside == ()


def test_attributes_and_rows_that_were_deleted_are_gone():
    lines = [
        *account("Floor 2", "Ceiling 5"),
        "104 Customer.u@d Floor",
        "101 Customer.v@d * *",
        "102 Customer.v@d",
    ]
    assert parsed(*lines).accounts.records == {"u@d": AccountRecord(ceiling=5)}


def test_old_logs_have_no_weighted_usage():
    """Then the other usage is taken in its place, as condor_negotiator does."""
    record = parsed(*account("AccumulatedUsage 60.0")).accounts.get("u@d")
    assert record.weighted_accumulated_usage == 60.0


def test_without_a_stamp_no_time_is_charged_for_nothing():
    imported = parsed(*account("LastUsageTime 1800000000", "ResourcesUsed 3"))
    assert imported.accounts.last_update == 1_800_000_000
    assert "no time of the last update" in imported.problems[0].message


def test_hostile_logs_are_bounded():
    long = "103 Customer.u@d Note " + "x" * (3 * MAX_LINE)
    imported = parsed(long, *["rubbish"] * 500, "101 Customer.v@d * *")
    assert list(imported.accounts.records) == ["v@d"]
    assert len(imported.problems) == MAX_PROBLEMS + 1
    assert imported.problems[1].source.line == 2
    assert "more problems" in imported.problems[-1].message


@given(
    st.lists(
        st.binary(max_size=40) | st.sampled_from(REAL.read_bytes().splitlines(keepends=True)), max_size=40
    )
)
def test_nothing_is_raised_for_damage(pieces):
    parse_log(io.BytesIO(b"".join(pieces)), "log")


def test_a_log_that_is_too_long_is_read_up_to_its_bound(monkeypatch):
    monkeypatch.setattr(log_records, "MAX_BYTES", 60)
    imported = parsed(*account("Floor 2"), *account("Ceiling 5"))
    assert imported.accounts.get("u@d") == AccountRecord(floor=2)
    assert "longer than 60 bytes" in imported.problems[0].message


def test_a_slot_without_concurrency_limits_has_no_such_attribute():
    content, _left_out = log_text(Accounts(resources={"s@a": ResourceRecord("u@d")}), 1)
    assert b"MatchedConcurrencyLimits" not in content


def test_a_folder_in_place_of_a_log_is_an_error(tmp_path):
    with pytest.raises(PoolError, match="can't be read"):
        read_log(tmp_path)


def test_condor_negotiator_reads_what_is_exported():
    """It starts with our log, and updates it to the same accounts as we do."""
    accounts = Accounts(
        records={
            "<none>": AccountRecord(
                factor=1000.0, resources_used=2, hierarchical_weighted_resources_used=4.5
            ),
            "u@d": AccountRecord(priority=77.7, factor=2.0, weighted_resources_used=9.0, ceiling=7),
            "v@d": AccountRecord(
                accumulated_usage=3.0, uncharged_time=5, weighted_uncharged_time=7.25, floor=3
            ),
        },
        resources={"slot1@n@<10.0.0.1:9618>": ResourceRecord("v@d", 1.5, 7)},
        last_update=read_log(REAL).accounts.last_update,
    )
    with real_condor() as condor:
        written = parse_log(io.BytesIO(condor.negotiator_rewrites(log_text(accounts, 1)[0])), "log")
    settings = AccountSettings()
    ours = accounts.reconciled(settings).updated(written.accounts.last_update, settings)
    assert (written.accounts, written.problems) == (ours, ())

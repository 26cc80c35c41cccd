"""The command line of condor_userprio."""

from pathlib import Path

import pytest

from negotiator.plugin import AccountChangeKind, InvalidCallError
from negotiator_fairshare.accounts import AccountRecord, Accounts, AccountSettings
from negotiator_fairshare.accounts.changes import AccountChange
from negotiator_fairshare.accounts.log_records import read_log
from negotiator_fairshare.userprio import ColumnSet, UserprioView, read_arguments, report_of
from negotiator_fairshare.userprio.table import table_lines

NOW = 1_800_000_000
LOG = Path(__file__).parent / "data" / "Accountantnew.log"


def read(line):
    return read_arguments(line.split(), NOW)


def test_without_options_the_active_ones_of_the_last_day_are_shown():
    assert read("").view == UserprioView(columns=ColumnSet.MOST, active_since=NOW - 86_400)


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("-all", ColumnSet.ALL),
        ("-a", ColumnSet.ALL),
        ("-q -us", ColumnSet.QUOTAS | ColumnSet.USAGE),
        ("-prio", ColumnSet.PRIORITIES),
        ("-groupid -o", ColumnSet.GROUP_ID | ColumnSet.GROUP_ORDER),
        ("-groupi", ColumnSet.GROUP_ID),
        ("--usage -sortkey", ColumnSet.USAGE | ColumnSet.SORT_KEY),
    ],
)
def test_options_choose_columns_and_may_be_abbreviated(line, columns):
    assert read(line).view.columns == columns


def test_names_and_all_users_are_shown_whenever_they_were_active():
    assert read("-allusers").view.active_since == -1
    assert read("alice bob@d -flat").view == UserprioView(hierarchical=False)
    assert read("alice bob@d").names == ("alice", "bob@d")


@pytest.mark.parametrize(
    ("line", "quotas"), [("-quotas -usage", True), ("-usage", False), ("-usage -surplus", True)]
)
def test_quotas_that_are_asked_for_are_shown_without_groups(line, quotas):
    """As condor_userprio does."""
    report = report_of(Accounts(records={"u@d": AccountRecord()}), AccountSettings())
    heading = table_lines(report, read(f"{line} -allusers").view)[1]
    assert ("Use" in heading) == quotas


def test_dates_are_midnights():
    assert read("-activefrom 1 14 27").view.active_since == 1_799_884_800


def test_the_entries_of_names_are_selected():
    report = report_of(read_log(LOG).accounts, AccountSettings())
    names = [entry.name for entry in read("alice group_a.bob@example.org").selected(report).entries]
    assert names == ["alice@example.org", "group_a.bob@example.org"]
    assert read("").selected(report) == report


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ("-setprio u@d 5", AccountChange(AccountChangeKind.PRIORITY, "u@d", 5)),
        ("-setc u@d -1", AccountChange(AccountChangeKind.CEILING, "u@d", -1)),
        ("-setfloor u@d 2 -duration 60", AccountChange(AccountChangeKind.FLOOR, "u@d", 2, 60)),
        ("-resetall", AccountChange(AccountChangeKind.RESET_ALL)),
        ("-del u@d", AccountChange(AccountChangeKind.DELETE, "u@d")),
        ("-cancelfactorlease u@d", AccountChange(AccountChangeKind.CANCEL_FACTOR, "u@d")),
    ],
)
def test_a_change_is_read(line, change):
    assert read(line).change == change


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-nothing", "unknown option '-nothing'"),
        ("--us", "unknown option '--us'"),
        ("-getreslist u", "full name of a submitter"),
        ("-getres u@d -long", "remove -long"),
        ("-getre u@d", "unknown option"),
        ("-af", "-af needs at least one attribute or expression"),
        ("-af -all", "-af needs at least one attribute or expression"),
        ("-af 1+", "-autoformat: invalid expression '1\\+'"),
        ("-constraint 1+", "-constraint: invalid expression '1\\+'"),
        ("-auto Name", "unknown option '-auto'"),
        ("-hier -grouporder", "contradict"),
        ("-setprio u@d", "-setprio needs 2 operands"),
        ("-setprio u 5", "full name of a submitter"),
        ("-setprio u@d x", "'x' is not a number"),
        ("-setfactor u@d 0.5", "needs a value from 1"),
        ("-setprio u@d 5 -delete u@d", "one change at a time"),
        ("-setprio u@d 5 -all", "shows nothing"),
        ("-setprio u@d 5 v@d", "shows nothing"),
        ("-setfloor u@d 5 -duration 0", "positive number of seconds"),
        ("-duration 5", "time of a lease"),
        ("-hier -flat", "contradict"),
        ("-activefrom 13 1 2027", "-activefrom needs"),
        ("@d", "invalid name"),
    ],
)
def test_what_cannot_be_meant_is_refused(line, message):
    with pytest.raises(InvalidCallError, match=message):
        read(line)

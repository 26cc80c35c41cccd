"""``negotiator userprio``: accounts are imported from logs of condor_negotiator, and exported to such logs."""

import io
import json
import re
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from account_strategies import NAMES, RECORDS
from negotiator_fairshare.account_requests import AccountsImport, change_rows
from negotiator_fairshare.accounts import Accounts
from negotiator_fairshare.accounts.log_records import log_text, parse_log, read_log
from negotiator_fairshare.accounts.state_rows import accounts_of, rows_of
from queueing import ME, NOW, records
from userprio_site import LOG, admin_records, long_form, userprio, world_in


def test_a_log_of_condor_negotiator_is_imported(site):
    done = userprio(site, "--import", LOG)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "6 accounts were imported from Accountantnew.log\n"
    shown = long_form(site)
    assert (shown["alice@example.org"]["PriorityFactor"], shown["alice@example.org"]["Ceiling"]) == (
        "250.0",
        "10",
    )
    assert "tester@d" not in shown
    ((action, by, ok, _text),) = admin_records(site)
    assert (action, by, ok) == ("change_order", ME, True)
    assert records(site / "audit", "admin")[0]["change"].startswith(
        '{"kind":"import","source":"Accountantnew.log"'
    )
    with world_in(site) as world:
        world.now = read_log(LOG).accounts.last_update + 60
        world.cycle()
    assert "alice@example.org" in long_form(site)


def test_a_new_state_may_begin_with_an_imported_log(site):
    new = ("--bundle", "bundle", "--state", "new", "--audit-log", "log")
    done = userprio(site, "--import", LOG, more=new)
    assert (done.returncode, done.stderr) == (0, "")
    shutil.rmtree(site / "state")
    shutil.rmtree(site / "audit")
    (site / "new").rename(site / "state")
    (site / "log").rename(site / "audit")
    with world_in(site) as world:
        world.cycle()
    shown = long_form(site)
    assert shown["alice@example.org"]["Ceiling"] == "10"
    assert shown["tester@d"]["ResourcesUsed"] == "2"


def test_the_slots_in_use_of_an_imported_log_are_charged_until_the_first_cycle(site):
    """As condor_negotiator does when it starts: they are those of the log's slots."""
    text = LOG.read_bytes().replace(b"ResourcesUsed 1", b"ResourcesUsed 9")
    (site / "log").write_bytes(text)
    userprio(site, "--import", "log")
    assert long_form(site)["alice@example.org"]["ResourcesUsed"] == "1"


def test_what_is_exported_is_imported(site):
    userprio(site, "--import", LOG)
    userprio(site, "-setfloor", "alice@example.org", "3", "-duration", "600")
    before = userprio(site, "-long", "-allusers").stdout
    done = userprio(site, "--export", "exported")
    assert (done.returncode, done.stdout, done.stderr) == (0, "6 accounts were written to exported\n", "")
    userprio(site, "-resetall")
    assert userprio(site, "--import", "exported").returncode == 0
    assert userprio(site, "-long", "-allusers").stdout == before


def test_logs_are_read_from_standard_input_and_written_to_standard_output(site):
    assert userprio(site, "--import", "-", input=LOG.read_bytes()).returncode == 0
    done = userprio(site, "--export", "-")
    assert done.stdout.startswith("107 1 CreationTimestamp ")
    assert "101 Customer.alice@example.org * *\n" in done.stdout


def test_a_damaged_log_is_refused_with_its_lines_and_nothing_changes(site):
    before = userprio(site, "-long", "-allusers").stdout
    (site / "log").write_bytes(LOG.read_bytes() + b"rubbish\n103 Customer.alice@example.org Floor many\n")
    done = userprio(site, "--import", "log")
    lines = len(LOG.read_bytes().splitlines())
    assert done.returncode == 1
    assert f"log:{lines + 1}: error: not a record of a ClassAd log\n" in done.stderr
    assert f"log:{lines + 2}: error: account alice@example.org: Floor must be a number" in done.stderr
    assert "nothing was imported" in done.stderr
    assert userprio(site, "-long", "-allusers").stdout == before
    assert admin_records(site) == []


def test_damaged_accounts_of_a_log_are_set_aside_on_request(site):
    (site / "log").write_bytes(LOG.read_bytes() + b"103 Customer.alice@example.org Floor many\n")
    done = userprio(site, "--import", "log", "--set-aside")
    assert (done.returncode, done.stdout) == (0, "5 accounts were imported from log\n")
    assert "warning: account alice@example.org was set aside\n" in done.stderr
    assert "alice@example.org" not in long_form(site)


@pytest.mark.parametrize("name", ["missing", "bundle"])
def test_a_log_that_cannot_be_read_is_an_error(site, name):
    done = userprio(site, "--import", name)
    assert done.returncode == 4
    assert re.fullmatch(f"error: {name}: the accounts can't be read: .*\n", done.stderr)


def test_an_export_replaces_the_whole_file_or_nothing(site):
    (site / "folder").mkdir()
    for target in ("folder", "missing/file"):
        done = userprio(site, "--export", target)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: {target}: cannot be written: ")
    (site / "file").write_text("old")
    (site / "file").chmod(0o600)
    userprio(site, "--export", "file")
    assert (site / "file").read_text().startswith("107 1 ")
    assert (site / "file").stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in site.iterdir()) == ["audit", "bundle", "file", "folder", "state"]


def test_names_with_white_space_are_left_out_of_an_export_with_a_warning(site):
    assert userprio(site, "-setfloor", "a b@d", "1").returncode == 0
    done = userprio(site, "--export", "file")
    assert done.returncode == 0
    assert done.stderr == "warning: 'a b@d' is left out: a log cannot contain names with white space\n"


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(NAMES, RECORDS, max_size=4),
    st.dictionaries(NAMES, RECORDS, max_size=2),
    st.integers(0, 2**40),
)
def test_all_accounts_are_the_same_after_export_and_import(records, replaced, last_update):
    """Other accounts are gone; what the order remembers of groups stays."""
    accounts = Accounts(records=records, last_update=last_update)
    content, left_out = log_text(accounts, NOW)
    imported = parse_log(io.BytesIO(content), "log")
    groups = {"group:g": {"last_served": 7}}
    rows = {**rows_of(Accounts(records=replaced, last_update=1)), **groups}
    change = AccountsImport.of("log", imported.accounts).to_text()
    after = change_rows(rows, change, None, NOW).rows
    assert (left_out, imported.problems) == ((), ())
    assert json.dumps(after) == json.dumps({**rows_of(accounts), **groups})
    assert accounts_of(after, 0) == accounts

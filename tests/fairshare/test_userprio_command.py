"""``negotiator userprio``: accounts of a state are shown, changed, imported and exported by the command line."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from account_strategies import RECORDS
from commands import invoke
from dying import killed_at_each_step
from negotiator.app.context import ProgramContext
from negotiator.audit.log import AuditLog
from negotiator.audit.verify import verify
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
from negotiator_fairshare.account_requests import AccountsImport, change_rows
from negotiator_fairshare.accounts import Accounts
from negotiator_fairshare.accounts.log_reader import parse_log, read_log
from negotiator_fairshare.accounts.log_writer import log_text
from negotiator_fairshare.accounts.state_rows import accounts_of, rows_of
from negotiator_fairshare.userprio.command import userprio as command
from pools import slot
from queueing import ME, NOW, QUEUES, World, app, bundle, records
from real_condor import real_condor

LOG = Path(__file__).parent / "data" / "Accountantnew.log"
FAIR = "scheduleracl: boss\norder: submitters\naccounting: {trust_names: true}\n"
NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=30)
TARGETS = ("--bundle", "bundle", "--state", "state", "--audit-log", "audit")


@pytest.fixture
def site(tmp_path):
    """Return a folder with a state after a cycle, in which tester got two slots."""
    with _world(tmp_path) as world:
        world.cycle()
    return tmp_path


def _world(folder):
    world = World(folder, bundle(folder / "bundle", QUEUES, FAIR))
    world.slots = [slot(number, Cpus="1") for number in range(3)]
    world.jobs = [app(1), app(1, 1)]
    return world


def userprio(site, *words, more=TARGETS, **options):
    """Run the command in the folder of a site."""
    with contextlib.chdir(site):
        done = invoke(command, [*words, *more], ProgramContext(), **options)
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


def in_utc(site, *words):
    """Run the program in UTC; return what it printed."""
    words = [sys.executable, "-m", "negotiator", "userprio", *words, *TARGETS]
    environment = os.environ | {"TZ": "UTC"}
    return subprocess.run(words, cwd=site, capture_output=True, text=True, check=True, env=environment).stdout


def long_form(site):
    """Return the attributes of the long form by the names of the entries."""
    done = userprio(site, "-long", "-modular", "-allusers")
    assert (done.returncode, done.stderr) == (0, "")
    ads = [dict(line.split(" = ", 1) for line in ad.splitlines()) for ad in done.stdout.split("\n\n") if ad]
    return {json.loads(ad["Name"]): ad for ad in ads}


def acts(site):
    return [
        (each["action"], each["user"], each["ok"], each["text"]) for each in records(site / "audit", "admin")
    ]


def test_the_table_has_the_columns_of_condor_userprio(site):
    done = userprio(site, "-allusers")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Last Priority Update: ")
    assert lines[1].split() == [
        "Effective",
        "Priority",
        "Wghted",
        "Total",
        "Usage",
        "Time",
        "Since",
        "Submitter",
        "Submitter",
    ]
    assert [line.split()[0] for line in lines[4:-2]] == ["tester@d"]
    assert lines[-1].startswith("Number of users: 1")


def test_submitters_that_were_not_active_for_a_day_are_shown_on_request(site):
    userprio(site, "-setlast", "tester@d", NOW)
    late = ("--now", NOW + 200_000)
    assert "tester@d" in userprio(site, "--now", NOW + 60).stdout
    assert "tester@d" not in userprio(site, *late).stdout
    assert "tester@d" in userprio(site, *late, "-allusers").stdout
    assert "tester@d" in userprio(site, *late, "tester").stdout


@pytest.mark.parametrize(
    ("words", "attribute", "value", "text"),
    [
        (["-setprio", "tester@d", "40"], "Priority", "40000.0", "The priority of tester@d was set to 40"),
        (["-setfactor", "tester@d", "10"], "PriorityFactor", "10.0", "The priority factor of tester@d was set to 10"),
        (["-setaccum", "tester@d", "7200"], "WeightedAccumulatedUsage", "7200.0", "The accumulated usage of tester@d was set to 7200"),
        (["-setbegin", "tester@d", "1700000000"], "BeginUsageTime", "1700000000", "The begin usage time of tester@d was set to 1.7e+09"),
        (["-setlast", "tester@d", "1700000000"], "LastUsageTime", "1700000000", "The last usage time of tester@d was set to 1.7e+09"),
        (["-setceil", "tester@d", "7"], "Ceiling", "7", "The ceiling of tester@d was set to 7"),
        (["-setceiling", "tester@d", "7", "-duration", "60"], "Ceiling", "7", "The ceiling of tester@d is 7 for 60 seconds"),
        (["-setfloor", "tester@d", "2"], "Floor", "2", "The floor of tester@d was set to 2"),
        (["-resetusage", "tester@d"], "AccumulatedUsage", "0.0", "The accumulated usage of tester@d was reset"),
        (["-resetall"], "AccumulatedUsage", "0.0", "The accumulated usage was reset for all users"),
    ],
)  # fmt: skip
def test_a_change_is_made_shown_and_recorded(site, words, attribute, value, text):
    done = userprio(site, *words, "--note", "as agreed")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{text}\n", "")
    assert long_form(site)["tester@d"][attribute] == value
    assert acts(site) == [("change_order", ME, True, text)]
    (record,) = records(site / "audit", "admin")
    assert (record["order"], record["note"]) == ("submitters", "as agreed")
    assert json.loads(record["change"])["kind"].startswith(words[0].removeprefix("-"))
    assert verify(site / "audit").fault is None
    with StateStore.open(site / "state") as store:
        assert store.difference() == ""


def test_an_account_is_deleted(site):
    assert userprio(site, "-delete", "tester@d").returncode == 0
    assert "tester@d" not in long_form(site)


def test_a_lease_is_cancelled(site):
    userprio(site, "-setfloor", "tester@d", "2", "-duration", "60")
    assert userprio(site, "-cancelfloorlease", "tester@d").returncode == 0
    assert long_form(site)["tester@d"]["Floor"] == "0"


def test_a_change_of_an_unknown_account_is_refused_and_recorded(site):
    done = userprio(site, "-delete", "nobody@d")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "no account named nobody@d\n")
    assert acts(site) == [("change_order", ME, False, "no account named nobody@d")]


def test_the_next_cycle_goes_by_the_changed_account(site):
    userprio(site, "-setceiling", "tester@d", "1")
    with _world(site) as world:
        world.jobs = [app(2), app(2, 1)]
        world.now += 60
        assert len(world.cycle().matches) == 1


def test_only_administrators_of_the_scheduler_change_accounts(site):
    """The running negotiator decides, whoever writes the request."""
    with _world(site) as world:
        text = '{"kind":"setprio","name":"tester@d","value":9}'
        for by, may in (("alice", False), ("boss", True)):
            request = AdminRequest(0, NOW, by, (), AdminAction.CHANGE_ORDER, order="submitters", change=text)
            number = world.store.request(request)
            world.run.between_cycles()
            answer = world.store.answered(number)
            assert answer.ok is may
            assert may or answer.text.startswith("denied: ")
            assert (world.records("admin")[-1]["change"], world.records("admin")[-1]["ok"]) == (text, may)
    assert long_form(site)["tester@d"]["Priority"] == "9000.0"


def test_a_running_negotiator_carries_out_the_change_before_its_next_cycle(site):
    with _world(site) as world:
        done = userprio(site, "-setprio", "tester@d", "40", "--wait", "0")
        assert (done.returncode, done.stdout) == (75, "")
        assert "is carried out before the next cycle" in done.stderr
        assert long_form(site)["tester@d"]["Priority"] == "500.0"
        world.run.between_cycles()
        assert long_form(site)["tester@d"]["Priority"] == "40000.0"
        world.now += 1
        world.cycle()
    assert float(long_form(site)["tester@d"]["Priority"]) > 39_000


@pytest.mark.parametrize("text", ["", "[]", "{", '{"kind":"import","rows":[]}', "[" * 100_000, '{"kind":"import","rows":{"account:u@d":{"Name":"v@d"}}}'])  # fmt: skip
def test_a_damaged_request_is_refused_and_the_negotiator_goes_on(site, text):
    with _world(site) as world:
        for order in ("submitters", "other", "\x1b[31m"):
            request = AdminRequest(0, NOW, ME, (), AdminAction.CHANGE_ORDER, order=order, change=text)
            number = world.store.request(request)
            world.run.between_cycles()
            answer = world.store.answered(number)
            assert not answer.ok
            assert answer.text.isprintable()
        assert world.store.waiting() == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-setprio", "tester", "5"], "-setprio needs the full name of a submitter, user@domain"),
        (["-setprio", "a\x1b[2J@d", "5"], "1 to 1000 printable characters"),
        (["-setprio", "u" * 1001 + "@d", "5"], "1 to 1000 printable characters"),
        (["-setprio", "tester@d", "nan"], "'nan' is not a number"),
        (["-setfloor", "tester@d", "-1"], "setfloor needs a value from 0"),
        (["-bogus"], "unknown option '-bogus'"),
        (["-all", "--export", "file"], "--import and --export go without each other"),
        (["--set-aside"], "--set-aside needs --import"),
        (["-setprio", "tester@d", "5", "--note", "x" * 501], "the note has 501 characters"),
    ],
)
def test_invalid_calls_change_and_record_nothing(site, words, message):
    done = userprio(site, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())
    assert acts(site) == []


def test_without_a_state_nothing_is_made(site):
    done = userprio(site, "-all", more=("--bundle", "bundle", "--state", "elsewhere"))
    assert (done.returncode, done.stderr) == (
        6,
        "error: elsewhere: no state of a negotiator in this folder\n",
    )
    assert not (site / "elsewhere").exists()


def test_the_help_of_condor_userprio_is_that_of_the_command(site):
    assert userprio(site, "-help").stdout == userprio(site, "--help").stdout != ""


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
    ((action, by, ok, _text),) = acts(site)
    assert (action, by, ok) == ("change_order", ME, True)
    assert records(site / "audit", "admin")[0]["change"].startswith(
        '{"kind":"import","source":"Accountantnew.log"'
    )
    with _world(site) as world:
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
    with _world(site) as world:
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
    assert acts(site) == []


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


GROUPS = """GROUP_NAMES: physics, physics.astro
GROUP_QUOTA_physics: 2
GROUP_QUOTA_DYNAMIC_physics.astro: 0.5
GROUP_ACCEPT_SURPLUS_physics: true
"""


def _cycle_of_groups(folder):
    """Run two cycles of two submitters in groups, the second with their first slots in use."""
    world = World(folder, bundle(folder / "bundle", QUEUES, FAIR + GROUPS))
    names = enumerate(["physics.ann", "physics.astro.tim", "sue"], 1)
    world.jobs = [
        app(number, each, user=name, AccountingGroup=f'"{name}"', User=f'"{name}@d"')
        for number, name in names
        for each in range(9)
    ]
    world.slots = [slot(number, Cpus="1") for number in range(4)]
    with world:
        first = world.cycle()
        users = {match.slot: match.submitter for match in first.matches}
        world.slots = [
            slot(number, Cpus="1", State='"Claimed"', RemoteUser=f'"{user}"', AccountingGroup=f'"{user}"')
            for number, user in enumerate(users.values())
        ]
        world.now += 3600
        world.cycle()
    return folder


def test_groups_are_shown_with_their_quotas_and_demand(tmp_path):
    site = _cycle_of_groups(tmp_path)
    shown = long_form(site)
    physics = shown["physics"]
    assert (physics["ConfigQuota"], physics["EffectiveQuota"], physics["SurplusPolicy"]) == (
        "2.0",
        "2.0",
        '"byquota"',
    )
    assert shown["physics.astro"]["SubtreeQuota"] == "1.0"
    assert float(physics["Requested"]) >= 9
    assert shown["<none>"]["EffectiveQuota"] == "2.0"
    assert {name for name in shown if shown[name]["IsAccountingGroup"] == "true"} == {
        "<none>",
        "physics",
        "physics.astro",
    }
    quotas = userprio(site, "-quotas", "-allusers").stdout
    assert re.search(r"^physics +2\.00 +2\.00 ByQuota +2\.00 ", quotas, re.MULTILINE)


def test_the_long_form_has_shares_and_limits_of_the_last_cycle(site):
    shown = long_form(site)["tester@d"]
    assert (shown["SubmitterShare"], shown["SubmitterLimit"]) == ("1.0", "3.0")


def test_condor_userprio_shows_the_long_form_of_groups(tmp_path):
    site = _cycle_of_groups(tmp_path)
    with real_condor() as condor:
        (condor.folder / "ads").write_text(userprio(site, "-long", "-allusers").stdout)
        for option in ("-most", "-all", "-usage", "-priority", "-quotas"):
            ours = in_utc(site, option, "-allusers")
            real = condor.output(
                "condor_userprio", "-inputfile", str(condor.inside / "ads"), option, "-allusers"
            )
            assert ours == real, option


def test_condor_userprio_shows_the_long_form_as_the_command_shows_its_tables(site):
    userprio(site, "--import", LOG)
    with real_condor() as condor:
        (condor.folder / "ads").write_text(userprio(site, "-long", "-allusers").stdout)
        for option in ("-most", "-all", "-usage", "-priority", "-quotas"):
            ours = in_utc(site, option, "-allusers")
            real = condor.output(
                "condor_userprio", "-inputfile", str(condor.inside / "ads"), option, "-allusers"
            )
            assert ours == real, option


DEADLY = (AuditLog, "append"), (AuditLog, "sync"), (StateStore, "save"), (StateStore, "request")


def _requests(folder, note):
    """Run a cycle, then request and carry out three changes."""
    with _world(folder) as world:
        world.cycle()
        for text in CHANGES:
            request = AdminRequest(0, NOW, ME, (), AdminAction.CHANGE_ORDER, order="submitters", change=text)
            note("requested", world.store.request(request))
            world.run.between_cycles()
            note("done")
        world.now += 60
        world.cycle()


def _rows(folder):
    """Return the factors of the accounts after the requests that wait are carried out, as after a crash."""
    with _world(folder) as world:
        answered = [number for number in (1, 2, 3) if world.store.answered(number)]
        before = world.run.state_manager.order_rows.get("submitters", {})
        world.run.between_cycles()
        assert world.store.waiting() == ()
        after = world.run.state_manager.order_rows.get("submitters", {})
        done = [each["request"] for each in world.records("admin") if each["ok"]]
    return answered, done, [_factors(rows) for rows in (before, after)]


def _factors(rows):
    return {key: row["PriorityFactor"] for key, row in rows.items() if key in {"account:a@d", "account:b@d"}}


CHANGES = (
    '{"kind":"setfactor","name":"a@d","value":5}',
    '{"kind":"setfactor","name":"b@d","value":7}',
    '{"kind":"import","source":"log","rows":{"account:a@d":{"Name":"a@d","PriorityFactor":9.0}}}',
)
STEPS = ({}, {"account:a@d": 5.0}, {"account:a@d": 5.0, "account:b@d": 7.0}, {"account:a@d": 9.0})


def test_a_crash_at_any_point_leaves_each_change_whole_or_for_the_next_process(tmp_path):
    """A change that was answered is in the state and in the audit log; one that was not is carried out once more."""
    seen = set()
    for folder in killed_at_each_step(tmp_path, DEADLY, _requests, most=60, after=True):
        requested = (folder / "notes").read_text().count("requested")
        answered, done, (before, after) = _rows(folder)
        assert before == STEPS[len(answered)]
        assert set(answered) <= set(done)
        if requested:
            assert after == STEPS[max(requested, len(answered), *done)]
        assert verify(folder / "audit").fault is None
        seen.add((requested, len(answered)))
    assert {(1, 0), (1, 1), (2, 1), (3, 2), (3, 3)} <= seen


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

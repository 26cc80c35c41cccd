"""``negotiator userprio``: accounts of a state are changed by the command line, by administrators only."""

import json

import pytest

from dying import killed_at_each_step
from negotiator.audit.log import AuditLog
from negotiator.audit.verify import verify
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
from pools import slot
from queueing import ME, NOW, app, records
from userprio_site import admin_records, long_form, userprio, world_in


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
    assert admin_records(site) == [("change_order", ME, True, text)]
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
    assert admin_records(site) == [("change_order", ME, False, "no account named nobody@d")]


def test_the_next_cycle_goes_by_the_changed_account(site):
    """Two matches that the pool does not show yet count."""
    userprio(site, "-setceiling", "tester@d", "3")
    with world_in(site) as world:
        world.slots = [slot(number, Cpus="1") for number in range(9)]
        world.jobs = [app(2), app(2, 1)]
        world.now += 60
        assert len(world.cycle().matches) == 1


def test_only_administrators_of_the_scheduler_change_accounts(site):
    """The running negotiator decides, whoever writes the request."""
    with world_in(site) as world:
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
    with world_in(site) as world:
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
    with world_in(site) as world:
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
    assert admin_records(site) == []


DEADLY = (AuditLog, "append"), (AuditLog, "sync"), (StateStore, "save"), (StateStore, "request")


def _requests(folder, note):
    """Run a cycle, then request and carry out three changes."""
    with world_in(folder) as world:
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
    with world_in(folder) as world:
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

"""State and audit log vouch for each other: neither is continued if the other one does not agree with it."""

import os
import shutil
import signal
import sqlite3

import pytest

import queueing
from dying import killed_at_each_step
from negotiator.audit import history
from negotiator.audit.log import AuditLog
from negotiator.audit.verify import lines_of, verify
from negotiator.runtime.consistency import (
    InconsistentLogError,
    InconsistentStateError,
    Recovery,
    check_consistency,
)
from negotiator.runtime.cycle_pool import FilePool
from negotiator.runtime.state import StateStore
from pools import slot
from queueing import NOW, World, app

RECOVERY = Recovery("root", NOW, "d" * 64)
DEADLY = [
    (AuditLog, "append"),
    (AuditLog, "sync"),
    (StateStore, "save"),
    (StateStore, "accept"),
    (StateStore, "move_mark"),
    (FilePool, "settle"),
]


@pytest.fixture
def world(tmp_path):
    """A negotiator that has run two cycles with a match each, and was stopped."""
    made = World(tmp_path)
    with made:
        cycles(made, 1, 2)
    return made


def cycles(world, *numbers):
    """Run a cycle with a new job and a new slot for each of the numbers."""
    for number in numbers:
        world.slots = [*world.slots, slot(number)]
        world.jobs = [*world.jobs, app(number)]
        world.cycle()


def change(file, old, new):
    text = file.read_bytes()
    assert old in text
    file.write_bytes(text.replace(old, new, 1))


def log_file(world):
    return world.folder / "audit" / "audit-000001.jsonl"


def change_record(world):
    change(log_file(world), b'"submitter":"tester@d"', b'"submitter":"mallor@d"')


def cut_off_end(world):
    lines = log_file(world).read_bytes().splitlines(keepends=True)
    log_file(world).write_bytes(b"".join(lines[:2]))


def cut_off_outcome(world):
    lines = log_file(world).read_bytes().splitlines(keepends=True)
    assert b'"kind":"outcome"' in lines[-1]
    log_file(world).write_bytes(b"".join(lines[:-1]))


def delete_log(world):
    shutil.rmtree(world.folder / "audit")


def replace_log(world):
    """Write another log, which verifies, and is longer."""
    delete_log(world)
    with AuditLog.open(world.folder / "audit", rotate_bytes=1 << 20) as log:
        log.append([{"kind": "note", "number": number} for number in range(99)])


def delete_state(world):
    shutil.rmtree(world.folder / "state")


def empty_state(world):
    (world.folder / "state" / "state.sqlite").write_bytes(b"")


def remove_matches(world):
    with sqlite3.connect(world.folder / "state" / "state.sqlite") as db:
        db.execute("DELETE FROM matches")
    db.close()


def forget_last_match(world):
    with sqlite3.connect(world.folder / "state" / "state.sqlite") as db:
        db.execute("UPDATE audit_mark SET last_match = '1.1'")
    db.close()


CHANGES = [
    (change_record, InconsistentLogError, r"audit-000001.jsonl:\d+: record \d+ was changed"),
    (cut_off_end, InconsistentLogError, r"ends with record 2, but the state knows record \d+"),
    (cut_off_outcome, InconsistentLogError, r"ends with record \d+, but the state knows record \d+"),
    (delete_log, InconsistentLogError, r"ends with record 0, but the state knows record \d+"),
    (replace_log, InconsistentLogError, r"record \d+ of the audit log is not the one that the state knows"),
    (delete_state, InconsistentStateError, r"has cycles with a saved state \(last match: \d+\.1\)"),
    (empty_state, InconsistentStateError, r"this state has none: it was emptied, deleted or replaced"),
    (remove_matches, InconsistentStateError, r"matches: 0 rows instead of 2"),
    (
        forget_last_match,
        InconsistentStateError,
        r"the last match is \d+\.1 in the audit log, but 1\.1 in the",
    ),
]


@pytest.mark.parametrize(("change", "error", "text"), CHANGES)
def test_a_changed_log_or_state_is_refused_until_an_administrator_accepts_it(world, change, error, text):
    """The recovery is recorded with the differences; the next start needs none."""
    change(world)
    for _ in range(2):
        with pytest.raises(error, match=text):
            world.start()
        world.stop()
    with opened(world) as (store, log):
        check_consistency(store, log, RECOVERY)
    (record,) = world.records("recovery")
    assert record["user"] == "root"
    assert record["differences"]
    with world:
        cycles(world, 3)
    with world:
        cycles(world, 4)
    assert len(world.records("recovery")) == 1


def opened(world):
    """Open state and log as a start does, without a check."""

    class Opened:
        def __enter__(self):
            self.store = StateStore.open(world.folder / "state")
            self.log = AuditLog.open(world.folder / "audit", rotate_bytes=1 << 30)
            return self.store, self.log

        def __exit__(self, *_):
            self.store.close()
            self.log.close()

    return Opened()


def test_the_fault_stays_visible_to_auditors_after_a_recovery(world):
    change_record(world)
    with opened(world) as (store, log):
        check_consistency(store, log, RECOVERY)
    assert "was changed" in verify(world.folder / "audit").fault.message


def test_a_second_change_after_a_recovery_is_refused_again(world):
    change_record(world)
    with opened(world) as (store, log):
        check_consistency(store, log, RECOVERY)
    with world:
        cycles(world, 3)
    change(log_file(world), b'"job":"3.0"', b'"job":"9.0"')
    with pytest.raises(InconsistentLogError, match="was changed"):
        world.start()
    world.stop()


def test_an_older_copy_of_the_state_is_refused(world):
    """Even if it is one cycle behind: the outcome of that cycle shows that its matches were handed out."""
    shutil.copytree(world.folder / "state", world.folder / "copy")
    with world:
        cycles(world, 3)
    delete_state(world)
    (world.folder / "copy").rename(world.folder / "state")
    with pytest.raises(
        InconsistentStateError, match=r"has cycle \d+ .*: the state was replaced by an older copy"
    ):
        world.start()
    world.stop()


def test_complete_files_that_did_not_change_are_not_read_again(tmp_path, monkeypatch):
    """A change in one of them is found all the same."""
    folder = tmp_path / "audit"
    with StateStore.open(tmp_path / "state") as store:
        for number in range(3):
            with AuditLog.open(folder, rotate_bytes=500) as log:
                check_consistency(store, log)
                log.append([{"kind": "note", "text": f"{number}" * 400}])
                log.sync()
        first, second, last = sorted(folder.glob("*.jsonl"))
        read = []
        monkeypatch.setattr(history, "lines_of", lambda files: read.extend(files) or lines_of(files))
        with AuditLog.open(folder, rotate_bytes=500) as log:
            check_consistency(store, log)
        assert first not in read
        assert {second, last} >= set(read) >= {last}
        monkeypatch.undo()
        change(first, b"000", b"001")
        with (
            AuditLog.open(folder, rotate_bytes=500) as log,
            pytest.raises(InconsistentLogError, match="record 1"),
        ):
            check_consistency(store, log)


def test_a_log_of_runs_without_a_state_may_be_continued_with_a_new_state(tmp_path):
    world = World(tmp_path)
    with world:
        world.run.store = None
        cycles(world, 1, 2)
    with world:
        cycles(world, 3)


def test_runs_without_an_audit_log_leave_the_mark_as_it_is(world):
    with world:
        world.run.audit = None
        cycles(world, 3)
    with world:
        cycles(world, 4)


def two_runs(folder, _note):
    """Run a negotiator twice, with two cycles each."""
    for first in (1, 3):
        world = World(folder, queueing.bundle(folder / "bundle"))
        with world:
            cycles(world, first, first + 1)


def test_a_process_killed_at_any_point_leaves_state_and_log_that_agree(tmp_path):
    """Also if the processes after it are killed at the same point."""
    folders = killed_at_each_step(tmp_path, DEADLY, two_runs, most=80, after=True)
    assert len(folders) > 30
    for folder in folders:
        world = World(folder, queueing.bundle(folder / "bundle"))
        for number in (5, 6):
            with world:
                cycles(world, number)


def killed_after_intent(folder, _note):
    world = World(folder, queueing.bundle(folder / "bundle"))
    with world:
        cycles(world, 1)


@pytest.mark.parametrize("times", [1, 3])
def test_any_number_of_processes_killed_between_log_and_state_leave_a_start_that_is_not_refused(
    tmp_path, times
):
    """Each leaves a cycle in the log of which nothing was handed out."""
    for _ in range(times):
        child = os.fork()
        if not child:
            StateStore.save = lambda *_args, **_kwargs: os.kill(os.getpid(), signal.SIGKILL)
            killed_after_intent(tmp_path, None)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    world = World(tmp_path, queueing.bundle(tmp_path / "bundle"))
    with world:
        cycles(world, 1)
    assert len(world.records("cycle")) == times + 1
    assert len(world.records("outcome")) == 1

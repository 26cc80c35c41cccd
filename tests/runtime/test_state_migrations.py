"""A state of an earlier version becomes one of this version, all of it or nothing; others are refused with what to do."""

import gzip
import sqlite3
from pathlib import Path

import pytest

from negotiator.errors import StateError
from negotiator.queues.applications import ApplicationHold, ApplicationId, RegisteredApplication
from negotiator.runtime.state import AdminAction, AdminAnswer, AuditMark, StateBundle, StateStore, schema

#: Written by the program of version 9, with names that are not UTF-8.
VERSION_9 = Path(__file__).with_name("state_version_9.sqlite.gz")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "state.sqlite").write_bytes(gzip.decompress(VERSION_9.read_bytes()))
    return folder


def version(folder):
    with sqlite3.connect(folder / "state.sqlite") as db:
        ((found,),) = db.execute("PRAGMA user_version")
    db.close()
    return found


def test_a_state_of_version_9_has_all_that_it_had(folder):
    """Names keep their bytes, whether or not they are UTF-8, have NULs or backslashes."""
    with StateStore.open(folder) as store:
        found, (waiting,) = store.load(10.0), store.waiting()
        assert store.answered(1) == AdminAnswer(True, "held")
        assert (waiting.number, waiting.action, waiting.change) == (2, AdminAction.CHANGE_ORDER, '{"a": 1}')
        assert store.bundle() == StateBundle("/etc/site\udcfe", "abc")
        assert store.mark() == AuditMark("12:aa", "7.1")
        assert store.request(waiting) == 3
    odd = ApplicationId("node\udcff\0\x1a", "änn", 1)
    assert set(found.applications) == {
        RegisteredApplication(odd, "root.a", 9.0, "staff"),
        RegisteredApplication(ApplicationId("DOMAIN\\node", "ann", 2), "root.a", 8.0),
    }
    assert found.held == {odd: ApplicationHold("boss", 4.0, "no\0te")}
    assert [each.schedd for each in found.journal] == ["node\udcff"]
    assert [each.claim for each in found.journal] == ["finger"]
    assert found.order_rows == {("submitters", "account:ann\udcff"): {"Priority": 2.5}}
    assert (found.damaged, found.time.uptime.boot, len(found.queues)) == ((), "boot", 2)
    assert (version(folder), found.overruns) == (11, ())


def test_changes_after_a_migration_replace_the_rows_before_it(folder):
    odd = ApplicationId("node\udcff\0\x1a", "änn", 1)
    with StateStore.open(folder) as store:
        store.save([RegisteredApplication(odd, "root.b", 11.0)], [], [], last=12.0)
        assert {each.queue for each in store.load(13.0).applications if each.id == odd} == {"root.b"}


def test_a_migration_that_fails_changes_nothing(folder, monkeypatch):
    def failing(db):
        schema._from_9(db)
        raise sqlite3.OperationalError("disk full")

    monkeypatch.setattr(schema, "_STEPS", {9: failing, 10: schema._from_10})
    with pytest.raises(StateError, match="cannot open the state: disk full"):
        StateStore.open(folder)
    monkeypatch.undo()
    assert version(folder) == 9
    with StateStore.open(folder) as store:
        assert len(store.load(10.0).applications) == 2


def test_a_state_that_a_negotiator_of_the_earlier_version_uses_is_not_migrated(folder, tmp_path):
    with StateStore.open(tmp_path / "other") as other:
        other.hold_lock()
        (folder / "state.lock").hardlink_to(tmp_path / "other" / "state.lock")
        with pytest.raises(StateError, match="a negotiator of an earlier version uses it: stop it first"):
            StateStore.open(folder)
    assert version(folder) == 9


def test_a_reader_does_not_migrate_but_names_what_does(folder):
    with pytest.raises(
        StateError, match="version 9, this program reads version 11: negotiator serve migrates it"
    ):
        StateStore.read(folder)
    assert version(folder) == 9


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (8, "migrates versions from 9 on: migrate it with an earlier"),
        (12, "use the program that wrote it, or a later one"),
    ],
)
@pytest.mark.parametrize("way", [StateStore.open, StateStore.read])
def test_a_state_of_any_other_version_is_refused_with_the_remedy(folder, number, remedy, way):
    with sqlite3.connect(folder / "state.sqlite") as db:
        db.execute(f"PRAGMA user_version = {number}")
    db.close()
    with pytest.raises(StateError, match=f"the state has version {number}.*{remedy}"):
        way(folder)
    assert version(folder) == number

"""A state in PostgreSQL: what only a database of its own can do wrong, and what several central managers share."""

import os
import shutil
import sys
import time
from contextlib import suppress

import pytest

from negotiator.audit.log import AuditLog
from negotiator.errors import LeadershipLostError, StateError
from negotiator.hooks.state_location import DatabaseUrl, StateLocation
from negotiator.runtime.consistency import InconsistentLogError, InconsistentStateError, check_consistency
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
from pools import slot
from queueing import World, app
from swallowing_proxy import swallowing_proxy

REQUEST = AdminRequest(0, 5.0, "ann\udcff\0", (), AdminAction.RELOAD)


@pytest.fixture
def location(tmp_path, postgresql):
    return StateLocation(tmp_path / "state", DatabaseUrl(postgresql.url()))


def contents(store):
    return store.load(1.0), store.waiting(), store.bundle(), store.mark(), store.count_rows()


def test_reading_makes_no_tables(location):
    with pytest.raises(StateError, match="no state of a negotiator in this database"):
        StateStore.read(location)
    assert not StateStore.exists(location)
    with pytest.raises(StateError, match="no state of a negotiator in this database"):
        StateStore.require(location)
    StateStore.open(location).close()
    assert StateStore.exists(location)
    with StateStore.read(location) as store:
        assert store.waiting() == ()


def test_a_state_of_another_version_is_refused(location):
    with StateStore.open(location) as store, store.database.writing() as db:
        db.execute("UPDATE state_version SET version = 12")
    for way in (StateStore.open, StateStore.read):
        with pytest.raises(
            StateError, match="version 12, this program reads version 11: use the program that wrote it"
        ):
            way(location)


def test_a_state_of_version_10_gets_the_table_of_overruns_when_it_is_opened_to_write(location):
    with StateStore.open(location) as store:
        store.request(REQUEST)
        with store.database.writing() as db:
            db.execute("DROP TABLE overruns")
            db.execute("UPDATE state_version SET version = 10")
    with pytest.raises(
        StateError, match="version 10, this program reads version 11: negotiator serve migrates it"
    ):
        StateStore.read(location)
    with StateStore.open(location) as store:
        assert (len(store.waiting()), store.load(1.0).overruns) == (1, ())


def test_states_in_two_schemas_have_a_leader_each(location, tmp_path, postgresql):
    other = StateLocation(tmp_path / "other", DatabaseUrl(postgresql.url()))
    with StateStore.open(location) as one, StateStore.open(other) as two:
        one.request(REQUEST)
        assert (two.waiting(), one.hold_lock(), two.leader, two.hold_lock()) == ((), True, None, True)
        assert one.leader.process == two.leader.process


def test_only_the_owner_of_the_folder_of_a_negotiator_leads(location):
    """Commands of others write requests: they would make files in folders where nobody looks for them."""
    with StateStore.open(location) as store:
        assert not store.is_own
        assert not location.folder.exists()
        assert store.hold_lock()
        assert store.is_own


def test_a_missing_psycopg_is_named_with_what_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StateError, match=r"pip install 'pool-negotiator\[postgresql\]'"):
        StateStore.open(StateLocation(tmp_path, DatabaseUrl("postgresql://h/d")))


def test_errors_of_the_server_name_the_place_and_no_password(tmp_path, postgresql):
    url = f"postgresql://nobody:s3cret@/s3cret?host={postgresql.folder}"
    with pytest.raises(StateError, match=r"cannot open the state: .*does the server run") as found:
        StateStore.open(StateLocation(tmp_path, DatabaseUrl(url)))
    assert str(found.value).startswith("postgresql://nobody:***@/")
    assert "s3cret" not in str(found.value).replace("@/s3cret", "")


def test_a_database_in_another_encoding_is_refused(tmp_path, postgresql):
    postgresql.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    url = f"postgresql://negotiator@/latin?host={postgresql.folder}"
    with pytest.raises(StateError, match="the database is in LATIN1: make one with ENCODING 'UTF8'"):
        StateStore.open(StateLocation(tmp_path, DatabaseUrl(url)))


def test_a_backup_moves_a_state_from_a_file_to_a_database_and_back(location, tmp_path):
    world = World(tmp_path)
    world.slots, world.jobs = [slot()], [app(1, schedd="node\udcff"), app(2)]
    with world:
        world.cycle()
        world.store.request(REQUEST)
        world.store.back_up(tmp_path / "file.gz", 1.0)
        expected = contents(world.store)
    with StateStore.open(location) as shared:
        shared.restore(tmp_path / "file.gz")
        assert contents(shared) == expected
        assert shared.request(REQUEST) == 2
        shared.restore(tmp_path / "file.gz", replace=True)
        shared.back_up(tmp_path / "database.gz", 2.0)
    with StateStore.open(tmp_path / "back") as back:
        back.restore(tmp_path / "database.gz")
        assert contents(back) == expected


@pytest.fixture
def managers(tmp_path, postgresql):
    """Return two central managers with one state, and an audit log each."""
    database = DatabaseUrl(postgresql.url())
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    made = [World(folder, database=database) for folder in folders]
    for world in made:
        world.slots, world.jobs = [slot(0), slot(1), slot(2), slot(3)], [app(1)]
    made[1].bundle = made[0].bundle
    return made


def lead(world, cycles=1):
    """Start a manager, run cycles, and return how many matches they made."""
    try:
        world.start()
        return sum(len(world.cycle().matches) for _ in range(cycles))
    finally:
        world.stop()


def test_each_manager_continues_its_own_audit_log_after_a_fail_over_and_back(managers):
    one, two = managers
    assert lead(one, 2) == 1
    for world in (two, one, two, one):
        assert lead(world, 2) == 0
    for world in managers:
        assert {record["kind"] for record in world.records()} >= {"cycle", "outcome"}


def test_a_match_of_the_other_manager_is_not_made_again(managers):
    """Neither its job nor its slot: whether it was handed out is not known."""
    one, two = managers
    two.jobs = one.jobs = [app(1), app(2)]
    one.slots = two.slots = [slot(0), slot(1)]
    assert lead(one) == 2
    assert lead(two) == 0
    two.jobs = [*two.jobs, app(3)]
    assert lead(two) == 0


@pytest.mark.parametrize("which", [0, 1])
def test_an_audit_log_that_was_replaced_is_noticed_by_its_manager(managers, which):
    for world in (*managers, *managers):
        lead(world)
    shutil.rmtree(managers[which].folder / "audit")
    lead(managers[1 - which])
    with pytest.raises(InconsistentLogError, match="the log was moved away or replaced"):
        lead(managers[which])


@pytest.mark.parametrize("which", [0, 1])
def test_an_older_state_is_noticed_by_every_manager(managers, which, tmp_path):
    for world in managers:
        lead(world)
    with StateStore.open(StateLocation(tmp_path / "x", managers[0].database)) as store:
        store.back_up(tmp_path / "old.gz", 1.0)
        for world in managers:
            lead(world, 2)
        store.restore(tmp_path / "old.gz", replace=True)
    with pytest.raises(InconsistentStateError, match="replaced by an older copy"):
        lead(managers[which])


def test_a_manager_whose_id_was_lost_is_no_new_one(managers):
    for world in managers:
        lead(world)
    (managers[0].folder / "state" / "manager.id").unlink()
    with pytest.raises(InconsistentStateError, match="this state has none"):
        lead(managers[0])


def test_the_mark_of_a_state_that_was_not_shared_is_that_of_its_negotiator(managers, tmp_path):
    """A new manager with an empty log must not come first."""
    one, two = managers
    alone = World(one.folder)
    alone.slots, alone.jobs = one.slots, one.jobs
    with alone:
        alone.cycle()
        alone.store.back_up(tmp_path / "file.gz", 1.0)
    with StateStore.open(StateLocation(tmp_path / "x", one.database)) as store:
        store.restore(tmp_path / "file.gz")
    with pytest.raises(InconsistentLogError, match="the log was moved away or replaced"):
        lead(two)
    for world in (one, two, one):
        lead(world)
    assert {record["kind"] for record in two.records()} >= {"cycle"}


def test_a_state_that_returns_to_a_file_keeps_the_mark_of_its_manager(managers, tmp_path):
    one = managers[0]
    for world in managers:
        lead(world)
    with StateStore.open(StateLocation(one.folder / "state", one.database)) as store:
        store.back_up(tmp_path / "shared.gz", 1.0)
    with StateStore.open(one.folder / "state") as store:
        store.restore(tmp_path / "shared.gz")
    with (
        StateStore.open(one.folder / "state") as store,
        AuditLog.open(one.folder / "audit", rotate_bytes=1 << 30) as log,
    ):
        assert check_consistency(store, log) == ""


def test_a_leader_that_another_one_has_replaced_writes_nothing(location, tmp_path):
    """The database checks that in each transaction, also if the old session still lives; requests need no leadership."""
    other = StateLocation(tmp_path / "other", location.database)
    with StateStore.open(location) as one, StateStore.open(other) as two:
        assert one.hold_lock()
        assert not two.hold_lock()
        one.accept(None)
        with two.database.writing() as db:
            db.execute("UPDATE leader SET epoch = epoch + 1")
        before = contents(two)
        for write in (
            one.accept,
            lambda _: one.save([], [], [], last=9.0),
            lambda _: one.drop_matches(["1"]),
        ):
            with pytest.raises(LeadershipLostError, match="another negotiator has taken over this state"):
                write(None)
        assert contents(two) == before
        assert two.request(REQUEST) == 1


def test_a_leader_whose_session_has_ended_says_that_it_leads_no_more(location, tmp_path, postgresql):
    other = StateLocation(tmp_path / "other", location.database)
    with StateStore.open(location) as one, StateStore.open(other) as two:
        assert one.hold_lock()
        postgresql.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
        )
        with pytest.raises(LeadershipLostError, match="this negotiator leads no more"):
            one.accept(None)
        with pytest.raises(LeadershipLostError, match="this negotiator leads no more"):
            one.waiting()
        assert (two.waiting(), two.hold_lock(), two.leader.process) == ((), True, os.getpid())


def test_a_leader_that_only_computes_keeps_the_state(location, tmp_path):
    """A cycle may take longer than the timeout of the database."""
    quick = StateLocation(location.folder, DatabaseUrl(location.database.secret, timeout=2.0))
    with (
        StateStore.open(quick) as one,
        StateStore.open(StateLocation(tmp_path / "x", location.database)) as two,
    ):
        assert one.hold_lock()
        two.request(REQUEST)
        with two.database.reading() as db:
            db.execute("SELECT pg_sleep(5)")
        assert not two.hold_lock()
        one.accept(None)


def test_a_leader_that_is_stopped_in_the_middle_of_a_statement_is_replaced(tmp_path, postgresql):
    """The server waits for the rest of it, and counts that neither as silence nor as a transaction without statements."""
    database = DatabaseUrl(postgresql.url(), timeout=1.0)
    one, two = (StateStore.open(StateLocation(tmp_path / name, database)) for name in ("one", "two"))
    with one, two:
        assert one.hold_lock()
        session = one.database._session
        with session._lock:  # as in a write: the process sends nothing meanwhile
            raw = session._raw
            pipeline = raw.pipeline()
            pipeline.__enter__()
            raw.execute("SELECT 1")
            raw.pgconn.send_flush_request()
            while raw.pgconn.flush():
                pass
            end = time.monotonic() + 60
            while not two.hold_lock():
                assert time.monotonic() < end, "nobody leads"
                time.sleep(0.1)
            with suppress(Exception):
                pipeline.__exit__(None, None, None)
            assert session.has_ended


def test_a_process_that_does_not_lead_may_be_silent(location, postgresql):
    quick = StateLocation(location.folder, DatabaseUrl(location.database.secret, timeout=1.0))
    with StateStore.open(quick) as store:
        postgresql.execute("SELECT pg_sleep(2)")
        assert store.waiting() == ()


def test_a_server_that_does_not_answer_is_given_up(location, postgresql, tmp_path):
    with swallowing_proxy(postgresql.socket) as proxy:
        host = f"negotiator@{proxy.address}/postgres?"
        url = location.database.secret.replace("negotiator@/postgres?", host).replace(
            f"host={postgresql.folder}&", ""
        )
        with StateStore.open(StateLocation(tmp_path, DatabaseUrl(url, timeout=1.0))) as store:
            assert store.hold_lock()
            proxy.swallow()
            with pytest.raises(LeadershipLostError):
                store.accept(None)

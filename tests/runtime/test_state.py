"""The persistent state: complete after a crash, with names of any bytes, or refused with a reason."""

import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dying import killed_at_each_step
from negotiator.errors import StateError
from negotiator.hooks.state_location import DatabaseUrl, StateLocation
from negotiator.queues import Acl, Queue, QueueConfig, QueueLimit, QueueState, QueueTree
from negotiator.queues.applications import ApplicationHold, ApplicationId, RegisteredApplication
from negotiator.runtime.state import AdminAction, AdminAnswer, AdminRequest, StateStore

TEXTS = st.text(st.characters(), max_size=8)  # lone surrogates too: they stand for bytes that are not UTF-8
IDS = st.builds(ApplicationId, TEXTS, TEXTS, st.integers(0, 2**32 - 1))


class SteppedConnection(sqlite3.Connection):
    """A connection whose statements are steps of the test."""

    def execute(self, *arguments):
        return super().execute(*arguments)

    def executemany(self, *arguments):
        return super().executemany(*arguments)


def three_requests(folder, note):
    """Add and answer a request, three times; note both."""
    sqlite3.connect = partial(sqlite3.connect, factory=SteppedConnection)
    queues = QueueTree.of(QueueConfig("root", leaf=True), 1.0)
    with StateStore.open(folder) as store:
        for number in range(3):
            requested = store.request(
                AdminRequest(0, 1.0, "boss", (), AdminAction.MOVE, "s#1", f"root.q{number}")
            )
            note("requested", requested)
            placed = RegisteredApplication(ApplicationId("s", "u", 1), f"root.q{number}", 1.0)
            store.save([placed], [], [], queues=queues, answered=(requested, AdminAnswer(True, "done")))
            note("done", requested)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state"


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, folder):
    """Return where a state is, once for each kind of database."""
    if request.param == "sqlite":
        return StateLocation(folder)
    return StateLocation(folder, DatabaseUrl(request.getfixturevalue("postgresql").url()))


@pytest.fixture
def shared(place):
    """Return an open state, once for each kind of database."""
    with StateStore.open(place) as opened:
        yield opened


@pytest.fixture
def store(folder):
    """Return an open state in a file."""
    with StateStore.open(folder) as opened:
        yield opened


def tree(*queues):
    return QueueTree({each.path: each for each in queues})


def act(kind=AdminAction.HOLD, **more):
    return AdminRequest(0, 5.0, "ann", ("staff", "ops"), kind, "node1#1", **more)


def test_a_new_state_is_empty(shared):
    found = shared.load(1.0)
    assert (found.queues, found.applications, found.held, shared.waiting()) == ((), (), {}, ())


def test_saved_state_is_read_by_the_next_process(place, shared):
    """Applications have the time when they were last seen; queues their kind, their state and its time."""
    one, two = ApplicationId("s", "u", 1), ApplicationId("s", "u", 2)
    queues = tree(
        Queue(QueueConfig("root", leaf=False), managed=True, since=1.0),
        Queue(QueueConfig("root.a", leaf=True), managed=True, since=2.0, state=QueueState.DRAINING),
        Queue(QueueConfig("root.b", leaf=True), managed=False, since=3.5),
    )
    hold = ApplicationHold("boss", 4.0, "why")
    entries = [RegisteredApplication(one, "root.a", 7.0), RegisteredApplication(two, "root.b", 1.0)]
    shared.save(entries, [], [(one, hold)], queues=queues, last=7.0)
    shared.save([], [], [(one, hold)], last=8.0)
    with StateStore.open(place) as other:
        found = other.load(9.0)
    assert tree(*found.queues) == queues
    assert set(found.applications) == {
        RegisteredApplication(one, "root.a", 8.0),
        RegisteredApplication(two, "root.b", 1.0),
    }
    assert found.last == 8.0
    assert found.held == {one: hold}


def test_only_changes_are_written(shared):
    one, two = ApplicationId("s", "u", 1), ApplicationId("s", "u", 2)
    shared.save(
        [RegisteredApplication(one, "root.a", 1.0), RegisteredApplication(two, "root.a", 1.0)],
        [],
        [(one, ApplicationHold("b", 1.0))],
    )
    shared.save([RegisteredApplication(two, "root.b", 1.0)], [one], [], last=1.0)
    found = shared.load(1.0)
    assert found.applications == (RegisteredApplication(two, "root.b", 1.0),)
    assert found.held == {}


def test_draining_queues_are_saved_with_all_their_settings(shared):
    """No configuration has them any more."""
    root = QueueConfig("root", leaf=False, submit=Acl.parse("*"))
    left = QueueConfig(
        "root.a",
        leaf=True,
        submit=Acl.parse("sue,bob dev"),
        admin=Acl.parse(" ops"),
        max={"vcore": 4000},
        applications=3,
        limits=(QueueLimit(("sue",), (), {"memory": 1 << 40}, 2, "l"),),
    )
    queues = tree(
        Queue(root, managed=True, since=1.0), Queue(left, managed=True, since=1.0, state=QueueState.DRAINING)
    )
    shared.save([], [], [], queues=queues)
    assert tree(*shared.load(1.0).queues) == queues


def test_a_thousand_answers_are_stored(shared):
    with shared.database.writing() as db:  # a thousand transactions would take seconds
        db.execute_many("INSERT INTO admin_requests (action, done) VALUES ('hold', 1)", [()] * 1_500)
    open_ones = [shared.request(act()) for _ in range(3)]
    shared.answer(open_ones[0], AdminAnswer(ok=True, text="done"))
    with shared.database.reading() as db:
        assert db.execute("SELECT min(number) FROM admin_requests") == [(open_ones[0] - 999,)]
    assert [each.number for each in shared.waiting()] == open_ones[1:]


def test_a_reader_without_write_access_makes_no_file(folder, store):
    store.save([RegisteredApplication(ApplicationId("s", "u", 1), "root.a", 1.0)], [], [])
    for running in (True, False):
        if not running:
            store.close()
        before = sorted(folder.iterdir())
        with StateStore.read(folder) as reader:
            assert len(reader.load(1.0).applications) == 1
            with pytest.raises(StateError, match="readonly"):
                reader.save([], [], [])
        assert sorted(folder.iterdir()) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")
@pytest.mark.parametrize("running", [True, False])
def test_the_group_may_read_the_state_whether_or_not_a_negotiator_runs(tmp_path, folder, store, running):
    store.save([RegisteredApplication(ApplicationId("s", "u", 1), "root.a", 1.0)], [], [])
    if not running:
        store.close()
    for path in (folder, *folder.iterdir()):
        os.chown(path, 0, 65534)
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o711)
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            with StateStore.read(folder) as reader:
                os._exit(0 if len(reader.load(1.0).applications) == 1 else 1)
        except BaseException:  # noqa: BLE001 - the child must not go on with the tests
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_reading_missing_state_is_an_error(folder):
    with pytest.raises(StateError, match="no state of a negotiator in this folder"):
        StateStore.read(folder)
    folder.write_text("")
    with pytest.raises(StateError, match="not a folder"):
        StateStore.read(folder)


def test_queues_are_unchanged_unless_given(shared):
    queues = tree(Queue(QueueConfig("root", leaf=True), managed=True, since=1.0))
    shared.save([], [], [], queues=queues)
    shared.save([], [], [])
    assert tree(*shared.load(1.0).queues) == queues


@given(application=IDS, queue=TEXTS, by=TEXTS, note=TEXTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_of_any_bytes_are_read_back_unchanged(shared, application, queue, by, note):
    """Names come from ads, which can have any bytes; none may end a cycle."""
    placed, hold = RegisteredApplication(application, queue, 1.0), ApplicationHold(by, 1.0, note)
    rows = {("submitters", by): {"name": note}}
    shared.save([placed], [], [(application, hold)], last=1.0, order_rows=rows)
    number = shared.request(AdminRequest(0, 1.0, by, (), AdminAction.MOVE, note, queue, note))
    (requested,) = shared.waiting()
    assert requested == AdminRequest(number, 1.0, by, (), AdminAction.MOVE, note, queue, note)
    shared.answer(number, AdminAnswer(ok=True, text=note))
    assert shared.answered(number) == AdminAnswer(ok=True, text=note)
    found = shared.load(1.0)
    assert (found.applications, found.held, found.order_rows) == ((placed,), {application: hold}, rows)
    shared.save([placed], [], [], last=1.0, order_rows=rows)
    shared.save([], [application], [], order_gone=rows)
    assert (shared.load(1.0).applications, shared.load(1.0).order_rows) == ((), {})


def test_names_of_a_million_characters_are_read_back_unchanged(shared):
    """So long is a value of an ad at most; an index of a database may take less."""
    letters = random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=1 << 20)  # noqa: S311 - text that cannot be compressed
    long = ApplicationId("s", "".join(letters), 1)
    rows = {("submitters", long.user): {"used": 1}}
    for queue in ("root.a", "root.b"):
        shared.save(
            [RegisteredApplication(long, queue, 1.0)],
            [],
            [(long, ApplicationHold("b", 1.0))],
            order_rows=rows,
        )
        found = shared.load(1.0)
        assert [(each.id, each.queue) for each in found.applications] == [(long, queue)]
        assert (found.order_rows, list(found.held)) == (rows, [long])


def test_requests_are_pending_in_their_order_until_answered(shared):
    first, second = shared.request(act()), shared.request(act(AdminAction.MOVE, queue="root.a", note="so"))
    assert [each.number for each in shared.waiting()] == [first, second]
    assert shared.waiting()[1] == act(AdminAction.MOVE, queue="root.a", note="so").__class__(
        second, 5.0, "ann", ("staff", "ops"), AdminAction.MOVE, "node1#1", "root.a", "so"
    )
    assert shared.answered(first) is None
    shared.answer(first, AdminAnswer(ok=False, text="no"))
    assert shared.answered(first) == AdminAnswer(ok=False, text="no")
    assert [each.number for each in shared.waiting()] == [second]


def test_an_answer_and_its_effect_are_one_transaction(shared):
    number = shared.request(act())
    one = ApplicationId("s", "u", 1)
    with pytest.raises(StateError):
        shared.save(
            [RegisteredApplication(one, "root.a", 1.0)],
            [],
            [(one, ApplicationHold("b", 1.0))],
            answered=(number, AdminAnswer(ok=True, text="")),
            order_rows={
                ("submitters", "ann"): {"used": math.nan}
            },  # it is refused after the others were written
        )
    assert (shared.load(1.0).applications, shared.answered(number)) == ((), None)
    shared.save(
        [RegisteredApplication(one, "root.a", 1.0)],
        [],
        [],
        answered=(number, AdminAnswer(ok=True, text="done")),
    )
    assert (len(shared.load(1.0).applications), shared.answered(number)) == (
        1,
        AdminAnswer(ok=True, text="done"),
    )


def test_a_command_may_add_a_request_while_a_negotiator_runs(place, shared):
    assert shared.hold_lock()
    with StateStore.open(place) as command:
        number = command.request(act())
    assert [each.number for each in shared.waiting()] == [number]


def test_only_one_process_holds_the_lock(place, shared):
    with StateStore.open(place) as other:
        assert shared.hold_lock()
        assert shared.hold_lock()
        assert not other.hold_lock()
        shared.close()
        assert other.hold_lock()


def test_the_state_of_another_version_is_refused(folder, store):
    store.close()
    with sqlite3.connect(folder / "state.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(
        StateError, match=r"version 99, this program reads version 11: use the program that wrote it"
    ):
        StateStore.open(folder)


def test_a_file_of_another_format_is_refused_and_unchanged(folder):
    folder.mkdir()
    (folder / "state.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(StateError, match=r"not a database \(it is damaged") as lines:
        StateStore.open(folder)
    assert "full" not in str(lines.value)
    assert (folder / "state.sqlite").read_bytes() == b"no database at all" * 100


def test_unknown_values_in_the_database_are_an_error_and_no_crash(folder, store):
    store.request(act())
    store.close()
    with sqlite3.connect(folder / "state.sqlite") as db:
        db.execute("UPDATE admin_requests SET action = 'explode'")
        db.execute("INSERT INTO queues VALUES ('root', '[1]')")
    db.close()
    with StateStore.open(folder) as opened:
        with pytest.raises(StateError, match="explode"):
            opened.waiting()
        with pytest.raises(StateError, match=r"cannot read the state: .*damaged"):
            opened.load(1.0)


@pytest.mark.parametrize("name", ["state.sqlite", "state.lock"])
def test_a_link_in_place_of_a_file_is_not_followed(tmp_path, folder, name):
    folder.mkdir()
    (folder / name).symlink_to(tmp_path / "victim")

    def take():
        with StateStore.open(folder) as opened:
            opened.hold_lock()

    with pytest.raises(StateError, match=str(folder)):
        take()
    assert not (tmp_path / "victim").exists()


def test_a_file_instead_of_the_folder_is_an_error(folder):
    folder.write_text("")
    with pytest.raises(StateError, match=f"{folder}: cannot open the state: not a folder"):
        StateStore.open(folder)


def test_only_the_owner_may_write_the_state(folder, store):
    """The group may read it."""
    assert store.hold_lock()
    assert folder.stat().st_mode & 0o027 == 0
    assert [path.name for path in folder.iterdir() if path.stat().st_mode & 0o137] == []
    assert store.is_own


def test_a_full_disk_loses_nothing_and_writing_continues_with_room(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=400k", "tmpfs", place], capture_output=True, check=False
    )
    if not made or made.returncode:
        pytest.skip("only root can mount a small file system")
    many = [RegisteredApplication(ApplicationId("s", "u", number), "root.a", 1.0) for number in range(50_000)]
    try:
        with StateStore.open(place / "state") as store:
            store.save(many[:3], [], [])
            with pytest.raises(StateError, match=r"cannot write the state: .*full"):
                store.save(many, [], [])
            assert len(store.load(1.0).applications) == 3
            store.save(many[:4], [], [])
            assert len(store.load(1.0).applications) == 4
    finally:
        subprocess.run([shutil.which("umount"), place], check=True)


def test_a_process_killed_at_any_statement_leaves_complete_transactions(tmp_path):
    """An acknowledged request is stored; an answered one is stored with its answer."""
    points = (SteppedConnection, "execute"), (SteppedConnection, "executemany")
    folders = killed_at_each_step(tmp_path, points, three_requests, most=99)
    assert len(folders) > 20
    for folder in folders:
        lines = (folder / "notes").read_text().split()
        with StateStore.open(folder) as store:
            found, waiting = store.load(1.0), [each.number for each in store.waiting()]
            answered = [number for number in range(1, 4) if store.answered(number)]
            assert len(answered) >= lines.count("done")
            assert len(answered) + len(waiting) >= lines.count("requested")
            queues = [each.queue for each in found.applications]
            assert queues == ([f"root.q{answered[-1] - 1}"] if answered else [])
            assert bool(found.queues) == bool(answered)
            assert store.hold_lock()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")
def test_state_of_another_user_is_not_writable(tmp_path, folder, store):
    tmp_path.chmod(0o755)
    store.close()
    child = os.fork()
    if not child:
        os.setuid(65534)
        try:
            StateStore.open(folder)
        except StateError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


ANOTHER = """
import sys
from pathlib import Path
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
with StateStore.open(Path(sys.argv[1])) as store:
    store.request(AdminRequest(0, 1.0, "b", (), AdminAction.RELOAD))
"""


def test_a_state_that_a_process_opens_twice_stays_in_use_for_other_processes(folder):
    """A thread that serves tools opens it beside the negotiator; another process must not take the log away then."""
    with StateStore.open(folder) as held:
        held.request(AdminRequest(0, 1.0, "a", (), AdminAction.RELOAD))
        StateStore.open(folder).close()
        subprocess.run([sys.executable, "-c", ANOTHER, str(folder)], check=True)
        held.request(AdminRequest(0, 1.0, "c", (), AdminAction.RELOAD))
        with StateStore.read(folder) as reader:
            assert [each.by for each in reader.waiting()] == ["a", "b", "c"]
        assert [each.by for each in held.waiting()] == ["a", "b", "c"]
        assert (folder / "state.sqlite-wal").exists()

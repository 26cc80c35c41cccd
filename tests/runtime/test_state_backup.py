"""A backup has all of a state as it was at one moment; it is restored as a whole or not at all."""

import gzip
import json
import threading

import pytest

from negotiator.audit.log import AuditLog
from negotiator.errors import StateError
from negotiator.queues.applications import ApplicationId, RegisteredApplication
from negotiator.runtime.consistency import InconsistentStateError, check_consistency
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
from pools import slot
from queueing import World, app


def contents(store):
    return store.load(1.0), store.waiting(), store.bundle(), store.mark()


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.slots, made.jobs = [slot()], [app(1, schedd="node\udcff"), app(2)]
    with made:
        made.cycle()
        made.store.request(AdminRequest(0, 5.0, "ann\udcfe", ("staff",), AdminAction.RELOAD))
        yield made


@pytest.fixture
def file(world, tmp_path):
    world.store.back_up(tmp_path / "backup.gz", 7.0)
    return tmp_path / "backup.gz"


def test_a_restored_state_has_what_the_other_one_had(world, file, tmp_path):
    with StateStore.open(tmp_path / "new") as new:
        done = new.restore(file)
        assert (done.made, done.place) == (7.0, str(tmp_path / "state"))
        assert done.rows == world.store.count_rows() == new.count_rows()
        assert contents(new) == contents(world.store)
        assert done.rows["matches"] == 1
        assert new.request(AdminRequest(0, 6.0, "b", (), AdminAction.RELOAD)) == 2


def test_only_the_user_may_read_a_backup(file):
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_state_that_is_not_empty_is_replaced_only_on_request(world, file, tmp_path):
    with StateStore.open(tmp_path / "new") as new:
        new.request(AdminRequest(0, 6.0, "b", (), AdminAction.RELOAD))
        before = contents(new)
        with pytest.raises(StateError, match=r"not empty \(admin_requests\): with --replace"):
            new.restore(file)
        assert contents(new) == before
        new.restore(file, replace=True)
        assert contents(new) == contents(world.store)


def damaged(raw):
    """Yield files that are no complete backup."""
    lines = gzip.decompress(raw).splitlines(keepends=True)
    header = json.loads(lines[0])
    yield raw[: len(raw) // 2]
    yield b""
    yield b"no backup"
    yield gzip.compress(b"".join(lines[:-1]))
    yield gzip.compress(b"".join(lines).replace(b"ann", b"bob"))
    yield gzip.compress(b"".join(line for line in lines if b"staff" not in line))
    yield gzip.compress(b"".join([json.dumps({**header, "version": 9}).encode() + b"\n", *lines[1:]]))
    yield gzip.compress(b'{"format": "another"}\n')
    yield gzip.compress(b"[" * 100_000)


def test_a_file_that_is_cut_off_or_changed_is_refused_and_the_state_stays(world, file, tmp_path):
    before = contents(world.store)
    for number, content in enumerate(damaged(file.read_bytes())):
        wrong = tmp_path / f"{number}.gz"
        wrong.write_bytes(content)
        with pytest.raises(StateError, match=f"{wrong}: the backup "):
            world.store.restore(wrong, replace=True)
        assert contents(world.store) == before
    with pytest.raises(StateError, match="cannot read the backup: No such file"):
        world.store.restore(tmp_path / "missing", replace=True)


def test_a_backup_while_a_negotiator_writes_has_one_moment(tmp_path):
    """Each transaction adds one application and one to the counts: a backup of two moments would not be loaded."""
    ended = threading.Event()

    def write():
        number = 0
        with StateStore.open(tmp_path / "state") as store:
            while not ended.is_set():
                number += 1
                store.save([RegisteredApplication(ApplicationId("s", "u", number), "root.a", 1.0)], [], [])

    with StateStore.open(tmp_path / "state") as reader:
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(20):
                reader.back_up(tmp_path / f"{number}.gz", 1.0)
        finally:
            ended.set()
            writer.join()
    for number in range(20):
        with StateStore.open(tmp_path / f"state{number}") as other:
            other.restore(tmp_path / f"{number}.gz")
            other.load(1.0)


def test_the_restoration_of_an_older_state_is_noticed_before_anything_is_handed_out(world, file, tmp_path):
    world.jobs.append(app(3))
    world.slots.append(slot(2))
    for _ in range(2):
        world.cycle()
    world.store.restore(file, replace=True)
    world.stop()
    with (
        StateStore.open(tmp_path / "state") as store,
        AuditLog.open(tmp_path / "audit", rotate_bytes=1 << 30) as log,
        pytest.raises(InconsistentStateError, match="replaced by an older copy"),
    ):
        check_consistency(store, log)

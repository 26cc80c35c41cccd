"""State that another user could have written is refused."""

import os

import pytest

from negotiator.errors import StateError
from negotiator.runtime.state import StateStore


@pytest.fixture
def folder(tmp_path):
    StateStore.open(tmp_path / "state").close()
    return tmp_path / "state"


@pytest.mark.parametrize("name", [".", "state.sqlite"])
@pytest.mark.parametrize("way", [StateStore.open, StateStore.read])
def test_world_writable_state_is_refused(folder, name, way):
    (folder / name).chmod(0o777)
    with pytest.raises(StateError, match=r"the state is refused: world-writable"):
        way(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", [".", "state.sqlite"])
def test_nobody_runs_a_negotiator_with_the_state_of_another_user(folder, name):
    """A request of an administrator may be written to it."""
    os.chown(folder / name, 12345, -1)
    with StateStore.open(folder) as store, pytest.raises(StateError, match="belongs to user 12345"):
        store.hold_lock()


@pytest.mark.parametrize("name", ["state.sqlite", "state.sqlite-wal"])
def test_a_fifo_in_place_of_a_file_is_refused(folder, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(StateError, match="not a regular file"):
        StateStore.open(folder)


def test_other_users_cannot_open_the_lock(folder):
    with StateStore.open(folder) as store:
        assert store.hold_lock()
        assert (folder / "state.lock").stat().st_mode & 0o077 == 0

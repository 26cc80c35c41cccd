"""Files that the program relies on: regular ones, that no other user could have written, and locks that no other can hold."""

import os
import shutil
import stat
import subprocess

import pytest

from negotiator.files import UntrustedError, check_trusted, open_lock, open_regular

OTHER_USER = 12345

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_not_a_regular_file_is_refused_without_waiting(tmp_path, make):
    make(tmp_path / "x")
    with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
        open_regular(tmp_path / "x")


def test_a_link_to_a_device_is_refused(tmp_path):
    (tmp_path / "x").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(tmp_path / "x")


def test_a_pipe_that_the_process_inherited_is_read():
    """A shell gives one for <(command)."""
    reader, writer = os.pipe()
    os.write(writer, b"ads")
    os.close(writer)
    with os.fdopen(open_regular(f"/dev/fd/{reader}"), "rb") as opened:
        assert opened.read() == b"ads"
    os.close(reader)


@pytest.mark.parametrize(("folder_mode", "lock_mode"), [(0o755, 0o600), (0o775, 0o660)])
def test_only_those_who_may_write_the_folder_may_open_a_lock(tmp_path, folder_mode, lock_mode):
    """A lock file that others may read could be held by them."""
    tmp_path.chmod(folder_mode)
    lock = tmp_path / "lock"
    lock.write_text("")
    lock.chmod(0o664)
    os.close(open_lock(lock))
    assert stat.S_IMODE(lock.stat().st_mode) == lock_mode


@root
def test_a_lock_belongs_to_the_owner_of_its_folder(tmp_path):
    """Root must not lock out the user that runs the negotiator."""
    os.chown(tmp_path, OTHER_USER, OTHER_USER)
    os.close(open_lock(tmp_path / "lock"))
    found = (tmp_path / "lock").stat()
    assert (found.st_uid, found.st_gid) == (OTHER_USER, OTHER_USER)


def test_a_fifo_in_place_of_a_lock_is_refused(tmp_path):
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(OSError, match="not a regular file"):
        open_lock(tmp_path / "lock")


@root
def test_on_a_read_only_file_system_no_user_may_write(tmp_path):
    """Kubernetes mounts a ConfigMap as a world-writable folder, read-only."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    command = [mount, "-t", "tmpfs", "-o", "ro,mode=0777", "tmpfs", tmp_path]
    if not mount or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        check_trusted(tmp_path, tmp_path.stat())
    finally:
        subprocess.run([umount, tmp_path], check=True)


def test_a_world_writable_file_is_not_trusted(tmp_path):
    tmp_path.chmod(0o1777)
    with pytest.raises(UntrustedError, match="world-writable"):
        check_trusted(tmp_path, tmp_path.stat())

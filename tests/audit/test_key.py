"""The file of a key: who may read it, and how long it is."""

import os

import pytest

from negotiator.audit.errors import AuditError
from negotiator.audit.key import read_key


@pytest.fixture
def key(tmp_path):
    """Return a function that writes a key file with a mode, and returns its path."""

    def write(content, mode=0o640):
        path = tmp_path / "key"
        path.write_bytes(content)
        path.chmod(mode)
        return path

    return write


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o660, 0o441])
def test_a_key_is_all_bytes_without_the_line_end(key, mode):
    assert read_key(key(b" sixteen\nbytes!!\r\n", mode)) == b" sixteen\nbytes!!"


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o606])
def test_a_key_that_every_user_may_read_or_write_is_refused(key, mode):
    with pytest.raises(AuditError, match="every user may read or write this key") as raised:
        read_key(key(b"sixteen bytes!!!", mode))
    assert "sixteen" not in str(raised.value)


@pytest.mark.parametrize(("size", "valid"), [(15, False), (16, True), (4096, True), (4097, False)])
def test_a_key_has_16_to_4096_bytes(key, size, valid):
    path = key(b"k" * size)
    if valid:
        assert len(read_key(path)) == size
        return
    with pytest.raises(AuditError, match="16 to 4096 bytes"):
        read_key(path)


def test_a_fifo_in_place_of_a_key_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "key", 0o600)
    with pytest.raises(AuditError, match="must be a regular file"):
        read_key(tmp_path / "key")

"""Directories that clients make, or pretend to have made, to prove who they are."""

import contextlib
import os
import socket
import threading

import pytest

from negotiator_live.security.server.methods import FilesystemVerifier
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.exchange import Deadline
from secure_server import PEER, user_of_process


def verified(folder, make, status=0, extension="{own}"):
    """Return the peer that a verifier sees in what a client made of a path; the client sees the same outcome."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connection = socket.create_connection(listener.getsockname())
        accepted, _ = listener.accept()
    found = []

    def serve():
        with Channel(accepted, PEER, Deadline(20)) as channel:
            found.append(FilesystemVerifier("example.org", str(folder)).verify(channel))

    thread = threading.Thread(target=serve)
    thread.start()
    with Channel(connection, PEER, Deadline(20)) as channel:
        name = channel.get_string()
        channel.end_received()
        own = "{}:{}".format(*connection.getpeername())
        ending = extension.format(own=own) if extension is not None else ""
        make(name + ending)
        channel.put_int(status)
        if extension is not None:
            channel.put_string(ending)
        channel.end_message()
        outcome = channel.get_int()
    thread.join()
    assert (outcome == 0) == (found[0] is not None)
    return found[0]


def directory(path, mode=0o700):
    os.mkdir(path, mode)  # noqa: PTH102
    os.chmod(path, mode)  # noqa: PTH101


def test_the_owner_of_the_directory_is_the_peer(tmp_path):
    assert verified(tmp_path, directory).user == f"{user_of_process()}@example.org"


@pytest.mark.parametrize("extension", [None, ""])
def test_a_client_that_does_not_name_this_end_of_the_connection_is_nobody(tmp_path, extension):
    """Somebody may have passed on the request of this server to it, over another connection."""
    assert verified(tmp_path, directory, extension=extension) is None


@pytest.mark.parametrize(
    "extension", ["127.0.0.1:1", "{own}?sock=other", "/../x", "x", "{own}?sock=", "{own}?sock=a/b"]
)
def test_an_extension_that_is_not_this_end_of_the_connection_proves_nothing(tmp_path, extension):
    def make(path):
        with contextlib.suppress(OSError):
            directory(path)

    assert verified(tmp_path, make, extension=extension) is None


def test_what_is_no_private_directory_proves_nothing(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    for make in (
        lambda _: None,
        lambda path: directory(path, 0o755),
        lambda path: directory(path, 0o1700),
        lambda path: os.symlink(tmp_path / "real", path),  # noqa: PTH211
        lambda path: open(path, "x").close(),  # noqa: PTH123
        lambda path: (directory(path), os.mkdir(path + "/more")),  # noqa: PTH102
    ):
        assert verified(tmp_path, make) is None


def test_a_client_that_gave_up_is_nobody(tmp_path):
    assert verified(tmp_path, directory, status=-1) is None


def test_no_name_is_used_twice_or_can_be_guessed(tmp_path):
    names = []
    for _ in range(5):
        verified(tmp_path, names.append)
    assert len(set(names)) == 5
    assert all(len(name.rpartition("/")[2].split("_")[3]) == 16 for name in names)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give directories away")
def test_a_user_that_this_host_does_not_know_is_nobody(tmp_path):
    def foreign(path):
        directory(path)
        os.chown(path, 4_000_000, -1)

    assert verified(tmp_path, foreign) is None

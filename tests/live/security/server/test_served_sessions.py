"""The sessions of clients: limited in number and life, and silent about their keys."""

import os

import pytest

from negotiator_live.security.cipher import SessionKey
from negotiator_live.security.server.peer import Level, Peer, is_user
from negotiator_live.security.server.sessions import MOST, MOST_ANONYMOUS, ServedSessions
from negotiator_live.security.server.signing_keys import SigningKeys
from secure_server import signing_key

KEY = SessionKey(bytes(32))
ALICE = Peer("alice@example.org", "FS")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_session_ends_after_its_time_and_when_nobody_uses_it():
    clock = Clock()
    sessions = ServedSessions(clock)
    one = sessions.begin(KEY, ALICE, 1000, 100)
    clock.now = 110
    assert sessions.find(one.id) is one
    clock.now = 229
    assert sessions.find(one.id) is one
    clock.now = 350
    assert sessions.find(one.id) is None
    other = sessions.begin(KEY, ALICE, 50, 10_000)
    clock.now = 421
    assert sessions.find(other.id) is None
    assert len(sessions) == 0


def test_sessions_of_unknown_peers_take_no_room_from_others():
    sessions = ServedSessions()
    known = sessions.begin(KEY, ALICE, 1000, 1000)
    first = sessions.begin(KEY, Peer(), 1000, 1000)
    for _ in range(MOST_ANONYMOUS):
        sessions.begin(KEY, Peer(), 1000, 1000)
    assert sessions.find(first.id) is None
    assert sessions.find(known.id) is known


def test_the_session_that_was_not_used_for_the_longest_time_ends_first():
    sessions = ServedSessions()
    first, second = (sessions.begin(KEY, ALICE, 1000, 1000) for _ in range(2))
    assert sessions.find(first.id) is first
    for _ in range(MOST - 1):
        sessions.begin(KEY, ALICE, 1000, 1000)
    assert sessions.find(first.id) is first
    assert sessions.find(second.id) is None
    assert len(sessions) == MOST


def test_ids_and_keys_are_not_shown():
    sessions = ServedSessions()
    session = sessions.begin(KEY, ALICE, 1000, 1000)
    assert session.id not in repr(session) + repr(sessions)
    sessions.clear()
    assert sessions.find(session.id) is None


def test_levels_include_those_below():
    assert Level.ADMINISTRATOR.with_implied == {Level.ADMINISTRATOR, Level.WRITE, Level.READ}
    limited = ALICE.limited_to([Level.WRITE])
    assert [level for level in Level if limited.may_use(level)] == [Level.ALLOW, Level.READ, Level.WRITE]
    assert limited.limited_to([Level.DAEMON]).limits == {Level.WRITE, Level.READ}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a@b", True),
        ("group.alice@example.org", True),
        ("condor@password", True),
        *((each, False) for each in ("", "a", "@b", "a@", "a b@c", "a@b@c", "a@b c", "é@b", 'a@"b')),
    ],
)
def test_users_are_names_at_domains(text, expected):
    assert is_user(text) == expected


def test_keys_that_others_can_read_or_that_are_no_files_are_no_keys(tmp_path):
    signing_key(tmp_path, "POOL")
    signing_key(tmp_path, "open", mode=0o644)
    signing_key(tmp_path, "large", bytes(1 << 17))
    signing_key(tmp_path, ".hidden")
    signing_key(tmp_path, "empty", b"")
    os.mkfifo(tmp_path / "fifo", 0o600)
    (tmp_path / "folder").mkdir(mode=0o700)
    keys = SigningKeys(tmp_path)
    assert keys.names() == ("POOL", "empty")
    assert keys.find("POOL") is not None
    assert [keys.find(name) for name in ("open", "large", "empty", "fifo", "folder", "../POOL", "")] == [
        None
    ] * 7
    assert "no signing key" in SigningKeys(tmp_path / "missing").problem()
    assert SigningKeys(tmp_path / "POOL").problem() == ""
    assert SigningKeys(tmp_path / "POOL").find("POOL").reveal() == keys.find("POOL").reveal()

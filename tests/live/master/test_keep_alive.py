"""Signs of life for condor_master, and what it passes on to this process."""

import os
from contextlib import contextmanager
from typing import ClassVar

import pytest

from control import NotingControl
from negotiator_live.master.child import KeepAlive
from negotiator_live.master.handover import Handover
from negotiator_live.master.inheritance import Inheritance, take_variables
from negotiator_live.security.cipher import derived_key
from negotiator_live.security.server.handshake import SecureServer
from negotiator_live.security.server.peer import Level, Peer
from negotiator_live.wire.commands import DaemonCommand
from secure_server import Rules, serving

KEY = "0123abcdef"
TIMEOUT = 3600
INTERVAL = TIMEOUT / 3 - 30
POLICY = '[Encryption="YES";Integrity="YES";CryptoMethods="BLOWFISH";ValidCommands="60000,60008";CryptoMethodsList="AES.BLOWFISH";]'


class Commands(Rules):
    """The commands of condor_master for its children."""

    LEVELS: ClassVar = {DaemonCommand.DC_CHILDALIVE: Level.DAEMON}


def sign_of_life(channel):
    """Read a process id, seconds, and a share."""
    values = channel.get_int(), channel.get_int(), channel.get_real()
    channel.end_received()
    return values


def variables(address, session="1a2b", parent=None):
    """Return the variables that condor_master sets, as they are handed on."""
    return {
        "inherited": f"{parent or os.getppid()} <{address}?alias=h.example.org> 0 1 12*6*0*0*0*0***1**0*0* 0",
        "private": f" SessionKey:{session}#{POLICY}{KEY} FamilySessionKey:family:1#{POLICY}99",
    }


@contextmanager
def master():
    """Serve as condor_master does; yield what it received, and a function that makes a ``KeepAlive``."""
    server = SecureServer()
    session = server.sessions.begin(derived_key(KEY.encode()), Peer("child@child"), 1e6, 1e6)
    with serving(server, Commands("child@child"), message=sign_of_life) as served:

        def keep_alive(control, monotonic, session_id=session.id):
            handed_on = Handover(
                **variables(served.address.primary, session_id), not_responding_timeout=TIMEOUT
            )
            return KeepAlive(Inheritance.of(handed_on), control, monotonic=monotonic)

        yield served, keep_alive


def test_condor_master_gets_the_process_id_and_the_timeout():
    with master() as (served, keep_alive):
        keep_alive(NotingControl(), lambda: 0.0).look()
    (accepted, values), *more = served.accepted
    assert (accepted.command, values, more) == (
        DaemonCommand.DC_CHILDALIVE,
        (os.getpid(), TIMEOUT, 0.0),
        [],
    )


def test_signs_of_life_are_sent_at_a_third_of_the_timeout_and_only_after_progress():
    now, control = [0.0], NotingControl()
    with master() as (served, keep_alive):
        sender = keep_alive(control, lambda: now[0])

        def sent(seconds, idle):
            """Return whether it sends so many seconds later, if the last progress is ``idle`` seconds ago."""
            now[0], control.idle = now[0] + seconds, idle
            return sender.look()

        assert sent(0, 0)
        assert not sent(INTERVAL - 1, 0)
        assert sent(1, INTERVAL - 1)
        assert not sent(INTERVAL, INTERVAL + 1)
        assert not sent(10 * TIMEOUT, 10 * TIMEOUT + INTERVAL)
        assert sent(5, 1)
    assert len(served.accepted) == 3


def test_progress_after_a_long_step_is_noticed_in_time():
    """The step was shorter than the timeout, so the process must not be ended after it."""
    with master() as (_, keep_alive):
        assert keep_alive(NotingControl(), lambda: 0.0).pause == 5


def test_a_sign_of_life_that_fails_is_reported_and_sent_again():
    now, control = [0.0], NotingControl()
    with master() as (served, keep_alive):
        sender = keep_alive(control, lambda: now[0], "unknown")
        assert not sender.look()
        assert not sender.look()
    assert served.accepted == []
    assert len(control.notices) == 2
    assert control.notices[0].startswith("master at <127.0.0.1:")
    assert "command DC_CHILDALIVE: the session is unknown there" in control.notices[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"inherited": ""},
        {"inherited": f"{os.getppid()} nowhere 0 0"},
        {"private": ""},
        {"private": "SessionKey:1a2b"},
        variables("127.0.0.1:1", parent=1_000_000_000),
    ],
)
def test_without_all_that_condor_master_passes_on_there_is_no_inheritance(changed):
    """As with variables that another process has left in the environment."""
    assert Inheritance.of(Handover(**variables("127.0.0.1:1"))) is not None
    assert Inheritance.of(Handover(**{**variables("127.0.0.1:1"), **changed})) is None


def test_secrets_are_handed_on_outside_of_the_environment():
    given = variables("127.0.0.1:1")
    environment = {
        "CONDOR_INHERIT": given["inherited"],
        "CONDOR_PRIVATE_INHERIT": given["private"],
        "CONDOR_PRIVATE_SHARED_PORT_COOKIE": "c00c1e",
        "PATH": "/bin",
    }
    inherited, private = take_variables(environment)
    sent = Handover(inherited=inherited, private=private, log="/log", logs_kept=3)
    sent.send(environment)
    assert not any(secret in str(environment) for secret in (KEY, "1a2b", "c00c1e"))
    assert KEY not in repr(sent)
    assert Handover.receive(environment) == sent
    assert environment == {"PATH": "/bin"}
    assert Handover.receive(environment) is None
    found = Inheritance.of(sent)
    assert (found.session.id, found.session.key.reveal()) == ("1a2b", derived_key(KEY.encode()).reveal())
    assert str(found.master) == "<127.0.0.1:1?alias=h.example.org>"
    assert KEY not in repr(found)

"""Commands over a socket that condor_master has opened: a port, or connections that condor_shared_port passes on."""

import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest

from control import NotingControl
from negotiator.plugin import PoolError
from negotiator_live.daemon.daemon import DaemonListener
from negotiator_live.daemon.listener import received_socket, shared_port_address
from negotiator_live.master.inheritance import CommandSocket
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.errors import UnknownSessionError
from negotiator_live.security.policy import AuthMethod, ClientPolicy
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.security.tokens import TokenFiles
from negotiator_live.settings import CondorPool, ConfiguredPool, Method
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

FAMILY = SecuritySession.of_capability(
    'family:1a2b#[Encryption="YES";CryptoMethodsList="AES.BLOWFISH";]0123abcd'
)
PASS_SOCKET = b"\1\0\0\0\x08" + (76).to_bytes(8, "big")
AD = """MyType = "SharedPort"
MyAddress = "<127.0.0.1:{}?addrs=127.0.0.1-{}&noUDP&PrivAddr=%3c10.0.0.1:9618%3e&PrivNet=x>"
"""
POOL = ConfiguredPool(
    CondorPool(methods=(Method.CLAIMTOBE,), uid_domain="example.org", administrators=("boss@example.org",))
)


@contextmanager
def serving(commands, control):
    """Serve commands over an inherited socket; yield the address."""
    listener = DaemonListener.inherited(commands, FAMILY, POOL, control, "127.0.0.1", list)
    listener.begin()
    try:
        yield listener.address
    finally:
        listener.close()


def reconfigure(address):
    """Send DC_RECONFIG, which requests a reload of the bundle."""
    exchange = Exchange(DaemonKind.COLLECTOR, "", address, DaemonCommand.DC_RECONFIG)
    policy = ClientPolicy(methods=(AuthMethod.CLAIMTOBE,))
    credentials = Credentials(filesystem=None, tokens=TokenFiles(()), claimed_user="boss@example.org")
    SecureClient(policy, credentials).open(exchange, Deadline(20)).close()


@attrs.define
class Reloads(NotingControl):
    """Counts the requests for a reload."""

    requested: threading.Semaphore = attrs.field(factory=lambda: threading.Semaphore(0))

    def reload(self, by, wait=0.0):
        answer = super().reload(by, wait)
        self.requested.release()
        return answer

    def wait_for_one(self):
        assert self.requested.acquire(timeout=20)


def test_an_inherited_port_is_served_again_after_the_pool_was_closed():
    """A reload with other settings closes and opens the pool; who connects in between is served after it."""
    control = Reloads()
    with socket.create_server(("127.0.0.1", 0)) as port:
        commands = CommandSocket(port.fileno())
        with serving(commands, control) as address:
            assert (address.primary.host, address.primary.port) == port.getsockname()
            reconfigure(address)
            control.wait_for_one()
        sender = threading.Thread(target=reconfigure, args=(address,))
        sender.start()
        with serving(commands, control):
            control.wait_for_one()
            sender.join()


@attrs.define
class Cycles(NotingControl):
    """Notes when a cycle is requested."""

    started: threading.Event = attrs.field(factory=threading.Event)

    def start_cycle(self):
        super().start_cycle()
        self.started.set()


@contextmanager
def shared_port(folder):
    """Play condor_shared_port: pass on connections. Yield the daemon's socket."""
    name = str(folder / "negotiator_1")
    with (
        socket.socket(socket.AF_UNIX) as daemon,
        socket.create_server(("127.0.0.1", 0)) as port,
    ):
        daemon.bind(name)
        daemon.listen()
        number = port.getsockname()[1]
        (folder / "ad").write_text(AD.format(number, number))

        def pass_on():
            while True:
                try:
                    connection, _ = port.accept()
                except OSError:
                    return
                with connection, socket.socket(socket.AF_UNIX) as local:
                    hop = connection.recv(13)  # SHARED_PORT_CONNECT, and the rest of its message
                    connection.recv(int.from_bytes(hop[1:5], "big") + 5 - len(hop))
                    local.connect(name)
                    local.sendall(PASS_SOCKET)
                    socket.send_fds(local, [b"\0"], [connection.fileno()])

        thread = threading.Thread(target=pass_on)
        thread.start()
        try:
            yield CommandSocket(daemon.fileno(), "negotiator_1", str(folder / "ad"))
        finally:
            port.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_connections_of_the_shared_port_are_served(tmp_path):
    control = Reloads()
    with shared_port(tmp_path) as commands, serving(commands, control) as address:
        assert address.shared_port_id == "negotiator_1"
        assert not {"PrivAddr", "PrivNet"} & set(address.parameters)
        reconfigure(address)
        control.wait_for_one()
    assert control.noted == [("reload", "boss@example.org", 0.0)]


@pytest.mark.parametrize(
    "sent",
    [b"", PASS_SOCKET[:7], PASS_SOCKET, PASS_SOCKET + b"\0", b"\1\0\0\0\x08" + (75).to_bytes(8, "big")],
)
def test_who_sends_no_connection_over_the_local_socket_is_ignored(sent):
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.sendall(sent)
        assert received_socket(ours) is None


def test_only_tcp_connections_are_accepted():
    """A file or a local socket has no peer with an address."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(PASS_SOCKET)
        socket.send_fds(theirs, [b"\0"], [theirs.fileno()])
        assert received_socket(ours) is None
        with Path("/dev/null").open() as file:
            theirs.sendall(PASS_SOCKET)
            socket.send_fds(theirs, [b"\0"], [file.fileno()])
        assert received_socket(ours) is None


@pytest.mark.parametrize("text", [None, "", 'MyAddress = "nowhere"\n', 'MyAddress = "<nowhere>"\n'])
def test_without_the_address_of_the_shared_port_the_message_says_what_to_do(tmp_path, text):
    file = tmp_path / "ad"
    if text is not None:
        file.write_text(text)
    with pytest.raises(
        PoolError, match=r"the address of condor_shared_port is not in .*USE_SHARED_PORT = False"
    ):
        shared_port_address(str(file), "negotiator_1")


def test_the_address_is_that_of_the_shared_port_with_the_name_of_this_daemon(tmp_path):
    (tmp_path / "ad").write_text(AD.format(9618, 9618))
    found = shared_port_address(str(tmp_path / "ad"), "negotiator_1")
    expected = "<127.0.0.1:9618?addrs=127.0.0.1-9618&noUDP&sock=negotiator_1>"
    assert str(found) == str(DaemonAddress.parse(expected))


@pytest.mark.parametrize(
    ("inherited", "expected"),
    [
        ("1 <h:1> 0 1 12*6*0*0*0*0***1**0* 2 13*2*0*0* 0", CommandSocket(12, "", "ad")),
        ("1 <h:1> 1 9*6*0 0 1 12*6*0*0 0", CommandSocket(12, "", "ad")),
        ("1 <h:1> 0 SharedPort:c00c1e/negotiator_4*10*6*0*0 0", CommandSocket(10, "negotiator_4", "ad")),
        ("1 <h:1> 0 SharedPort:/var/lock/condor/daemon_sock/n*10*6*0", CommandSocket(10, "n", "ad")),
        ("1 <h:1> 0 0", None),
        ("1 <h:1>", None),
        ("", None),
        ("1 <h:1> 0 1", None),
        ("1 <h:1> 0 SharedPort:n", None),
        ("1 <h:1> 0 2 13*2*0*0* 0", None),
    ],
)
def test_the_socket_is_the_one_that_condor_master_names(inherited, expected):
    assert CommandSocket.parse(inherited, "ad") == expected


def test_a_socket_that_is_not_open_is_an_error_of_the_pool():
    with pytest.raises(PoolError, match=r"the socket that condor_master opened: .*restart condor_master"):
        CommandSocket(999_999).copy()


def test_a_schedd_of_the_same_condor_master_starts_a_cycle_in_the_session_of_all_its_daemons():
    """It needs no method to authenticate, and may not stop the program."""
    control = Cycles()
    with (
        socket.create_server(("127.0.0.1", 0)) as port,
        serving(CommandSocket(port.fileno()), control) as address,
    ):
        stop = Exchange(DaemonKind.COLLECTOR, "", address, DaemonCommand.DC_OFF_GRACEFUL)
        with pytest.raises(UnknownSessionError):
            SecureClient().open(stop, Deadline(20), FAMILY)
        reschedule = attrs.evolve(stop, command=DaemonCommand.RESCHEDULE)
        SecureClient().open(reschedule, Deadline(20), FAMILY).close()
        assert control.started.wait(20)
    assert control.noted == ["cycle"]

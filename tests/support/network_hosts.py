"""Hosts of a network of their own on this machine: network namespaces at a bridge, with programs that run in them.

Needs root, and a kernel with network namespaces; Debian's iproute2.
"""

import itertools
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs

from debian import ProgramMissingError, program

_NUMBERS = itertools.count(1)
WIRE = Path(__file__).with_name("slow_wire.py")


class NoNetworkError(Exception):
    """There can be no such network on this machine; the text has the reason."""


@attrs.define
class Host:
    """A host with an address, and its port at the switch; ``wire`` is the process that its frames pass, None for a plain cable."""

    name: str
    address: str
    switch: str
    port: str
    wire: subprocess.Popen | None = None

    def command(self, *words):
        """Return a command as it runs on this host."""
        return [program("ip", "iproute2"), "netns", "exec", self.name, *map(str, words)]

    def unplug(self):
        """Take the link down: packets are lost, and no program gets an error."""
        _ip("-n", self.switch, "link", "set", self.port, "down")

    def plug(self):
        """Take the link up again."""
        _ip("-n", self.switch, "link", "set", self.port, "up")

    def received(self):
        """Return how many bytes this host has received."""
        text = _ip("netns", "exec", self.name, "cat", "/sys/class/net/eth0/statistics/rx_bytes")
        return int(text)

    def disturb(self, delay=0.0, loss=0.0):
        """Let each frame of the wire take so many seconds longer in each direction, and drop this part of them."""
        self.wire.stdin.write(f"{delay} {loss}\n".encode())
        self.wire.stdin.flush()


@attrs.define
class Network:
    """A switch with the hosts at it."""

    switch: str
    subnet: str
    hosts: list = attrs.field(factory=list)

    def host(self, *, wired=False):
        """Connect another host, by a wire that can be disturbed or by a plain cable."""
        number = len(self.hosts) + 1
        name, port = f"{self.switch}-{number}", f"port{number}"
        _ip("netns", "add", name)
        host = Host(name, f"{self.subnet}.{number}", self.switch, port)
        self.hosts.append(host)
        _ip("link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", port, "netns", self.switch)
        if wired:
            # The frames go to another interface, from which the program takes them to the port.
            _ip("-n", self.switch, "link", "set", port, "name", f"far{number}")
            _ip("-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", f"near{number}")
            for each in (f"far{number}", f"near{number}"):
                _ip("-n", self.switch, "link", "set", each, "up")
        _ip("-n", self.switch, "link", "set", port, "master", "br0", "up")
        _ip("-n", name, "address", "add", f"{host.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", name, "link", "set", device, "up")
        if wired:
            host.wire = _wire(self.switch, f"far{number}", f"near{number}", host)
        return host

    def close(self):
        """End the programs on all hosts, and the network."""
        for host in self.hosts:
            for pid in _ip("netns", "pids", host.name).split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), 9)
            if host.wire is not None:
                host.wire.stdin.close()
                host.wire.wait()
            _ip("netns", "delete", host.name)
        _ip("netns", "delete", self.switch)


@contextmanager
def network():
    """Make a network without hosts, and end it with all that runs in it.

    :raises NoNetworkError: this machine cannot have one.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        raise NoNetworkError("networks of several hosts need root on Linux")
    number = next(_NUMBERS)
    switch = f"negotiator-{os.getpid()}-{number}"
    try:
        _ip("netns", "add", switch)
    except (ProgramMissingError, subprocess.CalledProcessError) as error:
        raise NoNetworkError(f"this machine has no network namespaces: {error}") from None
    made = Network(switch, f"10.77.{number % 256}")
    try:
        _ip("-n", switch, "link", "add", "br0", "type", "bridge")
        _ip("-n", switch, "link", "set", "br0", "up")
        yield made
    finally:
        made.close()


def _ip(*words):
    done = subprocess.run(  # noqa: S603 - commands of the tests
        [program("ip", "iproute2"), *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def _wire(switch, far, near, host):
    # A frame of a host has a complete checksum only if nobody else may finish it, and fits the link.
    command = [program("ip", "iproute2"), "netns", "exec"]
    for namespace, device in ((host.name, "eth0"), (switch, host.port)):
        subprocess.run([*command, namespace, sys.executable, WIRE, "plain", device], check=True)  # noqa: S603 - commands of the tests
    return subprocess.Popen(  # noqa: S603 - commands of the tests
        [*command, switch, sys.executable, WIRE, far, near], stdin=subprocess.PIPE
    )

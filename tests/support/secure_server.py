"""A server of commands for tests of the handshake: it accepts connections one after the other, and echoes a text."""

import base64
import hashlib
import hmac
import json
import os
import pwd
import socket
import threading
from contextlib import contextmanager
from typing import ClassVar

import attrs

from negotiator_live.security.cipher import derived_key
from negotiator_live.security.server.handshake import SecureServer
from negotiator_live.security.server.peer import Level
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

READ, ADMINISTER, OFF = (
    DaemonCommand.GET_PRIORITY,
    DaemonCommand.SET_PRIORITY,
    DaemonCommand.DC_OFF_GRACEFUL,
)
PEER = Exchange(DaemonKind.CLIENT, "", DaemonAddress.parse("127.0.0.1:1"), DaemonCommand.DC_AUTHENTICATE)


class Rules:
    """Who may do what: anybody reads, named users administer."""

    LEVELS: ClassVar = {READ: Level.READ, ADMINISTER: Level.ADMINISTRATOR, OFF: Level.ADMINISTRATOR}

    def __init__(self, *administrators):
        self.administrators = administrators

    def is_served(self, command):
        return command in self.LEVELS

    def needs_name(self, command, _host):
        return command != READ

    def allows(self, peer, command):
        named = command == READ or peer.user in self.administrators
        return named and peer.may_use(self.LEVELS[command])

    def limited(self, peer, command):
        return peer.limited_to([self.LEVELS[command]]) if peer.method == "CLAIMTOBE" else peer

    def hint(self, peer, _command):
        return f"add {peer.name} to administrators"

    def may_resume(self, command):
        return command != OFF

    def resumable(self, peer):
        return [each for each in self.LEVELS if self.allows(peer, each) and self.may_resume(each)]


@attrs.define
class Served:
    """What happened at the server: ``accepted`` commands with the texts that followed, and the errors."""

    address: DaemonAddress
    accepted: list = attrs.field(factory=list)
    errors: list = attrs.field(factory=list)

    def exchange(self, command=READ):
        return Exchange(DaemonKind.COLLECTOR, "", self.address, command)


@contextmanager
def serving(server=None, rules=None, seconds=20.0, message=None):
    """Serve connections: each command is followed by a text, which is sent back, or by what ``message`` reads of a channel."""
    server, rules = server or SecureServer(), rules or Rules()
    listener = socket.create_server(("127.0.0.1", 0))
    served = Served(DaemonAddress.parse("{}:{}".format(*listener.getsockname())))

    def serve(connection):
        with Channel(connection, PEER, Deadline(seconds)) as channel:
            try:
                command = server.accept(channel, rules)
                if command is None:
                    served.accepted.append(None)
                    return
                if message is not None:
                    served.accepted.append((command, message(channel)))
                    return
                text = channel.get_string()
                channel.end_received()
                served.accepted.append((command, text))
                channel.put_string(text)
                channel.end_message()
            except DaemonError as error:
                served.errors.append(error)

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            serve(connection)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield served
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()


def said(client, served, command=READ, text="hello"):
    """Send a command with a text; return what comes back."""
    with client.open(served.exchange(command), Deadline(20)) as channel:
        channel.put_string(text)
        channel.end_message()
        answer = channel.get_string()
        channel.end_received()
        return answer


def signing_key(folder, name="POOL", raw=bytes(range(1, 65)), mode=0o600):
    """Write a signing key; return its file."""
    file = folder / name
    file.write_bytes(raw)
    file.chmod(mode)
    return file


def signed_token(raw=bytes(range(1, 65)), key="POOL", alg="HS256", *, doubled=True, **claims):
    """Return a token that a pool with this key signs."""
    payload = {"sub": "alice@example.org", "iss": "example.org", "jti": "1", "iat": 1, **claims}
    parts = [{"alg": alg, "kid": key, "typ": "JWT"}, payload]
    texts = [base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts]
    secret = bytes(byte ^ b"\xde\xad\xbe\xef"[place % 4] for place, byte in enumerate(raw))
    master = derived_key(secret * 2 if doubled else secret, info=b"master jwt").reveal()
    mac = hmac.digest(master, ".".join(texts).encode(), hashlib.sha256)
    return ".".join([*texts, base64.urlsafe_b64encode(mac).decode().rstrip("=")])


def user_of_process():
    """Return the user that FS proves this process to be."""
    name = pwd.getpwuid(os.geteuid()).pw_name
    return "condor" if name == "root" else name

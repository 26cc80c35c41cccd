"""A daemon in this process, and commands that this project's own client sends to it."""

import contextlib

from control import NotingControl
from negotiator_live.daemon.daemon import DaemonListener
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.policy import AuthMethod, ClientPolicy
from negotiator_live.security.tokens import TokenFiles
from negotiator_live.settings import CondorPool, ConfiguredPool, Method
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

ANN, BOSS = "ann@example.org", "boss@example.org"
SETTINGS = {
    "listen": "127.0.0.1:0",
    "uid_domain": "example.org",
    "methods": (Method.CLAIMTOBE,),
    "administrators": (BOSS,),
}


OWN_AD = {"Name": '"negotiator"', "DaemonStartTime": "1700000000"}


@contextlib.contextmanager
def daemon(control=None, **more):
    """Run a daemon."""
    pool = ConfiguredPool(CondorPool(**{**SETTINGS, **more}))
    listener = DaemonListener.open(pool, control or NotingControl(), "127.0.0.1", lambda: [OWN_AD])
    listener.begin()
    try:
        yield listener
    finally:
        listener.close()


def client(user=BOSS):
    policy = ClientPolicy(methods=(AuthMethod.CLAIMTOBE,))
    return SecureClient(policy, Credentials(filesystem=None, tokens=TokenFiles(()), claimed_user=user))


@contextlib.contextmanager
def sending(listener, command, user=BOSS):
    """Yield a channel on which a command has begun."""
    exchange = Exchange(DaemonKind.COLLECTOR, "", listener.address, command)
    with client(user).open(exchange, Deadline(20)) as channel:
        yield channel

"""The socket of the service."""

import signal
import socket

import uvicorn

from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.overviews import Overviews
from negotiator.service.server import WebServer


def test_the_body_of_an_answer_does_not_wait_for_the_acknowledgement_of_its_head(monkeypatch):
    """It would take clients on other hosts, and some on this one, 40 ms."""
    found = []

    def accept_one(_server, sockets):
        (listening,) = sockets
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            found.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(uvicorn.Server, "run", accept_one)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    WebServer(port=0).run(Overviews(CommandTargets()), lambda _: None)
    assert found == [1]

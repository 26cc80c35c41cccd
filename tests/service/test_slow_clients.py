"""Clients that are slow, many, or speak something else than HTTP: others are answered all the same."""

import re
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from negotiator.service.connections import TimedConnection

MANY = 300  # more than the connections that the service has at a time
PATIENCE = 20.0


class ImpatientConnection(TimedConnection):
    longest_request = 0.3
    longest_answer = 0.3


async def echo(request: Request):
    return PlainTextResponse(await request.body())


async def large(_request: Request):
    return Response(b"x" * (32 << 20))


@contextmanager
def serving_impatiently():
    """Serve in this process; yield the port, and the connections."""
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"]), Route("/large", large)])
    config = uvicorn.Config(
        app, http=ImpatientConnection, lifespan="off", log_config=None, ws="none", timeout_keep_alive=1
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as opened:
        thread = threading.Thread(target=server.run, args=[[opened]])
        thread.start()
        try:
            yield opened.getsockname()[1], server.server_state.connections
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def impatient():
    with serving_impatiently() as found:
        yield found


@pytest.fixture
def port(impatient):
    return impatient[0]


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def dribble(connection):
    """Send one byte after the other."""
    for _ in range(int(PATIENCE / 0.05)):
        connection.sendall(b"G")
        time.sleep(0.05)


def rest(connection):
    """Return what comes until the server closes the connection."""
    found = bytearray()
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return bytes(found)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /echo HTTP/1.1\r\nHost: x\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcPOST /echo HTTP/1.1\r\n",
    ],
    ids=["nothing", "a part of a head", "a part of a body", "a chunk", "a request and a part of one"],
)
def test_a_request_that_does_not_arrive_in_time_ends_the_connection(port, sent):
    with connected(port) as connection:
        connection.sendall(sent)
        assert rest(connection).count(b" 200 OK") == (b"abcPOST" in sent)


def test_a_request_that_arrives_byte_by_byte_gets_no_longer(port):
    with connected(port) as connection, pytest.raises(OSError, match=r"reset|Broken pipe"):
        dribble(connection)


def test_an_answer_that_is_not_taken_ends_the_connection(impatient):
    port, connections = impatient
    with connected(port) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1)
        end = time.monotonic() + PATIENCE
        while connections and time.monotonic() < end:
            time.sleep(0.05)
        assert not connections


def test_slow_clients_do_not_keep_others_from_being_answered(client):
    """More connections than the service has wait for their client: each new one takes the place of the oldest."""
    address = urlsplit(str(client.base_url))
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=PATIENCE))
            for _ in range(MANY)
        ]
        for connection in slow:
            try:
                connection.sendall(b"GET /api/v1/status HTTP/1.1\r\nHost: loc")
            except OSError:
                continue  # its place was taken already
        for _ in range(20):
            answer = httpx.get(f"{client.base_url}/api/v1/status", timeout=PATIENCE)
            assert answer.status_code == 200
        assert rest(slow[0]) == b""  # closed


RAW = {
    "up": b"GET /api/v1/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "encoded up": b"GET /api/v1/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "NUL": b"GET /api/v1/status%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "not UTF-8": b"GET /api/v1/reports/%ff%fe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "raw bytes": b"GET /api/v1/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "half an escape": b"GET /api/v1/status%2 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "long path": b"GET /api/v1/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"x" * 20_000),
    "longer path": b"GET /api/v1/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"x" * 60_000),
    "many parameters": b"GET /api/v1/limits?%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"a&" * 9_000),
    "other address": b"GET http://example.org/api/v1/status HTTP/1.1\r\nHost: example.org\r\n\r\n",
    "method": b"BREW /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "connect": b"CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "asterisk": b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no host": b"GET /api/v1/status HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9 + b"\r\n\r\n",
    "length": b"POST /api/v1/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "two lengths": b"POST /api/v1/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
    b"Content-Length: 2\r\n\r\nab",
    "length and chunks": b"POST /api/v1/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzzzz\r\n",
    "chunk": b"POST /ws/v1/validate-conf HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "token": b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
    "long token": b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
    % (b"x" * 20_000),
}


@pytest.mark.parametrize("sent", RAW.values(), ids=RAW)
def test_a_request_with_a_trick_is_refused(client, sent):
    address = urlsplit(str(client.base_url))
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as connection:
        connection.sendall(sent)
        answer = connection.recv(1 << 16)
    assert re.match(rb"HTTP/1\.1 4\d\d ", answer), answer[:200]
    assert b"Traceback" not in answer
    assert b"root:" not in answer
    assert client.get("/livez").status_code == 200

"""``make bench-service``: its pool, its readers, and the figures of a small one."""

import contextlib
import http.server
import queue
import socketserver
import threading
from collections import Counter

import pytest
from click.testing import CliRunner

from negotiator_bench.readers import ReadingPlan, reading
from negotiator_bench.service import service
from negotiator_bench.service_pool import pool_with_queues
from negotiator_bench.slow_clients import SlowClients, slow_clients


def test_jobs_are_spread_over_the_departments_of_the_tree():
    pool = pool_with_queues(slots=10, jobs=80, queues=100)
    assert len(pool.queues) == 98  # those of two departments
    assert Counter(name.split(".")[1] for name in pool.queues[:8]) == {"d000": 4, "d001": 4}
    assert pool.bundle["queues.yaml"].count("- name: t") == 98


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers with 100,000 bytes, in two parts; unknown paths with 404. Tells when it has answered ten requests."""

    protocol_version = "HTTP/1.1"
    requests = 0
    ten = threading.Event()

    def do_GET(self):
        self.send_response(200 if self.path == "/known" else 404)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b"x" * 50_000)
        self.wfile.write(b"x" * 50_000)
        Answers.requests += 1
        if Answers.requests == 10:
            self.ten.set()

    def handle(self):
        with contextlib.suppress(ConnectionError):  # the readers have ended
            super().handle()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(("path", "all_fail"), [("/known", False), ("/unknown", True)])
def test_readers_read_each_answer_to_its_end_and_count_what_is_no_answer(path, all_fail):
    Answers.requests, Answers.ten = 0, threading.Event()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever).start()
        plan = ReadingPlan(f"http://127.0.0.1:{server.server_address[1]}", (path,), 3, 0.0)
        try:
            with reading(plan) as found:
                assert Answers.ten.wait(60)
        finally:
            server.shutdown()
    (readings,) = found
    assert readings.answers >= 7  # three may not have arrived
    assert readings.failures == (readings.answers if all_fail else 0)
    assert 0 < readings.median <= readings.slowest
    assert readings.megabytes > 0


class Closing(socketserver.StreamRequestHandler):
    """Closes each connection after the first line or two seconds; notes what it got."""

    timeout = 2
    lines = queue.SimpleQueue()

    def handle(self):
        with contextlib.suppress(OSError):
            self.lines.put(self.rfile.read(3))


def test_slow_clients_send_a_part_of_a_request_or_one_and_connect_again():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Closing) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            with slow_clients(f"http://127.0.0.1:{server.server_address[1]}", SlowClients(1, 1, 1)):
                got = [Closing.lines.get(timeout=60) for _ in range(4)]
        finally:
            server.shutdown()
    assert got == [b"GET"] * 4


def test_a_small_pool_is_measured_without_judging_the_targets_of_the_large_one():
    arguments = [
        "--slots",
        "20",
        "--jobs",
        "20",
        "--queues",
        "50",
        "--readers",
        "3",
        "--rounds",
        "1",
        "--seconds",
        "1",
    ]
    done = CliRunner().invoke(service, arguments)
    assert done.exit_code == 0, done.output
    assert "/pool/queues" in done.stdout
    assert "3 readers, without a pause" in done.stdout
    assert "met" not in done.stdout
    assert "missed" not in done.stdout

"""A killed process leaves a log that opens and verifies, wherever it was killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from negotiator.audit.log import AuditLog
from negotiator.audit.verify import verify

ENDLESS = """
import sys
from pathlib import Path
from negotiator.audit.log import AuditLog

with AuditLog.open(Path(sys.argv[1]), rotate_bytes=2000) as log:
    number = 0
    while True:
        log.append([{"kind": "note", "text": "x" * (number * 37 % 500)} for _ in range(number % 4 + 1)])
        log.sync()
        print(log.head, flush=True)
        number += 1
"""

DYING = """
import os, signal, sys
from pathlib import Path
from negotiator.audit.log import AuditLog

left = int(sys.argv[2])

def step():
    global left
    left -= 1
    return left == 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying(name):
    call = getattr(os, name)
    def wrapped(*args, **options):
        if step():
            die()
        if name == "pwrite" and step():
            call(args[0], bytes(args[1])[: len(args[1]) // 2], args[2])
            die()
        return call(*args, **options)
    setattr(os, name, wrapped)

for name in ("open", "pwrite", "ftruncate", "fsync", "close"):
    dying(name)

with AuditLog.open(Path(sys.argv[1]), rotate_bytes=700) as log:
    for number in range(5):
        log.append([{"kind": "note", "number": number}] * 2)
        log.sync()
        print(log.head, flush=True)
"""


@pytest.mark.parametrize("batches", [1, 2, 3, 5, 8, 13, 21, 34])
def test_a_writer_killed_at_any_time_loses_no_synced_record(tmp_path, batches):
    """Every head that the process printed before SIGKILL is in the log, which opens and verifies."""
    folder = tmp_path / "audit"
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, folder], stdout=subprocess.PIPE, text=True
    ) as writer:
        for _ in range(batches):
            head = writer.stdout.readline().strip()
        writer.kill()
        head = (writer.stdout.read().splitlines(keepends=True) or [head])[-1].strip()
    with AuditLog.open(folder, rotate_bytes=2000) as log:
        log.append([{"kind": "note", "text": "after"}])
        log.sync()
        found = verify(folder, head=head)
        assert (found.fault, found.head) == (None, log.head)


@pytest.mark.parametrize(
    ("torn", "steps"),
    [(b"", 1000), (b'{"seq":1', 10), (b"x" * 5000, 10)],  # the repair is among the first steps
    ids=["new", "short", "long"],
)
def test_a_crash_between_any_two_steps_leaves_a_log_that_can_be_continued(tmp_path, torn, steps):
    """The process is killed before each system call that changes the disk, in the middle of each write, and during repairs."""
    for step in range(1, steps + 1):
        folder = tmp_path / str(step)
        if torn:
            folder.mkdir()
            (folder / "audit-000001.jsonl").write_bytes(torn)
        ran = subprocess.run(
            [sys.executable, "-c", DYING, folder, str(step)], capture_output=True, text=True, check=False
        )
        assert ran.returncode in {0, -signal.SIGKILL}, ran.stderr
        head = (ran.stdout.splitlines() or ["0:" + "0" * 64])[-1]
        with AuditLog.open(folder, rotate_bytes=700) as log:
            found = verify(folder, head=head)
            assert (found.fault, found.head) == (None, log.head)
        records = [
            json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_bytes().splitlines()
        ]
        assert any(record["kind"] == "repair" for record in records) or not torn
        if ran.returncode == 0:
            break
    assert 25 < step < 1000 or torn

"""The audit log on a full disk, and under a limit on the size of files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.verify import verify

LIMITED = """
import resource, sys
from pathlib import Path
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
heads = []
try:
    with AuditLog.open(folder, rotate_bytes=10**9) as log:
        while True:
            heads.append(log.head)
            log.append([{"kind": "note", "text": "x" * 100}] * 3)
            log.sync()
except AuditError as error:
    print(error)
    print(heads[-1] if heads else "")
"""


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, check=False
    )
    if not made or made.returncode:
        pytest.skip("only root can mount a small file system")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_loses_nothing_that_was_written(small_disk):
    """A batch that does not fit is not written at all; the rest verifies; once there is room the log continues."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 40_000)
    batch = [{"kind": "note", "text": "x" * 1000}] * 3
    with AuditLog.open(small_disk / "audit", rotate_bytes=10**9) as log:
        head = log.head
        with pytest.raises(AuditError, match=r"audit-000001\.jsonl: cannot write.*No space left.*make room"):  # noqa: PT012 - some batch is the one that does not fit
            for _ in range(100):
                log.append(batch)
                log.sync()
                head = log.head
        assert log.head == head
        found = verify(small_disk / "audit", head=head)
        assert found.fault is None
        assert found.records % 3 == 0
        assert found.head == head
        ballast.unlink()
        log.append(batch)
        log.sync()
    assert verify(small_disk / "audit", head=head).records == found.records + 3


def test_a_disk_too_full_for_a_log_is_an_error(small_disk):
    """If not even the first record can be written, the error names the file."""
    subprocess.run(["dd", "if=/dev/zero", f"of={small_disk / 'ballast'}"], capture_output=True, check=False)
    with AuditLog.open(small_disk / "audit", rotate_bytes=1000) as log:
        with pytest.raises(AuditError, match=r"audit-000001\.jsonl: cannot write.*No space left"):
            log.append([{"kind": "note"}])
        assert log.head.startswith("0:")


def limited(folder, limit):
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, folder, str(limit)], capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


@pytest.mark.parametrize("limit", [1, 1000, 1001, 5000])
def test_a_limit_on_the_size_of_files_is_an_error_and_no_loss(tmp_path, limit):
    """The incomplete batch is removed, and the error names the limit."""
    message, head = limited(tmp_path / "audit", limit)
    assert "audit-000001.jsonl: cannot write the audit log: File too large" in message
    assert "ulimit -f" in message
    found = verify(tmp_path / "audit", head=head)
    assert (found.fault, found.head) == (None, head)


def test_a_repair_that_cannot_be_recorded_leaves_the_torn_line(tmp_path):
    """If the repair record does not fit, the file is unchanged."""
    folder = tmp_path / "audit"
    with AuditLog.open(folder, rotate_bytes=10**9) as log:
        log.append([{"kind": "note"}])
    file = folder / "audit-000001.jsonl"
    torn = file.read_bytes() + b"half a line "
    file.write_bytes(torn)
    message = limited(folder, len(torn) + 10)[0]
    assert "audit-000001.jsonl: cannot repair the torn last line" in message
    assert file.read_bytes() == torn
    with AuditLog.open(folder, rotate_bytes=10**9) as log:
        assert "12 bytes" in log.notices[0]
    assert json.loads(file.read_bytes().splitlines()[1])["kind"] == "repair"

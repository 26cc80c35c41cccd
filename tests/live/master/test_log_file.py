"""The log of the daemon under condor_master: replaced when it is full, and opened again when it was moved away."""

import json
import os
import subprocess
import sys

import pytest

from negotiator_live.master.daemon_log import LogFile, LogLimit

#: Writes numbered lines by several threads and by a process of its own, while the log is replaced again and again.
WRITING = """
import json, os, subprocess, sys, threading
from pathlib import Path
from negotiator_live.master.daemon_log import LogFile, LogLimit

path, kept = Path(sys.argv[1]), int(sys.argv[2])
log = LogFile(path, LogLimit(size=2000), kept, clock=iter(range(1_700_000_000, 1_800_000_000)).__next__)
log.begin()
copy = os.dup(1)
done = threading.Event()

written = {}

def write(descriptor, name):
    written[name] = 0
    while not done.is_set():
        os.write(descriptor, f"{name} {written[name]}\\n".encode())
        written[name] += 1

threads = [threading.Thread(target=write, args=each) for each in ((1, "out"), (2, "error"), (copy, "copy"))]
for each in threads:
    each.start()
while len(list(path.parent.iterdir())) < 20:
    log.look()
done.set()
for each in threads:
    each.join()
Path(sys.argv[3]).write_text(json.dumps(written))
subprocess.run([sys.executable, "-c", "print('of a child')"], check=True)
"""


def limited(path, clock=lambda: 1_700_000_000.0, **settings):
    return LogFile(path, LogLimit(**settings), clock=clock)


@pytest.fixture
def path(tmp_path):
    """Return the path of a log; standard output and error are restored afterwards."""
    before = [os.dup(each) for each in (1, 2)]
    yield tmp_path / "NegotiatorLog"
    for number, descriptor in enumerate(before, 1):
        os.dup2(descriptor, number)
        os.close(descriptor)


def write(text):
    os.write(2, text.encode())


def names(path):
    return sorted(each.name for each in path.parent.iterdir())


def test_nothing_is_lost_while_the_log_is_replaced(tmp_path):
    path, counts = tmp_path / "logs" / "NegotiatorLog", tmp_path / "counts"
    path.parent.mkdir()
    subprocess.run([sys.executable, "-c", WRITING, path, "1000", counts], check=True, timeout=60)
    lines = [line for each in path.parent.iterdir() for line in each.read_text().splitlines()]
    written = json.loads(counts.read_text())
    assert sorted(written) == ["copy", "error", "out"]
    expected = [f"{name} {number}" for name, total in written.items() for number in range(total)]
    assert sorted(lines) == sorted([*expected, "of a child"])
    assert path.read_text().endswith("of a child\n")


def test_a_full_log_gets_another_name_and_a_new_one_begins(path):
    log = limited(path, size=10)
    log.begin()
    write("short\n")
    log.look()
    assert names(path) == ["NegotiatorLog"]
    write("long enough\n")
    log.look()
    write("new\n")
    assert path.read_text() == "new\n"
    assert path.with_name("NegotiatorLog.old").read_text() == "short\nlong enough\n"
    write("second log\n")
    log.look()
    assert path.with_name("NegotiatorLog.old").read_text() == "new\nsecond log\n"


def test_a_log_that_is_full_at_the_start_is_replaced(path):
    path.write_text("of the process before\n")
    log = limited(path, size=10)
    log.begin()
    write("new\n")
    assert (path.read_text(), names(path)) == ("new\n", ["NegotiatorLog", "NegotiatorLog.old"])


def test_of_several_old_logs_the_newest_remain(path, monkeypatch):
    """Their names have the time; a file that is no old log stays."""
    monkeypatch.setenv("TZ", "UTC")
    now = [1_700_000_000.0]
    path.with_name("NegotiatorLog.saved").touch()
    log = LogFile(path, LogLimit(size=1), 2, clock=lambda: now[0])
    log.begin()
    for number in range(4):
        write(f"{number}\n")
        log.look()
        log.look()
        now[0] += 1
    old = [each for each in names(path) if "T" in each]
    assert len(old) == 2
    assert [path.with_name(each).read_text() for each in old] == ["2\n", "3\n"]
    assert {"NegotiatorLog", "NegotiatorLog.saved"} <= set(names(path))


def test_two_logs_that_are_full_within_a_second_are_both_kept(path):
    log = LogFile(path, LogLimit(size=1), 3, clock=lambda: 1_700_000_000.0)
    log.begin()
    for text in ("first\n", "second\n", "third\n"):
        write(text)
        log.look()
    assert sorted(each.read_text() for each in path.parent.iterdir()) == ["first\n", "second\nthird\n"]


def test_a_log_with_a_period_is_replaced_when_the_next_one_has_begun(path):
    now = [86_400.0 * 100 + 5]
    path.touch()
    os.utime(path, (now[0], now[0]))
    log = limited(path, clock=lambda: now[0], period=86_400)
    log.begin()
    for passed, expected in ((86_000, 1), (395, 2), (86_000, 2)):
        now[0] += passed
        log.look()
        assert len(names(path)) == expected


def test_a_log_that_was_moved_away_is_opened_again(path):
    """As logrotate does, with and without a new file in its place."""
    log = limited(path)
    log.begin()
    for number, creates in enumerate((True, False)):
        write("old\n")
        path.rename(path.with_name(f"moved{number}"))
        if creates:
            path.touch()
        log.look()
        write("new\n")
        assert path.read_text() == "new\n"
        assert path.with_name(f"moved{number}").read_text().endswith("old\n")


def test_without_a_limit_the_log_grows(path):
    log = limited(path)
    log.begin()
    write("x" * 100_000)
    log.look()
    assert names(path) == ["NegotiatorLog"]


def test_a_log_that_cannot_be_opened_again_stays_in_use(path, monkeypatch):
    log = limited(path, size=1)
    log.begin()
    write("first\n")

    def refused(*_arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(PermissionError):
        log.look()
    write("second\n")
    assert (path.read_text(), names(path)) == ("first\nsecond\n", ["NegotiatorLog"])


@pytest.mark.parametrize(
    ("text", "size", "period"),
    [
        ("0", 0, 0),
        ("1000000", 1_000_000, 0),
        ("10 Mb", 10 << 20, 0),
        ("10M", 10 << 20, 0),
        ("10 MiB", 10 << 20, 0),
        ("64k", 64 << 10, 0),
        ("1 Gb", 1 << 30, 0),
        ("5 m", 0, 300),
        ("5 min", 0, 300),
        ("90 seconds", 0, 90),
        ("12 hours", 0, 43_200),
        ("1 Day", 0, 86_400),
        ("2 weeks", 0, 2 * 604_800),
    ],
)
def test_limits_are_sizes_or_times_as_in_htcondor(text, size, period):
    assert LogLimit.parse(text) == LogLimit(size, period)


@pytest.mark.parametrize("text", ["", "much", "-1", "1.5 Mb", "10 Mb or so"])
def test_an_invalid_limit_is_refused(text):
    with pytest.raises(ValueError, match="expected a size or a time, such as 10 Mb or 1 day"):
        LogLimit.parse(text)

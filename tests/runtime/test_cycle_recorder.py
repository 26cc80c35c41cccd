"""Which cycles are recorded, and how many are kept."""

import os

import attrs
import pytest

from negotiator.audit.recorded_cycle import RecordedCycle
from negotiator.bundle import default_bundle, load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.plugin import Cycle
from negotiator.runtime.cycle_recorder import CycleRecorder
from pools import NOW, cycle, job, slot, snapshot


@pytest.fixture(scope="module")
def recording():
    bundle = load_bundle(default_bundle())
    pool = snapshot([slot()], [job()])
    return RecordedCycle.of(cycle(pool, bundle), pool, CycleState.new(bundle, NOW), bundle.files)


def numbered(recording, number):
    return attrs.evolve(recording, cycle=Cycle(number, NOW + number, recording.cycle.digest))


def names(folder):
    return sorted(int(file.stem.rpartition("-")[2]) for file in folder.iterdir())


@pytest.mark.parametrize(
    ("which", "wanted"),
    [("all", [1, 2, 3, 4, 5, 6]), ("failures", [2, 5]), ("3", [3, 6]), ("1", [1, 2, 3, 4, 5, 6])],
)
def test_all_cycles_failures_or_every_nth_are_wanted(tmp_path, which, wanted):
    recorder = CycleRecorder(tmp_path, which)
    assert [n for n in range(1, 7) if recorder.wants(n, failed=n in {2, 5})] == wanted


def test_the_oldest_are_removed_beyond_the_size(tmp_path, recording):
    """Other files in the folder stay, and do not count."""
    size = len(recording.encode())
    (tmp_path / "notes.txt").write_bytes(b"x" * 10 * size)
    recorder = CycleRecorder(tmp_path, most_bytes=int(2.5 * size), most_seconds=float("inf"))
    for number in range(1, 6):
        recorder.record(numbered(recording, number), NOW)
    (tmp_path / "notes.txt").unlink()
    assert names(tmp_path) == [4, 5]


def test_the_newest_is_kept_even_if_it_is_too_large(tmp_path, recording):
    file = CycleRecorder(tmp_path / "new", most_bytes=1).record(numbered(recording, 1), NOW)
    assert RecordedCycle.decode(file.read_bytes()).cycle.number == 1
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_those_that_are_too_old_are_removed(tmp_path, recording):
    recorder = CycleRecorder(tmp_path, most_seconds=100.0)
    for number, age in ((1, 500.0), (2, 50.0)):
        os.utime(recorder.record(numbered(recording, number), NOW), (NOW - age, NOW - age))
    recorder.record(numbered(recording, 3), NOW)
    assert names(tmp_path) == [2, 3]

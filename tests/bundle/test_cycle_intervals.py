"""When cycles begin, by HTCondor's settings."""

import pytest

from negotiator.bundle import check_bundle, load_bundle
from negotiator.bundle.time_limits import CycleIntervals

KNOBS = "A = 30\nNEGOTIATOR_INTERVAL = $(A)\nNEGOTIATOR_MIN_INTERVAL = 7\nNEGOTIATOR_CYCLE_DELAY = 0\n"


def test_a_bundle_without_settings_has_htcondors_defaults(tmp_path):
    (tmp_path / "pool.yaml").write_text("order: names\n")
    assert load_bundle(tmp_path).cycle_intervals == CycleIntervals(interval=60, minimum=5, delay=20)


def test_the_settings_are_read_from_an_htcondor_file(tmp_path):
    (tmp_path / "pool.yaml").write_text("order: names\n")
    (tmp_path / "condor_config").write_text(KNOBS)
    assert load_bundle(tmp_path).cycle_intervals == CycleIntervals(interval=30, minimum=7, delay=0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("NEGOTIATOR_INTERVAL: 0", "NEGOTIATOR_INTERVAL must be at least 1 s, not 0"),
        ("NEGOTIATOR_CYCLE_DELAY: -1", "NEGOTIATOR_CYCLE_DELAY must be at least 0 s, not -1"),
        ("NEGOTIATOR_MIN_INTERVAL: soon", ""),
    ],
)
def test_an_invalid_value_is_an_error_with_its_line(tmp_path, line, message):
    (tmp_path / "pool.yaml").write_text(f"order: names\n{line}\n")
    (problem,) = map(str, check_bundle(tmp_path))
    assert problem.startswith("pool.yaml:2:")
    assert message in problem


@pytest.mark.parametrize(
    ("ended", "due", "requested"),
    [
        (101.0, 160.0, 121.0),  # a short cycle: the interval from its beginning, or the delay after its end
        (135.0, 160.0, 155.0),
        (150.0, 170.0, 170.0),  # a long one: the delay after its end
        (300.0, 320.0, 320.0),
    ],
)
def test_the_interval_is_from_the_beginning_and_the_delay_from_the_end(ended, due, requested):
    intervals = CycleIntervals()
    assert intervals.due(100.0, ended) == due
    assert intervals.earliest(100.0, ended) == requested


def test_a_requested_cycle_begins_no_sooner_than_the_minimum():
    assert CycleIntervals(minimum=40).earliest(100.0, 101.0) == 140.0
    assert CycleIntervals(minimum=100).earliest(100.0, 101.0) == 160.0


def test_an_explicit_interval_replaces_the_settings_but_the_minimum():
    every = CycleIntervals.every(10.0, CycleIntervals())
    assert (every.due(100.0, 103.0), every.earliest(100.0, 103.0)) == (110.0, 105.0)
    assert CycleIntervals.every(2.0, CycleIntervals()).earliest(100.0, 100.5) == 102.0

"""``make bench-scale``: the fit of its figures, its choice of engines, and a small run."""

import json
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.growth import Growth
from negotiator_bench.process_tree import observed_memory
from negotiator_bench.requests import request_snapshot
from negotiator_bench.scale import ScalePoint, best_engines, fits, lines_of, scale
from negotiator_bench.scale_cycle import CycleFigures, measure_cycle

SVG = "{http://www.w3.org/2000/svg}"


def measured(slots, classes, engine, seconds):
    return ScalePoint(slots, classes, engine, seconds, CycleFigures(seconds, seconds, 0.0, 1, classes))


@given(
    factor=st.floats(1e-6, 1e3),
    powers=st.tuples(st.floats(-2, 3), st.floats(-2, 3)),
    sizes=st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)),
)
def test_a_fit_of_products_of_powers_gives_the_seconds_of_any_size(factor, powers, sizes):
    def seconds(slots, classes):
        return factor * slots ** powers[0] * classes ** powers[1]

    grid = [(slots, classes) for slots in (10, 1000) for classes in (3, 200)]
    growth = Growth.of(grid, [seconds(*each) for each in grid])
    assert growth.assumed == (False, False)
    assert growth.exponents == pytest.approx(powers, abs=1e-6)
    assert growth.seconds(sizes) == pytest.approx(seconds(*sizes), rel=1e-4)


def test_growth_with_a_size_that_all_measurements_share_is_taken_to_be_linear():
    growth = Growth.of([(10, 5), (1000, 5)], [1.0, 10.0])
    assert growth.exponents == pytest.approx((0.5, 1.0))
    assert growth.assumed == (False, True)
    assert growth.seconds((10, 15)) == pytest.approx(3.0)


def test_sizes_that_grow_together_have_no_fit():
    with pytest.raises(ValueError, match="grow together"):
        Growth.of([(10, 10), (100, 100)], [1.0, 2.0])
    with pytest.raises(ValueError, match="needs a measurement"):
        Growth.of([], [])
    assert fits([measured(10, 10, "local", 1.0), measured(100, 100, "local", 2.0)]) == {}


def test_only_measured_seconds_are_fitted():
    points = [measured(10, 5, "local", 1.0), measured(1000, 5, "local", 10.0)]
    assert fits([*points, ScalePoint(100_000, 5, "local", 7.0)]) == fits(points)


def test_an_engine_is_worth_its_processes_if_it_saves_a_tenth_of_the_time():
    points = [
        *(measured(10, 5, "local", 1.0), measured(10, 5, "processes:2", 0.95)),
        *(measured(10, 50, "local", 4.0), measured(10, 50, "processes:2", 2.0)),
        *(measured(10, 500, "processes:1", 3.0), measured(10, 500, "processes:2", 2.0)),
    ]
    assert best_engines(points) == {(10, 5): ("local", 1.0), (10, 50): ("processes:2", 2.0)}


def test_a_line_for_each_engine_and_number_of_classes_has_its_points_by_slots():
    points = [
        measured(100, 5, "local", 2.0),
        measured(10, 5, "local", 1.0),
        measured(10, 5, "processes:1", 3.0),
    ]
    assert [(line.name, line.points) for line in lines_of(points)] == [
        ("local, 5 classes", ((10, 1.0), (100, 2.0))),
        ("processes:1, 5 classes", ((10, 3.0),)),
    ]


def test_memory_of_a_process_counts_that_of_its_children():
    code = "b = bytearray(64 << 20); b[::4096] = b'1' * len(b[::4096]); print(flush=True); input()"
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    with subprocess.Popen(
        [sys.executable, "-c", parent, code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        with observed_memory(process.pid) as peak:
            while peak.bytes is None:
                pass
        process.communicate(b"\n")
    assert peak.bytes > 64 << 20


def test_a_cycle_that_fails_or_takes_too_long_is_an_error(tmp_path):
    pool = tmp_path / "pool"
    pool.write_bytes(request_snapshot("plain", 10, 2, 1).encode())
    with pytest.raises(ProcessFailedError, match="expected local"):
        measure_cycle(pool, "nothing", patience=60)
    with pytest.raises(ProcessFailedError, match="more than 0 s"):
        measure_cycle(pool, "local", patience=0.01)


def test_a_small_run_is_measured_extrapolated_and_drawn(tmp_path):
    picture = tmp_path / "scale.svg"
    arguments = ["--slots", "20,40", "--classes", "2,4", "--engines", "local,processes:1", "--json"]
    done = CliRunner().invoke(scale, [*arguments, "--picture", str(picture)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert len(found["points"]) == 8
    assert {point["engine"] for point in found["points"]} == {"local", "processes:1"}
    assert all(point["figures"]["matches"] > 0 for point in found["points"])
    assert {(size["slots"], size["classes"]) for size in found["engines"]} == {
        (20, 2),
        (20, 4),
        (40, 2),
        (40, 4),
    }
    assert len(list(ET.parse(picture).iter(f"{SVG}circle"))) == 8  # noqa: S314


def test_sizes_beyond_the_limit_are_extrapolated_and_marked():
    arguments = ["--slots", "20,40", "--classes", "2,4,1000000000", "--engines", "local", "--limit", "60"]
    done = CliRunner().invoke(scale, arguments)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines()]
    far = [
        row for row in rows if row[1:3] == ["1,000,000,000", "local"] and len(row) == 4 and row[3][0] == "~"
    ]
    assert len(far) == 2
    assert len([row for row in rows if row[2:3] == ["local"] and len(row) == 8]) == 4

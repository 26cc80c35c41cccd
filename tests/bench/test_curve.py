"""``make bench-curve``: its exponents, its table and its picture."""

import itertools
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from negotiator_bench.curve import Point, curve, lines_of
from negotiator_bench.growth import exponent
from negotiator_bench.picture import Line, draw

SVG = "{http://www.w3.org/2000/svg}"


@given(
    power=st.floats(-2, 3),
    factor=st.floats(1e-6, 1e6),
    sizes=st.lists(st.integers(1, 10**6), min_size=2, max_size=8, unique=True),
)
def test_the_exponent_of_a_power_is_that_power(power, factor, sizes):
    assert exponent(sizes, [factor * size**power for size in sizes]) == pytest.approx(power, abs=1e-6)


def test_an_exponent_needs_two_sizes():
    with pytest.raises(ValueError, match="two sizes"):
        exponent([10, 10], [1, 2])


def test_a_line_for_each_number_of_classes_has_its_points_by_slots():
    points = [Point(100, 7, 4.0, 1), Point(10, 7, 2.0, 1), Point(10, 3, 1.0, 1)]
    assert lines_of(points) == [
        Line("3 classes", ((10, 1.0),)),
        Line("7 classes, slots^0.30", ((10, 2.0), (100, 4.0))),
    ]


def test_a_picture_has_every_point_within_it_and_its_names_as_text():
    lines = [Line("a < b", ((10, 0.5), (1000, 40))), Line("c", ((100, 3),))]
    root = ET.fromstring(draw("T & U", "slots", "s", lines))  # noqa: S314 - our own
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in root.iter(f"{SVG}circle")]
    assert len(dots) == 3
    assert dots[0][0] < dots[2][0] < dots[1][0]  # to the right with the slots
    assert dots[0][1] > dots[2][1] > dots[1][1]  # up with the seconds
    _, _, width, height = map(float, root.get("viewBox").split())
    assert all(0 < x < width and 0 < y < height for x, y in dots)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"a < b", "c", "T & U", "slots", "s", "10", "1,000"} <= set(texts)


def test_the_names_of_lines_that_end_together_are_below_each_other():
    lines = [Line(name, ((10, 1), (1000, 40))) for name in "abc"]
    root = ET.fromstring(draw("T", "slots", "s", lines))  # noqa: S314 - our own
    heights = sorted(float(text.get("y")) for text in root.iter(f"{SVG}text") if text.text in {"a", "b", "c"})
    assert all(after - before >= 12 for before, after in itertools.pairwise(heights))
    assert len(heights) == 3


def test_a_small_curve_is_measured_printed_and_drawn(tmp_path):
    picture = tmp_path / "speed.svg"
    arguments = ["--slots", "20,40", "--classes", "2,4", "--picture", str(picture)]
    done = CliRunner().invoke(curve, arguments)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["SLOTS", "2", "4", "EXPONENT"] in rows
    assert [len(row) for row in rows if row[:1] in (["20"], ["40"], ["exponent"])] == [4, 4, 3]
    assert len(list(ET.parse(picture).iter(f"{SVG}circle"))) == 4  # noqa: S314

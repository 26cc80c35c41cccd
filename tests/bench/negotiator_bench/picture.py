"""A picture of lines on two logarithmic axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final
from xml.sax.saxutils import escape

import attrs

_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 220, 50, 50  # margins; the names of lines are at the right
_LINE_HEIGHT: Final = 14
_STYLE: Final = 'font-family="sans-serif" font-size="12" role="img"'
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # of Okabe and Ito


@attrs.frozen
class Line:
    """A line: a name, and points of positive numbers by the first of them.

    ``colour``: the number of one of a few colours; None for a colour of its own. ``dashed``: its points were not measured.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    colour: int | None = None
    dashed: bool = False


def draw(title: str, across: str, up: str, lines: Sequence[Line]) -> str:
    """Draw lines of at least one point; ``across`` and ``up`` name the axes."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    x_of, x_powers = _axis(xs, _LEFT, _WIDTH - _RIGHT)
    y_of, y_powers = _axis(ys, _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {_STYLE}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, _TOP - 25, title),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 10, across),
        _text(10, _TOP, up),
    ]
    for power in x_powers:
        x = x_of(10.0**power)
        parts += [
            _rule(x, _TOP, x, _HEIGHT - _BOTTOM),
            _text(x, _HEIGHT - 30, f"{10.0**power:,.0f}", "middle"),
        ]
    for power in y_powers:
        y = y_of(10.0**power)
        parts += [_rule(_LEFT, y, _WIDTH - _RIGHT, y), _text(_LEFT - 8, y + 4, f"{10.0**power:g}", "end")]
    drawn = [[(x_of(x), y_of(y)) for x, y in line.points] for line in lines]
    heights = _apart([places[-1][1] + 4 for places in drawn])
    for number, (line, places, height) in enumerate(zip(lines, drawn, heights, strict=True)):
        colour = _COLOURS[(number if line.colour is None else line.colour) % len(_COLOURS)]
        parts += _drawn(line, places, colour, height)
    return "\n".join([*parts, "</svg>", ""])


def _axis(values: Sequence[float], start: float, end: float) -> tuple[Callable[[float], float], range]:
    """Return the place of a number on an axis, and the powers of ten on it."""
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    return lambda value: start + (math.log10(value) - low) / (high - low) * (end - start), range(
        low, high + 1
    )


def _apart(heights: Sequence[float]) -> list[float]:
    """Return the heights of names, moved down as far as they would overlap."""
    found, lowest = list(heights), -math.inf
    for number in sorted(range(len(heights)), key=heights.__getitem__):
        found[number] = lowest = max(heights[number], lowest + _LINE_HEIGHT)
    return found


def _drawn(line: Line, places: Sequence[tuple[float, float]], colour: str, height: float) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    dashes = ' stroke-dasharray="5 4"' if line.dashed else ""
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>',
        *dots,
        _text(max(places[-1][0] + 8, _WIDTH - _RIGHT + 8), height, line.name),
    ]


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'

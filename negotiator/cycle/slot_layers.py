"""Layers of the slots' conjuncts: those that differ in their constants only are evaluated together.

A pool of 500 kinds of machines has 500 texts of START, but few shapes of them. A layer has the conjuncts of one shape whose slots are
disjoint; on each slot the layers come in the order of its own conjuncts, so that the first one that fails is the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.classad import Table
from negotiator.classad.columnar import Shape, ShapedRows, shape_of, shaped_rows
from negotiator.cycle.slot_conjuncts import WHOLE, SlotConjunct


@attrs.frozen(eq=False)
class SlotLayer:
    """The conjuncts of one shape: ``places`` (P,) in the order of all conjuncts, and the rows with their constants."""

    places: Sequence[int]
    shaped: ShapedRows[Table]


@attrs.define(eq=False)
class _OpenLayer:
    """A layer to which conjuncts are added; ``turn`` is its place among the layers."""

    turn: int
    shapes: list[Shape | None] = attrs.field(factory=list)
    places: list[int] = attrs.field(factory=list)


def slot_layers(parts: Sequence[SlotConjunct], slots: Table) -> tuple[SlotLayer | int, ...]:
    """Return the layers in their order; the place of a conjunct that is alone in its layer."""
    turns = np.full(len(slots), -1, np.intp)  # of the last layer of each slot
    layers: list[_OpenLayer] = []
    of_shape: dict[object, list[_OpenLayer]] = {}
    for place, part in enumerate(parts):
        shape = None
        if len(part.rows) < len(slots) and part.expression is not WHOLE:
            shape = shape_of(part.expression)
        alike = [] if shape is None else of_shape.setdefault((part.attribute, shape.key), [])
        free = bisect_right(alike, turns[part.rows].max(initial=-1), key=_turn)
        if free < len(alike):
            layer = alike[free]
        else:
            layer = _OpenLayer(len(layers))
            layers.append(layer)
            alike.append(layer)
        layer.shapes.append(shape)
        layer.places.append(place)
        turns[part.rows] = layer.turn
    return tuple(
        layer.places[0] if len(layer.places) == 1 else _layer(layer, parts, slots) for layer in layers
    )


def _turn(layer: _OpenLayer) -> int:
    return layer.turn


def _layer(layer: _OpenLayer, parts: Sequence[SlotConjunct], slots: Table) -> SlotLayer:
    shapes = [shape for shape in layer.shapes if shape is not None]
    return SlotLayer(layer.places, shaped_rows(slots, shapes, [parts[place].rows for place in layer.places]))

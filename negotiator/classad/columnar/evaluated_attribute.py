"""An attribute that was evaluated for the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from negotiator.classad.tables import Column


@attrs.frozen
class EvaluatedAttribute:
    """The values of an attribute, and their cost, which counts at each further use, as in scalar evaluation."""

    column: Column
    steps: int
    height: int

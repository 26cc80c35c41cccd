"""What an ad that was parsed as a whole (JSON, XML, the new syntax) costs to store, and whose ad it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad import Ad
from negotiator.classad.syntax import Literal, fold, scan, tree_key
from negotiator.pool.reading_budget import (
    CELL_BYTES,
    OWNER_MARKS,
    PLAIN_ATTRIBUTES,
    VALUE_BYTES,
    AdCost,
    ReadingBudget,
    owner_of,
    width,
)

if TYPE_CHECKING:
    from negotiator.classad import Expr
    from negotiator.classad.tables import AdDictionary

_CHARACTERS_PER_NODE: Final = 2
"""A number of one digit and a comma: the shortest text of a node."""


def charge_ad(ad: Ad, file: str, dictionary: AdDictionary, budget: ReadingBudget) -> str:
    """Charge an ad to its owner; return why it does not fit, "" if it does."""
    names = 0
    stored = CELL_BYTES * max(0, len(ad) - PLAIN_ATTRIBUTES)
    trees: dict[str, Expr] = {}
    for name, expr in ad.items():
        if dictionary.holds(name, expr):
            continue
        names += dictionary.is_new_name(name)
        stored += VALUE_BYTES
        if type(expr) is not Literal:
            trees[tree_key(expr)] = expr
        elif isinstance(expr.value, str):
            stored += width(expr.value)
    new_trees = [key for key in trees if not budget.is_charged(key)]
    cost = AdCost(names, stored, sum(_CHARACTERS_PER_NODE * scan(trees[key]).size for key in new_trees))
    if not budget.is_free(cost):
        marks = [(name, expr) for name, expr in ad.items() if fold(name) in OWNER_MARKS]
        message = budget.charge(owner_of(Ad(marks), file), cost)
        if message:
            return message
    budget.add_charged(new_trees)
    return ""

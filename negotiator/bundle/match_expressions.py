"""Expressions that this negotiator adds to each slot: they are read in matching, and go with a match into the claim.

Under ``NEGOTIATOR_MATCH_EXPRS`` ``pool.yaml`` has a mapping, ``Name: expression``; an HTCondor configuration file lists the names of
macros, as condor_negotiator reads them. The attributes are called ``NegotiatorMatchExprName``.

Source: HTCondor manual, NEGOTIATOR_MATCH_EXPRS; ``Matchmaker::reinitialize``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import attrs

from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.bundle.folder import no_files
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.text import MapEntry, MapNode, ScalarNode, Style, is_unset, shown
from negotiator.classad import Expr
from negotiator.hooks.declarations import Expression
from negotiator.records import Problem, Severity

MATCH_EXPRESSIONS: Final = "NEGOTIATOR_MATCH_EXPRS"
_PREFIX: Final = "NegotiatorMatchExpr"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)


@attrs.frozen(eq=False)
class ListedMacros:
    """The macros that a text lists, as a mapping to their values; ``names`` are those that are defined, in lower case."""

    node: MapNode
    names: frozenset[str]
    problems: tuple[Problem, ...]


def listed_macros(knobs: Knobs, listing: ScalarNode) -> ListedMacros:
    """Return the values of the macros whose names a setting lists, separated by commas or blanks."""
    entries: dict[str, MapEntry] = {}
    problems: list[Problem] = []
    used = set()
    defined = frozenset(knobs.names())
    for name in re.split(r"[\s,]+", listing.value.text.strip()):
        found = next((key for key in (SUBSYSTEM + name.lower(), name.lower()) if key in defined), "")
        if not found:
            message = f"{MATCH_EXPRESSIONS} lists {shown(name)}, which is not defined"
            problems.append(
                listing.file.problem(Severity.WARNING, listing.at, message, "define it, or remove its name")
            )
            continue
        used.add(found)
        value = knobs.expand(found)
        if isinstance(value, Problem):
            problems.append(value)
            continue
        at = knobs.definitions(found)[-1].at
        entries[name] = MapEntry(at, ScalarNode(name, value.at, value, Style.KNOB))
    return ListedMacros(
        MapNode(listing.label, listing.file, listing.at, entries), frozenset(used), tuple(problems)
    )


def read_match_expressions(
    entries: Mapping[str, MapEntry],
) -> tuple[Mapping[str, Expr], tuple[Problem, ...]]:
    """Return the expressions by the names of their attributes, and their problems.

    :param entries: the values of the bundle by key.
    """
    entry = entries.get(MATCH_EXPRESSIONS)
    if entry is None or is_unset(entry.value):
        return {}, ()
    builder = ObjectBuilder(no_files)
    values = builder.value(entry.value, dict[str, Expression])
    found: dict[str, Expr] = {}
    for name, value in {} if values is INVALID else values.items():
        if _NAME.fullmatch(name):
            found[name if name.startswith(_PREFIX) else _PREFIX + name] = value.tree
        else:
            message = f"invalid name in {MATCH_EXPRESSIONS}: {shown(name)}"
            place = entry.value.file.error(entry.value.at, message, "write letters, digits and _")
            builder.problems.append(place)
    return found, tuple(builder.problems)

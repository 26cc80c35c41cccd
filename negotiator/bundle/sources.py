"""The key ``source:`` of ``pool.yaml``: which live pool ``negotiator serve`` serves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from negotiator.bundle.model import Bundle, ChosenSource
from negotiator.bundle.named_types import NamedTypes, first_of_each_name
from negotiator.bundle.nodes import MapNode
from negotiator.bundle.plugin_failures import failure_problems
from negotiator.bundle.read_before_match import read_before_match
from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.pool_source import PoolSource
from negotiator.records import Problem

KEY: Final = "source"


def read_source(
    top: MapNode, bundle: Bundle, settings: Mapping[str, Any], wrong: Collection[str]
) -> tuple[ChosenSource, tuple[Problem, ...]]:
    """Return the live pool that a bundle names, and the problems of all types; without the key that of the only type.

    :param bundle: with its policies.
    :param settings: of the plugins, by their names.
    :param wrong: the plugins whose settings are invalid; what they fail in is ignored.
    """
    hooks = bundle.hooks
    answers = hooks.ask(specs.negotiator_pool_sources)
    found = first_of_each_name(answers.records)
    types = NamedTypes(KEY, "source", found)
    problems = [*failure_problems(hooks, answers.failures), *types.taken(answers.records, hooks)]
    attributes, failures = read_before_match(bundle, settings)
    problems += failure_problems(hooks, (each for each in failures if each.plugin not in wrong))
    chosen: Attributed[PoolSource] | None = None
    if KEY in top.entries:
        chosen, unknown = types.named(top)
        problems += unknown
    elif len(found) == 1:
        (chosen,) = found.values()
    if chosen is None:
        return ChosenSource(), tuple(problems)
    return ChosenSource(chosen, settings.get(chosen.plugin), attributes), tuple(problems)

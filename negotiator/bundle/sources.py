"""The key ``source:`` of ``pool.yaml``: which live pool ``negotiator serve`` serves, and what that pool's configuration has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from negotiator.bundle.model import Bundle, ChosenSource
from negotiator.bundle.ordering import NamedTypes, first_of_each_name
from negotiator.bundle.plugin_failures import failure_problems, plugin_source
from negotiator.bundle.read_before_match import read_before_match
from negotiator.bundle.text import MapNode
from negotiator.errors import PoolError
from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.fields import check_exactly
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.manager import HookManager
from negotiator.hooks.pool_source import PoolSetting, PoolSource
from negotiator.records import Problem, Severity, Source

KEY: Final = "source"


def choose_source(
    top: MapNode, hooks: HookManager
) -> tuple[Attributed[PoolSource] | None, tuple[Problem, ...]]:
    """Return the type of live pool that a bundle names, and the problems of all types; without the key the only type."""
    answers = hooks.ask(specs.negotiator_pool_sources)
    found = first_of_each_name(answers.records)
    types = NamedTypes(KEY, "source", found)
    problems = [*failure_problems(hooks, answers.failures), *types.taken(answers.records, hooks)]
    chosen: Attributed[PoolSource] | None = None
    if KEY in top.entries:
        chosen, unknown = types.named(top)
        problems += unknown
    elif len(found) == 1:
        (chosen,) = found.values()
    return chosen, tuple(problems)


def pool_settings(
    chosen: Attributed[PoolSource] | None, hooks: HookManager, folder: Path, *, checks: bool
) -> tuple[Sequence[PoolSetting] | None, tuple[Problem, ...]]:
    """Return the settings of the pool's own configuration, None where it has none for a bundle, and a problem if that fails.

    :param folder: of the bundle.
    :param checks: the bundle is only checked.
    """
    if chosen is None or chosen.record.configuration is None:
        return None, ()
    try:
        found = chosen.record.configuration(folder, checks)
        for each in found or ():
            check_exactly(each, PoolSetting, "a PoolSetting")
    except PoolError as error:
        return (), (Problem(Severity.ERROR, Source("the pool's configuration"), str(error)),)
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        raise_if_interrupted(error)
        source = plugin_source(hooks, chosen.plugin)
        message = f"plugin {chosen.plugin}: configuration failed: {describe_error(error)}"
        return (), (Problem(Severity.ERROR, source, message),)
    return found, ()


def read_source(
    chosen: Attributed[PoolSource] | None,
    bundle: Bundle,
    settings: Mapping[str, Any],
    wrong: Collection[str],
) -> tuple[ChosenSource, tuple[Problem, ...]]:
    """Return the live pool of a bundle, and the problems of plugins that do not tell which attributes they read.

    :param chosen: its type.
    :param bundle: with its policies.
    :param settings: of the plugins, by their names.
    :param wrong: the plugins whose settings are invalid; what they fail in is ignored.
    """
    attributes, failures = read_before_match(bundle, settings)
    failed = (each for each in failures if each.plugin not in wrong)
    problems = tuple(failure_problems(bundle.hooks, failed))
    if chosen is None:
        return ChosenSource(), problems
    return ChosenSource(chosen, settings.get(chosen.plugin), attributes), problems

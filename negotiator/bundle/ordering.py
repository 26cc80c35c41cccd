"""The key ``order:`` of ``pool.yaml``: which plugin decides whose turn it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from negotiator.bundle.model import Ordering
from negotiator.bundle.named_types import NamedTypes, first_of_each_name
from negotiator.bundle.nodes import MapNode
from negotiator.bundle.plugin_failures import failure_problems, plugin_source
from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.manager import HookManager
from negotiator.hooks.order_type import RequestOrderType, SlotRanks
from negotiator.hooks.plugin_output import raise_if_interrupted
from negotiator.queues import PartitionConfig
from negotiator.records import Problem, Severity
from negotiator.records.text import printable

KEY: Final = "order"
#: The order that no plugin brings: owners and submitters by name.
NAMES: Final = "names"


def read_ordering(
    top: MapNode, hooks: HookManager, settings: Mapping[str, Any], partition: PartitionConfig
) -> tuple[Ordering, tuple[Problem, ...]]:
    """Return who decides whose turn it is in a bundle, and the problems of all orders.

    :param settings: of the plugins, by their names.
    :param partition: the queues, which orders may follow.
    """
    answers = hooks.ask(specs.negotiator_orders)
    found = first_of_each_name(answers.records)
    types = NamedTypes(KEY, "order", found, core=NAMES)
    problems = [*failure_problems(hooks, answers.failures), *types.taken(answers.records, hooks)]
    chosen, wrong = types.named(top) if KEY in top.entries else _default(top, found)
    problems += wrong
    known = {name: each.record for name, each in found.items()}
    problems += _queue_keys(partition, chosen.record if chosen else None, known)
    if chosen is None:
        return Ordering(known=found), tuple(problems)
    problems += _queue_problems(chosen, partition, hooks)
    own = settings.get(chosen.plugin)
    try:
        ranks = chosen.record.ranks(own)
        if type(ranks) is not SlotRanks:
            raise TypeError(f"expected SlotRanks, got {type(ranks).__name__}")  # noqa: TRY301 - reported like any other
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        raise_if_interrupted(error)
        message = f"plugin {chosen.plugin}: ranks of the order {chosen.record.name}: {describe_error(error)}"
        problems.append(Problem(Severity.ERROR, plugin_source(hooks, chosen.plugin), message))
        return Ordering(known=found), tuple(problems)
    return Ordering(chosen, own, ranks, found), tuple(problems)


def _default(
    top: MapNode, found: Mapping[str, Attributed[RequestOrderType]]
) -> tuple[Attributed[RequestOrderType] | None, list[Problem]]:
    """Return the order of a bundle without the key: a plugin's default; None for the order by names."""
    defaults = [each for _, each in sorted(found.items()) if each.record.is_default]
    if len(defaults) < 2:
        return (defaults[0] if defaults else None), []
    names = " and ".join(f"{each.record.name} of plugin {each.plugin}" for each in defaults)
    hint = f"write order: {defaults[0].record.name} in pool.yaml, or disable all but one of the plugins"
    return None, [top.file.error(top.at, f"several orders are the default: {names}", hint)]


def _queue_keys(
    partition: PartitionConfig, chosen: RequestOrderType | None, known: Mapping[str, RequestOrderType]
) -> Iterator[Problem]:
    """Yield a notice for each key of the queues that the order does not follow; another order may."""
    name, followed = (chosen.name, chosen.queue_keys) if chosen else (NAMES, frozenset[str]())
    for use in partition.order_keys:
        if use.key in followed:
            continue
        message = f"{printable(use.notice)}: the order is {name}"
        others = [each for each, order in sorted(known.items()) if use.key in order.queue_keys]
        hint = f"order: {others[0]} in pool.yaml follows it" if others else ""
        yield Problem(Severity.NOTICE, use.source, message, hint)


def _queue_problems(
    chosen: Attributed[RequestOrderType], partition: PartitionConfig, hooks: HookManager
) -> Iterator[Problem]:
    """Yield the problems that an order finds in the queues."""
    try:
        yield from chosen.record.check_queues(partition)
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        raise_if_interrupted(error)
        message = f"plugin {chosen.plugin}: check of queues by the order {chosen.record.name}: {describe_error(error)}"
        yield Problem(Severity.ERROR, plugin_source(hooks, chosen.plugin), message)

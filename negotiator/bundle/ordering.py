"""The key ``order:`` of ``pool.yaml``: which plugin decides whose turn it is. It names a type that a plugin brings, as ``source:`` names a live pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

import attrs

from negotiator.bundle.folder import no_files
from negotiator.bundle.model import Ordering
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.plugin_failures import failure_problems, plugin_source
from negotiator.bundle.text import ListNode, MapNode
from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.manager import HookManager
from negotiator.hooks.order_type import RequestOrderType, SlotRanks
from negotiator.queues import PartitionConfig
from negotiator.records import Problem, Severity
from negotiator.records.text import printable, suggest

KEY: Final = "order"
#: The order that no plugin brings: owners and submitters by name.
NAMES: Final = "names"


class _Named(Protocol):
    """A type that plugins bring."""

    @property
    def name(self) -> str:
        """Its name in ``pool.yaml``."""


T = TypeVar("T", bound=_Named)


@attrs.frozen
class NamedTypes(Generic[T]):
    """The types of one hook, by name.

    ``key`` is that of ``pool.yaml``, ``noun`` names a type in messages. ``core`` is the name of the type that no plugin brings,
    empty if there is none.
    """

    key: str
    noun: str
    found: Mapping[str, Attributed[T]]
    core: str = ""

    @property
    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self.found, *filter(None, [self.core])})

    def taken(self, answers: Iterable[Attributed[T]], hooks: HookManager) -> Iterator[Problem]:
        """Yield an error for each type whose name belongs to another one."""
        for each in answers:
            name = each.record.name
            owner = "the core" if name == self.core else f"plugin {self.found[name].plugin}"
            if name != self.core and self.found[name] is each:
                continue
            message = f"the {self.noun} {name} of plugin {each.plugin} already belongs to {owner}"
            source = plugin_source(hooks, each.plugin)
            yield Problem(Severity.ERROR, source, message, "disable one of the two plugins")

    def named(self, top: MapNode) -> tuple[Attributed[T] | None, list[Problem]]:
        """Return the type that the key names; None for that of the core, and where there is a problem."""
        entry, builder = top.entries[self.key], ObjectBuilder(no_files)
        if isinstance(entry.value, ListNode):
            hint = f"choose one of {', '.join(self.names)}"
            return None, [top.file.error(entry.at, f"{self.key}: takes one {self.noun}, not a list", hint)]
        wanted = builder.value(entry.value, str)
        if wanted is INVALID or (self.core and wanted == self.core):
            return None, builder.problems
        if wanted in self.found:
            return self.found[wanted], []
        known = ", ".join(self.names) or "none"
        message = f"unknown {self.noun} {printable(wanted)}: known are {known}"
        return None, [top.file.error(entry.at, message, suggest(wanted, self.names, listed=False))]


def first_of_each_name(answers: Iterable[Attributed[T]]) -> Mapping[str, Attributed[T]]:
    """Return the types by name; the first one of each."""
    found: dict[str, Attributed[T]] = {}
    for each in answers:
        found.setdefault(each.record.name, each)
    return found


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

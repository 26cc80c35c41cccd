"""One typed method a hook: asks the plugins in the bundle's order, each by itself, and stamps who answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from time import perf_counter
from typing import Any, TypeVar

import attrs
import click

from negotiator.classad import Table
from negotiator.hooks import checks, specs
from negotiator.hooks.access import Access, AccessQuestion, QueueNotice
from negotiator.hooks.answers import Answers as Answers
from negotiator.hooks.answers import Attributed as Attributed
from negotiator.hooks.answers import HookFailure as HookFailure
from negotiator.hooks.answers import PluginInfo as PluginInfo
from negotiator.hooks.answers import PluginStatus as PluginStatus
from negotiator.hooks.charges import Charge, CounterUsage, KeyCharge
from negotiator.hooks.decide import decide_access
from negotiator.hooks.guard import Clock, Guarded, Tracer
from negotiator.hooks.placement import PlacementRule
from negotiator.hooks.pluggy_adapter import Registry, specs_of
from negotiator.hooks.records import AdKind, Constraint, Cycle, Filter, Gate, Match, Request, Section
from negotiator.hooks.settings import PluginSettings
from negotiator.queues import QueueTree

T = TypeVar("T")


@attrs.frozen
class LoadedPlugin:
    """A plugin that was loaded and accepted: its name, its version, where it came from."""

    name: str
    version: str
    origin: str


class HookManager:
    """All plugins of one bundle behind typed methods, one a hook; see ``specs`` for what each hook means.

    ``settings`` of its methods maps the name of a plugin to its own part of the bundle; an implementation is passed
    its own, or None.
    """

    def __init__(
        self,
        registry: Registry,
        plugins: Iterable[LoadedPlugin],
        settings: PluginSettings,
        tracer: Tracer | None = None,
        clock: Clock = perf_counter,
    ) -> None:
        self._plugins = tuple(sorted(plugins, key=lambda plugin: _rank(settings, plugin.name)))
        versions = {plugin.name: plugin.version for plugin in self._plugins}
        self._guarded = {
            hook: tuple(
                Guarded(each, versions[each.plugin], settings, tracer, clock)
                for each in sorted(
                    registry.implementations(hook), key=lambda each: _rank(settings, each.plugin)
                )
            )
            for hook in specs_of(specs)
        }

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """All plugins and how they fared so far, in the order in which they are asked."""
        return tuple(self._info(plugin) for plugin in self._plugins)

    @property
    def plugin_set(self) -> tuple[str, ...]:
        """``name version`` of all plugins, in the order in which they are asked."""
        return tuple(f"{plugin.name} {plugin.version}" for plugin in self._plugins)

    def sections(self) -> Answers[Section]:
        """The parts of ``pool.yaml`` that plugins own. A failure is to refuse the bundle."""
        return self._ask("negotiator_section", checks.one(checks.section))

    def commands(self) -> Answers[click.Command]:
        """The commands that plugins bring."""
        return self._ask("negotiator_commands", checks.many(checks.command, "click.Command"))

    def constraints(self, settings: Mapping[str, Any]) -> Answers[Constraint]:
        """The expressions to AND to the Requirements of slots and jobs. A failure is to refuse the bundle."""
        check = checks.many(checks.constraint, "Constraint")
        return self._ask("negotiator_constraints", check, settings)

    def job_attributes(
        self, settings: Mapping[str, Any]
    ) -> tuple[frozenset[str] | None, tuple[HookFailure, ...]]:
        """The job attributes that plugins read, in lower case. A failure is to refuse the bundle.

        None where a plugin filters slots or charges and does not say what it reads, or failed to: each job is then a
        request of its own.
        """
        check = checks.many(checks.attribute_name, "attribute names")
        answers = self._ask("negotiator_job_attributes", check, settings)
        declared = self._implementing("negotiator_job_attributes")
        asking = self._implementing("negotiator_filter_slots") | self._implementing("negotiator_charges")
        if answers.failures or not asking <= declared:
            return None, answers.failures
        return frozenset(answer.record for answer in answers.records), ()

    def placement_rules(self) -> Answers[PlacementRule]:
        """The types of placement rules that plugins bring. A failure is to refuse the bundle."""
        return self._ask("negotiator_placement_rules", checks.many(checks.placement_rule, "PlacementRule"))

    def access(
        self, questions: Sequence[AccessQuestion], queues: QueueTree, settings: Mapping[str, Any]
    ) -> tuple[tuple[Attributed[Access], ...], tuple[HookFailure, ...]]:
        """Whether each question's user may do what it asks: the answer that decides, granted or not.

        Nobody who grants is a denial, and so is each failure.
        """
        check = checks.each_of(checks.access, len(questions), "Access")
        answers = self._ask("negotiator_access", check, settings, questions=tuple(questions), queues=queues)
        return decide_access(len(questions), answers), answers.failures

    def user_groups(
        self, users: Sequence[str], now: float, settings: Mapping[str, Any]
    ) -> tuple[Mapping[str, tuple[str, ...]], tuple[HookFailure, ...]]:
        """The groups of the users that some plugin knows, from the first that knows them.

        After one that failed nobody is believed, since it might have known a user first: where there is a failure,
        what depends on the groups of the users that are missing is to be rejected.
        """
        asked = tuple(users)
        check = checks.many(checks.user_groups, "UserGroups", max(checks.MAX_RECORDS, len(asked)))
        answers = self._ask("negotiator_user_groups", check, settings, users=asked, now=now)
        believed = self._before(answers.failures, "negotiator_user_groups")
        found: dict[str, tuple[str, ...]] = {}
        for stamped in answers.records:
            if stamped.plugin in believed:
                found.setdefault(stamped.record.user, stamped.record.groups)
        return {user: found[user] for user in asked if user in found}, answers.failures

    def gate_ads(self, kind: AdKind, ads: Table, cycle: Cycle, settings: Mapping[str, Any]) -> Answers[Gate]:
        """The gates over the ads of one kind. A failure is to keep out all of them."""
        check = checks.many(checks.gate(len(ads)), "Gate")
        return self._ask("negotiator_gate_ads", check, settings, kind=kind, ads=ads, cycle=cycle)

    def filter_slots(
        self, request: Request, slots: Table, cycle: Cycle, settings: Mapping[str, Any]
    ) -> Answers[Filter]:
        """What the plugins say of a request over all slots. A failure is to give the request no match."""
        check = checks.many(checks.slot_filter(len(slots)), "Filter")
        return self._ask(
            "negotiator_filter_slots", check, settings, request=request, slots=slots, cycle=cycle
        )

    def charges(
        self, request: Request, slots: Table, queues: QueueTree, cycle: Cycle, settings: Mapping[str, Any]
    ) -> Answers[Charge | KeyCharge]:
        """What each match of a request is charged. A failure is to give the request no match."""
        check = checks.many(checks.charge(len(slots), len(request.applications)), "Charge")
        return self._ask(
            "negotiator_charges", check, settings, request=request, slots=slots, queues=queues, cycle=cycle
        )

    def usage(
        self,
        report: str,
        used: Callable[[str], CounterUsage],
        queues: QueueTree,
        settings: Mapping[str, Any],
        *,
        spec_names: bool = False,
    ) -> Answers[Mapping[str, Any]]:
        """The entries of a report; ``used`` gives what is counted on the counters of a plugin."""
        check = checks.many(checks.entry, "dict")
        return self._ask(
            "negotiator_usage",
            check,
            settings,
            lambda plugin: {"used": used(plugin)},
            report=report,
            queues=queues,
            spec_names=spec_names,
        )

    def matches_made(
        self, matches: Sequence[Match], cycle: Cycle, settings: Mapping[str, Any]
    ) -> tuple[HookFailure, ...]:
        """Tell the observers of the matches that were handed out."""
        given = tuple(matches)
        return self._ask(
            "negotiator_matches_made", checks.nothing, settings, matches=given, cycle=cycle
        ).failures

    def listens(self, hook: str) -> bool:
        """Whether a plugin implements a hook: what nobody is told need not be gathered."""
        return bool(self._implementing(hook))

    def queues_changed(
        self, changes: Sequence[QueueNotice], cycle: Cycle, settings: Mapping[str, Any]
    ) -> tuple[HookFailure, ...]:
        """Tell the observers what became of queues."""
        given = tuple(changes)
        return self._ask(
            "negotiator_queues_changed", checks.nothing, settings, changes=given, cycle=cycle
        ).failures

    def end_cycle(self) -> None:
        """Say that a cycle is over: now those that were slow too many times in a row are put out of action.

        Failures in a row count at once, since they are the same whenever the cycle is repeated. How long a call took
        is not, so inside a cycle it changes nothing. An observer is switched off; a policy goes on denying, without
        being called, until the bundle is loaded again.
        """
        for guarded in self._all():
            guarded.end_cycle()

    def _ask(
        self,
        hook: str,
        check: Callable[[Any], tuple[T, ...]],
        settings: Mapping[str, Any] | None = None,
        own_arguments: Callable[[str], Mapping[str, Any]] | None = None,
        **arguments: Any,
    ) -> Answers[T]:
        records: list[Attributed[T]] = []
        failures: list[HookFailure] = []
        for guarded in self._guarded[hook]:
            plugin, version = guarded.implementation.plugin, guarded.version
            own = None if settings is None else settings.get(plugin)
            more = own_arguments(plugin) if own_arguments else {}
            answer = guarded.ask({**arguments, **more, "settings": own}, check)
            if isinstance(answer, HookFailure):
                failures.append(answer)
            elif answer is not None:
                records.extend(Attributed(record, plugin, version) for record in answer)
        return Answers(tuple(records), tuple(failures))

    def _implementing(self, hook: str) -> frozenset[str]:
        return frozenset(guarded.implementation.plugin for guarded in self._guarded[hook])

    def _before(self, failures: Iterable[HookFailure], hook: str) -> frozenset[str]:
        """The plugins that are asked before the first that failed."""
        failed = {failure.plugin for failure in failures}
        asked = (guarded.implementation.plugin for guarded in self._guarded[hook])
        return frozenset(takewhile(lambda plugin: plugin not in failed, asked))

    def _all(self) -> Iterable[Guarded]:
        return (guarded for implementations in self._guarded.values() for guarded in implementations)

    def _info(self, plugin: LoadedPlugin) -> PluginInfo:
        own = [guarded for guarded in self._all() if guarded.implementation.plugin == plugin.name]
        failed = [guarded.tally.last_failure for guarded in own if guarded.tally.last_failure]
        return PluginInfo(
            name=plugin.name,
            version=plugin.version,
            origin=plugin.origin,
            hooks=tuple(guarded.implementation.spec.name for guarded in own),
            calls=sum(guarded.tally.calls for guarded in own),
            seconds=sum(guarded.tally.seconds for guarded in own),
            failures=sum(guarded.tally.failures for guarded in own),
            slow_calls=sum(guarded.tally.slow_calls for guarded in own),
            status=_status(own),
            last_failure=failed[-1] if failed else "",
        )


def _rank(settings: PluginSettings, name: str) -> tuple[int, str]:
    """The plugins that the bundle lists first, in its order, then all others by name."""
    order = settings.order
    return (order.index(name) if name in order else len(order)), name


def _status(own: Iterable[Guarded]) -> PluginStatus:
    out = [guarded.implementation.spec.enforces for guarded in own if guarded.tally.out]
    if any(out):
        return PluginStatus.DENYING
    return PluginStatus.OFF if out else PluginStatus.OK

"""Calls the plugins in the bundle's order, each by itself, and attributes every record to its plugin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import attrs

from negotiator.hooks import specs
from negotiator.hooks.access import Access, AccessQuestion, QueueNotice
from negotiator.hooks.answers import Answers as Answers
from negotiator.hooks.answers import Attributed as Attributed
from negotiator.hooks.answers import HookFailure as HookFailure
from negotiator.hooks.answers import PluginInfo as PluginInfo
from negotiator.hooks.answers import PluginStatus as PluginStatus
from negotiator.hooks.answers import SlowCalls as SlowCalls
from negotiator.hooks.decide import decide_access
from negotiator.hooks.declared_reads import DeclaredReads
from negotiator.hooks.guard import Clock, Guarded, Tracer
from negotiator.hooks.hook import Hook, OnFailure, PerPlugin, hooks_of
from negotiator.hooks.placement import PlacedApplication
from negotiator.hooks.pluggy_adapter import Registry
from negotiator.hooks.policy import PluginPolicy
from negotiator.hooks.process_state import changed_process
from negotiator.hooks.settings import PluginSettings
from negotiator.queues import QueueTree
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from negotiator.hooks.records import Cycle, Request
    from negotiator.hooks.reports import CycleSummary

P = ParamSpec("P")
R = TypeVar("R")

#: All hooks by name, in the order of the contract.
HOOKS = hooks_of(*specs.CONTRACT)
#: Policies that are called with a request.
_READ_REQUESTS = (specs.negotiator_filter_slots, specs.negotiator_score_slots, specs.negotiator_charges)
_MAY_BE_UNUSED = tuple(name for name, hook in HOOKS.items() if hook.may_be_unused)


@attrs.frozen
class LoadedPlugin:
    """A plugin that was loaded and accepted: its name, version and origin."""

    name: str
    version: str
    origin: str
    installed: bool = False
    is_bundled: bool = False


class HookManager:
    """All plugins of one bundle. ``ask`` calls any hook of ``specs``; a few methods combine the answers of one.

    ``settings`` maps the name of a plugin to its own part of the bundle; an implementation is passed its own, or None.
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
        foreign = {plugin.name for plugin in self._plugins if not plugin.is_bundled}
        self._guarded = {
            name: tuple(
                Guarded(
                    *(each, versions[each.plugin], settings, tracer, clock),
                    keeps_process=hook.on_failure is OnFailure.REFUSE_BUNDLE and each.plugin in foreign,
                )
                for each in sorted(
                    registry.implementations(hook), key=lambda each: _rank(settings, each.plugin)
                )
            )
            for name, hook in HOOKS.items()
        }
        self._job_reads: Mapping[str, DeclaredReads] = {}
        self._used = dict(self._guarded)  # without those that have nothing to do under the bundle

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """All plugins and the calls of their hooks so far, in the order in which they are called."""
        own = defaultdict[str, list[Guarded]](list)
        for guarded in self._all():
            own[guarded.implementation.plugin].append(guarded)
        return tuple(_info(plugin, own[plugin.name]) for plugin in self._plugins)

    @property
    def plugin_set(self) -> tuple[str, ...]:
        """``name version`` of all plugins, in the order in which they are called."""
        return tuple(f"{plugin.name} {plugin.version}" for plugin in self._plugins)

    def ask(self, hook: Hook[P, R], /, *args: P.args, **arguments: P.kwargs) -> Answers[R]:
        """Call all implementations of a hook, and return their records and failures.

        All arguments of the hook are given, by name. ``settings`` is a mapping from plugin names; of any other argument
        that differs from plugin to plugin what ``per_plugin`` returns.

        Example::

            manager.ask(specs.negotiator_gate_ads, kind=kind, ads=table, settings=bundle.settings, cycle=cycle)
        """
        if args:
            raise TypeError("the arguments of a hook are given by name")
        return _ask(self._used[hook.name], hook, arguments)

    def ask_all(self, hook: Hook[P, R], /, *args: P.args, **arguments: P.kwargs) -> Answers[R]:
        """Do the same, but call also the implementations that have nothing to do under the bundle as it is configured."""
        if args:
            raise TypeError("the arguments of a hook are given by name")
        return _ask(self._guarded[hook.name], hook, arguments)

    def ask_of_request(
        self, hook: Hook[P, R], memory: AnswerMemory[R], /, *args: P.args, **arguments: P.kwargs
    ) -> Answers[R]:
        """Ask as ``ask`` does, but call only those implementations of a memory whose answer it does not know."""
        if args:
            raise TypeError("the arguments of a hook are given by name")
        return _ask(memory.implementations, hook, arguments, memory)

    def implementations(self, hook: Hook[..., Any], *, used: bool = True) -> tuple[Guarded, ...]:
        """Return the implementations of a hook: those that have something to do under the bundle, or all."""
        return (self._used if used else self._guarded)[hook.name]

    def leave_out_unused(self, queues: QueueTree, settings: Mapping[str, Any]) -> tuple[HookFailure, ...]:
        """Ask plugins which of their hooks have nothing to do, and no longer call these. The caller refuses the bundle on a failure.

        :param queues: the queues as the bundle configures them.
        """
        hook = specs.negotiator_unused_hooks
        answers = self.ask(hook, queues=queues, settings=settings)
        failures = list(answers.failures)
        for name, plugin, version in answers.records:
            own = [each for each in _MAY_BE_UNUSED if plugin in self.plugins_with(HOOKS[each])]
            if name in own:
                used = self._used[name]
                self._used[name] = tuple(each for each in used if each.implementation.plugin != plugin)
            else:
                message = f"expected names of own hooks ({', '.join(own)}), got {name!r}"
                failures.append(HookFailure(plugin, version, hook.name, message))
        return tuple(failures)

    def make_policies(self, queues: QueueTree, settings: Mapping[str, Any]) -> tuple[HookFailure, ...]:
        """Ask plugins for the objects that their hooks are passed as ``policy``. The caller refuses the bundle on a failure.

        :param queues: the queues as the bundle configures them.
        """
        answers = self.ask(specs.negotiator_policy, queues=queues, settings=settings)
        made = {plugin: PluginPolicy(record) for record, plugin, _ in answers.records}
        for guarded in self._all():
            guarded.policy = made.get(guarded.implementation.plugin)
        return answers.failures

    def uses(self, hook: Hook[..., Any]) -> bool:
        """True if a plugin implements a hook and has something to do in it under the bundle."""
        return bool(self._used[hook.name])

    def implements(self, hook: Hook[..., Any]) -> bool:
        """True if a plugin implements a hook; for a hook without any, its arguments need not be computed."""
        return bool(self._guarded[hook.name])

    def job_attributes(
        self, settings: Mapping[str, Any]
    ) -> tuple[frozenset[str] | None, tuple[HookFailure, ...]]:
        """Return the job attributes that plugins read, in lower case. The caller refuses the bundle on a failure.

        Return None if a plugin that filters slots or charges does not declare the attributes it reads: each job is
        then a request of its own.
        """
        return self._declared(specs.negotiator_job_attributes, _READ_REQUESTS, settings)

    def gate_attributes(
        self, settings: Mapping[str, Any]
    ) -> tuple[frozenset[str] | None, tuple[HookFailure, ...]]:
        """Return the job attributes that gates read, in lower case; None if a plugin with gates does not declare them."""
        return self._declared(specs.negotiator_gate_attributes, (specs.negotiator_gate_ads,), settings)

    def order_reads(self, plugin: str) -> DeclaredReads | None:
        """Return what the order of a plugin may read of requests; None for everything.

        Without a declaration that is nothing, since an order makes no job a request of its own; and everything, if the plugin
        has hooks that do.
        """
        if any(plugin in self.plugins_with(hook) for hook in _READ_REQUESTS):
            return self._job_reads.get(plugin)
        nothing = DeclaredReads(plugin, specs.negotiator_job_attributes.name, frozenset())
        return self._job_reads.get(plugin, nothing)

    def _declared(
        self, hook: Hook[..., str], reading: Iterable[Hook[..., Any]], settings: Mapping[str, Any]
    ) -> tuple[frozenset[str] | None, tuple[HookFailure, ...]]:
        """Let each plugin read what it declares in the ``reading`` hooks, and return the attribute names of all.

        None if one failed, or one with such a hook declares nothing.
        """
        answers = self.ask(hook, settings=settings)
        if answers.failures:
            return None, answers.failures
        reads = {
            plugin: DeclaredReads(
                plugin, hook.name, frozenset(each.record for each in answers.records if each.plugin == plugin)
            )
            for plugin in self.plugins_with(hook)
        }
        if hook is specs.negotiator_job_attributes:
            self._job_reads = reads
        undeclared = False
        for guarded in (each for one in reading for each in self._guarded[one.name]):
            guarded.reads = reads.get(guarded.implementation.plugin)
            undeclared |= guarded.reads is None
        return None if undeclared else frozenset(answer.record for answer in answers.records), ()

    def access(
        self, questions: Sequence[AccessQuestion], queues: QueueTree, settings: Mapping[str, Any]
    ) -> tuple[tuple[Attributed[Access], ...], tuple[HookFailure, ...]]:
        """Return the decisive answer to each access question.

        A question that no policy grants is denied. If a policy fails, all questions are denied.
        """
        answers = self.ask(
            specs.negotiator_access, questions=tuple(questions), queues=queues, settings=settings
        )
        return decide_access(len(questions), answers), answers.failures

    def user_groups(
        self, users: Sequence[str], now: float, settings: Mapping[str, Any]
    ) -> tuple[Mapping[str, tuple[str, ...]], tuple[HookFailure, ...]]:
        """Return the groups of the users that a plugin knows, from the first that knows them.

        Answers after a failed plugin are ignored, since that plugin might have known a user first. On a failure the caller
        rejects what depends on the groups of users that are missing.
        """
        wanted = tuple(users)
        answers = self.ask(specs.negotiator_user_groups, users=wanted, settings=settings, now=now)
        trusted = self._before(answers.failures, specs.negotiator_user_groups)
        groups: dict[str, tuple[str, ...]] = {}
        for answer in answers.records:
            if answer.plugin in trusted:
                groups.setdefault(answer.record.user, answer.record.groups)
        return {user: groups[user] for user in wanted if user in groups}, answers.failures

    def hooks_not_called(self) -> Iterator[Problem]:
        """Warn of what plugins offer that are not installed: commands and starting bundles are looked up before a bundle is known."""
        for hook, offered in (
            (specs.negotiator_commands, "commands"),
            (specs.negotiator_starting_bundles, "starting bundles"),
        ):
            offering = self.plugins_with(hook)
            for plugin in self._plugins:
                if plugin.name in offering and not plugin.installed:
                    message = (
                        f"plugin {plugin.name}: its {offered} are not offered, since it is not installed"
                    )
                    hint = "install it with an entry point of group negotiator"
                    yield Problem(Severity.WARNING, Source(plugin.origin), message, hint)

    def process_changes(self) -> Iterator[Problem]:
        """Warn of hooks that changed the state of the process when the bundle was loaded."""
        origins = {plugin.name: plugin.origin for plugin in self._plugins}
        for guarded in self._all():
            hook, plugin = guarded.implementation.hook.name, guarded.implementation.plugin
            yield from changed_process(plugin, origins[plugin], hook, guarded.changed)

    def application_groups(
        self, applications: Sequence[PlacedApplication], queues: QueueTree, settings: Mapping[str, Any]
    ) -> tuple[tuple[str, ...], tuple[HookFailure, ...]]:
        """Return the group that each application counts for, from the first plugin that names one; empty for none.

        On a failure the caller rejects the applications.
        """
        count = len(applications)
        answers = self.ask(
            specs.negotiator_application_groups,
            applications=tuple(applications),
            queues=queues,
            settings=settings,
        )
        groups = tuple(answer.record for answer in answers.records)
        if len(groups) == count:  # one plugin chooses
            return groups, answers.failures
        chosen = (filter(None, groups[number::count]) for number in range(count))
        return tuple(next(each, "") for each in chosen), answers.failures

    def observe(
        self,
        summary: CycleSummary,
        cycle: Cycle,
        settings: Mapping[str, Any],
        changes: Sequence[QueueNotice] = (),
    ) -> tuple[HookFailure, ...]:
        """Call the hooks that observe a cycle which took place; return the failures, which change nothing else.

        :param summary: the result of the cycle, with the matches that observers get.
        :param changes: the changes of queues since the last cycle.
        """
        failures: list[HookFailure] = []
        if changes:
            asked = self.ask(
                specs.negotiator_queues_changed, changes=tuple(changes), cycle=cycle, settings=settings
            )
            failures += asked.failures
        asked = self.ask(
            specs.negotiator_matches_made, matches=summary.matches, cycle=cycle, settings=settings
        )
        failures += asked.failures
        asked = self.ask(specs.negotiator_cycle_ended, summary=summary, cycle=cycle, settings=settings)
        return (*failures, *asked.failures)

    def end_cycle(self) -> tuple[SlowCalls, ...]:
        """Switch off observers that were slow too many times in a row, and return the slow calls since the last cycle ended.

        Failures in a row switch off an observer at once, since they are the same whenever the cycle is repeated. The
        duration of a call is not: it changes nothing inside a cycle, and no policy ever.
        """
        return tuple(
            SlowCalls(guarded.implementation.plugin, guarded.version, guarded.implementation.hook.name, slow)
            for guarded in self._all()
            if (slow := guarded.end_cycle())
        )

    def plugins_with(self, hook: Hook[..., Any]) -> frozenset[str]:
        """Return the names of the plugins that implement a hook."""
        return frozenset(guarded.implementation.plugin for guarded in self._guarded[hook.name])

    def _before(self, failures: Iterable[HookFailure], hook: Hook[..., Any]) -> frozenset[str]:
        """Return the plugins that are called before the first that failed."""
        failed = {failure.plugin for failure in failures}
        called = (guarded.implementation.plugin for guarded in self._guarded[hook.name])
        return frozenset(takewhile(lambda plugin: plugin not in failed, called))

    def _all(self) -> Iterable[Guarded]:
        return (guarded for implementations in self._guarded.values() for guarded in implementations)


class AnswerMemory(Protocol[R]):
    """The answers of some implementations of one hook, kept for requests that are alike for them."""

    @property
    def implementations(self) -> tuple[Guarded, ...]:
        """The implementations, in the order in which they are called."""

    def known(self, place: int) -> tuple[Attributed[R], ...] | None:
        """Return the answer of an implementation, by its place, about the current request; None if it is not known."""

    def watched(self, request: Request) -> Request:
        """Return the current request for the next implementation: it notes what is read of it."""

    def keep(self, place: int, answer: tuple[Attributed[R], ...]) -> None:
        """Keep the answer of an implementation about the current request, with what it read of it."""


def _ask(
    implementations: Sequence[Guarded],
    hook: Hook[..., R],
    given: dict[str, Any],
    memory: AnswerMemory[R] | None = None,
) -> Answers[R]:
    """Call some implementations of a hook one after the other.

    :param given: the arguments by name; those of which each plugin is passed its own value are replaced for each call.
    :param memory: has the answers that need no call.
    """
    shared = [(name, given[name]) for name in hook.own]
    request: Request | None = None if memory is None else given["request"]
    records: list[Attributed[R]] = []
    failures: list[HookFailure] = []
    for place, guarded in enumerate(implementations):
        known = None if memory is None else memory.known(place)
        if known is not None:
            records += known
            continue
        plugin = guarded.implementation.plugin
        for name, argument in shared:
            given[name] = _value_of(argument, plugin)
        if memory is not None and request is not None:
            given["request"] = memory.watched(request)
        answer = guarded.call(given, hook.check_answer)
        if isinstance(answer, HookFailure):
            failures.append(answer)
        elif answer is not None:
            version = guarded.version
            own = tuple([Attributed(record, plugin, version) for record in answer])
            records += own
            if memory is not None:
                memory.keep(place, own)
    return Answers(tuple(records), tuple(failures))


def _value_of(argument: Any, plugin: str) -> Any:
    """Return a plugin's own value of an argument that differs from plugin to plugin."""
    return argument.value_of(plugin) if isinstance(argument, PerPlugin) else argument.get(plugin)


def _rank(settings: PluginSettings, name: str) -> tuple[int, str]:
    """Sort the plugins that the bundle lists first, in its order, then all others by name."""
    order = settings.order
    return (order.index(name) if name in order else len(order)), name


def _status(own: Iterable[Guarded]) -> PluginStatus:
    return PluginStatus.OFF if any(guarded.tally.switched_off for guarded in own) else PluginStatus.OK


def _info(plugin: LoadedPlugin, own: Sequence[Guarded]) -> PluginInfo:
    """Return a plugin with the calls of its own hooks so far."""
    failed = [guarded.tally.last_failure for guarded in own if guarded.tally.last_failure]
    return PluginInfo(
        name=plugin.name,
        version=plugin.version,
        origin=plugin.origin,
        hooks=tuple(guarded.implementation.hook.name for guarded in own),
        calls=sum(guarded.tally.calls for guarded in own),
        seconds=sum(guarded.tally.seconds for guarded in own),
        failures=sum(guarded.tally.failures for guarded in own),
        slow_calls=sum(guarded.tally.slow_calls for guarded in own),
        status=_status(own),
        last_failure=failed[-1] if failed else "",
    )

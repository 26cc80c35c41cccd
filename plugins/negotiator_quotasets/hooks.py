"""The hooks of the plugin: charges, filters, usage, commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary, ref

import attrs
import click

from negotiator.plugin import Charge, CounterUsage, Cycle, Filter, Request, Section, Table, hookimpl
from negotiator_quotasets.commands.qconf import qconf
from negotiator_quotasets.commands.qquota import qquota
from negotiator_quotasets.pool import RequestReaders, RulesByMode
from negotiator_quotasets.qquota import as_entries
from negotiator_quotasets.settings import FILES, QuotaSettings, check


@hookimpl
def negotiator_section() -> Section:
    """Own the rule sets, and the objects that they refer to."""
    return Section(schema=QuotaSettings, check=check, files=(FILES,), apart=("gridengine",))


@hookimpl
def negotiator_job_attributes(settings: QuotaSettings) -> Iterable[str]:
    """Declare the job attributes that are read."""
    return _state(settings).readers.attributes()


@hookimpl
def negotiator_filter_slots(
    request: Request, slots: Table, settings: QuotaSettings, cycle: Cycle
) -> Iterable[Filter]:
    """Remove slots without the resources that a job requests, and those excluded by a limit of a complex that is not consumed."""
    return _pool_rules(settings, slots, cycle).filters(request)


@hookimpl
def negotiator_charges(
    request: Request, slots: Table, settings: QuotaSettings, cycle: Cycle
) -> Iterable[Charge]:
    """Charge a job by the rule of each set that applies to it, host by host."""
    return _pool_rules(settings, slots, cycle).charges(request)


@hookimpl
def negotiator_usage(report: str, used: CounterUsage, settings: QuotaSettings) -> Iterable[Mapping[str, Any]]:
    """Report ``quotas``: the usage of each limit; a formula is printed as it was written."""
    return as_entries(settings, used.sums) if report == "quotas" else ()


@hookimpl
def negotiator_commands() -> Iterable[click.Command]:
    """Add Grid Engine's commands."""
    return qconf, qquota


@attrs.define(eq=False)
class _SettingsState:
    """Values computed once for the settings of a bundle, and for the tables of slots of the latest cycle.

    ``latest`` is the table of the latest call: successive calls are about one.
    """

    readers: RequestReaders
    cycle: Cycle | None = None
    pools: WeakKeyDictionary[Table, RulesByMode] = attrs.field(factory=WeakKeyDictionary)
    latest: tuple[ref[Table], RulesByMode] | None = None

    def begin(self, cycle: Cycle) -> None:
        """Forget the rules of another cycle: they were evaluated at its time, and a table may last for several cycles."""
        if self.cycle is not cycle and self.cycle != cycle:
            self.pools.clear()
            self.latest = None
        self.cycle = cycle


_STATES: WeakKeyDictionary[QuotaSettings, _SettingsState] = WeakKeyDictionary()


def _state(settings: QuotaSettings) -> _SettingsState:
    state = _STATES.get(settings)
    if state is None:
        state = _STATES[settings] = _SettingsState(RequestReaders.of(settings))
    return state


_NO_RULES = RulesByMode(())


def _pool_rules(settings: QuotaSettings, slots: Table, cycle: Cycle) -> RulesByMode:
    """Return the rules over the slots of a cycle; none if the bundle configures no quotas."""
    state = _state(settings)
    if not state.readers.parts:
        return _NO_RULES
    state.begin(cycle)
    if state.latest is not None and state.latest[0]() is slots:
        return state.latest[1]
    rules = state.pools.get(slots)
    if rules is None:
        rules = state.pools[slots] = state.readers.rules(slots, cycle.environment)
    state.latest = ref(slots), rules
    return rules

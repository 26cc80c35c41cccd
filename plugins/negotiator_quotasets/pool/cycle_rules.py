"""The rules over the tables of slots of the latest cycle, made once for the settings of a bundle."""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

import attrs

from negotiator.plugin import Cycle, Table
from negotiator_quotasets.pool.rules_by_mode import RulesByMode, rules_by_mode
from negotiator_quotasets.requests import RequestReaders
from negotiator_quotasets.settings import QuotaSettings


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


def rules_of_cycle(settings: QuotaSettings, slots: Table, cycle: Cycle) -> RulesByMode:
    """Return the rules over the slots of a cycle; none if the bundle configures no quotas."""
    state = _state(settings)
    if not state.readers.parts:
        return _NO_RULES
    state.begin(cycle)
    if state.latest is not None and state.latest[0]() is slots:
        return state.latest[1]
    rules = state.pools.get(slots)
    if rules is None:
        rules = state.pools[slots] = rules_by_mode(state.readers, slots, cycle.environment)
    state.latest = ref(slots), rules
    return rules

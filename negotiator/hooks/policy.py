"""The object that a plugin makes from its settings, and what that object makes of the slots of a cycle.

A plugin computes once what it needs for each request: ``negotiator_policy`` returns an object when the bundle is loaded, and the other
hooks are passed it as ``policy``. An object with ``begin_cycle(slots, cycle)`` is asked once for the slots of each cycle: hooks that
are called with slots are passed what it returned for these.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import attrs

from negotiator.hooks.interrupts import raise_if_interrupted

if TYPE_CHECKING:
    from negotiator.classad import Table
    from negotiator.hooks.records import Cycle

#: The hook that makes the object.
HOOK = "negotiator_policy"
#: Tables of slots whose values are held: those of a cycle, and of what runs.
_MOST_TABLES = 8


@attrs.frozen(eq=False)
class _Begun:
    """What ``begin_cycle`` returned, or raised, for the slots of a cycle."""

    slots: Table
    cycle: Cycle
    value: Any = None
    error: BaseException | None = None
    traceback: TracebackType | None = None


@attrs.define(eq=False)
class PluginPolicy:
    """What ``negotiator_policy`` of one plugin returned, with what was made of the slots of the latest cycle.

    Several threads may use it: at worst one of them begins a cycle once more.
    """

    made: Any
    _begun: tuple[_Begun, ...] = attrs.field(default=(), init=False)

    def of(self, arguments: Mapping[str, Any]) -> Any:
        """Return what a hook is passed as ``policy``.

        :param arguments: those of the hook.
        :raises BaseException: what ``begin_cycle`` raised for these slots: it is not called again.
        """
        slots = arguments.get("slots")
        if slots is None or not hasattr(self.made, "begin_cycle"):
            return self.made
        known = [each for each in self._begun if each.cycle == arguments["cycle"]]
        begun = next((each for each in known if each.slots is slots), None)
        if begun is None:
            begun = self._begin(slots, arguments["cycle"])
            self._begun = (begun, *known[: _MOST_TABLES - 1])
        if begun.error is not None:
            raise begun.error.with_traceback(begun.traceback)  # each time raised as if for the first time
        return begun.value

    def _begin(self, slots: Table, cycle: Cycle) -> _Begun:
        payers = cycle.payers
        if (
            payers is not None
        ):  # it is for all requests: machines pay for the ads of their slots, no owner of jobs for anything
            payers = attrs.evolve(payers, other=None, expression=None)
        cycle = attrs.evolve(cycle, payers=payers)
        try:
            return _Begun(slots, cycle, self.made.begin_cycle(slots, cycle))
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its failure
            raise_if_interrupted(error)
            return _Begun(slots, cycle, error=error, traceback=error.__traceback__)

"""Use case: one cycle over a pool that was read: by itself, or with the state and the audit log of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import attrs

from negotiator.app.pool_view import read_state
from negotiator.bundle import Bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleResult, summarize
from negotiator.errors import CommandError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.records import Cycle
from negotiator.pool import Snapshot


@attrs.frozen(eq=False)
class SingleCycle:
    """A cycle that took place: what it began with, its decisions (``present_cycle``), and the observers that failed."""

    snapshot: Snapshot
    bundle: Bundle
    cycle: Cycle
    cycle_state: CycleState
    present_cycle: CycleResult
    observers: tuple[HookFailure, ...] = ()


def decide_pool(snapshot: Snapshot, bundle: Bundle, now: float) -> SingleCycle:
    """Run the first cycle over a pool, as ``negotiator run`` does without a state; nothing is kept.

    Plugins that observe cycles are called with all matches. Time limits of the bundle do not apply.

    :param now: the time of the cycle, in seconds since the epoch.
    """
    manager = read_state(None, bundle, now)
    state, unknown = manager.cycle_state(snapshot, now)
    cycle = Cycle(1, now, bundle.digest)
    result = run_cycle(snapshot, bundle, cycle, state)
    changes, failures = (*manager.changes, *result.changes), (*unknown, *result.failures)
    result = attrs.evolve(result, changes=changes, failures=failures)
    manager.adopt(result)
    summary = summarize(result, result.matches, {})
    observers = bundle.hooks.observe(summary, cycle, bundle.settings, manager.notices(result))
    bundle.hooks.end_cycle()
    return SingleCycle(snapshot, bundle, cycle, state, result, observers)


def record_cycle(
    snapshot: Snapshot,
    bundle: Bundle,
    now: float,
    state: Path | None = None,
    audit_log: Path | None = None,
    extra_plugins: Mapping[str, object] = MappingProxyType({}),
) -> SingleCycle:
    """Run the next cycle of a state and an audit log over a pool that was read, as ``negotiator run`` does.

    :param state: the folder of the state; None for none.
    :param audit_log: the folder of the audit log; None for none.
    :param extra_plugins: those that the bundle was loaded with, beside its own.
    :raises CommandError: the folder of the bundle was changed after it was loaded.
    :raises StateError: the state cannot be used, or belongs to another bundle.
    :raises AuditError: the audit log cannot be used.
    """
    from negotiator.app.runner import open_runner

    targets = CommandTargets(bundle=bundle.folder, state=state, now=now)
    if audit_log is not None:
        targets = attrs.evolve(targets, audit_log=audit_log)
    with open_runner(
        targets,
        audit=audit_log is not None,
        ads=lambda: snapshot,
        extra_plugins=extra_plugins,
    ) as runner:
        runtime = runner.runtime
        if runtime.bundle.digest != bundle.digest:
            raise CommandError(f"{bundle.folder}: the bundle was changed after it was loaded: load it again")
        report = runtime.next_cycle()
    cycle = Cycle(report.result.number, now, bundle.digest)
    return SingleCycle(snapshot, runtime.bundle, cycle, report.state, report.result, report.observers)

"""Use case: what other policies would decide otherwise, over a pool or over recorded cycles."""

from __future__ import annotations

from typing import Any, BinaryIO, Self

import attrs
import msgspec

from negotiator.app.batches import CycleTask
from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.deciding import deciding
from negotiator.app.pool_view import pool_paths, read_paths, read_state, require_pool
from negotiator.app.recordings import RecordedCycle
from negotiator.app.targets import current_time
from negotiator.app.whatif import NO_CHANGES, PoolChanges
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.decisions import CycleDecisions
from negotiator.cycle.decisions import RuleReason as RuleReason
from negotiator.cycle.loop import run_cycle
from negotiator.explain.comparison import ChangedJob as ChangedJob
from negotiator.explain.comparison import CycleComparison as CycleComparison
from negotiator.explain.comparison import MatchChanges as MatchChanges
from negotiator.explain.comparison import RuleChanges as RuleChanges
from negotiator.explain.comparison import ShareChange as ShareChange
from negotiator.explain.comparison import compare
from negotiator.explain.comparison import merged as merged
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.records import Cycle
from negotiator.pool import Snapshot


@attrs.frozen
class ComparisonTask(CycleTask[CycleComparison]):
    """Compares what two bundles decide in a recorded cycle, each from the state that was recorded.

    :param before: None for the decisions in the recording.
    :param most_jobs: how many changed jobs of each cycle are named.
    :param changes: of the pool, after which the second bundle decides.
    """

    before: BundleChoice | None
    after: BundleChoice
    most_jobs: int = 0
    changes: PoolChanges = NO_CHANGES

    @property
    def result(self) -> type[CycleComparison]:
        """See ``CycleTask.result``."""
        return CycleComparison

    @property
    def key(self) -> str:
        """The bundles, and what is reported."""
        before = "recorded" if self.before is None else self.before.key
        return f"diff {before} | {self.after.key} | {self.most_jobs} | {self.changes.key}"

    def portable(self) -> Self:
        """See ``CycleTask.portable``."""
        before = None if self.before is None else self.before.portable()
        return attrs.evolve(self, before=before, after=self.after.portable())

    def __call__(self, recorded: RecordedCycle) -> CycleComparison:
        """Compare the decisions of a cycle.

        :raises BundleError, RecordingError, CommandError: a bundle cannot be loaded, or the pool cannot be changed so.
        """
        before = recorded.decisions
        if self.before is not None:
            before = _decided(recorded, self.before)
        after = _decided(recorded, self.after, self.changes)
        return compare(before, after, recorded.cycle.number, self.most_jobs)


def compare_pool(
    targets: CommandTargets,
    before: BundleChoice,
    after: BundleChoice,
    most_jobs: int = 0,
    stdin: BinaryIO | None = None,
    changes: PoolChanges = NO_CHANGES,
) -> CycleComparison:
    """Compare what two bundles decide in a cycle over the pool of the targets; nothing is changed.

    :param changes: of the pool, after which the second bundle decides.
    :raises CommandError: the pool cannot be changed so.
    :raises InvalidCallError: no pool is named.
    :raises PoolError, StateError: the pool or the state cannot be read.
    :raises BundleError: a bundle has errors.
    """
    require_pool(targets)
    snapshot, now = read_paths(pool_paths(targets), stdin), current_time(targets)
    was = _decided_pool(snapshot, targets, before, now, NO_CHANGES)
    decided = _decided_pool(changes.pool(snapshot, now), targets, after, now, changes)
    return compare(was, decided, most_jobs=most_jobs)


def comparison_values(found: CycleComparison) -> dict[str, Any]:
    """Return a comparison as JSON values, with its totals."""
    values: dict[str, Any] = msgspec.to_builtins(found)
    return {"total": {**msgspec.to_builtins(found.total), "after": found.total.after}, **values}


def _decided(
    recorded: RecordedCycle, choice: BundleChoice, changes: PoolChanges = NO_CHANGES
) -> CycleDecisions:
    bundle = choice.bundle(recorded)
    cycle = attrs.evolve(recorded.cycle, digest=bundle.digest)
    state = recorded.state
    if bundle.digest != recorded.cycle.digest:
        state = state.under(bundle, cycle.now)
    state = changes.state(state, bundle, cycle.now)
    pool = changes.pool(recorded.snapshot, cycle.now)
    return CycleDecisions.of(run_cycle(pool, bundle, cycle, state))


def _decided_pool(
    snapshot: Snapshot, targets: CommandTargets, choice: BundleChoice, now: float, changes: PoolChanges
) -> CycleDecisions:
    bundle = choice.bundle()
    state: CycleState
    state, failures = read_state(targets.state_location, bundle, now).cycle_state(snapshot, now)
    state = changes.state(state, bundle, now)
    with deciding() as watch:
        result = run_cycle(snapshot, bundle, Cycle(0, now, bundle.digest), state, watch=watch)
    decided = CycleDecisions.of(result)
    return attrs.evolve(decided, failures=(*map(str, failures), *decided.failures))

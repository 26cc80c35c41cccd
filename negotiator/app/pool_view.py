"""A pool as one command sees it: the bundle, the saved state, the ads, and the usage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

import attrs

from negotiator import pool
from negotiator.app.targets import current_time, load
from negotiator.bundle import Bundle
from negotiator.defaults import SAVED_POOL
from negotiator.errors import InvalidCallError, PoolError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.state_location import StateLocation
from negotiator.queues import QueueTree
from negotiator.records import Severity

if TYPE_CHECKING:
    from negotiator.cycle.cycle_state import CycleState
    from negotiator.cycle.result import CycleResult
    from negotiator.hooks.records import Cycle
    from negotiator.pool import Snapshot
    from negotiator.runtime.state_manager import StateManager
    from negotiator.runtime.usage import PoolUsage, UsageByQueue

STDIN: Final = "-"


def read_paths(paths: Sequence[Path], stdin: BinaryIO | None = None) -> Snapshot:
    """Read the ads of folders and files, or those that a negotiator saved; the path ``-`` is ``stdin``.

    A pool is read as a whole or not at all: without some of its running jobs, limits would be exceeded. Ads that cannot be
    used are set aside, since their owners wrote them.

    :raises PoolError: a path does not exist, a file or folder cannot be read to its end, a file that is named holds no
        ads, or no ad of the pool can be used.
    """
    if len(paths) == 1 and paths[0].name == SAVED_POOL:
        from negotiator.runtime.cycle_pool import read_saved_pool

        return read_saved_pool(paths[0])
    from negotiator.runtime.collector import rare_collections

    with rare_collections():
        snapshot = pool.read_pool(_named(paths), stdin)
    _check_readable(snapshot)
    return snapshot


def pool_paths(targets: CommandTargets) -> tuple[Path, ...]:
    """Return the files and folders of a pool: those that are named, else the ads that the negotiator of the state saved."""
    if targets.pool or targets.state is None:
        return targets.pool
    saved = targets.state / SAVED_POOL
    return (saved,) if saved.is_file() else ()


def require_pool(targets: CommandTargets) -> None:
    """Check that there is a pool to read.

    :raises InvalidCallError: none is named, and no negotiator has saved its pool in the state.
    """
    if not pool_paths(targets):
        raise InvalidCallError(
            "missing pool: use --pool PATH, set NEGOTIATOR_POOL in the environment, or use --state FOLDER of a "
            "negotiator that serves a live pool"
        )


def pool_reader(paths: Sequence[Path], stdin: BinaryIO | None = None) -> Callable[[], Snapshot]:
    """Return a function that reads the ads as ``read_paths`` does; while no file has changed, it reads nothing anew."""
    reader = pool.PoolReader(_named(paths), stdin)

    def read() -> Snapshot:
        snapshot = reader.read()
        _check_readable(snapshot)
        return snapshot

    return read


def _named(paths: Sequence[Path]) -> list[Path | Literal["-"]]:
    return [STDIN if str(path) == STDIN else path for path in paths]


def _check_readable(snapshot: Snapshot) -> None:
    errors = [problem for problem in snapshot.problems if problem.severity is Severity.ERROR]
    count = sum(map(len, (snapshot.schedds, snapshot.submitters, snapshot.slots, snapshot.jobs)))
    none_left = errors and not count + snapshot.private + snapshot.other
    unread = snapshot.unread or (errors if none_left else ())
    if not unread:
        return
    problem = unread[0]
    more = f", and {len(unread) - 1} more like it" if len(unread) > 1 else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    raise PoolError(f"the pool cannot be read: {problem.source}: {problem.message}{more}{hint}")


def read_state(state: StateLocation | None, bundle: Bundle, now: float) -> StateManager:
    """Return the queues and applications of a state, or the configured queues if it is None.

    Nothing is written.

    :raises StateError: the state cannot be read.
    """
    from negotiator.runtime.state import StateStore
    from negotiator.runtime.state_manager import StateManager

    if state is None:
        return StateManager.begin(bundle, now)
    with StateStore.read(state) as store:
        manager = StateManager.begin(bundle, now, store)
    manager.store = None
    return manager


@attrs.frozen(eq=False)
class PoolView:
    """A bundle with the state and the pool of the same targets; each part is read when it is first used, and once.

    ``now`` is the time of the view, in seconds since the epoch; ``stdin`` is read if the pool is the path ``-``.
    """

    targets: CommandTargets
    bundle: Bundle
    now: float
    stdin: BinaryIO | None = None

    @classmethod
    def load(cls, targets: CommandTargets, stdin: BinaryIO | None = None) -> PoolView:
        """Load the bundle.

        :raises BundleError: it has errors.
        """
        return cls(targets, load(targets), current_time(targets), stdin)

    @cached_property
    def manager(self) -> StateManager:
        """The queues and applications; :raises StateError: the state cannot be read."""
        return read_state(self.targets.state_location, self.bundle, self.now)

    @property
    def queues(self) -> QueueTree:
        """The queues of the state, or the configured ones; :raises StateError: the state cannot be read."""
        return self.manager.queues if self.targets.state_location else self._configured_queues

    @property
    def busy_queues(self) -> Collection[str]:
        """The paths of the queues with applications; :raises StateError: the state cannot be read."""
        return self.manager.registry.busy() if self.targets.state_location else ()

    @cached_property
    def _configured_queues(self) -> QueueTree:
        return QueueTree.of(self.bundle.partition.root, self.now)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The ads, by default those that the negotiator of the state saved; :raises PoolError: they cannot be read."""
        return read_paths(self.paths, self.stdin)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files and folders of the pool; empty if there are none."""
        return pool_paths(self.targets)

    @property
    def cycle_state(self) -> CycleState:
        """The state that a cycle over this pool would begin with."""
        return self._prepared[0]

    @property
    def group_failures(self) -> tuple[HookFailure, ...]:
        """The plugins that failed when the groups of users were looked up."""
        return self._prepared[1]

    @cached_property
    def usage(self) -> PoolUsage:
        """The ledger of running jobs and of matches not yet visible in the pool."""
        from negotiator.runtime.usage import pool_usage

        usage = pool_usage(self.snapshot, self.bundle, self.cycle_state, self.now)
        return attrs.evolve(usage, failures=self._with_groups(usage.failures))

    @cached_property
    def cycle(self) -> Cycle:
        """A cycle over the pool now, which is not numbered."""
        from negotiator.hooks.records import Cycle

        return Cycle(0, self.now, self.bundle.digest)

    @cached_property
    def present_cycle(self) -> CycleResult:
        """What a cycle over the pool decides now, which changes nothing."""
        from negotiator.app.deciding import deciding
        from negotiator.cycle.loop import run_cycle

        snapshot, state = self.snapshot, self.cycle_state
        with deciding() as watch:
            return run_cycle(snapshot, self.bundle, self.cycle, state, watch=watch)

    @cached_property
    def queue_usage(self) -> UsageByQueue:
        """The usage of each queue, as in ``usage``; no plugin has to charge for it."""
        from negotiator.runtime.usage import usage_by_queue

        usage = usage_by_queue(self.snapshot, self.bundle, self.cycle_state, self.now)
        return attrs.evolve(usage, failures=self._with_groups(usage.failures))

    @cached_property
    def _prepared(self) -> tuple[CycleState, tuple[HookFailure, ...]]:
        return self.manager.cycle_state(self.snapshot, self.now)

    def _with_groups(self, failures: Sequence[HookFailure]) -> tuple[HookFailure, ...]:
        return tuple(dict.fromkeys((*self.group_failures, *failures)))

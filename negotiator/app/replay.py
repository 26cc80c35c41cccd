"""Use case: decide recorded cycles again, each under its own bundle."""

from __future__ import annotations

import attrs

from negotiator import __version__
from negotiator.app.batches import CycleTask
from negotiator.app.recordings import RecordedCycle, recorded_bundle
from negotiator.errors import CommandError
from negotiator.explain.replay import replay
from negotiator.hooks.command_targets import CommandTargets


@attrs.frozen
class ReplayReport:
    """A recorded cycle that was decided again: how many matches it has, and the first difference; empty if there is none."""

    number: int
    now: float
    bundle: str
    matches: int
    difference: str


@attrs.frozen
class ReplayTask(CycleTask[ReplayReport]):
    """Decides a recorded cycle again, and compares the decisions byte for byte.

    :param targets: their plugins take part beside those of the recorded bundle.
    """

    targets: CommandTargets

    @property
    def result(self) -> type[ReplayReport]:
        """See ``CycleTask.result``."""
        return ReplayReport

    @property
    def key(self) -> str:
        """The version of the program and the plugins beside the bundle; those that take part are compared with the recording."""
        return (
            f"replay {__version__} {list(map(str, self.targets.plugins_dirs))} {list(self.targets.disable)}"
        )

    def __call__(self, recorded: RecordedCycle) -> ReplayReport:
        """Decide a cycle again.

        :raises CommandError: plugins that took part are missing, or have another version.
        :raises BundleError, RecordingError: the bundle of the recording cannot be loaded.
        """
        bundle = recorded_bundle(recorded, self.targets)
        missing = sorted(set(recorded.plugins) ^ set(bundle.hooks.plugin_set))
        if missing:
            raise CommandError(f"other plugins take part than in the recorded cycle: {', '.join(missing)}")
        found = replay(recorded, bundle)
        return ReplayReport(
            number=recorded.cycle.number,
            now=recorded.cycle.now,
            bundle=recorded.cycle.digest,
            matches=len(found.result.matches),
            difference=found.difference,
        )

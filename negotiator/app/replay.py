"""Use case: decide recorded cycles again, each under its own bundle."""

from __future__ import annotations

from typing import Self

import attrs

from negotiator.app.batches import CycleTask
from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.recordings import RecordedCycle
from negotiator.errors import CommandError
from negotiator.explain.replay import replay


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

    :param bundle: the choice of the bundle of each recording.
    """

    bundle: BundleChoice

    @property
    def result(self) -> type[ReplayReport]:
        """See ``CycleTask.result``."""
        return ReplayReport

    @property
    def key(self) -> str:
        """The bundle; plugins that take part are compared with the recording."""
        return f"replay {self.bundle.key}"

    def portable(self) -> Self:
        """See ``CycleTask.portable``."""
        return attrs.evolve(self, bundle=self.bundle.portable())

    def __call__(self, recorded: RecordedCycle) -> ReplayReport:
        """Decide a cycle again.

        :raises CommandError: plugins that took part are missing, or have another version.
        :raises BundleError, RecordingError: the bundle of the recording cannot be loaded.
        """
        bundle = self.bundle.bundle(recorded)
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

"""A task over recorded cycles that takes no time. It is a module, so that other processes can import it."""

import attrs

from negotiator.app.batches import CycleTask


@attrs.frozen
class CycleNumber:
    """The number of a cycle."""

    number: int


@attrs.frozen
class CycleNumberTask(CycleTask[CycleNumber]):
    """Returns the number of each cycle."""

    result = CycleNumber
    key = "number"

    def portable(self):
        """See ``CycleTask.portable``."""
        return self

    def __call__(self, recorded):
        """See ``CycleTask``."""
        return CycleNumber(recorded.cycle.number)

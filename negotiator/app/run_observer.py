"""Is called with everything that happens while cycles run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from negotiator.app.shadow import ShadowReport, ShadowTotals
from negotiator.bundle import Bundle
from negotiator.cycle.cycle_time import CycleProgress
from negotiator.cycle.result import CycleResult
from negotiator.errors import NegotiatorError
from negotiator.hooks.plugin_watch import LongCall
from negotiator.records import Problem
from negotiator.runtime.admin_actions import AdminResult
from negotiator.runtime.reload import Reload
from negotiator.runtime.run import CycleReport


class RunObserver(Protocol):
    """Is called with everything that happens while cycles run, in this order."""

    def problems(self, problems: Iterable[Problem]) -> None:
        """Receive the warnings of the bundle, before the first cycle."""

    def notice(self, text: str) -> None:
        """Receive a sentence on a repair of the audit log, damaged rows of the state, or a file that cannot be written."""

    def peer(self, text: str) -> None:
        """Receive a sentence on a daemon or a tool of a live pool, such as a command that was denied."""

    def admin(self, done: AdminResult) -> None:
        """Receive a request of an administrator, and its answer."""

    def reload(self, reload: Reload) -> None:
        """Receive an attempt to reload the bundle."""

    def plugin_call(self, call: LongCall) -> None:
        """Receive a call of a plugin's code that goes on for long, and again when it has ended; in a thread of its own."""

    def progress(self, progress: CycleProgress) -> None:
        """Receive how far a cycle is, many times before its decisions."""

    def decisions(self, problems: Sequence[Problem], result: CycleResult, bundle: Bundle) -> bool:
        """Receive the decisions of a cycle before its outcome is recorded.

        :param problems: those of the ads.
        :param bundle: the one that is in force.
        :return: True if the matches were printed and the output was flushed.
        :raises OSError: the output cannot be written. The cycle is completed, and then the error is raised.
        """

    def cycle(self, report: CycleReport) -> None:
        """Receive a completed cycle."""

    def shadow(self, report: ShadowReport, totals: ShadowTotals) -> None:
        """Receive, in shadow mode, what the pool's negotiator did since the cycle before; after ``cycle``."""

    def no_cycle(self, error: NegotiatorError) -> None:
        """Receive why a cycle of a live pool did not take place; nothing was handed out in it."""

"""The exceptions of the product that callers may catch: one tree.

A room that needs its own classes derives them from these. ``negotiator.app.status`` maps each class to an exit code and an
HTTP status.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from negotiator.records.problem import Problem, Severity


class NegotiatorError(Exception):
    """Root of the product's exceptions: the message has the problem, its place, and a remedy."""


class CommandError(NegotiatorError):
    """The request was understood but not carried out."""


class InvalidCallError(CommandError):
    """The arguments are invalid: a required one is missing, or two contradict each other."""


class NotFoundError(CommandError):
    """The named queue, application or report does not exist."""


class PluginFailureError(CommandError):
    """A plugin failed, and without its answer the request cannot be carried out."""


class BundleError(NegotiatorError):
    """The policy bundle has errors.

    ``problems`` are all of its errors, warnings and notices; ``folder`` is the folder of the bundle, None if unknown.
    """

    def __init__(self, problems: Iterable[Problem], folder: Path | None = None) -> None:
        self.problems = tuple(problems)
        self.folder = folder
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Return the errors, one a line."""
        return "\n".join(str(problem) for problem in self.problems if problem.severity is Severity.ERROR)


class SettingsError(NegotiatorError):
    """The static configuration of the service, or a file of policy tests, has errors.

    ``problems`` are all of them; ``where`` names the file, or is empty if the errors are in options and variables alone.
    """

    def __init__(self, problems: Iterable[Problem], where: str = "") -> None:
        self.problems = tuple(problems)
        self.where = where
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Return the problems, one a line."""
        return "\n".join(map(str, self.problems))


class PoolError(NegotiatorError):
    """The pool cannot be read at all."""


class StateError(NegotiatorError):
    """The state of the negotiator cannot be read or written."""


class LeadershipLostError(StateError):
    """Another negotiator leads with the shared state, or this one was cut off from it: it must hand out nothing."""

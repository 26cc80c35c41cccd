"""The exceptions of the product that callers may catch: one tree.

A room that needs its own classes derives them from these. ``negotiator.app.status`` maps each class to an exit code and an
HTTP status.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from negotiator.records.problem import Problem, Severity


class NegotiatorError(Exception):
    """Root of the product's exceptions: the message has the problem, its place, and a remedy.

    >>> import negotiator as n
    >>> try:
    ...     n.read_pool("no-such-folder")
    ... except n.NegotiatorError as error:
    ...     print(error)
    no-such-folder does not exist: name a folder or file of ads, or - to read them from standard input
    """


class CommandError(NegotiatorError):
    """The request was understood but not carried out.

    >>> import negotiator as n
    >>> [each.__name__ for each in (n.InvalidCallError, n.NotFoundError) if issubclass(each, n.CommandError)]
    ['InvalidCallError', 'NotFoundError']
    """


class InvalidCallError(CommandError):
    """The arguments are invalid: a required one is missing, or two contradict each other.

    >>> import negotiator as n
    >>> n.run(n.read_pool("examples/first-pool"), engine="fast")
    Traceback (most recent call last):
    negotiator.engines.choice.InvalidEngineError: expected local, processes:N ... got 'fast'
    """


class NotFoundError(CommandError):
    """The named job, column, queue, application or report does not exist.

    >>> import negotiator as n
    >>> n.read_pool("examples/first-pool").jobs.column("Ownr")
    Traceback (most recent call last):
    negotiator.errors.NotFoundError: no column 'Ownr' in a table of 121 columns: did you mean Owner?
    """


class PluginFailureError(CommandError):
    """A plugin failed, and without its answer the request cannot be carried out."""


class BundleError(NegotiatorError):
    """The policy bundle has errors.

    ``problems`` are all of its errors, warnings and notices; ``folder`` is the folder of the bundle, None if unknown.

    >>> import negotiator as n
    >>> try:
    ...     n.load_bundle("no-such-folder")
    ... except n.BundleError as error:
    ...     print(len(error.problems), error.problems[0].severity)
    1 error
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
    """The pool cannot be read at all.

    >>> import negotiator as n
    >>> n.read_pool("no-such-folder")
    Traceback (most recent call last):
    negotiator.errors.PoolError: no-such-folder does not exist: ...
    """


class StateError(NegotiatorError):
    """The state of the negotiator cannot be read or written.

    >>> import negotiator as n
    >>> n.run(n.read_pool("examples/first-pool"), state="README.md")
    Traceback (most recent call last):
    negotiator.errors.StateError: README.md: cannot open the state: ...
    """


class LeadershipLostError(StateError):
    """Another negotiator leads with the shared state, or this one was cut off from it: it must hand out nothing."""

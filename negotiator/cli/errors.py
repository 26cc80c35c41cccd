"""How an exception is printed, and which exit code it becomes: the same in every command."""

from __future__ import annotations

from negotiator.cli.messages import print_message
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.errors import BundleError, NegotiatorError, SettingsError
from negotiator.exit_codes import ExitCode


def print_error(error: NegotiatorError) -> ExitCode:
    """Print an exception to standard error, the problems of a bundle with their lines; return its exit code."""
    from negotiator.app.status import status_of

    if isinstance(error, BundleError):
        print_problems(error.problems, folder=error.folder, err=True)
    elif isinstance(error, SettingsError):
        print_problems(error.problems, err=True)
    print_message(f"error: {printable(error_text(error))}", err=True)
    return status_of(error).exit_code


def error_text(error: NegotiatorError) -> str:
    """Return the message of an exception in one line; the problems of a bundle or of the configuration are printed apart."""
    if isinstance(error, BundleError):
        return f"{error.folder or 'the bundle'} has errors: nothing was done (see negotiator check)"
    if isinstance(error, SettingsError):
        return f"{error.where or 'the configuration of the service'} has errors: nothing was done"
    return str(error)


def print_note(text: str) -> None:
    """Print a sentence to standard error; nothing if it is empty."""
    if text:
        print_message(f"note: {printable(text)}", err=True)


def print_failures(failures: tuple[object, ...]) -> None:
    """Print the failures of plugins to standard error, one a line."""
    for failure in failures:
        print_message(f"error: {printable(str(failure))}", err=True)

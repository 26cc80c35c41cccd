"""The hooks that the program calls before a bundle is known, of installed plugins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from negotiator.hooks.checks import declarations
from negotiator.hooks.hook import OnFailure, hookspec

if TYPE_CHECKING:
    import click


@hookspec("click.Command", check=declarations.checked_command, on_failure=OnFailure.REPORT)
def negotiator_commands() -> Iterable[click.Command]:  # type: ignore[empty-body]
    """Add commands to the ``negotiator`` program.

    Called once at start, of installed plugins. A failure is reported, and the program goes on without the plugin's commands.

    Example::

        @hookimpl
        def negotiator_commands():
            yield show_calendar  # a click.Command

    :return: the commands; a name that is already used is refused.
    """

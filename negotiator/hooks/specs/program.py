"""The hooks that the program calls before a bundle is known, of installed plugins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from negotiator.hooks import checks
from negotiator.hooks.checks import declarations
from negotiator.hooks.hook import OnFailure, deferred, hookspec

if TYPE_CHECKING:
    import click

    from negotiator.hooks.starting_bundles import StartingBundle


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


@hookspec(
    "StartingBundle", check=deferred(lambda: checks.checked_starting_bundle), on_failure=OnFailure.REPORT
)
def negotiator_starting_bundles() -> Iterable[StartingBundle]:  # type: ignore[empty-body]
    """Offer policy bundles to start from, for ``negotiator init --from NAME``.

    Called by ``negotiator init``, of installed plugins. A failure is reported, and the program goes on without the plugin's
    starting bundles. The program reads the administrator's files, asks the questions, writes the files of the bundle if none of them
    exists, checks it, and adds a test with the decisions about sample jobs.

    Example::

        def make(request):
            names = [file.text.strip() for file in request.files] or ["physics"]
            groups = f"GROUP_NAMES = {', '.join(names)}"
            return StartingFiles({"pool.yaml": b"order: submitters", "groups.conf": groups.encode()})

        @hookimpl
        def negotiator_starting_bundles():
            yield StartingBundle(name="groups", description="accounting groups", make=make, own_files="Names of groups")

    :return: the starting bundles; a name that is already used is refused.
    """

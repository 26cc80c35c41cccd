"""``negotiator plugins``: the plugins of a bundle with their calls and failures, and those that were refused."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="List the plugins of a policy bundle.")
@options.targets("bundle", "plugins_dirs", "disable")
@options.as_json
def plugins(**given: Any) -> None:
    """List the plugins of a policy bundle in the order in which they are called, and their problems.

    Calls, time and failures are those of loading the bundle. Refused plugins are listed below, with the reason.

    \b
    Exit codes:
      0  all plugins were loaded
      1  a plugin was refused, or the bundle has other errors
      2  invalid command line

    \b
    Examples:
      negotiator plugins
      negotiator plugins --bundle policies/minimum-machine --plugins-dir examples/maintenance
    """
    from negotiator.cli import plugins as implementation

    implementation.plugins(**given)

"""``negotiator status``: whether the negotiator of a state runs and works, and the settings of the service."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from negotiator.cli import options
from negotiator.cli.service_command import ServiceCommand
from negotiator.cli.service_defaults import STATE_KEYS
from negotiator.cli.service_options import service_settings
from negotiator.hooks.command_options import target_option


class _StatusCommand(ServiceCommand):
    """Uses the keys of the state, with ``--settings`` all of them."""

    refusal = "{} needs --settings"
    lists_keys = False

    def used_keys(self, context: click.Context) -> Collection[str] | None:
        """Return the keys that are used as the command is called; None if all are."""
        return None if context.params.get("settings") else STATE_KEYS


@click.command(
    cls=_StatusCommand, short_help="Print whether a negotiator runs and works, its state and settings."
)
@click.option(
    "--settings",
    is_flag=True,
    is_eager=True,
    help="Print the settings with which negotiator serve would run, and what each comes from, instead.",
)
@click.option("--full", is_flag=True, help="Print the number of rows of each table of the state.")
@target_option("now")
@options.as_json
@service_settings
def status(**given: Any) -> None:
    """Print whether the negotiator of a state runs and works, what its last cycle did, and what the state has.

    A negotiator that runs with a state (serve, run --state) writes its status before and after each cycle. It is healthy if
    its last cycle took place, all daemons of the pool answered, no plugin failed, and the next cycle is not overdue (a cycle may
    take NEGOTIATOR_MAX_TIME_PER_CYCLE, and begin or end 5 minutes late). Below that are the place of the state, the version of
    its tables, the leader of a shared one, and the number of rows, with --full of each table.

    With --settings it prints the settings of negotiator serve instead. An option takes precedence over a variable of the
    environment, that over the file, and that over the default. The file is the one of --config, else of NEGOTIATOR_CONFIG,
    else /etc/negotiator/negotiator.yaml if it exists. All problems are printed to standard error, with file, line and
    column. Of a file with a key or a certificate only its path is printed, and of a URL no password.

    \b
    Exit codes:
      0  healthy; or standby: another negotiator leads with the shared state
      1  none runs with this state, or a cycle is overdue
      2  invalid command line; with --settings, the settings have errors
      4  the last cycle did not take place, or a daemon of the pool did not answer in it
      6  no state in the folder
      7  a plugin failed in the last cycle

    With --settings 0 means that negotiator serve can use the settings.

    \b
    Examples:
      negotiator status
      negotiator status --state /var/lib/negotiator/state --json
      negotiator status --settings --config negotiator.yaml
    """
    from negotiator.cli import status as implementation

    implementation.status(click.get_current_context(), **given)

"""``negotiator status``: whether the negotiator of a state runs and works."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options
from negotiator.defaults import DEFAULT_STATE


@click.command(short_help="Print whether a negotiator runs and works, and its last cycle.")
@options.targets(
    "state",
    "now",
    state={"default": DEFAULT_STATE, "show_default": True, "help": "Folder of the negotiator's state."},
)
@options.as_json
def status(**given: Any) -> None:
    """Print whether the negotiator of a state runs and works, and what its last cycle did.

    A negotiator that runs with a state (serve, run --state) writes its status before and after each cycle. It is healthy if
    its last cycle took place, all daemons of the pool answered, no plugin failed, and the next cycle is not overdue (a cycle may
    take NEGOTIATOR_MAX_TIME_PER_CYCLE, and begin or end 5 minutes late).

    \b
    Exit codes:
      0  healthy; or standby: another negotiator leads with the shared state
      1  none runs with this state, or a cycle is overdue
      2  invalid command line
      4  the last cycle did not take place, or a daemon of the pool did not answer in it
      6  no state in the folder, or it could not be read
      7  a plugin failed in the last cycle

    \b
    Examples:
      negotiator status
      negotiator status --state /var/lib/negotiator/state --json
    """
    from negotiator.cli import status as implementation

    implementation.status(**given)

"""``negotiator diff``: what another bundle would decide otherwise."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import batch_options, options
from negotiator.hooks.command_options import ANY_PATH


@click.command(short_help="Print what another policy bundle would decide otherwise.")
@click.argument("old", type=ANY_PATH)
@click.argument("new", type=ANY_PATH)
@options.targets(
    "pool", "state", "plugins_dirs", "disable", "now", pool=options.READ_POOL, state=options.READ_STATE
)
@batch_options.comparison
def diff(**given: Any) -> None:
    """Print what the policy bundle NEW would decide otherwise than OLD.

    These are matches that are gained, lost or moved to another slot, and jobs that wait for another reason, by rule, user and queue; and the
    shares of submitters or queues.

    Both bundles decide the same cycles: one over the pool, or recorded ones (negotiator serve --set record=DIR), each from the state that it began
    with. OLD may be the word "recorded": the decisions in the recordings. Nothing is handed out and nothing is written.

    At most a screen is printed; --full prints everything.

    \b
    Exit codes:
      0  the bundles were compared, whether or not anything differs
      1  a bundle has errors, or a recorded cycle is refused
      2  invalid command line
      3  a recorded cycle cannot be read, is cut or changed, or is of another version
      4  the pool could not be read
      6  the state could not be read
      7  a plugin failed
      130  stopped by Ctrl-C: the cycles that were decided are printed

    \b
    Examples:
      negotiator diff policies/site policies/new --pool pool/
      negotiator diff recorded policies/new --recorded /var/lib/negotiator/recorded --engine processes:4
      negotiator diff policies/site policies/new --recorded recorded/ --resume compared.jsonl --jobs
    """
    from negotiator.cli import comparison as implementation

    implementation.diff(**given)

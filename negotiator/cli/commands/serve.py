"""``negotiator serve``: negotiation cycles with a live pool, or over files, until it is stopped."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import cycle_options
from negotiator.cli.service_command import ServiceCommand
from negotiator.cli.service_options import service_settings


@click.command(cls=ServiceCommand, short_help="Serve a pool: run negotiation cycles until it is stopped.")
@service_settings
@click.option(
    "--shadow",
    is_flag=True,
    help="Run beside the pool's own negotiator: decide, hand out nothing, and report the differences.",
)
@click.option("--cycles", type=click.IntRange(min=1), help="Number of cycles.  [default: until stopped]")
@cycle_options.other_state
@click.option("--end-with-parent", is_flag=True, help="End when the process that started this one has ended.")
@click.option(
    "--log-header",
    metavar="PATTERN",
    default="",
    help="Begin the lines of the log so: a pattern of strftime in local time, with %3N for milliseconds. The pool's own"
    " log then lists the matches.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a cycle, to standard output.")
def serve(**given: Any) -> None:
    """Serve the live pool that the policy bundle names: fetch its ads, decide, and hand out the matches.

    The bundle says where the pool is (source: in pool.yaml, and the settings of that source; see docs/live-pool.md). A cycle that
    the pool does not answer is reported, and the next one begins at its time. Every match is in the audit log before it
    is handed out. With --set pool_driver=files the ads are those of files instead, read anew for each cycle, and matches are printed.

    Each setting is a key of a file (--config) and a variable of the environment. The most used ones have an option, --set gives any other.
    negotiator status --settings prints all with their values, and takes the same options.

    With --shadow the pool keeps its own negotiator: this one observes the pool (READ authorization is enough), decides, hands out nothing,
    and reports after each cycle which jobs the other one matched or kept idle otherwise, and by which rule.

    With a database (key state_database) several central managers share a state: one leads, and the others wait until it ends or is cut off.
    With --set name=NAME too, it is one of several negotiators that serve the pool at the same time, each its own slots.

    It runs until SIGTERM, SIGINT or SIGQUIT, which end a cycle before its next turn. SIGHUP, --watch and negotiator admin reload make it
    read its bundle again between two cycles.

    \b
    Exit codes:
      0  stopped by a signal, or all cycles ran
      1  the policy bundle has errors: nothing ran
      2  invalid command line or configuration; or the state belongs to another policy bundle
      3  the audit log could not be written, or it was changed or replaced: no match of that cycle was handed out
      4  no live pool: several sources are installed, or none, and the bundle names none
      5  matches were handed out, but the audit log or the state could not be written afterwards: they are named
      6  the state could not be read or written, or it was changed or replaced: no match of that cycle was handed out
      7  with --cycles: the pool did not answer, or a plugin that takes part in decisions failed, in some cycle

    \b
    Examples:
      negotiator serve --bundle policies/site
      negotiator serve --config /etc/negotiator/negotiator.yaml
      negotiator serve --shadow --bundle policies/site
      negotiator serve --bundle policies/site --every 20 --watch --set web_bind_port=9080
    """
    from negotiator.cli import serve as implementation

    implementation.serve(click.get_current_context(), **given)

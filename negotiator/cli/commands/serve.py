"""``negotiator serve``: negotiation cycles with a live pool, or over files, until it is stopped."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import click

from negotiator.cli import cycle_options
from negotiator.cli.service_command import ServiceCommand
from negotiator.cli.service_defaults import STATE_KEYS
from negotiator.cli.service_options import service_settings

_PAGES_KEYS: Final = STATE_KEYS | {
    *("bundle", "plugins_dir", "disable", "scheduler_acl", "pool", "audit_log", "key_file"),
    *("web_bind_host", "web_bind_port", "web_certificate", "web_key", "web_tokens", "web_assets"),
    *("log_format", "log_level"),
}


class _ServeCommand(ServiceCommand):
    """Uses all keys, with ``--pages`` those that have to do with the pages."""

    refusal = "{} cannot be used with --pages"

    def used_keys(self, context: click.Context) -> Collection[str] | None:
        """Return the keys that are used as the command is called; None if all are."""
        return _PAGES_KEYS if context.params.get("pages") else None


@click.command(cls=_ServeCommand, short_help="Serve a pool: run negotiation cycles, or its pages alone.")
@service_settings
@click.option(
    "--pages",
    is_flag=True,
    is_eager=True,
    help="Run no cycles: serve the pages and REST interfaces of the pool alone.",
)
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

    With a web port (key web_bind_port) HTTP requests are answered in a process beside the cycles: the pages at /pool, the
    program's own REST interface at /api/v1, answers in the shapes of YuniKorn's at /ws/v1. With --pages it does this alone, at
    127.0.0.1:9080 if nothing else is set, for the ads of --pool, or without it for the pool of the negotiator that uses the
    state, after its first cycle. The pool is read again when its files, the state or the bundle have changed. Everybody on
    this host can read. With a token (key web_tokens) a scheduler administrator can replace queues.yaml; on other interfaces than the loopback
    one every request needs a token. Its log has requests that change something or are refused at level info, all at debug.

    It runs until SIGTERM, SIGINT or SIGQUIT, which end a cycle before its next turn. SIGHUP, --watch and negotiator admin reload make it
    read its bundle again between two cycles.

    \b
    Exit codes:
      0  stopped by a signal, or all cycles ran
      1  the policy bundle has errors: nothing ran; with --pages also: the address cannot be used
      2  invalid command line or configuration; or the state belongs to another policy bundle
      3  the audit log could not be written, or it was changed or replaced: no match of that cycle was handed out
      4  no live pool: several sources are installed, or none, and the bundle names none
      5  matches were handed out, but the audit log or the state could not be written afterwards: they are named
      6  the state could not be read or written, or it was changed or replaced: no match of that cycle was handed out
      7  with --cycles: the pool did not answer, or a plugin that takes part in decisions failed, in some cycle
      130  with --pages: interrupted by Ctrl-C

    \b
    Examples:
      negotiator serve --bundle policies/site
      negotiator serve --config /etc/negotiator/negotiator.yaml
      negotiator serve --shadow --bundle policies/site
      negotiator serve --pages --pool examples/first-pool
      negotiator serve --pages --state /var/lib/negotiator/state --set web_bind_port=9081
      negotiator serve --bundle policies/site --every 20 --watch --set web_bind_port=9080
    """
    context = click.get_current_context()
    if given.pop("pages"):
        from negotiator.cli.pages import pages

        pages(context, **given)
    else:
        from negotiator.cli import serve as implementation

        implementation.serve(context, **given)

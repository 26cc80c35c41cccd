"""The commands, one file a group of them."""

from __future__ import annotations

import click

from negotiator import __version__
from negotiator.app.context import ProgramContext
from negotiator.cli.access import access
from negotiator.cli.admin import admin
from negotiator.cli.audit import audit
from negotiator.cli.check import check
from negotiator.cli.debug import plugin_tracebacks
from negotiator.cli.eval import evaluate_command
from negotiator.cli.group import PluginGroup
from negotiator.cli.lint import lint_command
from negotiator.cli.place import place
from negotiator.cli.plugins import plugins
from negotiator.cli.queues import queues
from negotiator.cli.repl import repl
from negotiator.cli.run import run
from negotiator.cli.usage import usage


@click.group(
    cls=PluginGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="negotiator")
@click.option(
    "--debug", is_flag=True, help="Print the traceback of each failure of a plugin to standard error."
)
@click.pass_context
def main(context: click.Context, *, debug: bool) -> None:
    """Match the jobs of a compute pool with its slots, under policies that are all plugins.

    \b
    Examples:
      negotiator run examples/first-pool          one cycle over the ads of a pool, with the reasons
      negotiator check policies/default           every problem of a policy bundle
      negotiator audit verify var/audit           has the audit log been tampered with?
    """
    if debug:
        context.with_resource(plugin_tracebacks())
    if context.obj is None:
        context.obj = ProgramContext()


for command in (
    admin,
    run,
    check,
    place,
    queues,
    access,
    usage,
    plugins,
    audit,
    evaluate_command,
    lint_command,
    repl,
):
    main.add_command(command)

"""The commands, one file a group of them."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

from negotiator import __version__
from negotiator.activity import watched
from negotiator.cli.activity import ActivityWatcher
from negotiator.cli.commands import COMMANDS
from negotiator.cli.group import PluginGroup
from negotiator.cli.lazy import LazyCommand
from negotiator.cli.service_defaults import ServiceDefaults

if TYPE_CHECKING:
    from collections.abc import MutableMapping

#: Commands that print lines of their own while they run.
_SERVICES = frozenset({"expr", "serve"})


@click.group(
    cls=PluginGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="negotiator")
@click.option(
    "--debug", is_flag=True, help="Print the traceback of each failure of a plugin to standard error."
)
@click.option("--no-color", is_flag=True, help="Print without colours, as with NO_COLOR in the environment.")
@click.pass_context
def main(context: click.Context, *, debug: bool, no_color: bool) -> None:
    """Match the jobs of a compute pool with its slots, under policies that are all plugins.

    \b
    Examples:
      negotiator init --example pool        the ads of an example pool
      negotiator run pool                   one cycle over it, with the reasons
      negotiator why 14 --pool pool         why a job gets no slot
      negotiator init site --from htcondor  a policy bundle to start from
    """
    if no_color or os.environ.get("NO_COLOR"):
        context.color = False
    if debug:
        from negotiator.cli.debug import plugin_tracebacks  # noqa: PLC0415 - help and completion need it not

        context.with_resource(plugin_tracebacks())
    if context.default_map is None:
        context.default_map = cast("MutableMapping[str, Any]", ServiceDefaults())
    if sys.stderr.isatty() and context.invoked_subcommand not in _SERVICES:
        context.with_resource(watched(ActivityWatcher()))
    command = main.get_command(context, context.invoked_subcommand or "")
    if context.obj is None and not isinstance(command, LazyCommand):
        from negotiator.app.context import ProgramContext  # noqa: PLC0415 - only commands of plugins have it here

        context.obj = ProgramContext()


def _load(name: str) -> click.Command:
    module = name.replace("-", "_")
    command: click.Command = getattr(import_module(f"negotiator.cli.commands.{module}"), module)
    return command


for name, short_help in COMMANDS.items():
    main.add_command(LazyCommand(name, short_help, partial(_load, name)))

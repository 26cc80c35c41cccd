"""The command: prints the usage of limits, as Grid Engine does.

Source: qquota(1); "Resource Quota Sets", qquota. The help is Grid Engine's text, for the scripts and people who know it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from negotiator.plugin import CommandContext, CommandTargets, ExitCode, printable
from negotiator_quotasets.qquota.arguments import (
    HELP,
    XML,
    DefaultsError,
    InvalidArgumentError,
    read_arguments,
    with_defaults,
)
from negotiator_quotasets.qquota.report import QuotaReport, selection
from negotiator_quotasets.qquota.usage_rows import table_lines, xml_lines
from negotiator_quotasets.settings import QuotaSettings

#: Verbatim from Grid Engine 8.1.9, with its version: scripts recognise the dialect of a command by it.
USAGE = """\
SGE 8.1.9
usage: qquota [options]
  [-help]                              print this help
  [-h wc_host_list|wc_hostgroup_list]  display only selected hosts
  [-l resource_attributes]             request the given resources
  [-u user_list]                       display only selected users
  [-pe wc_pe_list]                     display only selected parallel environments
  [-P wc_project_list]                 display only selected projects
  [-q wc_cqueue_list]                  display only selected queues
  [-xml]                               display the information in XML format

resource_attributes     resource_name,resource_name,...
wc_cqueue               wildcard expression matching a cluster queue
wc_cqueue_list          wc_cqueue[,wc_cqueue,...]
wc_host                 wildcard expression matching a host
wc_host_list            wc_host[,wc_host,...]
wc_hostgroup            wildcard expression matching a hostgroup
wc_hostgroup_list       wc_hostgroup[,wc_hostgroup,...]
wc_pe                   wildcard expression matching a parallel environment
wc_pe_list              wc_pe[,wc_pe,...]
wc_project              wildcard expression matching a project
wc_project_list         wc_project[,wc_project,...]
user_list               user[,user,...]
"""


PLUGIN = "quotasets"


def run(context: click.Context, words: tuple[str, ...], targets: CommandTargets) -> None:
    """Carry out the command: see ``negotiator_quotasets.commands.qquota``."""
    program: CommandContext = context.obj
    try:
        arguments = read_arguments(words)
        if HELP in arguments.switches:
            click.echo(USAGE, nl=False)
            return
        bundle = program.bundle(targets)
        arguments = with_defaults(arguments, bundle.folder, _home())
    except (InvalidArgumentError, DefaultsError) as error:
        _refuse(context, error)
    usage = program.plugin_usage(targets, PLUGIN)
    settings: QuotaSettings = bundle.settings(PLUGIN)
    report = QuotaReport.of(settings, usage)
    rows = report.selected(selection(arguments, program.caller().name))
    lines = (xml_lines if XML in arguments.switches else table_lines)(rows, report.hosts)
    # UTF-8 in any terminal: parsers assume it for XML without a declared encoding.
    click.echo("".join(f"{line}\n" for line in lines).encode(), nl=False)
    for failure in usage.failures:
        click.echo(f"error: {printable(failure)}", err=True)
    if usage.failures:
        context.exit(ExitCode.NOT_DONE)


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # the caller has no home
        return None


def _refuse(context: click.Context, error: InvalidArgumentError | DefaultsError) -> NoReturn:
    if isinstance(error, InvalidArgumentError) or error.is_argument:
        click.echo(USAGE, nl=False, err=True)
    click.echo(f"error: {printable(str(error))}", err=True)
    context.exit(ExitCode.NOT_DONE)

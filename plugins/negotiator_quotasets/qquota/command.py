"""The command: prints the usage of limits, as Grid Engine does.

Source: qquota(1); "Resource Quota Sets", qquota.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from negotiator.plugin import CommandContext, CommandTargets, ExitCode, printable, target_options
from negotiator_quotasets.qquota import markup, table
from negotiator_quotasets.qquota.arguments import HELP, XML, InvalidArgumentError, read_arguments
from negotiator_quotasets.qquota.defaults import DefaultsError, with_defaults
from negotiator_quotasets.qquota.report import selected_rows, selection
from negotiator_quotasets.qquota.usage_text import USAGE
from negotiator_quotasets.settings import QuotaSettings

PLUGIN = "quotasets"


# Grid Engine's switches are long words after one hyphen, which click can't parse: it passes them on.
@click.command(
    "qquota",
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    options_metavar="[-help] [-h HOSTS] [-l RESOURCES] [-u USERS] [-pe PES] [-P PROJECTS] [-q QUEUES] [-xml]",
    short_help="Print the usage of the limits of resource quota sets.",
)
@click.argument("words", nargs=-1, metavar="", type=click.UNPROCESSED)
@target_options
@click.pass_context
def qquota(context: click.Context, words: tuple[str, ...], targets: CommandTargets) -> None:
    """Print the usage of the limits of resource quota sets, as Grid Engine's qquota does.

    Without -u, it is the usage of the caller. Each list has names and wildcards, separated by commas; lists of a
    repeated switch add up. Default switches for everybody are read from the file sge_qquota of the bundle, and those of
    the caller from ~/.sge_qquota, whose lists the command line overrides.

    \b
      -h HOSTS      limits of these hosts, or of host groups (@GROUP)
      -l RESOURCES  limits of these resources, by name or shortcut
      -u USERS      limits of these users, or of the members of user sets (@SET)
      -pe PES       limits of these parallel environments
      -P PROJECTS   limits of these projects
      -q QUEUES     limits of these queues
      -xml          print XML, by the schema qquota.xsd of the plugin
      -help         print the help of Grid Engine

    \b
    Exit code:
      0  the usage was printed; nothing is printed if nothing is used
      1  invalid switch, or the bundle has errors, or a part of the usage could not be counted
      2  another invalid option, or missing pool
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator qquota --pool pool/ --bundle policies/site
      negotiator qquota -u "*" -l slots,virtual_free -xml
    """
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
    hosts, rows = selected_rows(settings, usage, selection(arguments, program.caller().name))
    lines = (markup if XML in arguments.switches else table).lines(rows, hosts)
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

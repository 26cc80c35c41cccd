"""The command: prints the usage of limits, as Grid Engine does.

Source: qquota(1); "Resource Quota Sets", qquota.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from negotiator.plugin import CommandContext, CommandTargets, ExitCode, printable
from negotiator_quotasets.qquota import markup, table
from negotiator_quotasets.qquota.arguments import HELP, XML, InvalidArgumentError, read_arguments
from negotiator_quotasets.qquota.defaults import DefaultsError, with_defaults
from negotiator_quotasets.qquota.report import QuotaReport, selection
from negotiator_quotasets.qquota.usage_text import USAGE
from negotiator_quotasets.settings import QuotaSettings

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
    lines = (markup if XML in arguments.switches else table).lines(rows, report.hosts)
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

"""``negotiator qquota``: what somebody has used of which limit, printed as Grid Engine does.

Source: qquota(1); "Resource Quota Sets", qquota.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from negotiator.plugin import CommandContext, CommandTargets, printable, target_options
from negotiator_quotasets.qquota import markup, table
from negotiator_quotasets.qquota.arguments import HELP, XML, InvalidArgumentError, read_arguments
from negotiator_quotasets.qquota.defaults import DefaultsError, read_defaults
from negotiator_quotasets.qquota.report import selected_rows, selection
from negotiator_quotasets.qquota.usage_text import USAGE
from negotiator_quotasets.settings import QuotaSettings

PLUGIN = "quotasets"
NOT_DONE = 1


# Switches of Grid Engine are long words after one hyphen, which click does not read: it is to leave them alone.
@click.command(
    "qquota",
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    options_metavar="[-help] [-h HOSTS] [-l RESOURCES] [-u USERS] [-pe PES] [-P PROJECTS] [-q QUEUES] [-xml]",
)
@click.argument("words", nargs=-1, metavar="", type=click.UNPROCESSED)
@target_options
@click.pass_context
def qquota(context: click.Context, words: tuple[str, ...], targets: CommandTargets) -> None:
    """Print what is used of the limits of resource quota sets, as qquota of Grid Engine does.

    Without -u, it is what the caller has used. Each list has names and wildcards, with commas between them; lists that
    are given again add up. Switches may also stand in a file sge_qquota of the bundle, for everybody, and in
    ~/.sge_qquota.

    \b
      -h HOSTS      limits of these hosts, or of host groups (@GROUP)
      -l RESOURCES  limits of these resources, by name or shortcut
      -u USERS      limits of these users, or of the members of user sets (@SET)
      -pe PES       limits of these parallel environments
      -P PROJECTS   limits of these projects
      -q QUEUES     limits of these queues
      -xml          print XML, as qquota.xsd of the plugin says
      -help         print the help of Grid Engine

    \b
    Exit code:
      0  what is used was printed; nothing is printed where nothing is used
      1  a switch is none, the bundle has errors, or not all that is used could be counted
      2  the command line is wrong otherwise, or no pool is named
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator qquota --pool pool/ --bundle policies/site
      negotiator qquota -u "*" -l slots,virtual_free -xml
    """
    site: CommandContext = context.obj
    try:
        asked = read_arguments(words)
        if HELP in asked.switches:
            click.echo(USAGE, nl=False)
            return
        configured = site.bundle(targets)
        asked = read_defaults(configured.folder, _home()) + asked
    except (InvalidArgumentError, DefaultsError) as error:
        _refuse(context, error)
    usage = site.plugin_usage(targets, PLUGIN)
    settings: QuotaSettings = configured.settings(PLUGIN)
    hosts, found = selected_rows(settings, usage, selection(asked, site.caller().name))
    lines = (markup if XML in asked.switches else table).lines(found, hosts)
    # UTF-8 whatever the terminal's encoding is: that is what XML without a declared encoding is read as.
    click.echo("".join(f"{line}\n" for line in lines).encode(), nl=False)
    for failure in usage.failures:
        click.echo(f"error: {printable(failure)}", err=True)
    if usage.failures:
        context.exit(NOT_DONE)


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # who calls has none
        return None


def _refuse(context: click.Context, error: InvalidArgumentError | DefaultsError) -> NoReturn:
    if isinstance(error, InvalidArgumentError) or error.is_word:
        click.echo(USAGE, nl=False, err=True)
    click.echo(f"error: {printable(str(error))}", err=True)
    context.exit(NOT_DONE)

"""``negotiator qquota``: print the usage of the limits of resource quota sets.

Source: qquota(1); "Resource Quota Sets", qquota.
"""

from __future__ import annotations

from typing import Any

import click

from negotiator.plugin import target_options


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
def qquota(context: click.Context, /, **given: Any) -> None:
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
    from negotiator_quotasets.qquota import command

    command.run(context, **given)

"""``negotiator export``: policies of a bundle as the configuration of HTCondor's daemons."""

from __future__ import annotations

from collections.abc import Iterable

import click

from negotiator.cli import options
from negotiator.hooks.command_targets import CommandTargets


@click.group()
def export() -> None:
    """Print policies as configuration of startds and schedds.

    These then keep the policies of the bundle, whoever matches a job.

    A schedd runs further jobs on a claim without asking a negotiator. Without any of this, a claim is for one job where a
    policy of the bundle could be bypassed; with the line of "export startd", claims are used within the policies.

    \b
    Examples:
      negotiator export startd --bundle policies/original-system > 60-negotiator-policies
      negotiator export schedd --bundle policies/original-system
    """


@export.command(
    "startd", short_help="Print START of startds: the line that tests the policy of a match, and the rules."
)
@options.targets("bundle", "plugins_dirs", "disable")
def startd_command(targets: CommandTargets) -> None:
    """Print configuration for startds: the line by which claims are used within the policies, and the rules themselves.

    The first line does not depend on the bundle. The rules after it hold also for jobs that no negotiator matched; a changed bundle
    needs a new export. What cannot be written is listed in comments at the end.

    \b
    Exit codes:
      0  printed
      1  the policy bundle has errors
      2  invalid command line
    """
    from negotiator.app.export import export_startd

    _print(export_startd(targets))


@export.command("schedd", short_help="Print submit requirements and transforms of schedds.")
@options.targets("bundle", "plugins_dirs", "disable")
def schedd_command(targets: CommandTargets) -> None:
    """Print configuration for schedds: jobs that policies deny are refused with the reason when they are submitted.

    The match expressions become part of the Requirements of each job. Both hold when a job is submitted only; what cannot be
    written is listed in comments at the end.

    \b
    Exit codes:
      0  printed
      1  the policy bundle has errors
      2  invalid command line
    """
    from negotiator.app.export import export_schedd

    _print(export_schedd(targets))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)

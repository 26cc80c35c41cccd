"""``negotiator qconf``: show, add, change and delete resource quota sets, as Grid Engine's qconf does.

Source: qconf(1), ``-arqs`` to ``-drqs`` and ``-aattr`` to ``-Rattr``; "Resource Quota Sets", command line.
"""

from __future__ import annotations

from typing import Any

import click

from negotiator.plugin import target_options


# -help and -dhgrp are switches: -h must not be the help option of the program's other commands.
@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    short_help="Show and change resource quota sets, as Grid Engine does.",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SWITCH...")
@target_options
@click.pass_obj
def qconf(program: Any, /, **given: Any) -> None:
    """Show and change the resource quota sets of a bundle, with the switches of Grid Engine's qconf.

    The sets are in the files *.rqs of the bundle, the objects that they refer to in gridengine.yaml. A changed file is
    written in Grid Engine's normal form: its comments are lost, and a backup of the old file is saved in the same folder. A change is made
    whole or not at all, is checked together with the rest of the bundle, and is recorded in the audit log. negotiator
    qconf -help lists the switches.

    \b
    Examples:
      negotiator qconf -srqs --bundle policies/site
      negotiator qconf -Arqs rule_set.txt
      negotiator qconf -mattr resource_quota limit slots=20 rule_set_1/2
      EDITOR=nano negotiator qconf -mrqs rule_set_1

    \b
    Exit codes:
      0  everything was done
      1  a switch was refused: denied, unknown object, or invalid text
      2  missing bundle, or another invalid option
      3  done, but the audit log could not be written
      6  the state could not be read or written
    """
    from negotiator_quotasets.qconf import command

    command.run(program, **given)

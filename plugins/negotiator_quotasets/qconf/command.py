"""The command: runs the switches of its command line one after the other.

Source: qconf(1).
"""

from __future__ import annotations

import click

from negotiator.plugin import CommandContext, CommandTargets, ExitCode, target_options
from negotiator_quotasets.qconf.arguments import QconfArguments
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.errors import (
    USAGE,
    AbortedCommandLineError,
    InvalidCommandLineError,
    MissingArgumentError,
    QconfRefusedError,
)
from negotiator_quotasets.qconf.switches import SWITCHES

_HELP = "-help"


# -help and -dhgrp are switches: -h must not be the help option of the program's other commands.
@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    short_help="Show and change resource quota sets, as Grid Engine does.",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SWITCH...")
@target_options
@click.pass_obj
def qconf(program: CommandContext, targets: CommandTargets, words: tuple[str, ...]) -> None:
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
    context = QconfContext(program, targets)
    arguments = QconfArguments(words)
    if not words:
        _print_refusal(context, InvalidCommandLineError(*_usage()))
    try:
        while arguments:
            _run_switch(context, arguments)
    except MissingArgumentError as error:
        _print_refusal(context, InvalidCommandLineError(*error.lines, *_usage()))
    except QconfRefusedError as error:
        _print_refusal(context, error)
    click.get_current_context().exit(context.exit_code)


def _run_switch(context: QconfContext, arguments: QconfArguments) -> None:
    """Run the next switch; a refusal does not keep the following ones from running, unless the switch ends the line."""
    name = arguments.take()
    if name == _HELP:
        for line in _usage():
            context.print_line(line)
        return
    switch = SWITCHES.get(name)
    if switch is None:
        raise InvalidCommandLineError(f'error: invalid option argument "{name}"', USAGE)
    try:
        switch.run(context, arguments)
    except QconfRefusedError as error:
        if switch.ends or isinstance(error, AbortedCommandLineError):
            raise
        _print_refusal(context, error)


def _print_refusal(context: QconfContext, error: QconfRefusedError) -> None:
    for line in error.lines:
        context.print_error(line)
    context.exit_code = context.exit_code or error.exit_code or ExitCode.NOT_DONE


def _usage() -> list[str]:
    """Return the lines of the help, in Grid Engine's layout."""
    rows = [(f"[{name} {each.arguments}".rstrip() + "]", each.help) for name, each in SWITCHES.items()]
    rows.append((f"[{_HELP}]", "print this help"))
    width = max(len(switch) for switch, _ in rows)
    return ["usage: qconf [options]", *(f"   {switch:{width}}  {text}" for switch, text in rows)]

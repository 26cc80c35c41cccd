"""The command: goes through its words, and does what each switch asks for.

Source: qconf(1).
"""

from __future__ import annotations

import click

from negotiator.plugin import CommandContext, CommandTargets, ExitCode, target_options
from negotiator_quotasets.qconf.arguments import QconfArguments
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.refusal import (
    USAGE,
    EndError,
    MissingArgumentError,
    QconfRefusedError,
    WrongUsageError,
)
from negotiator_quotasets.qconf.switches import SWITCHES

_HELP = "-help"


# -help and -dhgrp are words of ours: -h must not be the help of the program's group.
@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    short_help="Show and change resource quota sets, as Grid Engine does.",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SWITCH...")
@target_options
@click.pass_obj
def qconf(site: CommandContext, targets: CommandTargets, words: tuple[str, ...]) -> None:
    """Show and change the resource quota sets of a bundle, with the switches of Grid Engine's qconf.

    The sets stand in the files *.rqs of the bundle, what they speak of in gridengine.yaml. A file that is changed is
    written in Grid Engine's normal form: its comments are lost, the old file is kept beside it. A change is made whole
    or not at all, is checked with all of the bundle, and stands in the audit log. negotiator qconf -help lists the
    switches.

    \b
    Examples:
      negotiator qconf -srqs --bundle policies/site
      negotiator qconf -Arqs rule_set.txt
      negotiator qconf -mattr resource_quota limit slots=20 rule_set_1/2
      EDITOR=nano negotiator qconf -mrqs rule_set_1

    \b
    Exit codes:
      0  everything was done
      1  something was not: denied, not there, or with faults
      2  the bundle is not named, or another option is wrong
      3  it was done, and the audit log could not be written
      6  the state could not be read or written
    """
    desk = QconfContext(site, targets)
    left = QconfArguments(words)
    if not words:
        _tell(desk, WrongUsageError(*_usage()))
    try:
        while left:
            _one(desk, left)
    except MissingArgumentError as error:
        _tell(desk, WrongUsageError(*error.lines, *_usage()))
    except QconfRefusedError as error:
        _tell(desk, error)
    click.get_current_context().exit(desk.exit_code)


def _one(desk: QconfContext, words: QconfArguments) -> None:
    """Do what one switch asks for; the next one is done whatever became of it, unless the switch says otherwise."""
    word = words.take()
    if word == _HELP:
        for line in _usage():
            desk.say(line)
        return
    switch = SWITCHES.get(word)
    if switch is None:
        raise WrongUsageError(f'error: invalid option argument "{word}"', USAGE)
    try:
        switch.run(desk, words)
    except QconfRefusedError as error:
        if switch.ends or isinstance(error, EndError):
            raise
        _tell(desk, error)


def _tell(desk: QconfContext, error: QconfRefusedError) -> None:
    for line in error.lines:
        desk.complain(line)
    desk.exit_code = desk.exit_code or error.exit_code or ExitCode.NOT_DONE


def _usage() -> list[str]:
    """The help, as Grid Engine lays it out."""
    told = [(f"[{name} {each.arguments}".rstrip() + "]", each.help) for name, each in SWITCHES.items()]
    told.append((f"[{_HELP}]", "print this help"))
    width = max(len(switch) for switch, _ in told)
    return ["usage: qconf [options]", *(f"   {switch:{width}}  {help_}" for switch, help_ in told)]

"""The command: runs the switches of its command line one after the other.

Source: qconf(1).
"""

from __future__ import annotations

import click

from negotiator.plugin import CommandContext, CommandTargets, ExitCode
from negotiator_quotasets.qconf.arguments import QconfArguments
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.errors import (
    USAGE,
    AbortedCommandLineError,
    InvalidCommandLineError,
    MissingArgumentError,
    QconfRefusedError,
)
from negotiator_quotasets.qconf.switches import POINTERS, SWITCHES

_HELP = "-help"


def run(program: CommandContext, targets: CommandTargets, words: tuple[str, ...]) -> None:
    """Carry out the command: see ``negotiator_quotasets.commands.qconf``."""
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
        pointer = POINTERS.get(name)
        pointers = () if pointer is None else (f"{name} of Grid Engine is not here: {pointer}",)
        raise InvalidCommandLineError(f'error: invalid option argument "{name}"', *pointers, USAGE)
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

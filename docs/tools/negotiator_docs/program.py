"""The reference of exit codes and variables of the environment."""

from __future__ import annotations

import click

from negotiator.exit_codes import ExitCode
from negotiator_docs.commands import all_commands
from negotiator_docs.markdown import GENERATED, code, table, text

_HEAD = """# Exit codes, variables, metrics

## Exit codes

A code means the same in every command; `--help` of a command lists those that it may end with.

"""
_VARIABLES = """
## Variables of the environment

Each sets an option that is not given on the command line. An empty variable counts as missing.
[The settings of the service](../service.md) have the same names in `negotiator.yaml`, in lower case and without the prefix.

"""
_REST = """
`NO_COLOR` switches colours off, `FORCE_COLOR` switches them on where the output is not a terminal; `COLUMNS` is the width of
tables. `XDG_STATE_HOME` is where the history of `negotiator expr repl` is kept.

## Metrics

`/metrics` of `negotiator serve`, with `--pages` too: [the table of all metrics](../rest.md#metrics).
"""
_MANY = 6
_SHOWN = 4


def program_page() -> str:
    """Return the page."""
    codes = table(["code", "meaning"], [(code(str(int(each))), text(each.meaning)) for each in ExitCode])
    rows = [
        (code(name), ", ".join(map(code, options)), _some(words))
        for name, (options, words) in sorted(_variables().items())
    ]
    return f"{GENERATED}{_HEAD}{codes}{_VARIABLES}{table(['variable', 'option', 'commands'], rows)}{_REST}"


def _some(words: list[str]) -> str:
    """Return the names of commands; of many the first ones."""
    if len(words) <= _MANY:
        return ", ".join(map(code, words))
    return f"{', '.join(map(code, words[:_SHOWN]))} and {len(words) - _SHOWN} others"


def _variables() -> dict[str, tuple[list[str], list[str]]]:
    """Return the options and the commands of each variable."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for path in all_commands():
        for parameter in path.command.get_params(path.context):
            if isinstance(parameter.envvar, str):
                options, words = found.setdefault(parameter.envvar, ([], []))
                shown = _shown(parameter)
                options += [shown] if shown not in options else []
                words.append(path.words)
    return found


def _shown(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.make_metavar(click.Context(click.Command("")))

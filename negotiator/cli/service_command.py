"""Commands with the settings of the service: a few are options, the others are given as ``--set KEY=VALUE``."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from negotiator.cli.options import named_values
from negotiator.defaults import OPTION_KEYS
from negotiator.hooks.command_options import CONFIG

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_PREFIX: Final = "NEGOTIATOR_"
_SET: Final = "negotiator.set"
_NEAREST: Final = 3  # keys that the message about an unknown one names


def key_of(parameter: click.Parameter) -> str:
    """Return the key of a setting in the file; empty if it has none. It is the name of its variable without the prefix."""
    variable = parameter.envvar
    if not isinstance(variable, str) or not variable.startswith(_PREFIX) or variable == CONFIG:
        return ""
    return variable.removeprefix(_PREFIX).lower()


class ServiceCommand(click.Command):
    """A command with the settings of the service: with all of them it reports the problems of the file with its own."""

    #: The error for a setting that is not used, with its option as ``{}``.
    refusal = ""
    #: Whether the help lists the keys of ``--set``.
    lists_keys = True

    def used_keys(self, context: click.Context) -> Collection[str] | None:  # noqa: ARG002 - subclasses need it
        """Return the keys that are used as the command is called; None if all are."""
        return None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a key that is written as an option is answered with the right form."""
        written = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            word = error.option_name.lstrip("-").replace("-", "_")
            keys = _set_keys(ctx)
            key = next((each for each in (word, f"web_{word}", f"web_bind_{word}") if each in keys), None)
            if key is None:
                raise
            right = shlex.quote(f"{key}={_value_of(error.option_name, written)}")
            ctx.fail(f"No such option: {error.option_name}; use --set {right}")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and then the keys of ``--set``."""
        records: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                records[isinstance(parameter, SettingKey)].append(record)
        with formatter.section("Options"):
            formatter.write_dl(records[False])
        if records[True]:
            with formatter.section(
                "Keys of --set (negotiator status --settings lists all keys and their values)"
            ):
                formatter.write_dl(records[True])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the completions of an option; a key is one of the value of ``--set``."""
        return [each for each in super().shell_complete(ctx, incomplete) if " " not in each.value]


def is_used(context: click.Context, key: str) -> bool:
    """True if the command uses a key as it is called."""
    command = context.command
    keys = command.used_keys(context) if isinstance(command, ServiceCommand) else None
    return keys is None or key in keys


def takes_all(context: click.Context) -> bool:
    """True if the command uses all settings, and reports the problems of their file."""
    command = context.command
    return isinstance(command, ServiceCommand) and command.used_keys(context) is None


class SettingOption(click.Option):
    """The option of a key; its variable is not read if the command does not use the key."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the value of the variable."""
        return super().resolve_envvar_value(ctx) if is_used(ctx, key_of(self)) else None


class SettingKey(SettingOption):
    """A key without an option of its own: on the command line its value is that of ``--set``."""

    def __init__(self, param_decls: Sequence[str] | None = None, **attributes: Any) -> None:
        super().__init__(param_decls, **attributes)
        self.opts = [f"--set {self.name}"]

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add nothing: the key is no option."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """Return the value of ``--set``, of the variable, of the file or the default; and which of them it is."""
        return super().consume_value(ctx, {**opts, **ctx.meta.get(_SET, {})})

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the key and its help, if the command lists keys."""
        record = super().get_help_record(ctx)
        if record is None or not (isinstance(ctx.command, ServiceCommand) and ctx.command.lists_keys):
            return None
        return f"{self.name}={self.make_metavar(ctx)}", record[1]


def _set_keys(context: click.Context) -> list[str]:
    return [key_of(each) for each in context.command.params if isinstance(each, SettingKey)]


def _value_of(option: str, words: Sequence[str]) -> str:
    """Return the value that follows an option on the command line; VALUE if none does."""
    from negotiator.records.text import printable  # noqa: PLC0415 - for messages alone

    for word, following in zip(words, [*words[1:], "-"], strict=True):
        if word.startswith(f"{option}="):
            return printable(word.partition("=")[2])
        if word == option and not following.startswith("-"):
            return printable(following)
    return "VALUE"


def _take(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    """Remember the values for the keys, which are parsed later.

    :raises click.BadParameter: one is unknown, or is an option. No message has its value.
    """
    keys = _set_keys(context)
    given = named_values(context, parameter, values)
    for key in () if context.resilient_parsing else given:
        if key in OPTION_KEYS:
            raise click.BadParameter(f"{key} is an option: use --{key.replace('_', '-')}")
        if key not in keys:
            from negotiator.records.text import nearest, printable  # noqa: PLC0415 - for messages alone

            few = ", ".join(nearest(key, [*keys, *OPTION_KEYS], _NEAREST))
            raise click.BadParameter(
                f"unknown key {printable(key[:80])!r}; the nearest are: {few}"
                " (negotiator status --settings lists all)"
            )
    context.meta[_SET] = given


def _complete(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - help starts without

    return [CompletionItem(f"{key}=") for key in _set_keys(context) if key.startswith(incomplete)]


set_option = click.option(
    "--set",
    multiple=True,
    metavar="KEY=VALUE",
    is_eager=True,
    expose_value=False,
    callback=_take,
    shell_complete=_complete,
    help="Another key of the configuration; may be repeated.",
)

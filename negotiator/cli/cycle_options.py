"""Options of the commands that run cycles, each declared once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from negotiator.cli import options
from negotiator.defaults import LOCAL_ENGINE, STABLE_SECONDS


class Seconds(click.FloatRange):
    """A length of time; a range alone would accept NaN and infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; fail unless they are finite."""
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail("must be a finite number of seconds", param, ctx)
        return seconds


def bundle_changes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about its bundle between two cycles, and about a state of another bundle."""
    for option in reversed(_BUNDLE_CHANGES):
        command = option(command)
    return command


def other_state(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about a state of another bundle, or one that does not agree with the audit log."""
    for option in reversed(_OTHER_STATE):
        command = option(command)
    return command


def log_lines(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of its log on standard error, which it has with ``--every``."""
    form, level = "the form of the lines on standard error.", "print events of this level and above."
    command = _choice("--log-level", options.LEVELS, "info", f"With --every: {level}")(command)
    return _choice("--log-format", options.FORMATS, options.FORMATS[0], f"With --every: {form}")(command)


def _choice(
    name: str, values: tuple[str, ...], default: str, text: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, type=click.Choice(values), default=default, show_default=True, help=text)


engine = click.option(
    "--engine",
    metavar="ENGINE",
    default=LOCAL_ENGINE,
    show_default=True,
    help="As of replay and diff: local, processes:N or dask:ADDRESS; single cycles are decided in this process whatever it says.",
)

_OTHER_STATE = (
    click.option(
        "--change-bundle", is_flag=True, help="Continue a state with another policy bundle than its own."
    ),
    click.option(
        "--recover",
        is_flag=True,
        help="Continue although the state and the audit log do not agree; this is recorded.",
    ),
)
_BUNDLE_CHANGES = (
    click.option("--watch", is_flag=True, help="Reload the bundle between two cycles when its files change."),
    click.option(
        "--stable",
        type=Seconds(min=0),
        metavar="SECONDS",
        default=STABLE_SECONDS,
        show_default=True,
        help="With --watch: how long changed files must stay unchanged before they are read.",
    ),
    *_OTHER_STATE,
)

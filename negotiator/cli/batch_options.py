"""Options of the commands that decide many recorded cycles."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from negotiator.cli import options
from negotiator.hooks.command_options import ANY_PATH


def batch(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the number of processes, and the file of finished results."""
    resume = click.option(
        "--resume",
        type=ANY_PATH,
        metavar="FILE",
        help="Keep results in this file, and do not decide a cycle again whose result is in it.",
    )
    workers = click.option(
        "--workers",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        metavar="NUMBER",
        help="Processes that decide recorded cycles at the same time; the output is the same.",
    )
    return workers(resume(command))


def comparison(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the recorded cycles, and how a comparison of decisions is made and printed; pass them on as ``how``."""

    @wraps(function)
    def call(**given: Any) -> Any:
        from negotiator.cli.comparison import ComparisonOptions  # noqa: PLC0415 - help and completion start without

        names = ("recorded", "workers", "resume", "with_jobs", "full", "as_json")
        return function(how=ComparisonOptions(**{name: given.pop(name) for name in names}), **given)

    return _RECORDED(batch(_JOBS(options.full(options.as_json(call)))))


_RECORDED = click.option(
    "--recorded",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="File of a recorded cycle, or a folder of them, instead of a pool; may be repeated.",
)
_JOBS = click.option("--jobs", "with_jobs", is_flag=True, help="Print the changed jobs too.")

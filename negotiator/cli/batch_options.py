"""Options of the commands that decide many recorded cycles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

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


recorded = click.option(
    "--recorded",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="File of a recorded cycle, or a folder of them, instead of a pool; may be repeated.",
)
jobs = click.option("--jobs", "with_jobs", is_flag=True, help="Print the changed jobs too.")

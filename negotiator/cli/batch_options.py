"""Options of the commands that decide many cycles: recorded ones, or those of tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from negotiator.cli import options
from negotiator.defaults import LOCAL_ENGINE
from negotiator.hooks.command_options import ANY_PATH


def batch(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the engine, and the file of finished results."""
    resume = click.option(
        "--resume",
        type=ANY_PATH,
        metavar="FILE",
        help="Keep results in this file, and do not decide a cycle again whose result is in it.",
    )
    return engine("recorded cycles")(resume(command))


def engine(noun: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command the engine whose workers decide."""
    return click.option(
        "--engine",
        callback=_engine,
        default=LOCAL_ENGINE,
        show_default=True,
        metavar="ENGINE",
        help=f"Where {noun} are decided: local, processes:N for N processes, or dask:ADDRESS for the workers of a Dask cluster. The output is the same.",
    )


def _engine(_context: click.Context, _option: click.Parameter, text: str) -> object:
    from negotiator.engines.choice import EngineChoice  # noqa: PLC0415 - help and completion start without

    return EngineChoice.parse(text)


def comparison(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the recorded cycles, and how a comparison of decisions is made and printed; pass them on as ``how``."""

    @wraps(function)
    def call(**given: Any) -> Any:
        from negotiator.cli.comparison import ComparisonOptions  # noqa: PLC0415 - help and completion start without

        names = ("recorded", "engine", "resume", "with_jobs", "full", "as_json")
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

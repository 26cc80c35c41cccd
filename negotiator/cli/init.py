"""``negotiator init``: a policy bundle to start from, and the example pool."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from negotiator.app.new_bundle import (
    NewBundle,
    PoolSystem,
    create_bundle,
    create_example_pool,
    guessed_system,
)
from negotiator.cli.problems import print_problems, summary
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode

_OWN_FILE: Final = {
    PoolSystem.HTCONDOR: "Your own configuration, such as the output of condor_config_val -dump",
    PoolSystem.YUNIKORN: "Your own queues.yaml",
    PoolSystem.GRIDENGINE: "Your own quota sets, the output of qconf -srqs",
}


def init(folder: Path | None, system: str | None, own: tuple[Path, ...], example: Path | None) -> None:
    """Write a policy bundle to start from, and the example pool."""
    if folder is None and example is None:
        folder = _asked_folder()
    made = None
    if folder is not None:
        chosen = PoolSystem(system) if system else guessed_system(own)
        if chosen is None:
            chosen, own = _asked_system()
        made = create_bundle(folder, chosen, own)
    elif system or own:
        raise click.UsageError("--from and --file need FOLDER, the folder of the new bundle.")
    if example is not None:
        names = create_example_pool(example)
        click.echo(f"Created {printable(str(example))}: {', '.join(names)}")
    if made is not None:
        _print_bundle(made)
    _print_next(made, example)
    sys.exit(ExitCode.DONE if made is None or made.check.bundle is not None else ExitCode.NOT_DONE)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _asked_folder() -> Path:
    if not _is_terminal():
        raise click.UsageError("Missing FOLDER, or --example POOL.")
    return Path(click.prompt("Folder of the new bundle", default="site"))


def _asked_system() -> tuple[PoolSystem, tuple[Path, ...]]:
    """Ask for the system and a file of it."""
    if not _is_terminal():
        raise click.UsageError(f"Missing --from ({', '.join(PoolSystem)}), or --file FILE.")
    names = click.Choice([str(each) for each in PoolSystem])
    system = PoolSystem(
        click.prompt("Which system do you know", type=names, default=str(PoolSystem.HTCONDOR))
    )
    answer = click.prompt(f"{_OWN_FILE[system]} (Enter: examples)", default="", show_default=False).strip()
    return system, (Path(answer).expanduser(),) if answer else ()


def _print_bundle(made: NewBundle) -> None:
    folder = printable(str(made.folder))
    click.echo(f"Created {folder}: {', '.join(map(printable, made.files))}")
    print_problems(made.check.problems, folder=made.folder)
    if made.check.problems:
        click.echo(summary(made.check.problems))
    if made.check.bundle is None:
        click.echo(
            f"{folder}: correct the errors in the files of the bundle, then: negotiator check {folder}"
        )
    else:
        click.echo(f"{folder}: ok")


def _print_next(made: NewBundle | None, example: Path | None) -> None:
    click.echo("\nNext")
    steps = list(_next_steps(made, example))
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        click.echo(f"  {command:{width}}  {purpose}")


def _next_steps(made: NewBundle | None, example: Path | None) -> Iterator[tuple[str, str]]:
    """Yield commands and what each is for."""
    pool = printable(str(example or "pool"))
    if made is None:
        yield f"negotiator run {pool}", "one cycle"
        yield "negotiator init site", "a policy bundle to start from"
        return
    folder = printable(str(made.folder))
    if made.check.bundle is None:
        yield f"negotiator check {folder}", "the errors, once more"
        return
    yield f"negotiator test --bundle {folder}", "the tests beside the policies"
    if example is None:
        yield f"negotiator init --example {pool}", "an example pool"
    yield f"negotiator run --bundle {folder} {pool}", "one cycle"
    yield f"negotiator why JOB --bundle {folder} --pool {pool}", "why a job gets no slot"

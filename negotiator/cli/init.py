"""``negotiator init``: a policy bundle to start from, the example pool, or the package of a plugin."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from negotiator.app.new_bundle import (
    NewBundle,
    OfferedBundle,
    StartingBundles,
    create_bundle,
    create_example_pool,
    read_own_files,
)
from negotiator.app.new_plugin import NewPlugin, create_plugin
from negotiator.cli.messages import print_message
from negotiator.cli.problems import print_problems, summary
from negotiator.cli.render import print_table, printable
from negotiator.exit_codes import ExitCode

if TYPE_CHECKING:
    from negotiator.hooks.starting_bundles import OwnFile, StartingQuestion


def init(
    folder: Path | None,
    name: str | None,
    own: tuple[Path, ...],
    answers: Mapping[str, str],
    example: Path | None,
    plugin: str | None,
    listed: bool,  # noqa: FBT001 - an option
) -> None:
    """Write a policy bundle to start from, and the example pool; or the package of a plugin; or list the bundles to start from."""
    if plugin is not None:
        if name or own or answers or example is not None or listed:
            raise click.UsageError("With --plugin only FOLDER may be given.")
        _print_plugin(create_plugin(plugin, folder))
        return
    if listed:
        _print_offers(_starting_bundles())
        return
    if folder is None and example is None:
        folder = _asked_folder()
    made = None
    if folder is not None:
        chosen, files = _chosen(name, own)
        made = create_bundle(folder, chosen, files, _asked_answers(chosen, answers))
    elif name or own or answers:
        raise click.UsageError("--from, --file and --answer need FOLDER, the folder of the new bundle.")
    if example is not None:
        names = create_example_pool(example)
        click.echo(f"Created {printable(str(example))}: {', '.join(names)}")
    if made is not None:
        _print_bundle(made)
    _print_next(made, example)
    sys.exit(ExitCode.DONE if made is None else _exit_code(made))


def _print_plugin(made: NewPlugin) -> None:
    where = printable(str(made.folder))
    click.echo(f"Created {where}: {', '.join(made.files)}")
    click.echo("\nNext")
    click.echo(f"  cd {where}")
    click.echo("  pip install --editable '.[test]'")
    click.echo("  pytest && ruff check . && mypy")


def _starting_bundles() -> StartingBundles:
    """Return the starting bundles, and print which plugins failed."""
    bundles = StartingBundles.of_installed_plugins()
    print_problems(bundles.problems, err=True)
    for warning in bundles.warnings:
        print_message(f"warning: {printable(warning)}", err=True)
    return bundles


def _print_offers(bundles: StartingBundles) -> None:
    headers = ["NAME", "PLUGIN", "DESCRIPTION", "FILES"]
    if any(each.record.questions for each in bundles.offered.values()):
        headers.append("QUESTIONS")
    rows = []
    for name, offered in bundles.offered.items():
        starting = offered.record
        questions = "; ".join(f"{each.name}: {each.text}" for each in starting.questions)
        row = (name, offered.plugin, starting.description, starting.own_files, questions)
        rows.append(row[: len(headers)])
    print_table("Bundles to start from", headers, rows)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _asked_folder() -> Path:
    if not _is_terminal():
        raise click.UsageError("Missing FOLDER, or --example POOL.")
    return Path(click.prompt("Folder of the new bundle", default="site"))


def _chosen(name: str | None, paths: tuple[Path, ...]) -> tuple[OfferedBundle, tuple[OwnFile, ...]]:
    """Return the starting bundle, and the administrator's files: by the options, or by questions."""
    bundles, files = _starting_bundles(), read_own_files(paths)
    if name is not None:
        return bundles.named(name), files
    if files:
        return bundles.recognized(files), files
    names = tuple(bundles.offered)
    if not _is_terminal() or not names:
        raise click.UsageError(f"Missing --from ({', '.join(names)}), or --file FILE.")
    _print_offers(bundles)
    chosen = bundles.named(click.prompt("Start from", type=click.Choice(names), default=names[0]))
    return chosen, _asked_files(chosen)


def _asked_files(chosen: OfferedBundle) -> tuple[OwnFile, ...]:
    text = chosen.record.own_files
    if not text:
        return ()
    path = click.prompt(f"{text} (Enter: examples)", default="", show_default=False).strip()
    return read_own_files([Path(path).expanduser()]) if path else ()


def _asked_answers(chosen: OfferedBundle, given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the given answers, and on a terminal those to all other questions of a bundle."""
    if not _is_terminal():
        return given
    missing = (each for each in chosen.record.questions if each.name not in given)
    return {**given, **{each.name: _asked_answer(each) for each in missing}}


def _asked_answer(question: StartingQuestion) -> str:
    choices = click.Choice(question.choices) if question.choices else None
    answer: str = click.prompt(question.text, type=choices, default=question.default)
    return answer


def _exit_code(made: NewBundle) -> ExitCode:
    if made.failure is not None:
        return ExitCode.PLUGIN
    return ExitCode.NOT_DONE if made.check.bundle is None else ExitCode.DONE


def _print_bundle(made: NewBundle) -> None:
    folder = printable(str(made.folder))
    click.echo(f"Created {folder}: {', '.join(map(printable, made.files))}")
    if made.failure is not None:
        print_message(f"error: {printable(str(made.failure))}; the bundle has no test", err=True)
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

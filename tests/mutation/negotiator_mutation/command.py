"""``make mutate``: sample mutants of each room, run its tests on them, and print those that survive."""

import random
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path

import click

from negotiator_mutation.equivalent import Equivalent, read_equivalents, stale_equivalents
from negotiator_mutation.errors import MutationError
from negotiator_mutation.mutants import Mutant, mutants
from negotiator_mutation.plan import Outcome, Result
from negotiator_mutation.rooms import DEFAULT, ROOMS, Room, room
from negotiator_mutation.run import copy_tree, run_mutants

ROOT = Path(__file__).parents[3]


@click.command()
@click.option("--room", "names", multiple=True, help=f"A room; may be repeated. All: {', '.join(ROOMS)}.")
@click.option("--sample", default=25, show_default=True, help="Mutants of each room.")
@click.option("--seed", default=0, show_default=True, help="Selects the mutants.")
@click.option("--file", "paths", multiple=True, help="Mutate these files of the room only.")
@click.option("--longest", type=float, help="Leave out tests that take more seconds; may add survivors.")
@click.option("--verbose", is_flag=True, help="Print the killed ones too.")
def mutate(
    names: tuple[str, ...],
    sample: int,
    seed: int,
    paths: tuple[str, ...],
    longest: float | None,
    *,
    verbose: bool,
) -> None:
    """Change one token at a time, and print the changes that no test of the room notices.

    The exit code is 1 if there are any, or if the list of equivalent mutants has entries that fit nothing.
    """
    try:
        entries = read_equivalents(ROOT / "tests" / "mutation" / "equivalent.toml")
        table = [
            _mutate(
                room(name), entries, sample=sample, seed=seed, paths=paths, longest=longest, verbose=verbose
            )
            for name in names or DEFAULT
        ]
    except MutationError as error:
        raise click.ClickException(str(error)) from error
    stale = stale_equivalents(entries, ROOT)
    for entry in stale:
        click.echo(
            f"equivalent.toml: no mutant fits {entry.file} {entry.function}: {entry.before} -> {entry.after}"
        )
    click.echo("".join(["room".ljust(12), "sampled".rjust(12), *(str(each).rjust(12) for each in Outcome)]))
    for name, counts in table:
        numbers = (counts.total(), *(counts[each] for each in Outcome))
        click.echo("".join([name.ljust(12), *(str(each).rjust(12) for each in numbers)]))
    raise SystemExit(bool(stale or any(counts[Outcome.SURVIVED] for _, counts in table)))


def _mutate(
    room: Room,
    entries: list[Equivalent],
    *,
    sample: int,
    seed: int,
    paths: tuple[str, ...],
    longest: float | None,
    verbose: bool,
) -> tuple[str, Counter[Outcome]]:
    with tempfile.TemporaryDirectory(prefix="negotiator-copy-") as folder:
        copy = Path(folder).resolve()
        copy_tree(ROOT, copy)
        files = [path for path in room.files(copy) if not paths or path.as_posix() in paths]
        found = [mutant for path in files for mutant in mutants(path, (copy / path).read_text())]
        random.Random(seed).shuffle(found)  # noqa: S311 - a sample
        sampled = list(
            islice((each for each in found if each.is_valid((copy / each.path).read_text())), sample)
        )
        chosen = [mutant for mutant in sampled if not _is_equivalent(mutant, entries, copy)]
        click.echo(f"{room.name}: {len(chosen)} of {len(found)} mutants", err=True)

        def report(mutant: Mutant, result: Result) -> None:
            if verbose or result.outcome == Outcome.SURVIVED:
                click.echo(_text(mutant, result, (copy / mutant.path).read_text()))

        counts = Counter(
            result.outcome for result in run_mutants(copy, room, chosen, longest=longest, report=report)
        )
        counts[Outcome.EQUIVALENT] = len(sampled) - len(chosen)
        return room.name, counts


def _is_equivalent(mutant: Mutant, entries: list[Equivalent], copy: Path) -> bool:
    return any(entry.matches(mutant, (copy / mutant.path).read_text()) for entry in entries)


def _text(mutant: Mutant, result: Result, source: str) -> str:
    before, after = mutant.change(source)
    heading = f"{mutant.path}:{mutant.line}: {result.outcome} {mutant.function}"
    noticed = f" by {result.test}" if result.test else f", {result.reached} tests reach it"
    lines = [*(f"- {line}" for line in before.splitlines()), *(f"+ {line}" for line in after.splitlines())]
    return "\n    ".join([heading + noticed, *lines])

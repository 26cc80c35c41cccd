"""``make mutate``: sample mutants of each room, run its tests on them, and print those that survive."""

import random
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from negotiator_mutation.equivalent import Equivalent, read_equivalents, stale_equivalents
from negotiator_mutation.errors import MutationError
from negotiator_mutation.mutants import Mutant, mutants
from negotiator_mutation.plan import Outcome, Result
from negotiator_mutation.rooms import DEFAULT, ROOMS, Room, room
from negotiator_mutation.run import copy_tree, run_mutants

ROOT = Path(__file__).parents[3]


@frozen
class Selection:
    """Which mutants of a room to run, on which tests; ``places`` are files, or files with a line."""

    sample: int
    seed: int
    places: tuple[str, ...]
    longest: float | None
    examples: int
    verbose: bool

    def mutants(self, room: Room, root: Path) -> list[Mutant]:
        """Return the sampled mutants of a room, in random order."""
        files = room.files(root)
        found = [
            each for path in files for each in mutants(path, (root / path).read_text()) if self._has(each)
        ]
        random.Random(self.seed).shuffle(found)  # noqa: S311 - a sample
        return list(
            islice((each for each in found if each.is_valid((root / each.path).read_text())), self.sample)
        )

    def _has(self, mutant: Mutant) -> bool:
        path = mutant.path.as_posix()
        return not self.places or not {path, f"{path}:{mutant.line}"}.isdisjoint(self.places)


@click.command()
@click.option("--room", "names", multiple=True, help=f"A room; may be repeated. All: {', '.join(ROOMS)}.")
@click.option("--sample", default=25, show_default=True, help="Mutants of each room.")
@click.option("--seed", default=0, show_default=True, help="Selects the mutants.")
@click.option(
    "--at", "places", multiple=True, metavar="FILE[:LINE]", help="Mutate only here; may be repeated."
)
@click.option("--longest", type=float, help="Leave out tests that take more seconds; may add survivors.")
@click.option(
    "--examples", default=100, show_default=True, help="Examples that hypothesis tries for each test."
)
@click.option("--verbose", is_flag=True, help="Print the killed ones too.")
def mutate(names: tuple[str, ...], **selection: Any) -> None:
    """Change one token at a time, and print the changes that no test of the room notices.

    The exit code is 1 if there are any, or if the list of equivalent mutants has entries that fit nothing.
    """
    try:
        entries = read_equivalents(ROOT / "tests" / "mutation" / "equivalent.toml")
        table = {name: _mutate(room(name), entries, Selection(**selection)) for name in names or DEFAULT}
    except MutationError as error:
        raise click.ClickException(str(error)) from error
    stale = stale_equivalents(entries, ROOT)
    for entry in stale:
        click.echo(
            f"equivalent.toml: no mutant fits {entry.file} {entry.function}: {entry.before} -> {entry.after}"
        )
    click.echo("".join(["room".ljust(12), "sampled".rjust(12), *(str(each).rjust(12) for each in Outcome)]))
    for name, counts in table.items():
        numbers = (counts.total(), *(counts[each] for each in Outcome))
        click.echo("".join([name.ljust(12), *(str(each).rjust(12) for each in numbers)]))
    raise SystemExit(bool(stale or any(counts[Outcome.SURVIVED] for counts in table.values())))


def _mutate(room: Room, entries: list[Equivalent], selection: Selection) -> Counter[Outcome]:
    with tempfile.TemporaryDirectory(prefix="negotiator-copy-") as folder:
        copy = Path(folder).resolve()
        copy_tree(ROOT, copy)
        sampled = selection.mutants(room, copy)
        chosen = [mutant for mutant in sampled if not _is_equivalent(mutant, entries, copy)]

        # Read before the run, which changes the files.
        changes = {mutant: mutant.change((copy / mutant.path).read_text()) for mutant in chosen}

        def report(mutant: Mutant, result: Result) -> None:
            if selection.verbose or result.outcome == Outcome.SURVIVED:
                click.echo(_text(mutant, result, *changes[mutant]))

        results = run_mutants(
            copy, room, chosen, longest=selection.longest, examples=selection.examples, report=report
        )
        counts = Counter(result.outcome for result in results)
        counts[Outcome.EQUIVALENT] = len(sampled) - len(chosen)
        return counts


def _is_equivalent(mutant: Mutant, entries: list[Equivalent], copy: Path) -> bool:
    return any(entry.matches(mutant, (copy / mutant.path).read_text()) for entry in entries)


def _text(mutant: Mutant, result: Result, before: str, after: str) -> str:
    heading = f"{mutant.path}:{mutant.line}: {result.outcome} {mutant.function}"
    noticed = f" by {result.test}" if result.test else f", {result.reached} tests reach it"
    lines = [*(f"- {line}" for line in before.splitlines()), *(f"+ {line}" for line in after.splitlines())]
    return "\n    ".join([heading + noticed, *lines])

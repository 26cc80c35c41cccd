"""Run the tests of a room on mutants, in a copy of the tree."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from negotiator_mutation.errors import MutationError
from negotiator_mutation.mutants import Mutant
from negotiator_mutation.plan import Plan, PlannedMutant, Result, read_results
from negotiator_mutation.rooms import Room
from negotiator_mutation.session import EXAMPLES, PLAN, PYTEST
from negotiator_mutation.statements import Statements


def copy_tree(root: Path, copy: Path) -> None:
    """Copy the files that git knows or would add."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - git
    for name in filter(None, listed.stdout.split("\0")):
        source, target = root / name, copy / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def run_mutants(
    copy: Path,
    room: Room,
    chosen: Sequence[Mutant],
    *,
    longest: float | None = None,
    examples: int = 100,
    report: Callable[[Mutant, Result], None],
) -> list[Result]:
    """Return the result of each mutant, in order, and report it when it is there.

    :param longest: leave out tests that take more seconds.
    :param examples: how many examples hypothesis tries, where a test does not set a number itself.
    :raises MutationError: The tests fail without a change, or the process that runs them ended early.
    """
    sources = {path: (copy / path).read_text() for path in {mutant.path for mutant in chosen}}
    statements = {path: Statements(source) for path, source in sources.items()}
    planned = tuple(
        PlannedMutant(
            str(copy / mutant.path),
            tuple(statements[mutant.path].lines(mutant.line)),
            mutant.text(sources[mutant.path]),
        )
        for mutant in chosen
    )
    with tempfile.TemporaryDirectory(prefix="negotiator-mutants-") as folder:
        results, log = Path(folder, "results"), Path(folder, "log")
        plan = Path(folder, "plan")
        Plan((str(copy / room.source),), planned, longest, str(results)).write(plan)
        with log.open("w") as output:
            process = subprocess.Popen(  # noqa: S603 - pytest
                [
                    *PYTEST,
                    "-p",
                    "negotiator_mutation.session",
                    *room.tests,
                    *(f"--ignore={each}" for each in room.left_out),
                ],
                cwd=copy,
                env=_environment(copy) | {PLAN: str(plan), EXAMPLES: str(examples)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            found = _follow(process, results, chosen, report)
        if len(found) < len(chosen):
            raise MutationError(f"the tests of {room.name} ended early:\n{log.read_text()}")
        return found


def _follow(
    process: subprocess.Popen[bytes],
    results: Path,
    chosen: Sequence[Mutant],
    report: Callable[[Mutant, Result], None],
) -> list[Result]:
    reported = 0
    while True:
        ended = process.poll() is not None
        found = read_results(results)
        for mutant, result in zip(chosen[reported:], found[reported:], strict=False):
            report(mutant, result)
        reported = len(found)
        if ended:
            return found
        time.sleep(0.5)


def _environment(copy: Path) -> dict[str, str]:
    """Return an environment in which the program is imported from the copy, whatever is installed."""
    folders = [copy, copy / "plugins", Path(__file__).parents[1]]
    return dict(os.environ) | {"PYTHONPATH": os.pathsep.join(map(str, folders))}

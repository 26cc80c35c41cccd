"""What the command and the process that runs the tests tell each other, as files of JSON."""

import json
from enum import StrEnum
from pathlib import Path

from attrs import asdict, frozen


class Outcome(StrEnum):
    """Whether a test failed on a mutant; none is run on an equivalent one."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"


@frozen
class PlannedMutant:
    """A change to try: the file (absolute, in the copy), the lines of its statement, and the file with the change."""

    path: str
    lines: tuple[int, ...]
    text: str


@frozen
class Plan:
    """The folders of the program, the mutants, the longest test to run in seconds, and where results go."""

    folders: tuple[str, ...]
    mutants: tuple[PlannedMutant, ...]
    longest: float | None
    results: str

    def write(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read it from a file."""
        plan = json.loads(path.read_text())
        return cls(**plan | {"mutants": tuple(PlannedMutant(**each) for each in plan["mutants"])})


@frozen
class Result:
    """The outcome of one mutant: which test noticed it, and how many tests reach it."""

    outcome: Outcome
    test: str
    reached: int

    def append(self, path: Path) -> None:
        """Append it to a file, as one line."""
        with path.open("a") as opened:
            opened.write(json.dumps(asdict(self)) + "\n")


def read_results(path: Path) -> list[Result]:
    """Return the results so far."""
    if not path.exists():
        return []
    lines = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [Result(**each | {"outcome": Outcome(each["outcome"])}) for each in map(json.loads, lines)]

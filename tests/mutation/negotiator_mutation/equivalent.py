"""Mutants that no test can kill, because the program does the same with the change; each with its reason."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from negotiator_mutation.errors import MutationError
from negotiator_mutation.mutants import Mutant, mutants

KEYS = ("file", "function", "before", "after", "reason")


@frozen
class Equivalent:
    """A change by its texts, so that it is found after lines have moved: see :meth:`Mutant.change`.

    ``after`` may be ``*``: any change of these lines.
    """

    file: str
    function: str
    before: str
    after: str
    reason: str

    def matches(self, mutant: Mutant, source: str) -> bool:
        """Return True if this is the change that the mutant makes."""
        near = (self.file, self.function) == (mutant.path.as_posix(), mutant.function)
        if not near:
            return False
        before, after = mutant.change(source)
        return before == self.before and self.after in {after, "*"}


def read_equivalents(path: Path) -> list[Equivalent]:
    """Read the list.

    :raises MutationError: An entry lacks a key, has an unknown one or an empty reason.
    """
    found = []
    for number, entry in enumerate(tomllib.loads(path.read_text()).get("mutant", ()), start=1):
        if set(entry) != set(KEYS) or not entry["reason"].strip():
            raise MutationError(f"{path}: entry {number} must have exactly {', '.join(KEYS)}, and a reason")
        found.append(Equivalent(**{key: entry[key].strip() for key in KEYS}))
    return found


def stale_equivalents(entries: Iterable[Equivalent], root: Path) -> list[Equivalent]:
    """Return the entries that fit no mutant of their file (any more)."""
    return [entry for entry in entries if not _is_found(entry, root / entry.file)]


def _is_found(entry: Equivalent, path: Path) -> bool:
    if not path.is_file():
        return False
    source = path.read_text()
    first = entry.before.splitlines()[0]
    lines = [line.strip() for line in source.splitlines()]
    return any(
        entry.matches(mutant, source)
        for mutant in mutants(Path(entry.file), source)
        if mutant.function == entry.function and first in lines[max(0, mutant.line - 3) : mutant.line + 2]
    )

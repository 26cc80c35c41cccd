"""The rooms that are mutated, and the tests that should notice."""

from pathlib import Path

from attrs import frozen

from negotiator_mutation.errors import MutationError


@frozen
class Room:
    """A folder of the program and the tests of its own, relative to the root of the tree.

    ``left_out`` are tests that take minutes.
    """

    name: str
    source: str
    tests: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def files(self, root: Path) -> list[Path]:
        """Return the Python files of the room, relative to the root, in order."""
        return [path.relative_to(root) for path in sorted((root / self.source).rglob("*.py"))]


_ALL = (
    Room("ledger", "negotiator/ledger", ("tests/ledger",)),
    Room("queues", "negotiator/queues", ("tests/queues",), ("tests/queues/test_yunikorn_runner.py",)),
    Room("cycle", "negotiator/cycle", ("tests/cycle",)),
    Room("placement", "negotiator/placement", ("tests/placement",)),
    Room("audit", "negotiator/audit", ("tests/audit",), ("tests/audit/test_crash.py",)),
    Room("hooks", "negotiator/hooks", ("tests/hooks",)),
    Room("live", "plugins/negotiator_live", ("tests/live",)),
    Room("limits", "plugins/negotiator_limits", ("tests/limits",)),
    Room(
        "matching",
        "plugins/negotiator_quotasets/matching",
        tuple(f"tests/quotasets/test_{each}.py" for each in ("rules", "names", "allocation", "pool")),
    ),
    Room("pool", "negotiator/pool", ("tests/pool",)),
    Room("bundle", "negotiator/bundle", ("tests/bundle",)),
)
ROOMS = {each.name: each for each in _ALL}

#: The rooms whose mistakes decide who gets what; the others on request.
DEFAULT = ("ledger", "queues", "cycle", "placement", "audit", "hooks", "limits", "matching")


def room(name: str) -> Room:
    """Return the room of this name.

    :raises MutationError: There is no such room.
    """
    if name not in ROOMS:
        raise MutationError(f"unknown room {name!r}; the rooms are {', '.join(ROOMS)}")
    return ROOMS[name]

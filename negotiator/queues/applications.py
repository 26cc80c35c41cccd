"""The queue of each placed application; an application stays in its queue until it is gone.

An application is a cluster of jobs of one user at one schedd. Lookups are batches of a hundred thousand, so the
registry is a set of sorted arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

Keys: TypeAlias = NDArray[np.int64]  # (N,), -1 for an application that can't be registered
Codes: TypeAlias = NDArray[np.int32]  # (N,) numbers of assignments, -1 for none

_BITS = 32
_MAX_CLUSTER = 2**_BITS - 1
_MAX_PAIRS = 2**31 - 1


class ApplicationId(NamedTuple):
    """The schedd in lower case, the user, and the job cluster."""

    schedd: str
    user: str
    cluster: int

    def __str__(self) -> str:
        """Return ``schedd#cluster``."""
        return f"{self.schedd}#{self.cluster}"


class RegisteredApplication(NamedTuple):
    """One application: its queue, when it was last seen (seconds since the epoch), and the group it counts for."""

    id: ApplicationId
    queue: str
    seen: float
    group: str = ""


@attrs.frozen
class ApplicationHold:
    """A hold on an application: the administrator, the time in seconds since the epoch, and a note."""

    by: str
    at: float
    note: str = ""


class QueueAssignment(NamedTuple):
    """The queue of an application, and the group whose limits it counts for."""

    queue: str
    group: str


class RegistryMark(NamedTuple):
    """The registry at one moment, for cheap comparison with a later one."""

    keys: Keys
    assignments: Codes
    seen: NDArray[np.float64]  # (N,) infinite for applications present at the mark


class ApplicationRegistry:
    """The placed applications."""

    def __init__(self, entries: Sequence[RegisteredApplication] = ()) -> None:
        self._owners: list[tuple[str, str]] = []
        self._codes: dict[tuple[str, str], int] = {}
        self._assignments: list[QueueAssignment] = []
        self._numbers: dict[QueueAssignment, int] = {}
        self._keys: Keys = np.zeros(0, np.int64)
        self._where: Codes = np.zeros(0, np.int32)
        self._seen: NDArray[np.float64] = np.zeros(0)
        if entries:
            owners = np.array([self.owner(each.id.schedd, each.id.user) for each in entries], np.int64)
            clusters = np.array([_valid_cluster(each.id.cluster) for each in entries], np.int64)
            assignments = np.array([self.number(each.queue, each.group) for each in entries], np.int32)
            keys, seen = keys_of(owners, clusters), np.array([each.seen for each in entries])
            self._merge(keys[keys >= 0], assignments[keys >= 0], seen[keys >= 0])

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, application: object) -> bool:
        if not isinstance(application, ApplicationId):
            return False
        _, there = self._find(np.array([self.key(application)]))
        return bool(there[0])

    def __iter__(self) -> Iterator[RegisteredApplication]:
        """Iterate over all applications in the order of their keys."""
        return iter(self._entries(range(len(self._keys))))

    def owner(self, schedd: str, user: str) -> int:
        """Return the number of a pair of schedd and user; a new pair gets a new number."""
        pair = (schedd, user)
        if pair not in self._codes:
            if len(self._owners) >= _MAX_PAIRS:
                raise OverflowError("too many pairs of users and schedds")
            self._codes[pair] = len(self._owners)
            self._owners.append(pair)
        return self._codes[pair]

    def number(self, queue: str, group: str = "") -> int:
        """Return the number of an assignment: a queue and a group."""
        assignment = QueueAssignment(queue, group)
        if assignment not in self._numbers:
            self._numbers[assignment] = len(self._assignments)
            self._assignments.append(assignment)
        return self._numbers[assignment]

    def queues_of(self, numbers: Codes) -> NDArray[np.object_]:
        """Return the queues of assignments, (N,) of str."""
        return _named([assignment.queue for assignment in self._assignments], numbers)

    def groups_of(self, numbers: Codes) -> NDArray[np.object_]:
        """Return the groups of assignments, (N,) of str."""
        return _named([assignment.group for assignment in self._assignments], numbers)

    def key(self, application: ApplicationId) -> int:
        """Return the key of one application."""
        owner = self.owner(application.schedd, application.user)
        return int(keys_of(np.array([owner]), np.array([_valid_cluster(application.cluster)]))[0])

    def id(self, key: int) -> ApplicationId:
        """Return the application of a key from this registry."""
        return ApplicationId(*self._owners[key >> _BITS], key & _MAX_CLUSTER)

    def lookup(self, keys: Keys) -> Codes:
        """Return the number of the assignment of each application, -1 for unknown ones."""
        found, there = self._find(keys)
        if not len(self._keys):
            return np.full(len(keys), -1, np.int32)
        return np.where(there, self._where[found], -1).astype(np.int32)

    def put(self, keys: Keys, assignments: Codes, now: float) -> None:
        """Set the assignments of applications; earlier ones are replaced."""
        valid = (keys >= 0) & (assignments >= 0)
        self._merge(keys[valid], assignments[valid], np.full(int(valid.sum()), now))

    def touch(self, keys: Keys, now: float) -> None:
        """Mark applications as seen at ``now``."""
        if len(self._keys):
            found, there = self._find(keys)
            self._seen[found[there]] = now

    def forget(self, before: float, now: float) -> int:
        """Remove the applications last seen before a time, and return how many.

        A time after ``now`` comes from a clock that was ahead; it counts as ``now``.
        """
        self._seen = np.minimum(self._seen, now)
        remaining = self._seen >= before
        self._keys, self._where, self._seen = (
            self._keys[remaining],
            self._where[remaining],
            self._seen[remaining],
        )
        return int(len(remaining) - remaining.sum())

    def remove(self, application: ApplicationId) -> None:
        """Remove one application."""
        remaining = self._keys != self.key(application)
        self._keys, self._where, self._seen = (
            self._keys[remaining],
            self._where[remaining],
            self._seen[remaining],
        )

    def find(self, schedd: str, cluster: int) -> tuple[RegisteredApplication, ...]:
        """Return the applications of a cluster, one for each user; an empty schedd means any schedd."""
        codes = [code for (where, _), code in self._codes.items() if not schedd or where == schedd]
        found, there = self._find(
            keys_of(np.array(codes, np.int64), np.full(len(codes), _valid_cluster(cluster)))
        )
        return tuple(self._entries(found[there].tolist() if len(self._keys) else []))

    def move(self, application: ApplicationId, queue: str, now: float) -> None:
        """Move one application to a queue; it still counts for the same group."""
        keys = np.array([self.key(application)])
        group = self.groups_of(self.lookup(keys))[0]
        self.put(keys, np.array([self.number(queue, group)], np.int32), now)

    def busy(self) -> frozenset[str]:
        """Return the queues that have applications."""
        return frozenset(self._assignments[number].queue for number in np.unique(self._where).tolist())

    def counts(self) -> dict[str, int]:
        """Return the number of applications of each queue with applications."""
        numbers, counts = np.unique(self._where, return_counts=True)
        found: dict[str, int] = {}
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            queue = self._assignments[number].queue
            found[queue] = found.get(queue, 0) + count
        return found

    def users(self, queues: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the users with applications in each queue, by name; queues without applications are left out."""
        numbers = [
            number for number, assignment in enumerate(self._assignments) if assignment.queue in queues
        ]
        rows = np.isin(self._where, numbers)
        pairs = np.unique((self._where[rows].astype(np.int64) << _BITS) | (self._keys[rows] >> _BITS))
        found: dict[str, set[str]] = {}
        for number, owner in zip((pairs >> _BITS).tolist(), (pairs & _MAX_CLUSTER).tolist(), strict=True):
            found.setdefault(self._assignments[number].queue, set()).add(self._owners[owner][1])
        return {queue: tuple(sorted(users)) for queue, users in found.items()}

    def mark(self, last: float = -np.inf) -> RegistryMark:
        """Return a mark to compare a later state with; ``last`` is the time of the last look at the pool."""
        return RegistryMark(self._keys, self._where, self._absent(last))

    def since(
        self, mark: RegistryMark, last: float = -np.inf
    ) -> tuple[list[RegisteredApplication], list[ApplicationId]]:
        """Return the entries added, moved or removed since a mark of this registry or of the one it was copied from.

        With ``last``, the time of the last look at the pool, entries whose presence changed are included.
        """
        same = np.isin(self._keys, mark.keys)
        if len(mark.keys):
            row = np.searchsorted(mark.keys, self._keys).clip(0, len(mark.keys) - 1)
            same &= mark.assignments[row] == self._where
            same &= mark.seen[row] == self._absent(last)
        changed = list(self._entries(np.flatnonzero(~same).tolist()))
        return changed, [self.id(key) for key in np.setdiff1d(mark.keys, self._keys).tolist()]

    def copy(self) -> ApplicationRegistry:
        """Return an independent copy."""
        twin = ApplicationRegistry()
        twin._owners, twin._codes = list(self._owners), dict(self._codes)
        twin._assignments, twin._numbers = list(self._assignments), dict(self._numbers)
        twin._keys, twin._where, twin._seen = self._keys.copy(), self._where.copy(), self._seen.copy()
        return twin

    def _absent(self, last: float) -> NDArray[np.float64]:
        """Return when each application absent at ``last`` was last seen; infinite for present ones."""
        return np.where(self._seen < last, self._seen, np.inf)

    def _entries(self, rows: Iterable[int]) -> Iterator[RegisteredApplication]:
        for row in rows:
            assignment = self._assignments[self._where[row]]
            yield RegisteredApplication(
                self.id(int(self._keys[row])), assignment.queue, float(self._seen[row]), assignment.group
            )

    def _find(self, keys: Keys) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the position of each key, and whether it is present."""
        found = np.searchsorted(self._keys, keys).clip(0, max(0, len(self._keys) - 1))
        if not len(self._keys):
            return found, np.zeros(len(keys), np.bool_)
        return found, self._keys[found] == keys

    def _merge(self, keys: Keys, assignments: Codes, seen: NDArray[np.float64]) -> None:
        """Add rows; the last of several rows with the same key replaces the others."""
        every = np.concatenate((self._keys, keys))
        order = np.argsort(every, kind="stable")
        last = np.append(np.diff(every[order]) != 0, True) if len(order) else np.zeros(0, np.bool_)
        chosen = order[last]
        self._keys = every[chosen]
        self._where = np.concatenate((self._where, assignments))[chosen]
        self._seen = np.concatenate((self._seen, seen))[chosen]


def _named(names: Sequence[str], numbers: Codes) -> NDArray[np.object_]:
    """Return the names of numbers; empty for -1."""
    return np.array([*names, ""], np.object_)[numbers]


def _valid_cluster(cluster: int) -> int:
    """Return a cluster, or -1 for an invalid one, which an array might not hold."""
    return cluster if 0 <= cluster <= _MAX_CLUSTER else -1


def keys_of(owners: NDArray[np.int64], clusters: NDArray[np.int64]) -> Keys:
    """Return one key for each application, from the number of its owner and its cluster; -1 for an invalid cluster."""
    sound = (clusters >= 0) & (clusters <= _MAX_CLUSTER) & (owners >= 0)
    return np.where(sound, (owners << _BITS) | np.where(sound, clusters, 0), -1)

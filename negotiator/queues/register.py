"""Which application is in which queue: an application that was placed stays where it is until it is gone.

An application is a cluster of jobs of one user at one schedd. A hundred thousand of them are looked up at once, so
they are kept as sorted arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Keys: TypeAlias = NDArray[np.int64]  # (N,), -1 for what is no application that can be kept
Codes: TypeAlias = NDArray[np.int32]  # (N,) numbers of queues, -1 for none

_BITS = 32
_MAX_CLUSTER = 2**_BITS - 1
_MAX_PAIRS = 2**31 - 1


class ApplicationId(NamedTuple):
    """Whose and which: the schedd in lower case, the user, the job cluster."""

    schedd: str
    user: str
    cluster: int

    def __str__(self) -> str:
        """``schedd#cluster``, as it is told to people."""
        return f"{self.schedd}#{self.cluster}"


class Entry(NamedTuple):
    """One application: its queue, and when it was last seen, in seconds since the epoch."""

    id: ApplicationId
    queue: str
    seen: float


class Mark(NamedTuple):
    """Where applications were at one moment; what changed since is cheap to tell."""

    keys: Keys
    queues: Codes


class Register:
    """The applications that were placed."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._owners: list[tuple[str, str]] = []
        self._codes: dict[tuple[str, str], int] = {}
        self._paths: list[str] = []
        self._numbers: dict[str, int] = {}
        self._keys: Keys = np.zeros(0, np.int64)
        self._queues: Codes = np.zeros(0, np.int32)
        self._seen: NDArray[np.float64] = np.zeros(0)
        if entries:
            owners = np.array([self.owner(each.id.schedd, each.id.user) for each in entries], np.int64)
            clusters = np.array([_sound(each.id.cluster) for each in entries], np.int64)
            queues = np.array([self.number(each.queue) for each in entries], np.int32)
            keys, seen = keys_of(owners, clusters), np.array([each.seen for each in entries])
            self._merge(keys[keys >= 0], queues[keys >= 0], seen[keys >= 0])

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Entry]:
        """All applications, in the order of their keys."""
        rows = zip(self._keys.tolist(), self._queues.tolist(), self._seen.tolist(), strict=True)
        for key, queue, seen in rows:
            yield Entry(self._id(key), self._paths[queue], seen)

    def owner(self, schedd: str, user: str) -> int:
        """The number of a schedd and a user together; a new one where they were not met before."""
        pair = (schedd, user)
        if pair not in self._codes:
            if len(self._owners) >= _MAX_PAIRS:
                raise OverflowError("there are more users and schedds than can be told apart")
            self._codes[pair] = len(self._owners)
            self._owners.append(pair)
        return self._codes[pair]

    def number(self, path: str) -> int:
        """The number of a queue."""
        if path not in self._numbers:
            self._numbers[path] = len(self._paths)
            self._paths.append(path)
        return self._numbers[path]

    def paths_of(self, numbers: Codes) -> NDArray[np.object_]:
        """The queues of several numbers, (N,) of str."""
        return (
            np.array(self._paths, np.object_)[numbers]
            if self._paths
            else np.full(len(numbers), "", np.object_)
        )

    def key(self, application: ApplicationId) -> int:
        """The key of one application."""
        owner = self.owner(application.schedd, application.user)
        return int(keys_of(np.array([owner]), np.array([_sound(application.cluster)]))[0])

    def lookup(self, keys: Keys) -> Codes:
        """The number of the queue that each application is in."""
        found, there = self._find(keys)
        if not len(self._keys):
            return np.full(len(keys), -1, np.int32)
        return np.where(there, self._queues[found], -1).astype(np.int32)

    def put(self, keys: Keys, queues: Codes, now: float) -> None:
        """Note where applications are; where they were before no longer counts."""
        kept = (keys >= 0) & (queues >= 0)
        self._merge(keys[kept], queues[kept], np.full(int(kept.sum()), now))

    def touch(self, keys: Keys, now: float) -> None:
        """Note that applications are still there."""
        if len(self._keys):
            found, there = self._find(keys)
            self._seen[found[there]] = now

    def forget(self, before: float) -> int:
        """Drop the applications that were last seen before a time, and say how many."""
        kept = self._seen >= before
        self._keys, self._queues, self._seen = self._keys[kept], self._queues[kept], self._seen[kept]
        return int(len(kept) - kept.sum())

    def remove(self, application: ApplicationId) -> None:
        """Drop one application."""
        kept = self._keys != self.key(application)
        self._keys, self._queues, self._seen = self._keys[kept], self._queues[kept], self._seen[kept]

    def find(self, schedd: str, cluster: int) -> tuple[Entry, ...]:
        """The applications of a cluster at a schedd (at any where it is empty): one for each user with jobs in it."""
        codes = [code for (where, _), code in self._codes.items() if not schedd or where == schedd]
        found, there = self._find(keys_of(np.array(codes, np.int64), np.full(len(codes), _sound(cluster))))
        rows = found[there].tolist() if len(self._keys) else []
        return tuple(
            Entry(self._id(int(self._keys[row])), self._paths[self._queues[row]], float(self._seen[row]))
            for row in rows
        )

    def move(self, application: ApplicationId, queue: str, now: float) -> None:
        """Put one application into a queue."""
        self.put(np.array([self.key(application)]), np.array([self.number(queue)], np.int32), now)

    def busy(self) -> frozenset[str]:
        """The queues that have applications."""
        return frozenset(self._paths[number] for number in np.unique(self._queues).tolist())

    def counts(self) -> dict[str, int]:
        """The number of applications in each queue that has any."""
        numbers, counts = np.unique(self._queues, return_counts=True)
        return {
            self._paths[number]: count
            for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        }

    def users(self, queue: str) -> tuple[str, ...]:
        """The users with applications in a queue, by name."""
        number = self._numbers.get(queue, -1)
        owners = np.unique(self._keys[self._queues == number] >> _BITS).tolist()
        return tuple(sorted({self._owners[owner][1] for owner in owners}))

    def mark(self) -> Mark:
        """The state to compare a later one with."""
        return Mark(self._keys, self._queues)

    def since(self, mark: Mark) -> tuple[list[Entry], list[ApplicationId]]:
        """What came or moved since a mark of this register, or of one that it was copied from, and what went."""
        same = np.isin(self._keys, mark.keys)
        if len(mark.keys):
            place = np.searchsorted(mark.keys, self._keys).clip(0, len(mark.keys) - 1)
            same &= mark.queues[place] == self._queues
        rows = np.flatnonzero(~same).tolist()
        changed = [
            Entry(self._id(int(self._keys[row])), self._paths[self._queues[row]], float(self._seen[row]))
            for row in rows
        ]
        return changed, [self._id(key) for key in np.setdiff1d(mark.keys, self._keys).tolist()]

    def copy(self) -> Register:
        """A register of its own with the same applications."""
        twin = Register()
        twin._owners, twin._codes = list(self._owners), dict(self._codes)
        twin._paths, twin._numbers = list(self._paths), dict(self._numbers)
        twin._keys, twin._queues, twin._seen = self._keys.copy(), self._queues.copy(), self._seen.copy()
        return twin

    def _id(self, key: int) -> ApplicationId:
        return ApplicationId(*self._owners[key >> _BITS], key & _MAX_CLUSTER)

    def _find(self, keys: Keys) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where each key is, or could be, and whether it is there."""
        found = np.searchsorted(self._keys, keys).clip(0, max(0, len(self._keys) - 1))
        if not len(self._keys):
            return found, np.zeros(len(keys), np.bool_)
        return found, self._keys[found] == keys

    def _merge(self, keys: Keys, queues: Codes, seen: NDArray[np.float64]) -> None:
        """Add rows; of rows with the same key the last holds."""
        every = np.concatenate((self._keys, keys))
        order = np.argsort(every, kind="stable")
        last = np.append(np.diff(every[order]) != 0, True) if len(order) else np.zeros(0, np.bool_)
        chosen = order[last]
        self._keys = every[chosen]
        self._queues = np.concatenate((self._queues, queues))[chosen]
        self._seen = np.concatenate((self._seen, seen))[chosen]


def _sound(cluster: int) -> int:
    """A cluster, or -1 for what is none: numbers that no array could hold among them."""
    return cluster if 0 <= cluster <= _MAX_CLUSTER else -1


def keys_of(owners: NDArray[np.int64], clusters: NDArray[np.int64]) -> Keys:
    """One number for each application, from those of its owner and its cluster; -1 where a cluster is no such number."""
    sound = (clusters >= 0) & (clusters <= _MAX_CLUSTER) & (owners >= 0)
    return np.where(sound, (owners << _BITS) | np.where(sound, clusters, 0), -1)

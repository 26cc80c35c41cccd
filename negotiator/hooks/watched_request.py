"""A request as the code of a plugin gets it if its answer may be used for other requests: what the code reads of it is noted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from negotiator.hooks.records import Request

#: The names of the resources of a request, without the amounts.
RESOURCES = "names of resources"
#: In these each request differs from all others.
_OWN = frozenset({"count", "first_job"})
_FIELDS = frozenset(each.alias or each.name for each in attrs.fields(Request)) - _OWN - {"applications"}


class RequestWatch:
    """What was read of a request: the names of its fields, and whether something was that tells it from all others."""

    __slots__ = ("distinguishes", "fields")

    def __init__(self) -> None:
        self.fields: set[str] = set()
        self.distinguishes = False

    def note(self, name: str) -> None:
        """Note that an attribute of the request is read."""
        if name in _FIELDS:
            self.fields.add(name)
        elif name in _OWN:
            self.distinguishes = True


class WatchedRequest(Request):
    """A request that notes what is read of it; ``plain`` is the request itself."""

    __slots__ = ("_plain", "_watch")

    @classmethod
    def of(cls, request: Request, watch: RequestWatch) -> WatchedRequest:
        """Return a request with the same values."""
        own = cls.__new__(cls)
        for field in attrs.fields(Request):
            object.__setattr__(own, field.name, getattr(request, field.name))
        object.__setattr__(own, "_plain", request)
        object.__setattr__(own, "_watch", watch)
        return own

    def __getattribute__(self, name: str) -> Any:
        read = object.__getattribute__
        try:
            watch: RequestWatch = read(self, "_watch")
        except AttributeError:  # a copy that a plugin made (attrs.evolve): it has read all fields
            return read(self, name)
        if name == "applications":
            return ApplicationKeys(read(self, "applications"), watch)
        if name == "resources":
            return ResourceNames(read(self, "resources"), watch)
        watch.note(name)
        return read(self, name)

    def plain(self) -> Request:
        """Return the request itself, of which anything may be read."""
        watch: RequestWatch = object.__getattribute__(self, "_watch")
        watch.distinguishes = True
        found: Request = object.__getattribute__(self, "_plain")
        return found


def amounts_of(request: Request) -> Mapping[str, int]:
    """Return how much a request asks for of each resource, without telling it from others that differ in this."""
    found = request.resources
    return found.unnoted if isinstance(found, ResourceNames) else found


class ResourceNames(Mapping[str, int]):
    """The resources of a watched request: which they are is noted apart from how much of them it asks for."""

    __slots__ = ("_watch", "unnoted")

    def __init__(self, amounts: Mapping[str, int], watch: RequestWatch) -> None:
        self.unnoted, self._watch = amounts, watch

    def __len__(self) -> int:
        self._watch.fields.add(RESOURCES)
        return len(self.unnoted)

    def __iter__(self) -> Iterator[str]:
        self._watch.fields.add(RESOURCES)
        return iter(self.unnoted)

    def __contains__(self, name: object) -> bool:
        self._watch.fields.add(RESOURCES)
        return name in self.unnoted

    def __getitem__(self, name: str) -> int:
        self._watch.fields.add("resources")
        return self.unnoted[name]


class ApplicationKeys(Sequence[str]):
    """The applications of a watched request: passing them on as keys does not tell it from other requests, reading them does."""

    __slots__ = ("_names", "_watch")

    def __init__(self, names: Sequence[str], watch: RequestWatch) -> None:
        self._names, self._watch = names, watch

    def _read(self) -> Sequence[str]:
        self._watch.distinguishes = True
        return self._names

    def __len__(self) -> int:
        return len(self._read())

    def __getitem__(self, place: Any) -> Any:
        return self._read()[place]

    def __eq__(self, other: object) -> bool:
        return self._read() == (other._read() if isinstance(other, ApplicationKeys) else other)

    def __hash__(self) -> int:
        return hash(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

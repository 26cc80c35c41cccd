"""Sessions: keys that were agreed on, which spare the next connection to the same daemon the authentication."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Final, Self

import attrs

from negotiator_live.security.cipher import SessionKey, derived_key
from negotiator_live.wire.exchange import Deadline

if TYPE_CHECKING:
    from negotiator_live.wire.addresses import DaemonAddress


_CAPABILITY: Final = re.compile(r"([^\s]{1,1000})#(\[[^\]]{0,4000}\])([0-9a-zA-Z]{1,1000})")


_MOST: Final = 10_000  # sessions that are stored


@attrs.frozen
class SecuritySession:
    """A session that can be resumed: the daemon knows it by its ``id``. Its ``repr`` shows nothing of the key or the id."""

    id: str = attrs.field(repr=False)
    key: SessionKey
    user: str = ""
    """Who this client is to the daemon."""
    commands: frozenset[int] = frozenset()
    """The commands that the daemon accepts in this session; empty if unknown."""
    lifetime: Deadline | None = None
    """When it ends; None if the daemon ends it."""

    @classmethod
    def of_capability(cls, text: str) -> Self | None:
        """Return the session that a claim id or a schedd's ``Capability`` stands for; None if it has no key.

        Its form is ``id#[policy]key``.
        """
        found = _CAPABILITY.fullmatch(text)
        return cls(found[1], derived_key(found[3].encode("ascii"))) if found else None

    @property
    def is_over(self) -> bool:
        """True if it must not be used any more."""
        return self.lifetime is not None and self.lifetime.remaining() <= 0


class SessionCache:
    """The sessions with all daemons, for use by several threads."""

    __slots__ = ("__sessions", "_lock")

    def __init__(self) -> None:
        self.__sessions: dict[tuple[str, int], SecuritySession] = {}
        self._lock = threading.Lock()

    def find(self, address: DaemonAddress, command: int) -> SecuritySession | None:
        """Return the session for a command; None if there is none that is still valid."""
        key = (str(address), command)
        with self._lock:
            session = self.__sessions.get(key)
            if session is not None and session.is_over:
                del self.__sessions[key]
                return None
            return session

    def store(self, address: DaemonAddress, command: int, session: SecuritySession) -> None:
        """Store a session for a command and the others that it is valid for."""
        with self._lock:
            for each in session.commands | {command}:
                self.__sessions[str(address), each] = session
            while len(self.__sessions) > _MOST:
                del self.__sessions[next(iter(self.__sessions))]

    def drop(self, address: DaemonAddress, session: SecuritySession) -> None:
        """Remove a session that its daemon does not know any more."""
        text = str(address)
        with self._lock:
            gone = [
                key for key, value in self.__sessions.items() if key[0] == text and value.id == session.id
            ]
            for key in gone:
                del self.__sessions[key]

    def clear(self) -> None:
        """Remove all sessions and their keys."""
        with self._lock:
            self.__sessions.clear()

    def __len__(self) -> int:
        return len(self.__sessions)

    def __repr__(self) -> str:
        return f"<SessionCache of {len(self)} entries>"

"""The sessions that clients of this server may resume, limited in number and life."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import attrs

from negotiator_live.security.cipher import SessionKey
from negotiator_live.security.server.peer import Peer

MOST: Final = 2_000
"""Sessions of authenticated peers that are kept; the one that was not used for the longest time ends first."""


MOST_ANONYMOUS: Final = 200
"""Sessions of peers that did not authenticate: they take no room from the others."""


_SLOP: Final = 20.0  # seconds that a session lives longer here than at the client (SEC_SESSION_DURATION_SLOP)


@attrs.frozen
class ServedSession:
    """A session: its ``repr`` shows neither its id nor its key."""

    id: str = attrs.field(repr=False)
    key: SessionKey
    peer: Peer
    ends: float
    lease: float


class ServedSessions:
    """The sessions of all clients, for use by several threads.

    :param clock: returns seconds from any beginning.
    """

    __slots__ = ("__anonymous", "__known", "__lasting", "_clock", "_lock")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.__known: OrderedDict[str, tuple[ServedSession, float]] = OrderedDict()
        self.__anonymous: OrderedDict[str, tuple[ServedSession, float]] = OrderedDict()
        self.__lasting: dict[str, ServedSession] = {}
        self._clock = clock
        self._lock = threading.Lock()

    def begin(self, key: SessionKey, peer: Peer, seconds: float, lease: float) -> ServedSession:
        """Return a new session, stored under an id that cannot be guessed."""
        now = self._clock()
        session = ServedSession(
            f"negotiator:{secrets.token_hex(16)}", key, peer, now + seconds + _SLOP, lease + _SLOP
        )
        sessions, most = self._of(peer)
        with self._lock:
            sessions[session.id] = (session, now)
            while len(sessions) > most:
                sessions.popitem(last=False)
        return session

    def add_lasting(self, session_id: str, key: SessionKey, peer: Peer) -> None:
        """Add a session that was agreed on otherwise, and never ends."""
        with self._lock:
            self.__lasting[session_id] = ServedSession(session_id, key, peer, math.inf, math.inf)

    def find(self, session_id: str) -> ServedSession | None:
        """Return a session, and renew its lease; None if it is unknown or over."""
        now = self._clock()
        with self._lock:
            if (lasting := self.__lasting.get(session_id)) is not None:
                return lasting
            for sessions in (self.__known, self.__anonymous):
                session, used = sessions.get(session_id, (None, 0.0))
                if session is None:
                    continue
                if now >= session.ends or now >= used + session.lease:
                    del sessions[session_id]
                    return None
                sessions[session_id] = (session, now)
                sessions.move_to_end(session_id)
                return session
        return None

    def clear(self) -> None:
        """Remove all sessions and their keys."""
        with self._lock:
            self.__known.clear()
            self.__anonymous.clear()
            self.__lasting.clear()

    def __len__(self) -> int:
        return len(self.__known) + len(self.__anonymous) + len(self.__lasting)

    def __repr__(self) -> str:
        return f"<ServedSessions of {len(self)} entries>"

    def _of(self, peer: Peer) -> tuple[OrderedDict[str, tuple[ServedSession, float]], int]:
        return (self.__known, MOST) if peer.user else (self.__anonymous, MOST_ANONYMOUS)

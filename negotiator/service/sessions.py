"""Sessions of browsers: which token somebody logged in with, in the memory of this process.

A session has the SHA-256 of the token, never the token; it ends with the entry of the token.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from typing import Final

import attrs

#: Seconds after which somebody logs in again.
LIFETIME: Final = 12 * 3600.0
#: Sessions of one token; the oldest one ends when a further one begins.
MOST_OF_A_TOKEN: Final = 16

_MINUTE: Final = 60.0
_MOST_FAILURES: Final = 20  # of an address in a minute
_MOST_ADDRESSES: Final = 1000


@attrs.frozen
class BrowserSession:
    """A session: the SHA-256 of its token, the value that its forms have to send, and its end in seconds since the epoch."""

    token: str
    form_value: str = attrs.field(repr=False)
    ends: float


@attrs.define(eq=False)
class Sessions:
    """The sessions by the SHA-256 of their ids, oldest first: a lookup takes as long for a wrong id as for a nearly right one."""

    _sessions: OrderedDict[str, BrowserSession] = attrs.field(factory=OrderedDict, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def begin(self, token: str, now: float) -> str:
        """Begin a session of a token, given by its SHA-256; return the id of the session, which is stored nowhere."""
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._end_of_time(now)
            own = [key for key, each in self._sessions.items() if each.token == token]
            for key in own[: max(len(own) - MOST_OF_A_TOKEN + 1, 0)]:
                del self._sessions[key]
            self._sessions[_key(name)] = BrowserSession(token, secrets.token_urlsafe(32), now + LIFETIME)
        return name

    def find(self, name: str, now: float) -> BrowserSession | None:
        """Return the session with an id; None if it is unknown or has ended."""
        with self._lock:
            self._end_of_time(now)
            return self._sessions.get(_key(name))

    def end(self, name: str) -> None:
        """End the session with an id, if there is one."""
        with self._lock:
            self._sessions.pop(_key(name), None)

    def _end_of_time(self, now: float) -> None:
        """Remove the sessions whose time is over, which are the oldest ones."""
        while self._sessions and next(iter(self._sessions.values())).ends <= now:
            self._sessions.popitem(last=False)


@attrs.define(eq=False)
class FailedLogins:
    """Counts the wrong tokens that each address sent in the last minute; of at most 1,000 addresses, the last ones to begin."""

    _counts: OrderedDict[str, tuple[float, int]] = attrs.field(factory=OrderedDict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def add(self, address: str, now: float) -> None:
        """Count a wrong token."""
        with self._lock:
            since, count = self._counts.get(address, (now, 0))
            if now - since >= _MINUTE:
                self._counts.pop(address)
                since, count = now, 0
            self._counts[address] = since, count + 1
            if len(self._counts) > _MOST_ADDRESSES:
                self._counts.popitem(last=False)

    def wait(self, address: str, now: float) -> float:
        """Return the seconds until an address may try again; 0 if it may."""
        with self._lock:
            since, count = self._counts.get(address, (now, 0))
        return max(since + _MINUTE - now, 0.0) if count >= _MOST_FAILURES else 0.0


def _key(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()

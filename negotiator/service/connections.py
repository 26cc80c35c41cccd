"""Connections of clients, with limited time and number: slow clients take nobody's place.

uvicorn limits the time between two requests only.
"""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedConnection(H11Protocol):
    """A connection that is closed if a request does not arrive in time, or its answer is not taken.

    If there are as many connections as requests may be answered at the same time, the one that has waited for its client for
    the longest time is closed for each new one.
    """

    #: Seconds from the first byte of a request, or from the beginning of the connection, until its last byte.
    longest_request: ClassVar[float] = 30.0
    #: Seconds in which a client has to take what was sent, up to a rest of it.
    longest_answer: ClassVar[float] = 120.0

    #: Since when this waits for the client, by a monotonic clock; None while the client waits for an answer.
    waiting_since: float | None = None
    _deadline: asyncio.TimerHandle | None = None
    _answer_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_client()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._wait_for_client()
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request; the time between two is limited by uvicorn."""
        self._stop_waiting()
        super().on_response_complete()
        if self.cycle.response_complete:  # else another request has arrived already
            self.waiting_since = time.monotonic()

    def pause_writing(self) -> None:
        """Wait for the client to take what was sent."""
        super().pause_writing()
        if self._answer_deadline is None:
            self._answer_deadline = self.loop.call_later(self.longest_answer, self.abort)

    def resume_writing(self) -> None:
        """Go on: the client has taken most of what was sent."""
        super().resume_writing()
        if self._answer_deadline is not None:
            self._answer_deadline.cancel()
            self._answer_deadline = None

    def connection_lost(self, exc: Exception | None) -> None:
        """End: nothing is waited for any more."""
        super().connection_lost(exc)
        self._stop_waiting()
        self.resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP; if the answer to its beginning was sent already, close the connection."""
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            self.abort()

    def _wait_for_client(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self.waiting_since = time.monotonic()
            self._deadline = self.loop.call_later(self.longest_request, self.abort)

    def _stop_waiting(self) -> None:
        self.waiting_since = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_room(self) -> None:
        if self.limit_concurrency is None or len(self.connections) < self.limit_concurrency:
            return
        waiting = [
            (each.waiting_since, number, each)
            for number, each in enumerate(self.connections)
            if isinstance(each, TimedConnection) and each is not self and each.waiting_since is not None
        ]
        if waiting:
            _, _, longest = min(waiting, key=lambda each: each[:2])
            longest.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self.connections.discard(self)
        self.transport.abort()

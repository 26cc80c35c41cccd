"""Answers that are made once of an overview, and sent to everybody who requests them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from gzip import compress
from typing import Final

import attrs
from starlette.requests import Request
from starlette.responses import Response

#: Bytes of answers that are kept: clients can write one path in many ways.
_MOST: Final = 64 << 20
_SHORT: Final = 1000  # bytes that one packet takes in any case
_LEVEL: Final = 1  # a page of 2,000 queues: 1/34 of its size in 2 ms; level 6 is 1/49 in 5


@attrs.frozen
class KeptAnswer:
    """The body of an answer, as it is and compressed; ``zipped`` is empty for a short one."""

    body: bytes
    zipped: bytes

    @classmethod
    def of(cls, body: bytes) -> KeptAnswer:
        """Compress a body. Nobody but its reader chose a part of it, so that its length tells nothing about the rest."""
        return cls(body, compress(body, _LEVEL, mtime=0) if len(body) > _SHORT else b"")

    def response(self, request: Request, media_type: str) -> Response:
        """Return the answer in the form that a request accepts."""
        headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
        if self.zipped and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                self.zipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=media_type
            )
        return Response(self.body, headers=headers, media_type=media_type)

    def __len__(self) -> int:
        return len(self.body) + len(self.zipped)


@attrs.define(eq=False)
class KeptAnswers:
    """Answers by key. Threads that request the same one wait for the first of them."""

    _found: dict[str, Future[KeptAnswer]] = attrs.field(factory=dict, init=False)
    _kept: int = attrs.field(default=0, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def get(self, key: str, make: Callable[[], bytes]) -> KeptAnswer:
        """Return an answer; ``make`` is called once, unless it fails, or too much is kept already."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                made = None
            else:
                made = found = self._found[key] = Future()
        if made is not None:
            self._make(key, make, made)
        return found.result()

    def _make(self, key: str, make: Callable[[], bytes], made: Future[KeptAnswer]) -> None:
        try:
            answer = KeptAnswer.of(make())
        except BaseException as error:  # noqa: BLE001 - all who wait for the answer get it
            self._forget(key)
            made.set_exception(error)
            return
        with self._lock:
            is_kept = self._kept + len(answer) <= _MOST
            self._kept += len(answer) * is_kept
        if not is_kept:
            self._forget(key)
        made.set_result(answer)

    def _forget(self, key: str) -> None:
        with self._lock:
            del self._found[key]

"""The wish of an administrator that a cycle ends with the matches it has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs


@attrs.define(eq=False)
class StopRequest:
    """Is written by a signal handler, and read by the cycle between two turns.

    ``is_listening`` is True while a cycle can still end by it: from its first decision until its outcome is recorded.
    """

    is_requested: bool = False
    is_listening: bool = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Return a context in which a cycle ends by the request."""
        self.is_listening = True
        try:
            yield
        finally:
            self.is_listening = False

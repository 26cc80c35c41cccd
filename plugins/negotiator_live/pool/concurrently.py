"""Calls for several daemons at the same time, so that one that hangs delays no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from negotiator_live.wire.errors import DaemonError

T = TypeVar("T")


_MAX_THREADS: Final = 32


def concurrently(parts: Sequence[T], function: Callable[[T], None]) -> Iterator[tuple[T, DaemonError | None]]:
    """Call a function with all parts at the same time; yield each with the error that it raised, in their order."""

    def called(part: T) -> DaemonError | None:
        try:
            function(part)
        except DaemonError as error:
            return error
        return None

    if parts:
        with ThreadPoolExecutor(min(len(parts), _MAX_THREADS)) as threads:
            yield from zip(parts, threads.map(called, parts), strict=True)

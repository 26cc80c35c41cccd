"""Who ran out of time in a cycle, for people."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.app.cycle_report import CycleResult, ReachedLimit

#: Columns of ``limit_rows``.
COLUMNS = ("TIME OF", "SECONDS", "SETTING", "SOURCE")


def limit_rows(result: CycleResult) -> Iterator[tuple[str, str, str, str]]:
    """Yield the limits that were reached, in their order: whose time it was, the limit, the setting and its place."""
    for reached in result.reached:
        where = reached.reason.provenance
        seconds = reached.reason.numbers.get("limit")
        yield (
            owner(reached),
            "" if seconds is None else f"{seconds:g}",
            where.rule if seconds is not None else reached.reason.text,
            str(where.source) if where.source else "" if seconds is None else "default",
        )


def limit_lines(result: CycleResult) -> Iterator[str]:
    """Yield a line for each limit that was reached."""
    for whose, seconds, setting, source in limit_rows(result):
        yield f"{whose}: {setting} is {seconds} s ({source})" if seconds else setting


def owner(reached: ReachedLimit) -> str:
    """Return whose time was used up."""
    stop = reached.stop
    if stop.submitter and stop.schedd:
        return f"{stop.submitter} at {stop.schedd}"
    return stop.submitter or (f"schedd {stop.schedd}" if stop.schedd else "the cycle")

"""Slots of machines that are under maintenance get no new match.

The calendar is a YAML file of the bundle: a list of windows, each with ``machine`` (a glob over the slots' Machine),
``from`` and ``to`` (ISO 8601, UTC where no zone is given) and ``why``. A window holds from ``from`` until just before
``to``. The verdict is WAITING, not DENIED: the machine comes back.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import attrs
import yaml

from negotiator.plugin import (
    Cycle,
    Filter,
    Mask,
    Problem,
    Section,
    Severity,
    Source,
    Table,
    Verdict,
    evaluate_table,
    hookimpl,
    parse,
    unparse_value,
)

__version__ = "1.0"

KEYS = {"machine", "from", "to", "why"}


@attrs.frozen
class Maintenance:
    """The key of ``pool.yaml`` that this plugin owns; without it the plugin filters nothing."""

    maintenance_calendar: Path | None = None


@attrs.frozen
class Window:
    """Machines and the time in which they are under maintenance, in seconds since the epoch."""

    machine: str
    start: float
    end: float
    why: str
    source: Source


@attrs.frozen
class Calendar:
    """All windows."""

    windows: tuple[Window, ...]

    def begin_cycle(self, slots: Table, cycle: Cycle) -> tuple[Filter, ...]:
        """Return one filter over the slots for each window that is open at the time of the cycle."""
        return tuple(
            Filter(
                rule=f"maintenance of {window.machine}",
                allow=~under(window, slots),
                code="maintenance",
                text=f"the machine is under maintenance: {window.why}",
                verdict=Verdict.WAITING,
                source=window.source,
            )
            for window in self.windows
            if window.start <= cycle.now < window.end
        )


class CalendarError(Exception):
    """An entry of the calendar that can't be used."""

    def __init__(self, source: Source, message: str) -> None:
        super().__init__(f"{source}: {message}")
        self.source = source
        self.message = message


@hookimpl
def negotiator_section() -> Section:
    """Declare the key of pool.yaml."""
    return Section(schema=Maintenance, check=check)


@hookimpl
def negotiator_job_attributes() -> list[str]:
    """Declare that no attribute of a job is read."""
    return []  # maintenance is the same for all jobs


@hookimpl
def negotiator_policy(settings: Maintenance) -> Calendar:
    """Read the calendar once; a bundle that is loaded again reads it again."""
    return Calendar(calendar(settings.maintenance_calendar) if settings.maintenance_calendar else ())


@hookimpl
def negotiator_filter_slots(policy: tuple[Filter, ...]) -> Iterable[Filter]:
    """Remove the slots under maintenance, with one filter for each window."""
    return policy  # what Calendar.begin_cycle returned: it is the same for all requests of a cycle


def check(settings: Maintenance) -> Iterator[Problem]:
    """Yield the problems of the calendar, when the bundle is loaded."""
    if settings.maintenance_calendar is not None:
        try:
            calendar(settings.maintenance_calendar)
        except CalendarError as error:
            yield Problem(Severity.ERROR, error.source, error.message)
        except OSError as error:
            yield Problem(Severity.ERROR, Source(settings.maintenance_calendar.name), f"{error.strerror}")


def under(window: Window, slots: Table) -> Mask:
    """Return a mask of the slots on machines of a window, by a ClassAd expression over the whole table."""
    pattern = unparse_value(fnmatch.translate(window.machine))
    return evaluate_table(parse(f'regexp({pattern}, MY.Machine, "i")'), slots).is_true()


def calendar(file: Path) -> tuple[Window, ...]:
    """Return the windows of the calendar.

    :raises CalendarError: an entry is invalid.
    :raises OSError: the file can't be read.
    """
    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        source = Source(file.name, mark.line + 1, mark.column + 1) if mark else Source(file.name)
        raise CalendarError(source, f"not YAML: {error.problem}") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise CalendarError(Source(file.name), "not YAML in UTF-8") from None
    if root is None:
        return ()
    if not isinstance(root, yaml.SequenceNode):
        raise CalendarError(Source(file.name), "expected a list of windows")
    return tuple(window(node, file) for node in root.value)


def window(node: yaml.Node, file: Path) -> Window:
    """Return the window of one entry."""
    source = Source(file.name, node.start_mark.line + 1, node.start_mark.column + 1)
    if not isinstance(node, yaml.MappingNode) or not all(
        isinstance(v, yaml.ScalarNode) for _, v in node.value
    ):
        raise CalendarError(source, "expected a window, with a text for each key")
    given = {key.value: value.value for key, value in node.value}
    if given.keys() != KEYS or len(node.value) != len(KEYS):
        raise CalendarError(source, f"expected the keys {', '.join(sorted(KEYS))}, each once")
    start, end = moment(given["from"], source), moment(given["to"], source)
    if end <= start:
        raise CalendarError(source, "it ends before it begins")
    return Window(given["machine"], start, end, given["why"], source)


def moment(text: str, source: Source) -> float:
    """Return a time in ISO 8601 as seconds since the epoch."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise CalendarError(source, f"{text[:80]!r} is not a time in ISO 8601") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()

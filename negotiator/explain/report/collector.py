"""Adds up the records of an audit log, in any order, to the figures of a period: plain numbers, before they are drawn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

import attrs

from negotiator.audit.denials import OTHER_JOBS, decisive_reason
from negotiator.records import CORE

#: The name of what is not among the largest.
OTHERS: Final = "others"
#: Widths of the intervals of a period, in seconds.
_WIDTHS: Final = (60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 7 * 86400, 30 * 86400)
_MOST_INTERVALS: Final = 32  # a month has 31 days
#: Names that have a series of their own, and reasons that have bands of their own.
MOST_NAMES: Final = 10
MOST_REASONS: Final = 8
#: The kinds of records that are added up.
KINDS: Final = frozenset({"match", "denial", "discard", "cycle"})
_MINUTE: Final = 60
_RUNNING: Final = "job_running"


@attrs.frozen
class Series:
    """One value for each interval of a period; ``is_rest`` if it is the sum of what is not among the largest."""

    name: str
    values: tuple[float, ...]
    is_rest: bool = False

    @property
    def total(self) -> float:
        """The sum of the values."""
        return sum(self.values)


@attrs.frozen
class PoolPoint:
    """The averages over the cycles of an interval: slots, running jobs, and jobs without a slot."""

    slots: float
    running: float
    waiting: float


@attrs.frozen
class BlockedJobs:
    """Jobs of a user that a reason kept from a slot, on average over the cycles of the period.

    ``place`` is the rule with its place in the bundle, empty if no policy decided. ``reason`` and ``user`` may be ``OTHERS``.
    """

    reason: str
    place: str
    user: str
    jobs: float


@attrs.frozen(kw_only=True)
class PeriodFigures:
    """What was decided in a period.

    ``times`` are the beginnings of the intervals, each ``width`` seconds long, in seconds since the epoch. ``by_user`` and ``by_queue`` have the slots
    handed out, the largest first; ``use_by_user`` and ``use_by_queue`` the running jobs on average, empty for logs of earlier versions. ``pool`` has a point for each interval, None if it had no cycle. ``missing`` counts decisions that the
    bundle's audit settings left out of the log; ``is_shadow`` if nothing was handed out.
    """

    first: float
    last: float
    width: int
    times: tuple[float, ...]
    cycles: int
    matches: int
    users: int
    by_user: tuple[Series, ...]
    by_queue: tuple[Series, ...]
    use_by_user: tuple[Series, ...]
    use_by_queue: tuple[Series, ...]
    pool: tuple[PoolPoint | None, ...]
    blocked: tuple[BlockedJobs, ...]
    missing: int
    is_shadow: bool


def interval_width(seconds: float) -> int:
    """Return the width of the intervals of a period, in seconds: the least one of which there are not too many."""
    return next((width for width in _WIDTHS if seconds < width * _MOST_INTERVALS), _WIDTHS[-1])


def largest(totals: Mapping[str, float], most: int) -> tuple[str, ...]:
    """Return the names with the largest totals, at most ``most``, the largest first."""
    return tuple(sorted(totals, key=lambda name: (-totals[name], name))[:most])


_Record: TypeAlias = Mapping[str, Any]
#: Counts by minute since the epoch and by name; None is what the log does not name.
_ByMinute: TypeAlias = dict[int, Counter[str | None]]


@attrs.frozen
class _Cycle:
    """The record of a cycle: its time in seconds since the epoch, and its slots; ``in_use`` is None in logs of earlier versions."""

    time: float
    slots: int
    in_use: int | None


@attrs.frozen
class _Reason:
    """What reasons of one rule have in common; ``rule`` of the program's own reasons is the expression of a job or a slot."""

    plugin: str
    code: str
    rule: str
    source: str

    @property
    def place(self) -> str:
        """The place of the rule in the bundle, and its name; empty if no policy decided."""
        return "" if self.plugin in {"", CORE} else " ".join(filter(None, (self.source, self.rule)))


@attrs.define
class PeriodCollector:
    """The sums of records; ``add`` takes those of ``KINDS``, of the newest cycle first."""

    _cycles: dict[int, _Cycle] = attrs.field(factory=dict, init=False)
    _running: Counter[int] = attrs.field(factory=Counter, init=False)
    _waiting: Counter[int] = attrs.field(factory=Counter, init=False)
    _users: _ByMinute = attrs.field(factory=lambda: defaultdict(Counter), init=False)
    _queues: _ByMinute = attrs.field(factory=lambda: defaultdict(Counter), init=False)
    _users_in_use: _ByMinute = attrs.field(factory=lambda: defaultdict(Counter), init=False)
    _queues_in_use: _ByMinute = attrs.field(factory=lambda: defaultdict(Counter), init=False)
    _blocked: Counter[tuple[_Reason, str]] = attrs.field(factory=Counter, init=False)
    _texts: dict[_Reason, str] = attrs.field(factory=dict, init=False)
    _missing: int = attrs.field(default=0, init=False)
    _is_shadow: bool = attrs.field(default=False, init=False)

    def add(self, record: _Record) -> None:
        """Add a record."""
        number = int(record.get("cycle", 0))
        match record.get("kind"):
            case "match":
                minute = int(_time(record)) // _MINUTE
                self._users[minute][_user(record)] += 1
                self._queues[minute][str(record.get("queue") or "no queue")] += 1
            case "denial":
                self._add_denial(number, record)
            case "discard" if (record.get("reason") or {}).get("code") == _RUNNING:
                self._running[number] += int(record.get("count", 0))
            case "cycle":
                self._add_cycle(number, record)

    def figures(self) -> PeriodFigures | None:
        """Return the figures; None without a cycle."""
        if not self._cycles:
            return None
        all_times = [each.time for each in self._cycles.values()]
        first, last = min(all_times), max(all_times)
        width = interval_width(last - first)
        begin = first - first % width
        places = int((last - begin) // width) + 1
        totals: Counter[str | None] = sum(self._users.values(), Counter())
        waiting_users: set[str | None] = {user for _, user in self._blocked}
        return PeriodFigures(
            first=first,
            last=last,
            width=width,
            times=tuple(begin + place * width for place in range(places)),
            cycles=len(self._cycles),
            matches=totals.total(),
            users=len(totals.keys() | waiting_users),
            by_user=_series(self._users, begin, width, places),
            by_queue=_series(self._queues, begin, width, places),
            use_by_user=self._averages(self._users_in_use, begin, width, places),
            use_by_queue=self._averages(self._queues_in_use, begin, width, places),
            pool=tuple(self._points(begin, width, places)),
            blocked=tuple(self._blocks()),
            missing=self._missing,
            is_shadow=self._is_shadow,
        )

    def _add_cycle(self, number: int, record: _Record) -> None:
        time, counts, in_use = _time(record), record.get("counts") or {}, record.get("in_use")
        self._cycles[number] = _Cycle(
            time, int(counts.get("slots", 0)), int(in_use["jobs"]) if in_use else None
        )
        self._is_shadow |= bool(record.get("shadow"))
        for name in ("matches", "denials"):
            decided = int(record.get(name, 0))
            self._missing += decided - int(record.get(f"{name}_recorded", decided))
        if in_use:
            for found, name in ((self._users_in_use, "users"), (self._queues_in_use, "queues")):
                named: dict[str | None, int] = in_use.get(name) or {}
                minute = found[int(time) // _MINUTE]
                minute.update(named)
                minute[None] += max(int(in_use["jobs"]) - sum(named.values()), 0)

    def _add_denial(self, number: int, record: _Record) -> None:
        found = decisive_reason(record) or {}
        origin = found.get("provenance") or {}
        reason = _Reason(
            str(origin.get("plugin") or ""),
            str(found.get("code") or ""),
            str(origin.get("rule") or ""),
            str(origin.get("source") or ""),
        )
        jobs = int(record.get("jobs", 0))
        self._texts.setdefault(reason, str(found.get("text") or OTHER_JOBS))
        self._blocked[reason, _user(record)] += jobs
        self._waiting[number] += jobs

    def _points(self, begin: float, width: int, places: int) -> Iterator[PoolPoint | None]:
        """Yield the averages of each interval."""
        numbers: list[list[int]] = [[] for _ in range(places)]
        for number, cycle in self._cycles.items():
            numbers[int((cycle.time - begin) // width)].append(number)
        for each in numbers:
            if not each:
                yield None
                continue
            slots, running, waiting = (
                sum(values) / len(each)
                for values in (
                    (self._cycles[number].slots for number in each),
                    (self._in_use(number) for number in each),
                    (self._waiting[number] for number in each),
                )
            )
            yield PoolPoint(slots, running, waiting)

    def _in_use(self, number: int) -> int:
        """Return the jobs that ran when a cycle began."""
        in_use = self._cycles[number].in_use
        return self._running[number] if in_use is None else in_use

    def _averages(self, counts: _ByMinute, begin: float, width: int, places: int) -> tuple[Series, ...]:
        """Return the series of jobs in use, on average over the cycles of each interval that have them."""
        cycles = [0] * places
        for cycle in self._cycles.values():
            cycles[int((cycle.time - begin) // width)] += cycle.in_use is not None
        return tuple(
            attrs.evolve(
                each,
                values=tuple(value / (count or 1) for value, count in zip(each.values, cycles, strict=True)),
            )
            for each in _series(counts, begin, width, places)
        )

    def _blocks(self) -> Iterator[BlockedJobs]:
        """Yield the jobs of each reason and user, the largest reasons and users first."""
        by_reason: Counter[_Reason] = Counter()
        by_user: Counter[str] = Counter()
        for (reason, user), jobs in self._blocked.items():
            by_reason[reason] += jobs
            by_user[user] += jobs
        reasons = [each for each, _ in by_reason.most_common(MOST_REASONS)]
        users = [*largest(by_user, MOST_NAMES)]
        sums: Counter[tuple[_Reason | None, str]] = Counter()
        for (reason, user), jobs in self._blocked.items():
            sums[reason if reason in reasons else None, user if user in users else OTHERS] += jobs
        for shown in (*reasons, None):
            for name in (*users, OTHERS):
                jobs = sums[shown, name]
                if jobs:
                    text, place = (self._texts[shown], shown.place) if shown else (OTHERS, "")
                    yield BlockedJobs(text, place, name, jobs / len(self._cycles))


def _series(counts: _ByMinute, begin: float, width: int, places: int) -> tuple[Series, ...]:
    """Return a series for each of the largest names, and one for the others."""
    totals: Counter[str | None] = sum(counts.values(), Counter())
    names = largest({name: count for name, count in totals.items() if name is not None}, MOST_NAMES)
    values: dict[str | None, list[float]] = {name: [0.0] * places for name in (*names, None)}
    for minute, found in counts.items():
        place = min(max(int((minute * _MINUTE - begin) // width), 0), places - 1)
        for name, count in found.items():
            values[name if name in names else None][place] += count
    rest = Series(OTHERS, tuple(values.pop(None)), is_rest=True)
    shown = [Series(str(name), tuple(found)) for name, found in values.items()]
    return (*shown, rest) if rest.total else tuple(shown)


def _user(record: _Record) -> str:
    return str(record.get("user") or record.get("submitter") or "no name")


def _time(record: _Record) -> float:
    return datetime.fromisoformat(str(record.get("time"))).timestamp()

"""The last cycles of a negotiator, as a file in the folder of its state: for people, never read back by a cycle.

It has their times and sizes; of the last one what each rule removed, what each submitter or queue was entitled to, and the calls of each plugin;
and for each rule of the bundle, since when it did nothing. Times are measured outside of the cycle, so that equal input gives equal results.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import attrs
from attrs.validators import instance_of, optional

from negotiator.bundle.rules import BundleRule
from negotiator.cycle.cycle_time import StationWatcher
from negotiator.cycle.result import CycleSpan
from negotiator.errors import StateError
from negotiator.files import open_regular, replace_file
from negotiator.records import Station
from negotiator.runtime import stored_fields

HISTORY_FILE: Final = "cycles.json"
#: Cycles that are kept.
MOST_CYCLES: Final = 500
#: Rules of the bundle that are kept.
MOST_RULES: Final = 1000
_VERSION: Final = 1
_MODE: Final = 0o640
_LONGEST: Final = 1 << 24  # bytes


@attrs.frozen
class CycleBeginning:
    """A moment: in seconds since the epoch, by a monotonic clock, and in processor seconds of this process."""

    wall: float
    monotonic: float
    cpu: float

    @classmethod
    def now(cls, wall: float, monotonic: float) -> Self:
        """Return this moment."""
        return cls(wall, monotonic, time.process_time())

    def span(self, ended: float) -> CycleSpan:
        """Return the time of a cycle that ends now.

        :param ended: the time in seconds since the epoch.
        """
        return CycleSpan(self.wall, ended, time.process_time() - self.cpu)


@attrs.define
class CycleSeconds:
    """The seconds of each part of a cycle: ``read``, ``cycle``, ``record_intent``, ``settle``, ``record_outcome``.

    Those of the stations of ``cycle`` (``admit``, ``place``, ``order``, ``match``, ``charge``) have names of their own too.
    ``processor`` are the processor seconds of the same parts.
    """

    of: dict[str, float] = attrs.field(factory=dict)
    processor: dict[str, float] = attrs.field(factory=dict)
    _station: str = ""
    _since: tuple[float, float] = (0.0, 0.0)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Measure a part."""
        begun = _now()
        yield
        self._add(part, begun, _now())

    @contextmanager
    def stations(self) -> Iterator[StationWatcher]:
        """Return what is called when a station begins; the last one ends with the context."""
        yield self._begin
        self._end_station(_now())

    def _begin(self, station: Station) -> None:
        """A station begins, and the one before ends."""
        now = _now()
        self._end_station(now)
        self._station, self._since = station.value, now

    def _end_station(self, now: tuple[float, float]) -> None:
        if self._station:
            self._add(self._station, self._since, now)
            self._station = ""

    def _add(self, part: str, begun: tuple[float, float], ended: tuple[float, float]) -> None:
        for sums, before, after in zip((self.of, self.processor), begun, ended, strict=True):
            sums[part] = sums.get(part, 0.0) + after - before


def _now() -> tuple[float, float]:
    """Return the seconds from any beginning, and the processor seconds of this process."""
    return time.perf_counter(), time.process_time()


@attrs.frozen(kw_only=True)
class RuleActivity:
    """How often a rule of the bundle did something: it discarded an ad, rejected a slot, or would have if it enforced.

    ``digest`` is that of the rule's text and mode: with another one, counting begins anew. ``since`` is the end of the first cycle that
    counts, ``last`` that of the last one in which it did something (None: in none), in seconds since the epoch. ``cycles`` counts the
    cycles, ``active`` those of them in which it did something, and ``idle`` those since.
    """

    plugin: str = stored_fields.text()
    rule: str = stored_fields.text()
    source: str = stored_fields.text()
    mode: str = stored_fields.text()
    digest: str = stored_fields.text()
    since: float = stored_fields.number()
    cycles: int = stored_fields.counter()
    active: int = stored_fields.counter()
    idle: int = stored_fields.counter()
    last: float | None = stored_fields.optional_number()


def with_cycle(
    before: Sequence[RuleActivity], rules: Sequence[BundleRule], active: Collection[str], ended: float
) -> tuple[RuleActivity, ...]:
    """Return the activity of the rules of a bundle after one more cycle.

    :param before: until then; a rule that is not in the bundle any more is left out.
    :param active: the digests of the rules that did something in the cycle.
    :param ended: the end of the cycle, in seconds since the epoch.
    """
    known = {each.digest: each for each in before}
    return tuple(_counted(known.get(rule.digest), rule, rule.digest in active, ended) for rule in rules)


def _counted(before: RuleActivity | None, rule: BundleRule, is_active: bool, ended: float) -> RuleActivity:  # noqa: FBT001
    return RuleActivity(
        plugin=rule.plugin,
        rule=rule.rule,
        source=str(rule.source),
        mode=str(rule.mode),
        digest=rule.digest,
        since=before.since if before else ended,
        cycles=(before.cycles if before else 0) + 1,
        active=(before.active if before else 0) + is_active,
        idle=0 if is_active else (before.idle if before else 0) + 1,
        last=ended if is_active else before.last if before else None,
    )


@attrs.frozen(kw_only=True)
class CycleEntry:
    """A cycle: its times in seconds since the epoch, its sizes, and the seconds of each of its parts by name.

    ``seconds`` has ``read``, ``cycle``, ``record_intent``, ``settle`` and ``record_outcome``, and of ``cycle`` the stations ``admit``,
    ``place``, ``order``, ``match`` and ``charge``. ``jobs`` are those that were read, ``unmatched`` those that took part and got no slot.
    ``overruns`` are the running jobs that broke a rule when it began, ``limits_exceeded`` the limits that were exceeded, and ``unjudged`` the
    running jobs that not every rule could judge. ``failure`` is why the cycle did not take place; then it has no sizes.
    """

    number: int = stored_fields.counter()
    begun: float = stored_fields.number()
    ended: float = stored_fields.number()
    bundle: str = stored_fields.text()
    seconds: Mapping[str, float] = stored_fields.numbers()
    slots: int = stored_fields.counter()
    jobs: int = stored_fields.counter()
    matches: int = stored_fields.counter()
    unmatched: int = stored_fields.counter()
    undelivered: int = stored_fields.counter()
    overruns: int = stored_fields.counter()
    limits_exceeded: int = stored_fields.counter()
    unjudged: int = stored_fields.counter()
    failure: str = stored_fields.optional_text()

    @cached_property
    def text(self) -> str:
        """The entry as JSON; it is made once, though each of the next cycles writes it again."""
        return json.dumps(attrs.asdict(self), separators=(",", ":"))


@attrs.frozen(kw_only=True)
class RuleEffect:
    """What one reason of a rule did in a cycle.

    ``ads`` counts those that it discarded. ``requests`` counts those that it took slots from; ``removed`` and ``rejected`` are the sums of
    the slots over these requests (a slot counts once for each request): those that were still candidates, and those that it rejects by
    itself. ``jobs`` counts the jobs of these requests that got no slot, ``decisive`` those of which it took the last candidates.
    ``warned`` counts the matches that it would have denied if it enforced. ``overruns`` counts the running jobs that break it, or would if
    it enforced. ``text`` is one of its sentences.
    """

    station: str = stored_fields.text()
    plugin: str = stored_fields.text()
    rule: str = stored_fields.text()
    source: str = stored_fields.text()
    mode: str = stored_fields.text()
    verdict: str = stored_fields.text()
    code: str = stored_fields.text()
    text: str = stored_fields.text()
    ads: int = stored_fields.counter()
    requests: int = stored_fields.counter()
    removed: int = stored_fields.counter()
    rejected: int = stored_fields.counter()
    decisive: int = stored_fields.counter()
    jobs: int = stored_fields.counter()
    warned: int = stored_fields.counter()
    overruns: int = stored_fields.counter()


@attrs.frozen(kw_only=True)
class HolderShare:
    """What a submitter or a queue was entitled to in a cycle, what it used and got, and why its other jobs wait.

    ``entitled``, ``used_before`` and ``used`` are in ``unit``. ``waiting`` counts its jobs without a slot; ``code`` and ``text`` are the reason
    of most of them.
    """

    holder: str = stored_fields.text()
    unit: str = stored_fields.text()
    priority: float = stored_fields.number()
    entitled: float = stored_fields.number()
    used_before: float = stored_fields.number()
    used: float = stored_fields.number()
    granted: int = stored_fields.integer()
    waiting: int = stored_fields.counter()
    code: str = stored_fields.optional_text()
    text: str = stored_fields.optional_text()


@attrs.frozen(kw_only=True)
class PluginUse:
    """The calls of a plugin's hooks since the process began, and their seconds; ``is_off`` if it is no longer called."""

    name: str = stored_fields.text()
    version: str = stored_fields.text()
    calls: int = stored_fields.integer()
    seconds: float = stored_fields.number()
    failures: int = stored_fields.integer()
    slow_calls: int = stored_fields.integer()
    is_off: bool = attrs.field(validator=instance_of(bool))
    last_failure: str = stored_fields.text()


@attrs.frozen(kw_only=True)
class CycleDetails:
    """Details of one cycle: those rules first that were decisive for most jobs, shares in the order of the turns."""

    number: int = stored_fields.integer()
    ended: float = stored_fields.number()
    rules: tuple[RuleEffect, ...] = stored_fields.records(RuleEffect)
    shares: tuple[HolderShare, ...] = stored_fields.records(HolderShare)
    plugins: tuple[PluginUse, ...] = stored_fields.records(PluginUse)


@attrs.frozen(kw_only=True)
class CycleHistory:
    """The last cycles, the oldest one first, the details of the last one that took place, and what each rule of the bundle did in all.

    ``rules_left_out`` counts the rules of the bundle beyond those that are kept.
    """

    cycles: tuple[CycleEntry, ...] = stored_fields.records(CycleEntry)
    last: CycleDetails | None = attrs.field(default=None, validator=optional(instance_of(CycleDetails)))
    rules: tuple[RuleActivity, ...] = stored_fields.records(RuleActivity)
    rules_left_out: int = stored_fields.counter()

    def with_cycle(
        self,
        entry: CycleEntry,
        details: CycleDetails | None = None,
        rules: Sequence[RuleActivity] = (),
    ) -> CycleHistory:
        """Return the history with one more cycle; a failed one has neither details nor rules, and counts for no rule."""
        cycles = (*self.cycles, entry)[-MOST_CYCLES:]
        if details is None:
            return attrs.evolve(self, cycles=cycles)
        kept = tuple(rules[:MOST_RULES])
        return CycleHistory(cycles=cycles, last=details, rules=kept, rules_left_out=len(rules) - len(kept))


def write_history(folder: Path, history: CycleHistory) -> None:
    """Replace the history in the folder of a state.

    :raises OSError: it cannot be written; the old one is unchanged.
    """
    values = {"version": _VERSION, **attrs.asdict(attrs.evolve(history, cycles=()))}
    del values["cycles"]
    cycles = ",".join([each.text for each in history.cycles])
    content = f'{{"cycles":[{cycles}],{json.dumps(values, separators=(",", ":"))[1:]}'
    replace_file(folder / HISTORY_FILE, content.encode("ascii"), mode=_MODE, durable=False)


def read_history(folder: Path) -> CycleHistory:
    """Return the history in the folder of a state; an empty one if no negotiator has written one.

    :raises StateError: it cannot be read, or another version of the program wrote it.
    """
    path = folder / HISTORY_FILE
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            return _history(json.loads(opened.read(_LONGEST)))
    except FileNotFoundError:
        return CycleHistory()
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise StateError(f"{path}: cannot read the last cycles: {error}") from None


def _history(values: Any) -> CycleHistory:
    if values["version"] != _VERSION:
        raise ValueError("another version of the program wrote it")
    return CycleHistory(
        cycles=tuple([_entry(each) for each in values["cycles"]]),
        last=None if values["last"] is None else _details(values["last"]),
        # Earlier versions have none.
        rules=tuple([RuleActivity(**each) for each in values.get("rules", ())]),
        rules_left_out=values.get("rules_left_out", 0),
    )


def _entry(values: dict[str, Any]) -> CycleEntry:
    if "overfills" in values:  # of an earlier version
        values["limits_exceeded"] = values.pop("overfills")
    return CycleEntry(**values)


def _details(values: dict[str, Any]) -> CycleDetails:
    parts = {"rules": RuleEffect, "shares": HolderShare, "plugins": PluginUse}
    own = {name: tuple([kind(**each) for each in values[name]]) for name, kind in parts.items()}
    return CycleDetails(**(values | own))

"""What the rules that do not enforce would have denied: from the end of an audit log back to the first cycle of each rule."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from negotiator.audit.chain import record_head
from negotiator.audit.denials import decisive_reason
from negotiator.audit.newest import MOST_BYTES, lines_from_end
from negotiator.audit.search import log_files, parse_record
from negotiator.audit.values import instant
from negotiator.bundle.rules import BundleRule, BundleRules
from negotiator.records import CORE, Mode, Source

if TYPE_CHECKING:
    from pathlib import Path

    from negotiator.audit.values import Record

#: A user and a day (``2026-11-23``, UTC).
UserDay: TypeAlias = tuple[str, str]

_USER: Final = re.compile(rb'"user":("(?:[^"\\]|\\.)*")')
_WARN, _DRYRUN = (f'"mode":"{mode}"'.encode("ascii") for mode in (Mode.WARN, Mode.DRYRUN))
_DAY: Final = 10  # characters of a time


@attrs.define
class DeniedMatches:
    """Matches that a rule would have denied: ``alone`` of them no other rule that does not enforce; times are RFC 3339."""

    matches: int = 0
    alone: int = 0
    jobs: set[tuple[str, str]] = attrs.field(factory=set)
    first: str = ""
    last: str = ""

    def add(self, job: tuple[str, str], time: str, *, alone: bool) -> None:
        """Add a match; an older one than all others."""
        self.matches += 1
        self.alone += alone
        self.jobs.add(job)
        self.first, self.last = time, self.last or time


@attrs.define(eq=False)
class RuleRollout:
    """A rule that does not enforce, and what it would have done since it has its present text and mode.

    ``since`` is the time of the first cycle that had it and ``bundle`` the digest of its bundle; they are those of the oldest cycle that was
    read if ``is_older``. ``matches`` has those that it would have denied, and ``all_matches`` the number of all since then, by user and day.
    ``ads`` are the ads that it would have discarded in the cycle with most of them. ``denied`` has the jobs that it would have denied
    slots to, but that another rule denied all slots, by that rule, in the cycle with most of them.
    """

    rule: BundleRule
    since: str = ""
    bundle: str = ""
    is_older: bool = False
    matches: dict[UserDay, DeniedMatches] = attrs.field(factory=dict)
    all_matches: Counter[UserDay] = attrs.field(factory=Counter)
    ads: int = 0
    denied: Counter[str] = attrs.field(factory=Counter)
    _cycle: bytes = attrs.field(default=b"", init=False)
    _cycle_ads: int = attrs.field(default=0, init=False)
    _cycle_denied: Counter[str] = attrs.field(factory=Counter, init=False)

    def of_cycle(self, cycle: bytes, ads: int = 0, denied: str = "", jobs: int = 0) -> None:
        """Add ads that it would have discarded in a cycle, or jobs that another rule denied all slots."""
        if cycle != self._cycle:
            self._cycle, self._cycle_ads, self._cycle_denied = cycle, 0, Counter()
        self._cycle_ads += ads
        if denied:
            self._cycle_denied[denied] += jobs
        self.ads = max(self.ads, self._cycle_ads)
        if self._cycle_denied.total() > self.denied.total():
            self.denied = self._cycle_denied


@attrs.frozen(eq=False)
class Rollout:
    """The rules that do not enforce; ``searched`` is False if the log was not read to the first cycle of each."""

    rules: tuple[RuleRollout, ...]
    searched: bool


def read_rollout(
    folder: Path,
    rules_of: Callable[[str], BundleRules | None],
    since: float | None = None,
    most_bytes: int = MOST_BYTES,
) -> Rollout:
    """Return what the rules of the newest bundle that do not enforce would have denied; the chain is not verified.

    :param rules_of: returns the rules of a bundle by its digest; None if they are unknown, so that a rule's beginning is the bundle after it.
    :param since: records of this time (seconds since the epoch) and later.
    :param most_bytes: how much of the log is read at most.
    :raises AuditError: the log is missing or cannot be read, or a line is not a record.
    """
    files = log_files(folder)
    reading = _RolloutReading(rules_of)
    oldest = b"" if since is None else instant(since).encode("ascii")
    size, searched = 0, True
    for file, line in lines_from_end(files, None):
        size += len(line)
        head = record_head(line)
        if head is None or not head.cycle:
            continue
        kind, cycle, time, bundle = head
        if size > most_bytes or time < oldest:
            searched = False
            break
        if bundle != reading.bundle and not reading.begin_bundle(bundle):
            break
        reading.time = time
        if kind == b"match":
            user = _USER.search(line)
            reading.matches[user[1] if user else b'""', time[:_DAY]] += 1
        if _WARN in line or _DRYRUN in line:
            reading.add(parse_record(file, line), cycle + time)
    return reading.ended(searched=searched)


@attrs.define(eq=False)
class _RolloutReading:
    """The rules so far, of a log that is read from its end: ``bundle`` and ``time`` are those of the record that was read last."""

    rules_of: Callable[[str], BundleRules | None]
    bundle: bytes = b""
    time: bytes = b""
    matches: Counter[tuple[bytes, bytes]] = attrs.field(factory=Counter)  # by user, as in the line, and day
    _rules: BundleRules = attrs.field(factory=lambda: BundleRules(()))
    _open: dict[str, RuleRollout] = attrs.field(factory=dict)
    _closed: list[RuleRollout] = attrs.field(factory=list)
    _undeclared: dict[str, RuleRollout] = attrs.field(factory=dict)

    @property
    def _time(self) -> str:
        return self.time.decode("ascii")

    def begin_bundle(self, bundle: bytes) -> bool:
        """Read the records of an earlier bundle next; return False if none of the rules is in it."""
        found = self.rules_of(bundle.decode("ascii"))
        rules = () if found is None else [each for each in found.rules if each.mode is not Mode.ENFORCE]
        present = {each.digest: each for each in rules}
        if not self.bundle:
            self._open = {digest: RuleRollout(rule) for digest, rule in present.items()}
        else:
            for digest in self._open.keys() - present.keys():
                self._close(self._open.pop(digest), is_older=False)
            if not self._open:
                return False
        self.bundle, self._rules = bundle, found or BundleRules(())
        return True

    def _close(self, rule: RuleRollout, *, is_older: bool) -> None:
        rule.since, rule.bundle, rule.is_older = self._time, self.bundle.decode("ascii"), is_older
        rule.all_matches = Counter(
            {(json.loads(user), day.decode("ascii")): n for (user, day), n in self.matches.items()}
        )
        self._closed.append(rule)

    def ended(self, *, searched: bool) -> Rollout:
        """Return the rules, in the order of the bundle as far as they are declared; the oldest cycle began those that are left."""
        for rule in (*self._open.values(), *self._undeclared.values()):
            self._close(rule, is_older=not searched or rule.rule.digest in self._undeclared)
        is_complete = searched or not self._open
        return Rollout(tuple(self._closed), is_complete)

    def add(self, record: Record, cycle: bytes) -> None:
        """Add a record that names a rule that does not enforce; ``cycle`` differs from cycle to cycle."""
        match record["kind"]:
            case "match":
                self._add_match(record)
            case "denial":
                self._add_denial(record, cycle)
            case "discard":
                for rule in self._of([record.get("reason")]):
                    rule.of_cycle(cycle, ads=int(record.get("count", 0)))

    def _add_match(self, record: Record) -> None:
        rules = list(self._of(record.get("warnings", ())))
        key = str(record.get("user", "")), self._time[:_DAY]
        job = str(record.get("schedd", "")), str(record.get("job", ""))
        for rule in rules:
            rule.matches.setdefault(key, DeniedMatches()).add(job, self._time, alone=len(rules) == 1)

    def _add_denial(self, record: Record, cycle: bytes) -> None:
        decisive = decisive_reason(record)
        if decisive is None:
            return
        origin = decisive["provenance"]
        name = origin["rule"] if origin["plugin"] == CORE else f"{origin['plugin']}: {origin['rule']}"
        for rule in self._of(record["reasons"]):
            rule.of_cycle(cycle, denied=name, jobs=int(record.get("jobs", 0)))

    def _of(self, reasons: Iterable[Any]) -> Iterator[RuleRollout]:
        """Yield the rules of reasons that do not enforce, each once."""
        found: dict[str, RuleRollout] = {}
        for reason in reasons:
            if reason["mode"] != Mode.ENFORCE:
                rule = self._rule(reason)
                if rule is not None:
                    found[rule.rule.digest] = rule
        yield from found.values()

    def _rule(self, reason: Any) -> RuleRollout | None:
        """Return the rule of a reason; None if it is one that has another text or mode by now."""
        origin = reason["provenance"]
        plugin, name, source = origin["plugin"], origin["rule"], origin["source"] or ""
        rule = self._rules.find(plugin, name, source)
        if rule is not None:
            return self._open.get(rule.digest)
        own = BundleRule(plugin=plugin, rule=name, text="", source=Source(source), mode=Mode(reason["mode"]))
        return self._undeclared.setdefault(own.digest, RuleRollout(own))

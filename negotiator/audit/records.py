"""The decisions of a cycle as records of the audit log: plain JSON values, documented in ``docs/audit.md``.

Texts from ads are hostile: their lengths are bounded, and bytes that are not UTF-8 stay lone surrogates, which the log
writes as escapes. Of ads only the fields named here are written, so that no claim id or capability is. Records of time limits that were reached have
what a replay of the cycle needs to decide the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import attrs

from negotiator import __version__
from negotiator.audit.denials import bounded_denials
from negotiator.audit.queueing import change_fields, placement_fields
from negotiator.audit.values import (
    TEXT,
    Record,
    bounded,
    instant,
    number,
    number_fields,
    provenance_fields,
    reason_fields,
)
from negotiator.bundle.model import AuditSettings, DecisionSelection
from negotiator.classad import Ad, bind, evaluate
from negotiator.cycle.cycle_time import ReachedLimit, TimeStop
from negotiator.hooks.declarations import Expression
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.overruns import EvictionOutcome, Overrun
from negotiator.hooks.records import Cycle, Match
from negotiator.hooks.turn_time import TimeLimit
from negotiator.records import Provenance, Station

if TYPE_CHECKING:
    from negotiator.cycle.result import CycleResult, DiscardedAds, RequestOutcome


_Selects: TypeAlias = Callable[[Ad, Ad | None], bool]

_FAILURES = 100
_OVERRUNS = 10_000  # begun or ended in one cycle
_IN_USE = 30
_WHY = 200
_MATCHES_AN_OUTCOME = 5000
_RANKING = Provenance(Station.MATCH, "negotiator", __version__, "rank")
#: The kind of the records of reached time limits.
STOP_KIND = "time_stop"


def intent_records(
    result: CycleResult, settings: AuditSettings, inputs: Mapping[str, str] = MappingProxyType({})
) -> list[Record]:
    """Return the records of the matches about to be handed out, and of the denials with their reasons.

    The ``cycle`` record comes last and completes them: if it is missing, nothing of the cycle was handed out.

    :param inputs: further fields of the ``cycle`` record: the digests (SHA-256, hexadecimal) of the cycle's inputs.
    """
    matches = _match_records(result, _selector(settings.matches, result))
    denials = _denial_records(result, _selector(settings.denials, result))
    discards = [_discard_record(result, discarded) for discarded in result.discarded]
    failures = [_failure_record(result, failure) for failure in result.failures[:_FAILURES]]
    stops = [{**_common(STOP_KIND, result), **stop_fields(reached)} for reached in result.reached]
    overruns = [*islice(_overrun_records(result), _OVERRUNS)]
    queues = [{**_common("queue_change", result), **change_fields(change)} for change in result.changes]
    placements = [
        {**_common("placement", result), **placement_fields(placed)} for placed in result.placements
    ]
    last = _cycle_record(result, len(matches), len(denials), inputs)
    return [*queues, *placements, *matches, *denials, *discards, *failures, *stops, *overruns, last]


def records_by_kind(result: CycleResult) -> dict[str, list[Record]]:
    """Return all records of a cycle by kind, without the bundle's selection; the same for the same input."""
    by_kind: dict[str, list[Record]] = {}
    for record in intent_records(result, AuditSettings()):
        by_kind.setdefault(record["kind"], []).append(record)
    return by_kind


def outcome_records(
    result: CycleResult,
    delivered: Iterable[str],
    failed: Mapping[str, str],
    printed: Iterable[str] = (),
    withheld: Iterable[str] = (),
    evicted: Sequence[EvictionOutcome] = (),
) -> list[Record]:
    """Return the records of what became of a cycle's matches: one, or several of 5000 matches each.

    Matches that are in none of the parameters are ``unknown``.

    :param delivered: the ids of matches that their receivers confirmed.
    :param failed: the reasons why others were not delivered, by id.
    :param printed: the ids of matches that were written to the output of the program, which was flushed.
    :param withheld: the ids of matches that nobody got, because another negotiator serves the pool.
    :param evicted: what became of the running jobs that were asked to end; in the first record.
    """
    confirmed, shown, kept_back = frozenset(delivered), frozenset(printed), frozenset(withheld)
    known = confirmed | shown | kept_back | frozenset(failed)
    ids = [match.id for match in result.matches]
    parts = [
        ids[start : start + _MATCHES_AN_OUTCOME] for start in range(0, len(ids), _MATCHES_AN_OUTCOME)
    ] or [[]]
    return [
        {
            **_common("outcome", result),
            "part": number,
            "parts": len(parts),
            "delivered": [bounded(each) for each in part if each in confirmed],
            "printed": [bounded(each) for each in part if each in shown],
            **({"withheld": [bounded(each) for each in part if each in kept_back]} if kept_back else {}),
            "failed": {bounded(each): bounded(failed[each], _WHY) for each in part if each in failed},
            "unknown": [bounded(each) for each in part if each not in known],
            **(_eviction_fields(evicted) if number == 1 else {}),
        }
        for number, part in enumerate(parts, start=1)
    ]


def _selector(selection: DecisionSelection | Expression, result: CycleResult) -> _Selects:
    """Return a predicate of the decisions to record: those for which the expression is not false (or 0)."""
    if isinstance(selection, DecisionSelection):
        return lambda _my, _target: selection is DecisionSelection.ALL
    tree = bind(selection.tree)
    env = Cycle(result.number, result.now, result.digest).environment

    def selects(my: Ad, target: Ad | None) -> bool:
        value = evaluate(tree, my, target, env)
        return not (isinstance(value, bool | int | float) and value == 0)

    return selects


def _common(kind: str, result: CycleResult) -> Record:
    return {
        "kind": kind,
        "cycle": result.number,
        "time": instant(result.now),
        "bundle": result.digest,
    }


def _match_records(result: CycleResult, selects: _Selects) -> list[Record]:
    records = []
    common = _common("match", result)
    text = "ranks among the best of the slots that no rule removed"
    reason = {"code": "best_rank", "text": text, "provenance": provenance_fields(_RANKING)}
    for outcome in result.outcomes:
        records += [
            {
                **common,
                **_match_fields(match, outcome.request.user),
                "candidates": outcome.candidates,
                "reason": reason,
                "warnings": [reason_fields(reason) for reason in match.warnings],
            }
            for match in outcome.matches
            if selects(match.job_ad, match.slot_ad)
        ]
    return records


def _match_fields(match: Match, user: str) -> Record:
    return {
        "id": bounded(match.id),
        "user": bounded(user),
        "submitter": bounded(match.submitter),
        "schedd": bounded(match.schedd),
        "job": bounded(match.job),
        "slot": bounded(match.slot),
        "queue": bounded(match.queue, TEXT),
        "rank": number(match.rank),
        **_score_fields(match),
        **_preempted_fields(match),
    }


def _score_fields(match: Match) -> Record:
    """Return the scores that sorted the slots before every rank; nothing without any."""
    scores = [
        {"plugin": bounded(each.plugin), "rule": bounded(each.rule), "value": number(each.value)}
        for each in match.scores
    ]
    return {"scores": scores} if scores else {}


def _preempted_fields(match: Match) -> Record:
    """Return whose job the match ends, and why; nothing if the slot was free."""
    ended = match.preempts
    if ended is None:
        return {}
    fields: Record = {"user": bounded(ended.user), "by": ended.by}
    if ended.provenance is not None:
        fields["queue"] = bounded(ended.queue, TEXT)
        fields["text"] = bounded(ended.text, TEXT)
        fields["numbers"] = number_fields(ended.numbers)
        fields["provenance"] = provenance_fields(ended.provenance)
    if ended.slots:
        fields["slots"] = [
            {"slot": bounded(each.slot), "user": bounded(each.user), "job": bounded(each.job)}
            for each in ended.slots
        ]
    return {"preempts": fields}


def _denial_records(result: CycleResult, selects: _Selects) -> list[Record]:
    denied = (each for each in result.outcomes if each.unmatched and selects(each.request.ad, None))
    return [_denial_record(result, outcome, fields) for outcome, fields in bounded_denials(denied)]


def _denial_record(result: CycleResult, outcome: RequestOutcome, fields: Record) -> Record:
    return {
        **_common("denial", result),
        "user": bounded(outcome.request.user),
        "submitter": bounded(outcome.request.submitter),
        "schedd": bounded(outcome.request.schedd),
        "jobs": outcome.unmatched,
        "first_job": bounded(outcome.first_unmatched),
        "queue": bounded(outcome.request.queue, TEXT),
        "matched": len(outcome.matches),
        "candidates": outcome.candidates,
        **fields,
    }


def _discard_record(result: CycleResult, discarded: DiscardedAds) -> Record:
    return {
        **_common("discard", result),
        "ads": str(discarded.kind),
        "count": discarded.count,
        "examples": [bounded(name) for name in discarded.examples],
        "reason": reason_fields(discarded.reason),
    }


def _failure_record(result: CycleResult, failure: HookFailure) -> Record:
    return {
        **_common("failure", result),
        "plugin": bounded(failure.plugin),
        "version": bounded(failure.version),
        "hook": bounded(failure.hook),
        "message": bounded(failure.message, TEXT),
    }


def _overrun_records(result: CycleResult) -> Iterator[Record]:
    """Yield what is to end, which is recorded before it is asked for, then what begins and what is over."""
    common = _common("overrun", result)
    parts = (
        ("evict", (each.overrun for each in result.evictions)),
        ("begun", result.overruns_begun),
        ("ended", result.overruns_ended),
    )
    for change, overruns in parts:
        for each in overruns:
            yield {**common, "change": change, **_overrun_fields(each)}


def _overrun_fields(overrun: Overrun) -> Record:
    """Return what breaks a rule: a running job, or the usage of a limit."""
    fields: Record = {"subject": bounded(overrun.subject, TEXT), "since": instant(overrun.since)}
    if overrun.is_limit:
        fields["resource"] = bounded(overrun.resource)
        fields["used"], fields["limit"] = number(overrun.used), number(overrun.limit)
    else:
        for name in ("user", "schedd", "job", "slot"):
            fields[name] = bounded(getattr(overrun, name))
        fields["action"] = str(overrun.action)
    return {**fields, "reason": reason_fields(overrun.reason)}


def _eviction_fields(evicted: Sequence[EvictionOutcome]) -> Record:
    """Return what became of the running jobs that were asked to end; nothing without any."""
    if not evicted:
        return {}
    found = [
        {
            **{name: bounded(getattr(each.eviction.overrun, name)) for name in ("schedd", "job", "slot")},
            "accepted": each.accepted,
            "text": bounded(each.text, _WHY),
        }
        for each in evicted[:_OVERRUNS]
    ]
    return {"evicted": found}


def _cycle_record(
    result: CycleResult, recorded_matches: int, recorded_denials: int, inputs: Mapping[str, str]
) -> Record:
    return {
        **_common("cycle", result),
        "plugins": [bounded(plugin) for plugin in result.plugins],
        **inputs,
        "now": result.now,
        "counts": attrs.asdict(result.counts),
        "in_use": _in_use_fields(result),
        "matches": len(result.matches),
        "matches_recorded": recorded_matches,
        "denials": sum(1 for outcome in result.outcomes if outcome.unmatched),
        "denials_recorded": recorded_denials,
        "discards": len(result.discarded),
        "failures": len(result.failures),
        "failures_left_out": max(0, len(result.failures) - _FAILURES),
        "placements": len(result.placements),
        "queue_changes": len(result.changes),
        "time_stops": len(result.reached),
        "overruns": len(result.overruns),
        "overruns_by_rule": _overrun_counts(result),
        "overruns_left_out": max(0, _overrun_changes(result) - _OVERRUNS),
        "unjudged": result.unjudged,
    }


def _overrun_changes(result: CycleResult) -> int:
    return len(result.evictions) + len(result.overruns_begun) + len(result.overruns_ended)


def _overrun_counts(result: CycleResult) -> list[Record]:
    """Return how many running jobs break each rule, those of most first; of a rule that does not enforce, how many would."""
    counts = sorted(result.overrun_counts, key=lambda each: -each.jobs)[:_IN_USE]
    return [{"jobs": each.jobs, "reason": reason_fields(each.reason)} for each in counts]


def _in_use_fields(result: CycleResult) -> Record:
    """Return how many jobs were in use, and those of the users and queues with most."""
    users: Counter[str] = Counter()
    queues: Counter[str] = Counter()
    for each in result.in_use:
        users[bounded(each.user)] += each.jobs
        queues[bounded(each.queue)] += each.jobs
    return {
        "jobs": users.total(),
        "users": dict(_most(users)),
        "queues": dict(_most(queues)),
    }


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_IN_USE]


def stop_fields(reached: ReachedLimit) -> Record:
    """Return the fields of a limit that was reached."""
    stop = reached.stop
    return {
        "limit": str(stop.limit),
        "submitter": bounded(stop.submitter),
        "schedd": bounded(stop.schedd),
        "turn": stop.turn,
        "reason": reason_fields(reached.reason),
    }


def recorded_stops(records: Iterable[Record]) -> tuple[TimeStop, ...]:
    """Return the stops among the records of one cycle, for ``RecordedTime``.

    :raises KeyError, ValueError: a record does not have the fields that this version writes.
    """
    return tuple(
        TimeStop(TimeLimit(each["limit"]), each["submitter"], each["schedd"], each["turn"])
        for each in records
        if each["kind"] == STOP_KIND
    )

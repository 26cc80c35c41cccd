"""The lines of a cycle in NegotiatorLog and MatchLog, in the words of condor_negotiator.

Source: ``matchmaker.cpp`` (``negotiationTime``, ``negotiateWithGroup``, ``negotiate``, ``matchmakingProtocol``) and
``matchmaker_negotiate.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from negotiator.plugin import Ad, Match, Reason
from negotiator_live.master.daemon_log import DaemonLog, LogCategory, LogLine
from negotiator_live.pool.requests import job_count
from negotiator_live.pool.submitters import Submitter
from negotiator_live.wire.ads import WireAd

_ALWAYS: Final = LogCategory.ALWAYS
_NO_MATCH: Final = "no match found"
#: The words of condor_negotiator for the reasons that it has too, by code; any other is ``no match found``.
_WORDS: Final = {
    "preemption_requirements": "PREEMPTION_REQUIREMENTS == False",
    "share_used": "submitter limit exceeded",
}


@attrs.frozen
class CycleLog:
    """Writes the lines of the present cycle."""

    log: DaemonLog

    def listens(self, address: object) -> None:
        """Write where this program gets commands; ``condor_who`` reads it."""
        self._write(
            f"DaemonCore: command socket at {address}", f"DaemonCore: private command socket at {address}"
        )

    def begins(self) -> None:
        """A cycle begins; the ads of the pool are fetched next."""
        self._write(
            "---------- Started Negotiation Cycle ----------",
            "Phase 1:  Obtaining ads from collector ...",
            "  Getting startd private ads ...",
            "  Getting Scheduler, Submitter and Machine ads ...",
        )

    def fails(self) -> None:
        """The cycle does not take place; why is in a line of the program."""
        self._write("Aborting negotiation cycle")

    def fetched(self, slots: int, submitters: Sequence[Submitter], job_attributes: Iterable[str]) -> None:
        """The ads are there, and the schedds are asked for their requests next."""
        self._write(
            f"Public ads include {len(submitters)} submitter, {slots} startd",
            "Phase 2:  Performing accounting ...",
        )
        result = ",".join(sorted(job_attributes)) or "(none)"
        self.log.write(f"Leaving compute_significant_attrs() - result={result}", LogCategory.STATUS)
        self._write(
            "Phase 3:  Sorting submitter ads by priority ...",
            f"Starting prefetch round; {len(submitters)} potential prefetches to do.",
            *(f"Starting prefetch negotiation for {each.name}." for each in submitters),
        )

    def prefetched(self, attempted: int, failed: int) -> None:
        """The schedds have answered; the cycle decides next."""
        self._write(f"Prefetch summary: {attempted} attempted, {attempted - failed} successful.")

    def decided(self) -> None:
        """The matches and rejections are sent next."""
        self._write("Phase 4.1:  Negotiating with schedds ...")

    def answered(self, lines: Iterable[LogLine]) -> None:
        """Write the lines of one submitter at a schedd."""
        self.log.write_all(lines)

    def ends(self) -> None:
        """The outcome of the cycle is recorded."""
        self._write("---------- Finished Negotiation Cycle ----------")

    def _write(self, *texts: str) -> None:
        self.log.write_all((_ALWAYS, text) for text in texts)


def negotiating_lines(submitter: Submitter) -> Iterator[LogLine]:
    """Yield what precedes the requests of a submitter."""
    yield _ALWAYS, f"  Negotiating with {submitter.name} at {submitter.address}"


def request_line(request: WireAd, offered: int) -> LogLine:
    """Return the line of one job of a request: the next one after ``offered`` that were matched."""
    cluster, proc = request.integer("ClusterId") or 0, request.integer("ProcId") or 0
    autocluster = request.integer("AutoClusterId")
    counted = f"request count {offered + 1} of {job_count(request)}"
    return _ALWAYS, f"    Request {cluster:05d}.{proc:05d}: autocluster {autocluster or 0} ({counted})"


def match_lines(submitter: Submitter, match: Match, *, offline: bool) -> Iterator[LogLine]:
    """Yield the lines of a match, of which MatchLog has the first; the id and the queue are those of the audit log."""
    slot, remark = match.slot_ad, " (offline)" if offline else ""
    startd = slot.string("StartdIpAddr") or slot.string("MyAddress") or "<0.0.0.0:0>"
    if match.preempts is not None:
        user = match.preempts.user
        rank = slot.real("CurrentRank") or 0.0
        yield (
            _ALWAYS,
            f"      Preempting {user} (startd rank={rank:.2f}) on {match.slot} for {submitter.name}",
        )
    matched = f"      Matched {match.job} {submitter.name} {submitter.address} preempting {_runs(slot)} {startd} {match.slot}"
    yield LogCategory.MATCH, matched + remark
    yield (
        _ALWAYS,
        f"      Successfully matched with {match.slot}{remark} (match {match.id}, queue {match.queue or '-'})",
    )


def rejection_line(submitter: Submitter, job: str, reason: Reason | None) -> LogLine:
    """Return the line of a rejection, as MatchLog has it."""
    return LogCategory.MATCH, f"      Rejected {job} {submitter.name} {submitter.address}: {words(reason)}"


def error_line() -> LogLine:
    """Return the line of a schedd that did not get its answers; why is in a line of the program."""
    return _ALWAYS, "  Error: Ignoring submitter for this cycle"


def words(reason: Reason | None) -> str:
    """Return how condor_negotiator would have put a reason."""
    if reason is None:
        return _NO_MATCH
    if reason.code == "concurrency_limit":
        return f"{reason.provenance.rule.lower()} reached"
    return _WORDS.get(reason.code, _NO_MATCH)


def _runs(slot: Ad) -> str:
    """Return who uses a slot."""
    user = slot.string("RemoteUser") or "none"
    group = slot.string("AccountingGroup")
    return f"{user} (AccountingGroup={group})" if group else user

"""The decisions of a cycle for one submitter's requests, as one schedd receives them.

Source: ``Matchmaker::negotiate`` and ``matchmakingProtocol`` (``matchmaker.cpp``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import attrs

from negotiator.plugin import (
    Ad,
    Decisions,
    Delivery,
    DeliveryStatus,
    Match,
    Reason,
    Rejection,
    Reuse,
    unparse_old,
)
from negotiator_live.ads.negotiator_ad import literals
from negotiator_live.master.daemon_log import LogLine
from negotiator_live.pool.cycle_log import (
    error_line,
    match_lines,
    negotiating_lines,
    rejection_line,
    request_line,
)
from negotiator_live.pool.daemons import StartdNotices
from negotiator_live.pool.negotiation import Negotiation
from negotiator_live.pool.requests import job_count, job_id
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.errors import DaemonError

_NO_SLOT: Final = "no slot remains for the job in this cycle"
_UNCLAIMED: Final = "null"  # in place of a claim id: the slot is not claimed
#: What startds advertise of a running job's group, by what its request had in its turn.
_OF_GROUP: Final = {
    "RemoteGroup": "SubmitterGroup",
    "RemoteNegotiatingGroup": "SubmitterNegotiatingGroup",
    "RemoteAutoregroup": "SubmitterAutoregroup",
}
#: A schedd gives the claim of a slot that was attached for one user to jobs of this user alone, and there is none of this name. The
#: job that was matched starts without this test, and keeps the claim until it ends. HTCondor 10.3 or later
#: (``FindRunnableJob``, ``qmgmt.cpp``).
_FOR_ONE_JOB: Final = {
    "RestrictToAuthenticatedIdentity": "true",
    "AuthenticatedIdentity": quoted("policy@negotiator"),
}
_POLICY: Final = "NegotiatorMatchExprPolicy"
_REPLACED: Final = frozenset(map(str.lower, _OF_GROUP))


@attrs.define(eq=False)
class NegotiationAnswers:
    """The matches and rejections for the requests of one negotiation, and what became of the matches.

    ``place`` is that of its first match among all of the cycle. ``log_lines`` are what was sent, in the words of the log.
    """

    negotiation: Negotiation
    decisions: Decisions
    notices: StartdNotices | None = None  # None: startds are not told of matches
    place: float = attrs.field(default=math.inf, init=False)
    log_lines: list[LogLine] = attrs.field(factory=list, init=False)
    _autoclusters: dict[str, str] = attrs.field(init=False)  # by job
    _matches: dict[str, list[Match]] = attrs.field(factory=dict, init=False)  # by job
    _reasons: dict[str, Reason] = attrs.field(factory=dict, init=False)  # by autocluster
    _sent: list[Match] = attrs.field(factory=list, init=False)
    _divisible: set[tuple[str, str]] = attrs.field(factory=set, init=False)  # partitionable slots, once sent
    _failed: dict[str, str] = attrs.field(factory=dict, init=False)  # by id of the match
    _error: str = attrs.field(default="", init=False)

    @_autoclusters.default
    def _offered(self) -> dict[str, str]:
        return {job_id(each): _autocluster(each) for each in self.negotiation.requests}

    def add_match(self, match: Match, place: int) -> bool:
        """Add a match; False if the schedd has not offered its job."""
        if match.job not in self._autoclusters:
            return False
        self.place = min(self.place, place)
        self._matches.setdefault(match.job, []).append(match)
        return True

    def add_rejection(self, rejection: Rejection) -> None:
        """Add the reason for the jobs of a request; of several in one autocluster the first counts."""
        autocluster = self._autoclusters.get(rejection.first_job)
        if autocluster is not None:
            self._reasons.setdefault(autocluster, rejection.reason)

    def send(self) -> None:
        """Send all matches and rejections, and end the negotiation.

        :raises DaemonError: the connection failed; ``deliveries`` has what that means for each match.
        """
        negotiation, lines = self.negotiation, self.log_lines
        submitter = negotiation.submitter
        lines += negotiating_lines(submitter)
        try:
            negotiation.begin_answers()
            rejected: set[str] = set()
            waiting = {job: iter(matches) for job, matches in self._matches.items()}
            for request in negotiation.requests:
                # One job may have several requests, each with matches of its own.
                matches = list(islice(waiting.get(job_id(request), iter(())), job_count(request)))
                for number, match in enumerate(matches):
                    if self._send_match(request, match):
                        lines.append(request_line(request, number))
                        lines += match_lines(submitter, match, offline=is_offline(match))
                autocluster = _autocluster(request)
                if len(matches) < job_count(request) and autocluster not in rejected:
                    rejected.add(autocluster)
                    reason = self._reason(request)
                    negotiation.reject(request, self._text(reason))
                    lines.append(request_line(request, len(matches)))
                    lines.append(rejection_line(submitter, job_id(request), reason))
            negotiation.end()
        except DaemonError as error:
            self._error = str(error)
            lines.append(error_line())
            negotiation.close()
            raise

    def deliveries(self) -> Iterator[Delivery]:
        """Yield what became of each match, after ``send``."""
        # Where the connection broke, the schedd may have read what was sent before.
        status = DeliveryStatus.UNKNOWN if self._error else DeliveryStatus.DELIVERED
        sent = {match.id for match in self._sent}
        for match in self._all():
            if match.id in sent:
                yield Delivery(match, status, self._error)
            else:
                yield Delivery(match, DeliveryStatus.FAILED, self._failed.get(match.id, self._error))

    def _all(self) -> Iterable[Match]:
        return (match for matches in self._matches.values() for match in matches)

    def _send_match(self, request: WireAd, match: Match) -> bool:
        """Send a match, and return whether the schedd has its slot by it."""
        slot = match.slot_ad
        key = match.slot, slot.string("MyAddress") or slot.string("StartdIpAddr") or ""
        claim = self._claim_id(match, key[1])
        if claim is None and key not in self._divisible:
            self._failed[match.id] = "no claim id of the slot is left"
            return False
        sole = claim
        if claim is not None and (claim := self._with_ended(match, claim, key[1])) is None:
            self._failed[match.id] = "no claim id is left of a dynamic slot whose job is to end"
            return False
        # A failure from here on may come after the schedd has read the match.
        self._sent.append(match)
        if claim is None:
            return True  # ``match: fill``: the schedd has the slot already, and divides it among its jobs
        if slot.evaluate("PartitionableSlot") is True:
            self._divisible.add(key)
        if self.notices is not None and sole is not None and sole != _UNCLAIMED:
            self.notices.note(match.slot, slot.string("StartdIpAddr") or key[1], sole)
        added = _group_texts(match) | self._reuse_texts(match)
        names = {name.lower() for name in added}
        own = {name: text for name, text in _slot_texts(slot).items() if name.lower() not in names}
        self.negotiation.match(request, own | added, claim)
        return True

    def _claim_id(self, match: Match, address: str) -> str | None:
        """Return the next claim id of a match's slot; None without further ones."""
        if match.slot_ad.evaluate("WantClaiming") is False or is_offline(match):
            return _UNCLAIMED
        return self.decisions.claims.take(match.slot, address or None, match.id)

    def _reuse_texts(self, match: Match) -> dict[str, str]:
        """Return the attributes by which a schedd and a startd find out for which further jobs the claim may be used."""
        reuse = self.decisions.reuse.get(match.id, Reuse.ALLOW)
        if reuse is Reuse.NEVER:
            return _FOR_ONE_JOB
        return {_POLICY: self.decisions.policy} if reuse is Reuse.SAME else {}

    def _with_ended(self, match: Match, claim: str, address: str) -> str | None:
        """Return a claim id, and after it those of the dynamic slots whose jobs end; None if one of these has none.

        A startd advertises in ``ChildClaimIds`` of the partitionable slot what the private ads of its dynamic slots have as ``ClaimId``.
        """
        ended = () if match.preempts is None else match.preempts.slots
        if not ended:
            return claim
        claims = [self.decisions.claims.take(each.slot, address or None) for each in ended]
        # A schedd counts the blanks after the first claim id (``ClaimStartdMsg``): without one at the end it would lose the last.
        return None if None in claims else f"{claim} {' '.join(map(str, claims))} "

    def _reason(self, request: WireAd) -> Reason | None:
        """Return the reason why jobs of a request got no slot, or took no part."""
        schedd = self.negotiation.submitter.schedd.lower()
        return self._reasons.get(_autocluster(request)) or self.decisions.discarded.get(
            (schedd, job_id(request))
        )

    def _text(self, reason: Reason | None) -> str:
        """Return what the user reads of jobs that got no slot."""
        text, kept = reason.text if reason else _NO_SLOT, self.decisions.kept
        return f"{text}; {kept}" if kept and kept not in text else text


def is_offline(match: Match) -> bool:
    """Return whether the machine of a match's slot is switched off."""
    return match.slot_ad.evaluate("Offline") is True


def _group_texts(match: Match) -> dict[str, str]:
    """Return the attributes of the group in which a job was matched, as condor_negotiator adds them to the slot's ad."""
    given = {name: match.request_attributes.get(source) for name, source in _OF_GROUP.items()}
    return literals({name: value for name, value in given.items() if isinstance(value, str | bool)})


def _slot_texts(slot: Ad) -> dict[str, str]:
    """Return the attributes of a slot's ad, with the Requirements that NegotiatorRequirements replaced.

    Those of the group of an earlier job are left out.
    """
    texts = {name: unparse_old(tree) for name, tree in slot.items() if name.lower() not in _REPLACED}
    own = slot.get("SavedRequirements")
    if own is None:
        return texts
    return {name: text for name, text in texts.items() if name.lower() != "requirements"} | {
        "Requirements": unparse_old(own)
    }


def _autocluster(request: WireAd) -> str:
    """Return the number of the schedd's autocluster; without one each job is its own."""
    return request.get("AutoClusterId") or job_id(request)

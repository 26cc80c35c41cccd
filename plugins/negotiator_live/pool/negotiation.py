"""The conversation with a schedd about the jobs of one submitter.

Source: ``ScheddNegotiate`` (``condor_daemon_client/dc_schedd``, ``schedd_negotiate.cpp``) and ``Matchmaker::negotiate``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from negotiator_live.pool.requests import job_id
from negotiator_live.pool.submitters import Submitter
from negotiator_live.security.client import SecureClient
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import ConnectionClosedError, malformed
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

MAX_REQUESTS: Final = 100_000
"""Requests of one submitter in one cycle: a schedd must not keep the others waiting for ever."""

_LONGEST_REASON: Final = 200
_NO_AUTOCLUSTER: Final = "-1"  # requests of the dedicated scheduler and of owner capacity units have none


@attrs.frozen
class NegotiationTerms:
    """What a negotiator sends to each schedd: its name, and the attributes that distinguish jobs (``AutoClusterAttrs``).

    ``requests`` are asked for at a time, ``timeout`` are the seconds for all of them, and for all matches.
    """

    name: str
    job_attributes: frozenset[str]
    requests: int
    timeout: float

    def header(self, submitter: Submitter) -> dict[str, str]:
        """Return the ad that begins a negotiation."""
        return {
            "Owner": quoted(submitter.name),
            "AutoClusterAttrs": quoted(",".join(sorted(self.job_attributes))),
            "SubmitterTag": quoted(submitter.tag),
            "MatchClaimedPSlots": "true",
            "MatchCaps": quoted("MatchDiag3"),
            "NegotiatorName": quoted(self.name),
        }


@attrs.define(eq=False)
class Negotiation:
    """One negotiation with a schedd, on a connection that the next one of the submitter uses again.

    All methods raise ``DaemonError``; the connection is then closed.
    """

    submitter: Submitter
    terms: NegotiationTerms
    client: SecureClient
    requests: list[WireAd] = attrs.field(factory=list, init=False)
    _channel: Channel | None = attrs.field(default=None, init=False)
    _has_ended: bool = attrs.field(default=True, init=False)

    @property
    def is_open(self) -> bool:
        """True if the schedd waits for the outcome of its requests."""
        return self._channel is not None and bool(self.requests)

    def fetch(self) -> None:
        """Begin, and ask for the schedd's requests; without any, end."""
        if not self._has_ended:  # the cycle before failed: the schedd still waits for its outcome
            self.close()
        self.requests = []
        kept, self._channel = self._channel, None
        if kept is not None:
            try:
                self._begin(kept)
            except ConnectionClosedError:  # since the last cycle
                kept = None
            if kept is not None:
                return
        deadline = Deadline(self.terms.timeout)
        self._begin(self.client.open(self._exchange(), deadline, self.submitter.capability), is_new=True)

    def match(self, request: WireAd, slot: Mapping[str, str], claim: str) -> None:
        """Hand out a slot for one job of a request."""
        channel = self._opened()
        channel.put_int(DaemonCommand.PERMISSION_AND_AD)
        channel.put_string(claim)
        channel.put_ad({**slot, **_matched(request)})
        channel.end_message()

    def reject(self, request: WireAd, reason: str) -> None:
        """Send the reason why no further job of a request gets a slot; the user sees it as ``LastRejMatchReason``."""
        channel = self._opened()
        short = reason.replace("|", "/")[:_LONGEST_REASON]
        channel.put_int(DaemonCommand.REJECTED_WITH_REASON)
        # A schedd skips an empty field, and would read the job's id as the autocluster.
        autocluster = request.get("AutoClusterId", _NO_AUTOCLUSTER)
        channel.put_string(f"{short} |{autocluster}|{job_id(request)}|")
        channel.end_message()

    def end(self) -> None:
        """End the negotiation, once the schedd has read all answers; the connection stays open for the next one."""
        # A schedd confirms no match. It reads one message after the other, so its answer to a question shows that it has them.
        channel = self._opened()
        self.requests = []
        self._ask_for(channel, 1)
        self._answer(channel)
        channel.end_received()
        channel.put_int(DaemonCommand.END_NEGOTIATE)
        channel.end_message()
        self._has_ended = True

    def close(self) -> None:
        """Close the connection; the schedd takes back what was not answered."""
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        self.requests = []
        self._has_ended = True

    def begin_answers(self) -> None:
        """Give the schedd a new time limit for the outcome of all requests."""
        self._opened().begin(self._exchange(), Deadline(self.terms.timeout))

    def _opened(self) -> Channel:
        if self._channel is None:
            raise ConnectionClosedError(self._exchange(), "the negotiation is over")
        return self._channel

    def _exchange(self) -> Exchange:
        return Exchange(
            DaemonKind.SCHEDD, self.submitter.schedd, self.submitter.address, DaemonCommand.NEGOTIATE
        )

    def _begin(self, channel: Channel, *, is_new: bool = False) -> None:
        """Send the header on a connection, and receive the requests; a kept one needs the command again."""
        try:
            if not is_new:
                channel.begin(self._exchange(), Deadline(self.terms.timeout))
                channel.put_int(DaemonCommand.NEGOTIATE)
            channel.put_ad(self.terms.header(self.submitter))
            channel.end_message()
            self.requests = list(self._requests(channel))
            if not self.requests:
                channel.put_int(DaemonCommand.END_NEGOTIATE)
                channel.end_message()
        except BaseException:
            channel.close()
            raise
        self._channel, self._has_ended = channel, not self.requests

    def _requests(self, channel: Channel) -> Iterator[WireAd]:
        received = 0
        while received < MAX_REQUESTS:
            self._ask_for(channel, self.terms.requests)
            for _ in range(self.terms.requests):
                request = self._answer(channel)
                channel.end_received()
                if request is None:
                    return
                received += 1
                yield request

    @staticmethod
    def _ask_for(channel: Channel, count: int) -> None:
        channel.put_int(DaemonCommand.SEND_RESOURCE_REQUEST_LIST)
        channel.put_int(count)
        channel.end_message()

    @staticmethod
    def _answer(channel: Channel) -> WireAd | None:
        """Receive a request; None if the schedd has no more."""
        answer = channel.get_int()
        if answer == DaemonCommand.NO_MORE_JOBS:
            return None
        if answer != DaemonCommand.JOB_INFO:
            raise malformed(channel.exchange, f"neither a job nor the end of the jobs ({answer})")
        request = channel.get_ad()
        if request.integer("ClusterId") is None or request.integer("ProcId") is None:
            raise malformed(channel.exchange, "a job without ClusterId and ProcId")
        return request


def _matched(request: WireAd) -> dict[str, str]:
    """Return the attributes of the job in the ad of a matched slot; the startd advertises the limits while it runs."""
    cluster, proc = request["ClusterId"], request["ProcId"]
    found = {
        "_condor_RESOURCE_CLUSTER": cluster,
        "_condor_RESOURCE_PROC": proc,
        "ResourceRequestCluster": cluster,
        "ResourceRequestProc": proc,
    }
    limits = request.string("ConcurrencyLimits")
    return found | ({"MatchedConcurrencyLimits": quoted(limits.lower())} if limits else {})

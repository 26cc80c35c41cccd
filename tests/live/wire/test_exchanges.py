"""Whole exchanges that were changed on the way: cut off, repeated, reordered, with other types. Each is used or refused, and ends."""

import socket
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st

from cedar import EXCHANGE, ad, answer, integer, packet
from negotiator.plugin import PoolAds
from negotiator_live.pool.negotiation import Negotiation, NegotiationTerms
from negotiator_live.pool.requests import job_text
from negotiator_live.pool.submitters import Submitter
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.answers import ad_texts
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import DaemonError
from negotiator_live.wire.exchange import Deadline

ANN = Submitter("ann@d", "", "s", DaemonAddress.parse("<127.0.0.1:9>"))
TERMS = NegotiationTerms("negotiator", frozenset({"requestmemory"}), 200, 20.0)
JOB = (b'MyType = "Job"', b'Owner = "ann"', b"RequestMemory = 5", b"Requirements = TARGET.Memory > 5")
NUMBERS = (b"ClusterId = %d", b"ProcId = 0", b"AutoClusterId = %d", b"_condor_RESOURCE_COUNT = 2")
OFFER = [
    packet(
        integer(DaemonCommand.JOB_INFO) + ad(*JOB, *(each.replace(b"%d", b"%d" % job) for each in NUMBERS))
    )
    for job in (1, 2, 3)
] + [packet(integer(DaemonCommand.NO_MORE_JOBS))]
SLOT = (
    b'MyType = "Machine"',
    b'Name = "slot%d@h"',
    b'MyAddress = "<127.0.0.1:9>"',
    b"Memory = 8",
    b"Start = true",
)
PRIVATE = (
    b'MyType = "Machine"',
    b'Name = "slot%d@h"',
    b'MyAddress = "<127.0.0.1:9>"',
    b'ClaimId = "<127.0.0.1:9>#1"',
)
SLOTS = [answer(*(ad(*(each.replace(b"%d", b"%d" % slot) for each in SLOT)) for slot in (1, 2)))]
CLAIMS = [answer(*(ad(*(each.replace(b"%d", b"%d" % slot) for each in PRIVATE)) for slot in (1, 2)))]
BYTES = st.one_of(
    st.binary(max_size=20), st.sampled_from([integer(-1), integer(2**62), b"\0" * 9, b"= 1\0", b"ZKM\0"])
)


@st.composite
def changed(draw, messages):
    """Return the bytes of messages after a few changes of them: dropped, repeated, exchanged, cut, or with other bytes within."""
    found = list(messages)
    for _ in range(draw(st.integers(0, 3))):
        place, other = (draw(st.integers(0, max(0, len(found) - 1))) for _ in range(2))
        kind = draw(st.sampled_from(("drop", "repeat", "exchange", "cut", "bytes", "payload")))
        if kind == "drop":
            del found[place : place + 1]
        elif kind == "repeat":
            found[place:place] = found[place : place + 1] * draw(st.integers(1, 4))
        elif found and kind == "exchange":
            found[place], found[other] = found[other], found[place]
        elif found:
            at = draw(st.integers(0, len(found[place])))
            more = b"" if kind == "cut" else draw(BYTES)
            text = found[place][:at] + more + (b"" if kind == "cut" else found[place][at + len(more) :])
            # With a payload the message is whole again, with other contents.
            found[place] = packet(text[5:]) if kind == "payload" else text
    return b"".join(found)


@contextmanager
def answering(data):
    """Yield a channel whose other side has sent this, and sends no more."""
    ours, theirs = socket.socketpair()
    with theirs, Channel(ours, EXCHANGE, Deadline(20.0)) as channel:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        channel.packets.end_handshake()
        yield channel


@given(changed(OFFER))
def test_an_offer_of_jobs_is_used_or_refused(data):
    """Every request of a used one has an id, and is a job of the submitter whom the schedd was asked about."""
    with answering(data) as channel:

        class Client:
            def open(self, *_):
                return channel

        negotiation, ads = Negotiation(ANN, TERMS, Client()), PoolAds()
        try:
            negotiation.fetch()
        except DaemonError:
            assert not negotiation.is_open
        ads.add("schedd s", (job_text(each, ANN) for each in negotiation.requests), kind="Job")
        pool = ads.snapshot()
        assert set(pool.jobs.strings(PoolAds.SUBMITTER).tolist()) <= {"ann@d"}
        assert len(pool.jobs) + len(pool.problems) >= min(1, len(negotiation.requests))


@given(changed(SLOTS), changed(CLAIMS))
def test_answers_of_a_collector_are_used_or_refused(slots, claims):
    """Whatever is used are slots, each with at most one claim id, of its own startd."""
    ads = PoolAds()
    for data, add in (claims, ads.add_claims), (slots, lambda *given: ads.add(*given, kind="Machine")):
        with answering(data) as channel:
            try:
                texts = list(ad_texts(channel))
            except DaemonError:
                continue
            add("collector", texts)
    pool = ads.snapshot()
    assert len(pool.jobs) == len(pool.submitters) == len(pool.schedds) == 0
    assert set(pool.claim_ids or ()) <= {0, 1}


def test_exchanges_that_were_not_changed_are_used():
    with answering(b"".join(OFFER)) as channel:
        client = type("Client", (), {"open": lambda *_: channel})
        negotiation = Negotiation(ANN, TERMS, client())
        negotiation.fetch()
        assert [each["ClusterId"] for each in negotiation.requests] == ["1", "2", "3"]

"""Answers of schedds to queries for jobs: each ad is a message of its own, and the last one has ``Owner = 0``.

Source: ``DCSchedd::queryJobs`` (``dc_schedd.cpp``) and ``QueryJobAdsContinuation`` (``schedd.cpp``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from negotiator.plugin import printable
from negotiator_live.wire.ad_pieces import AdPiece
from negotiator_live.wire.ads import WireAd
from negotiator_live.wire.answers import text_of
from negotiator_live.wire.errors import DaemonError, malformed
from negotiator_live.wire.packets import MAX_AD, MAX_ANSWER

if TYPE_CHECKING:
    from negotiator_live.wire.channel import Channel

_INT: Final = struct.Struct(">q")
_ONE_MORE: Final = _INT.pack(1)
_NO_MORE: Final = _INT.pack(0)
_PIECE: Final = 1 << 20
_MAY_BE_LAST: Final = b"Owner = 0\0"


def job_texts(channel: Channel) -> Iterator[str]:
    """Yield the jobs of an answer in long form, in blocks of whole ads.

    :raises DaemonError: while iterating, if the answer is malformed or does not arrive, or the schedd reports an error.
    """
    channel.incoming.limit = MAX_AD
    size, waiting, ads = 0, bytearray(), 0
    while True:
        _, message = channel.incoming.piece(MAX_AD + 1)
        channel.end_received()
        size += len(message)
        if size > MAX_ANSWER:
            raise malformed(channel.exchange, f"the answer has more than {MAX_ANSWER} bytes")
        if _MAY_BE_LAST in message and (last := _last_ad(channel, message)) is not None:
            break
        waiting += _ONE_MORE + message
        ads += 1
        if len(waiting) > _PIECE:
            yield _text(channel, bytes(waiting), ads)
            waiting, ads = bytearray(), 0
    if ads:
        yield _text(channel, bytes(waiting), ads)
    if last.integer("ErrorCode"):
        words = printable(last.string("ErrorString")[:500])
        raise DaemonError(channel.exchange, f"the schedd reports an error: {words}")


def _text(channel: Channel, messages: bytes, count: int) -> str:
    """Return the text of messages with one ad each."""
    found = AdPiece(messages + _NO_MORE, channel.exchange, encrypted=channel.is_encrypted)
    if not found.is_over or found.rest or len(found.ads) != count:
        raise malformed(channel.exchange, "a message is not exactly one ad of a job")
    return text_of(found.ads)


def _last_ad(channel: Channel, message: bytes) -> WireAd | None:
    """Return the ad of a message if it is the end of the answer."""
    found = AdPiece(_ONE_MORE + message + _NO_MORE, channel.exchange, encrypted=channel.is_encrypted)
    if not found.is_over or found.rest or len(found.ads) != 1:
        raise malformed(channel.exchange, "a message is not exactly one ad of a job")
    lines = (line.partition(" = ") for line in text_of(found.ads).split("\n"))
    ad = WireAd({name: value for name, equals, value in lines if equals})
    return ad if ad.get("Owner") == "0" else None

"""Answers to queries: ads as text in long form, which the reader of pools reads into tables.

An answer is ``(1, ad)*, 0``. Its bytes are looked at a megabyte at a time: NULs are found all at once, the Python code runs
once for each ad. Texts that could be taken for another attribute or another ad (line breaks within, nothing before the
``=``, a comment) are looked at one by one: line breaks become blanks, and a text that is no attribute becomes a line for
which the reader sets the whole ad aside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from negotiator_live.wire.ad_pieces import AdPiece
from negotiator_live.wire.errors import malformed
from negotiator_live.wire.packets import MAX_AD, MAX_ANSWER

if TYPE_CHECKING:
    from negotiator_live.wire.channel import Channel

_PIECE: Final = 1 << 20
_NOT_AN_ATTRIBUTE: Final = b"= "

_BEGINS_NAME: Final = np.zeros(256, np.bool_)
_BEGINS_NAME[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")] = True


def ad_texts(channel: Channel) -> Iterator[str]:
    """Yield the ads of an answer in long form, in blocks of whole ads: ``attr = value`` lines, a blank line after each ad.

    Bytes that are not UTF-8 become lone surrogates (``surrogateescape``), as the readers of files have it.

    :raises DaemonError: while iterating, if the answer is malformed or does not arrive.
    """
    channel.incoming.limit = MAX_ANSWER
    rest = b""
    while True:
        is_last, data = channel.incoming.piece(_PIECE)
        found = AdPiece(rest + data, channel.exchange, encrypted=channel.is_encrypted)
        if found.ads:
            yield text_of(found.ads)
        rest = found.rest
        if found.is_over:
            if rest or not is_last:
                raise malformed(channel.exchange, "there is more after the last ad of the answer")
            channel.end_received()
            return
        if is_last:
            raise malformed(channel.exchange, "the answer ends within an ad")
        if len(rest) > MAX_AD:
            raise malformed(channel.exchange, f"an ad has more than {MAX_AD} bytes")


def text_of(ads: list[bytes]) -> str:
    """Return ads, each the texts of its attributes with NULs between, in long form."""
    joined = b"\0\0".join(ads)
    if b"\n" in joined or b"\r" in joined or not (joined and _are_attributes(joined, len(ads))):
        joined = b"\0\0".join(b"\0".join(map(_line, ad.split(b"\0"))) for ad in ads)
    return joined.replace(b"\0", b"\n").decode("utf-8", "surrogateescape") + "\n\n"


def _are_attributes(joined: bytes, ads: int) -> bool:
    """True if each text begins with a letter, as a name does, and none is empty."""
    array = np.frombuffer(joined, np.uint8)
    firsts = array[np.flatnonzero(array[:-1] == 0) + 1]
    others = len(firsts) - int(np.count_nonzero(_BEGINS_NAME[firsts]))
    empty = len(firsts) - int(np.count_nonzero(firsts))
    return bool(_BEGINS_NAME[array[0]]) and array[-1] != 0 and others == empty == ads - 1


def _line(text: bytes) -> bytes:
    """Return the line of a text that was sent as an attribute."""
    line = text.replace(b"\n", b" ").replace(b"\r", b" ").lstrip()
    return line if line and _BEGINS_NAME[line[0]] else _NOT_AN_ATTRIBUTE + line

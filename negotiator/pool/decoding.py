"""Bytes to text: a file or a stream, compressed or not, as blocks of characters."""

from __future__ import annotations

import codecs
import zlib
from typing import TYPE_CHECKING, BinaryIO, Final

from negotiator.pool.limits import BLOCK, MAX_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

GZIP: Final = b"\x1f\x8b"


class UnreadableError(Exception):
    """The rest of a text cannot be had; the message says why."""


class DecodedText:
    """The text of one file: iterate over it once for its blocks (none empty; UnreadableError where it breaks off).

    Bytes that are not UTF-8 become lone surrogates (``surrogateescape``), so that they can be written as they were.
    ``line`` is the number of the line that the next block begins in.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.line = 1
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        size = 0
        for data in _expanded(_chunks(self._stream)):
            size += len(data)
            if size > MAX_FILE:
                raise UnreadableError(f"the file has more than {MAX_FILE} bytes")
            block = decoder.decode(data)
            if size == len(data):
                block = block.removeprefix("\ufeff")  # a byte order mark is no part of the first name
            if block:
                yield block
                self.line += block.count("\n")
        if block := decoder.decode(b"", final=True):
            yield block


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    try:
        while data := stream.read(BLOCK):
            yield data
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None


def _expanded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(chunks, b"")
    if not first.startswith(GZIP):
        if first:
            yield first
        yield from chunks
        return
    try:
        yield from _gunzip(first, chunks)
    except zlib.error as error:
        raise UnreadableError(f"the compressed data are damaged ({error})") from None


def _gunzip(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Expand one gzip member after the other, never more than a block at a time."""
    data = first
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    while True:
        while data:
            if member.eof:
                data = data.lstrip(b"\0")  # gzip allows padding between members
                if not data:
                    break
                member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            if block := member.decompress(data, BLOCK):
                yield block
            data = member.unused_data if member.eof else member.unconsumed_tail
        data = next(chunks, b"")
        if not data:
            break
    if not member.eof:
        raise UnreadableError("the compressed data end too soon")

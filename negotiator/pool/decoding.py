"""Decodes a file or stream, compressed or not, into blocks of text."""

from __future__ import annotations

import codecs
import zlib
from typing import TYPE_CHECKING, BinaryIO, Final

import numpy as np

from negotiator.activity import advance
from negotiator.pool.limits import BLOCK, MAX_EXPANDED, MAX_EXPANSION, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from negotiator.pool.input_files import HashedStream

_NEWLINE: Final = 10
GZIP: Final = b"\x1f\x8b"


class DecodedText:
    """The text of one file, as an iterable of blocks, none empty. It can be iterated over once.

    Bytes that are not UTF-8 become lone surrogates (``surrogateescape``), so that they can be written as they were.
    ``line`` is the line number at which the next block begins.

    :raises UnreadableError: while iterating, if the rest cannot be read or decompressed.
    """

    def __init__(self, stream: BinaryIO | HashedStream) -> None:
        self.line = 1
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        size = 0
        for data in _expanded(_chunks(self._stream)):
            size += len(data)
            block = decoder.decode(data)
            if size == len(data):
                block = block.removeprefix("\ufeff")  # a byte order mark is not part of the first name
            if block:
                yield block
                self.line += int(np.count_nonzero(np.frombuffer(data, np.uint8) == _NEWLINE))
        if block := decoder.decode(b"", final=True):
            yield block


def _chunks(stream: BinaryIO | HashedStream) -> Iterator[bytes]:
    try:
        while data := stream.read(BLOCK):
            advance(len(data))
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
    """Yield the content of one gzip member after the other, at most a block at a time."""
    data, packed, size = first, len(first), 0
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    while True:
        while data:
            if member.eof:
                data = data.lstrip(b"\0")  # gzip allows padding between members
                if not data:
                    break
                member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            if block := member.decompress(data, BLOCK):
                size += len(block)
                if size > max(MAX_EXPANDED, MAX_EXPANSION * packed):
                    raise UnreadableError(
                        f"the compressed file expands to more than {MAX_EXPANDED} bytes and {MAX_EXPANSION} times its size"
                    )
                yield block
            data = member.unused_data if member.eof else member.unconsumed_tail
        data = next(chunks, b"")
        packed += len(data)
        if not data:
            break
    if not member.eof:
        raise UnreadableError("the compressed data end too soon")

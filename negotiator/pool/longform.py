"""Reads long form, as ``condor_status -long``, ``condor_q -long`` and ``condor_history -long`` print it.

One attribute a line. Ads end at blank lines, at the ``***`` lines of history files, and at the ``-- Schedd: ...`` lines
of ``condor_q``; ``#`` begins a comment line. Where a line does not parse, HTCondor keeps the attributes above it and
loses the rest. Here the whole ad is set aside, since half an ad (without its Requirements, say) is a different ad. An ad
with more than ``MAX_ATTRIBUTES`` lines of attributes is set aside too.

Speed: ads that have the same names line by line are read by columns (see ``alike_ads``). The lines of all others are
looked up in the pool's dictionary, which returns a *cell* (attribute and value, as one number) for each (see
``line_reader``). Only lines that the dictionary does not know are parsed in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.pool.ad_matching import FEW, AdSpan
from negotiator.pool.alike_ads import AlikeReader
from negotiator.pool.limits import MAX_LINE, UnreadableError
from negotiator.pool.line_reader import LineReader
from negotiator.pool.parsed_ad import AdBlock, ReadResult
from negotiator.pool.reading_budget import ReadingBudget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from negotiator.classad.tables import AdDictionary

_PIECE: Final = 1 << 20
"""Characters that are read at once; at the beginning of a text, whose names are new, fewer."""

_FIRST_PIECE: Final = 1 << 14

_ENOUGH: Final = 4 << 20
"""Characters of a block that is read fast."""


def whole_lines(blocks: Iterable[str]) -> Iterator[str]:
    """Yield the text in blocks that end at the end of a line, or of the text.

    A line longer than MAX_LINE is cut a little above that limit, so that memory stays bounded.
    """
    rest = ""
    for block in _pieces(blocks):
        end = block.rfind("\n") + 1
        start = 0 if len(rest) <= MAX_LINE else block.find("\n")  # skip what remains of an overlong line
        if end:
            yield rest + block[start:end]
            rest = block[end:]
        elif start == 0:
            rest += block
    if rest:
        yield rest


def larger_blocks(blocks: Iterable[str]) -> Iterator[str]:
    """Yield blocks of whole lines joined to blocks of some megabytes, which are read faster; the first ones are smaller.

    They end at a blank line if there is one near their end, so that few ads are in two blocks.

    :raises UnreadableError: as ``blocks`` does, after what could be read.
    """
    waiting: list[str] = []
    size, enough = 0, _FIRST_PIECE
    try:
        for block in blocks:
            size += len(block)
            if size < enough:
                waiting.append(block)
                continue
            end = block.rfind("\n\n") + 2
            rest = block[end:] if end > 1 else ""
            yield "".join([*waiting, block[: len(block) - len(rest)]])
            waiting, size, enough = [rest], len(rest), min(2 * enough, _ENOUGH)
    except UnreadableError:
        yield "".join(waiting)
        raise
    yield "".join(waiting)


def _pieces(blocks: Iterable[str]) -> Iterator[str]:
    size = _FIRST_PIECE
    for block in blocks:
        start = 0
        while start < len(block):
            yield block[start : start + size]
            start, size = start + size, min(2 * size, _PIECE)


def read_long(
    blocks: Iterable[str],
    file: str,
    dictionary: AdDictionary,
    budget: ReadingBudget | None = None,
    *,
    keep_claims: bool = False,
) -> Iterator[ReadResult]:
    """Yield the ads of a text in long form one by one, with a ``budget`` of its own by default. Blocks may end anywhere."""
    alike = AlikeReader(dictionary, budget or ReadingBudget())
    for block in read_long_blocks(whole_lines(blocks), file, alike, keep_claims=keep_claims):
        yield from block.results()


def read_long_blocks(
    texts: Iterable[str], file: str, alike: AlikeReader, *, keep_claims: bool = False
) -> Iterator[AdBlock]:
    """Yield the ads of blocks of whole lines in long form, stored as numbers of the pool's dictionary.

    Ads for which their owner's budget has no room are set aside. Blocks of a hundred ads or more are read faster than
    those of one (see ``larger_blocks``).
    """
    lines = LineReader(file, alike.dictionary, alike.budget, keep_claims=keep_claims)
    number = 1
    for text in texts:
        if _has_few_ads(text) or "\0" in text:
            split = _split(text)
            yield AdBlock(file, (), tuple(lines.read(split, range(number, number + len(split)))))
            number += len(split)
        else:
            block, number = _read_block(text, number, lines, alike, file)
            yield block
    yield AdBlock(file, (), tuple(lines.end()))


def _split(text: str) -> list[str]:
    """Return the lines of a text."""
    lines = text.split("\n")
    if not lines[-1]:
        del lines[-1]
    return lines


def _has_few_ads(text: str) -> bool:
    """True if fewer ads end at a blank line than are worth the reading by columns."""
    place = -2
    for _ in range(FEW):
        place = text.find("\n\n", place + 2)
        if place < 0:
            return True
    return False


def _read_block(
    text: str, number: int, lines: LineReader, alike: AlikeReader, file: str
) -> tuple[AdBlock, int]:
    """Read whole lines, the first of which has a number; return their ads, and the number of the line below.

    Ads that are alike are read together, the lines of all others one by one.
    """
    start = text.find("\n\n") + 2 if lines.is_within_ad else 0
    read = alike.read(text, start, number + text.count("\n", 0, start), file)
    rest = _split(text[read.rest :])
    texts, numbers = _lines_of(text, [AdSpan(0, start - 1, number, 0), *read.others])
    texts += rest
    numbers += range(read.line, read.line + len(rest))
    unlike: list[ReadResult] = []

    def parse_above(line: int) -> None:
        """Parse the values of alike ads above a line, so that all ads are parsed in the order of their lines."""
        for span in read.waiting.parse_above(line):
            unlike.extend(lines.read_whole(*_lines_of(text, [span])))

    results = list(lines.read(texts, numbers, parse_above)) if texts else []
    parse_above(read.line)
    if unlike:
        results = sorted([*results, *unlike], key=lambda result: result.source.line)
    return AdBlock(file, read.alike(), tuple(results)), read.line + len(rest)


def _lines_of(text: str, spans: Iterable[AdSpan]) -> tuple[list[str], list[int]]:
    """Return the lines of parts of a text, and their numbers."""
    texts: list[str] = []
    numbers: list[int] = []
    for span in spans:
        split = _split(text[span.start : span.end + 1])
        texts += split
        numbers += range(span.line, span.line + len(split))
    return texts, numbers

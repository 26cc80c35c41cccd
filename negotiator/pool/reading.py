"""Reads a pool: files to ads, ads to tables, and a problem for each ad or file that is omitted."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

import attrs

from negotiator.activity import activity
from negotiator.classad import Ad
from negotiator.classad.syntax import AdFormat, detect_format, is_blank
from negotiator.classad.tables import TooManyNamesError
from negotiator.pool.ad_cost import charge_ad
from negotiator.pool.alike_ads import AlikeReader
from negotiator.pool.decoding import DecodedText
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.input_files import HashedStream, InputFile, find_inputs
from negotiator.pool.jsonform import read_json
from negotiator.pool.limits import UnreadableError
from negotiator.pool.longform import larger_blocks, read_long_blocks, whole_lines
from negotiator.pool.newform import read_new
from negotiator.pool.parsed_ad import (
    AdBlock,
    FileResult,
    ParsedAd,
    ReadResult,
    UnreadFile,
    abort_problem,
    ad_problem,
)
from negotiator.pool.reading_budget import BUDGET_HINT, ReadingBudget
from negotiator.pool.snapshot_builder import SnapshotBuilder
from negotiator.pool.xmlform import read_xml
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from negotiator.classad.tables import AdDictionary
    from negotiator.pool.input_files import FileState, Input
    from negotiator.pool.snapshot import Snapshot
    from negotiator.pool.vault import ClaimVault

_HINT: Final = (
    "expected what condor_status or condor_q print with -long, -json or -xml, or ads in the new syntax"
)
_LONGEST_HEAD: Final = 1 << 20


@attrs.frozen
class AdFile:
    """The ads of one file in their order, without secrets, and the problems of the rest."""

    ads: tuple[tuple[Ad, Source], ...]
    problems: tuple[Problem, ...] = ()


def read_pool(paths: Sequence[Path | Literal["-"]], stdin: BinaryIO | None = None) -> Snapshot:
    """Read the pool from folders, files and standard input (``-``, from ``stdin`` if given).

    Files may hold ads in long form, JSON, XML or the new syntax, compressed with gzip or not. If two ads have the same
    key, the later one counts. Problems with files and ads are not raised but collected in ``problems``; those of files that
    could not be read to their end are in ``unread`` too. Claim ids are counted, and dropped.

    :raises PoolError: a path does not exist.
    """
    return _read(paths, stdin).snapshot()


def read_pool_with_claims(
    paths: Sequence[Path | Literal["-"]], stdin: BinaryIO | None = None
) -> tuple[Snapshot, ClaimVault]:
    """Read the pool as ``read_pool`` does, and the claim ids of its slots, from private ads and slot ads.

    The snapshot has no secrets. If a slot's claim ids are in both of its ads, those of the private ad count.

    :raises PoolError: a path does not exist.
    """
    builder = _read(paths, stdin)
    return builder.snapshot(), builder.vault


def _read(paths: Sequence[Path | Literal["-"]], stdin: BinaryIO | None) -> SnapshotBuilder:
    return read_inputs(list(find_inputs(paths)), stdin)


def read_inputs(
    inputs: Sequence[Input], stdin: BinaryIO | None, states: dict[InputFile, FileState] | None = None
) -> SnapshotBuilder:
    """Read a pool from these files; add the state of those that were read to their end to ``states`` if given."""
    builder = SnapshotBuilder()
    alike = AlikeReader(builder.dictionary, builder.budget)
    files = [entry for entry in inputs if isinstance(entry, InputFile)]
    with activity("reading the ads", sum(entry.size for entry in files)):
        for entry in inputs:
            if not isinstance(entry, InputFile):
                builder.add_file("", [entry])
            else:
                results = read_file(entry, stdin, alike, keep_claims=True, states=states)
                builder.add_file(entry.name, results)
    return builder


def read_ads(path: Path | Literal["-"], stdin: BinaryIO | None = None) -> AdFile:
    """Read the ads of one file (or folder, or standard input), of any kind.

    :raises PoolError: the path does not exist.
    """
    ads: list[tuple[Ad, Source]] = []
    problems: list[Problem] = []
    alike = AlikeReader(pool_dictionary(), ReadingBudget())
    for entry in list(find_inputs([path])):
        results = read_file(entry, stdin, alike) if isinstance(entry, InputFile) else [entry]
        for result in itertools.chain.from_iterable(map(_one_by_one, results)):
            if isinstance(result, ParsedAd):
                ads.append((result.ad, result.source))
            else:
                problems.append(result)
    return AdFile(tuple(ads), tuple(problems))


def _one_by_one(result: FileResult) -> Sequence[ReadResult]:
    if isinstance(result, AdBlock):
        return result.results()
    return (result.problem if isinstance(result, UnreadFile) else result,)


def read_file(
    entry: InputFile,
    stdin: BinaryIO | None,
    alike: AlikeReader,
    *,
    keep_claims: bool = False,
    states: dict[InputFile, FileState] | None = None,
) -> Iterator[FileResult]:
    """Yield the ads of one file, one by one or in blocks, and the problems with it."""
    try:
        opened = entry.open(stdin)
        stream = opened if states is None or entry.path is None else HashedStream(opened)
    except OSError as error:
        message = f"the file is not read: {error.strerror or error}"
        yield UnreadFile(Problem(Severity.ERROR, Source(entry.name), message))
        return
    text = DecodedText(stream)
    try:
        yield from _read_blocks(iter(text), entry, alike, keep_claims=keep_claims)
    except UnreadableError as error:
        source = Source(entry.name, text.line)
        yield UnreadFile(abort_problem(source, str(error), "an incomplete ad is set aside"))
    else:
        if states is not None and isinstance(stream, HashedStream) and (state := stream.state()):
            states[entry] = state
    finally:
        if entry.path is not None:
            stream.close()


def _read_blocks(
    blocks: Iterator[str], entry: InputFile, alike: AlikeReader, *, keep_claims: bool
) -> Iterator[FileResult]:
    file, head = entry.name, _head(blocks)
    text = itertools.chain([head], blocks)
    form = detect_format(head)
    if form is AdFormat.LONG:
        yield from read_long_blocks(larger_blocks(whole_lines(text)), file, alike, keep_claims=keep_claims)
    elif form is not None:
        results = _READERS[form](text, file, keep_claims=keep_claims)
        yield from (_store(result, alike.dictionary, alike.budget) for result in results)
    elif is_blank(head) and len(head) > _LONGEST_HEAD:
        message = f"the file begins with more than {_LONGEST_HEAD} blank characters; it is not read"
        yield Problem(Severity.ERROR, Source(file), message, _HINT)
    elif is_blank(head):
        yield Problem(Severity.WARNING, Source(file), "the file is empty")
    else:
        problem = Problem(Severity.ERROR, Source(file), "the file holds no ads; it is not read", _HINT)
        yield UnreadFile(problem) if entry.is_named else problem


def _head(blocks: Iterator[str]) -> str:
    """Return the blocks up to the first one that is not blank."""
    read: list[str] = []
    size = 0
    for block in blocks:
        read.append(block)
        size += len(block)
        if not is_blank(block) or size > _LONGEST_HEAD:
            break
    return "".join(read)


_READERS: Final = {AdFormat.JSON: read_json, AdFormat.NEW: read_new, AdFormat.XML: read_xml}


def _store(result: ReadResult, dictionary: AdDictionary, budget: ReadingBudget) -> ReadResult:
    """Replace an ad by one that is stored as numbers of the dictionary, if its owner's budget has room for it."""
    if isinstance(result, Problem):
        return result
    message = charge_ad(result.ad, result.source.file, dictionary, budget)
    if message:
        return ad_problem(result.source, message, BUDGET_HINT)
    try:
        return ParsedAd(dictionary.intern(result.ad), result.source, result.claims)
    except TooManyNamesError as error:
        return ad_problem(result.source, str(error))

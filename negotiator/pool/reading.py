"""A pool is read: files to ads, ads to tables, and word of everything that was left out."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

import attrs

from negotiator.classad import ClassAd, Table
from negotiator.classad.tables.dictionary import TooManyNamesError
from negotiator.pool.ad_kind import PoolAdKind, ad_kind, custom_type
from negotiator.pool.decoding import DecodedText, UnreadableError
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.formats import AdFormat, detect_format, is_blank
from negotiator.pool.identity import IdentifiedAd, identify
from negotiator.pool.input_files import InputFile, find_inputs
from negotiator.pool.jsonform import read_json
from negotiator.pool.limits import BLOCK, MAX_PROBLEMS
from negotiator.pool.longform import read_long
from negotiator.pool.newform import read_new
from negotiator.pool.parsed_ad import ParsedAd, ReadResult, abort_problem, ad_problem, shorten
from negotiator.pool.snapshot import Snapshot
from negotiator.pool.xmlform import read_xml
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from negotiator.classad.tables.dictionary import AdDictionary

_HINT: Final = (
    "expected what condor_status or condor_q print with -long, -json or -xml, or ads in the new syntax"
)
_LONGEST_HEAD: Final = 1 << 20


@attrs.frozen
class AdFile:
    """The ads of one file in their order, secrets dropped, and what was wrong with the rest."""

    ads: tuple[tuple[ClassAd, Source], ...]
    problems: tuple[Problem, ...] = ()


def read_pool(paths: Sequence[Path | Literal["-"]], stdin: BinaryIO | None = None) -> Snapshot:
    """Read the pool from folders, files and standard input (``-``, from ``stdin`` if given).

    Files may hold ads in long form, JSON, XML or the new syntax, compressed with gzip or not. Of two ads with the same
    key the later one counts. Nothing that is wrong with a file or an ad is raised; it is in ``problems``.

    :raises PoolError: a path does not exist.
    """
    pool = _PoolBuilder()
    for entry in list(find_inputs(paths)):
        if isinstance(entry, Problem):
            pool.problems.append(entry)
        else:
            pool.add_file(entry, stdin)
    return pool.snapshot()


def read_ads(path: Path | Literal["-"], stdin: BinaryIO | None = None) -> AdFile:
    """Read the ads of one file (or folder, or standard input), of whatever kind.

    :raises PoolError: the path does not exist.
    """
    ads: list[tuple[ClassAd, Source]] = []
    problems: list[Problem] = []
    dictionary = pool_dictionary()
    for entry in list(find_inputs([path])):
        for found in [entry] if isinstance(entry, Problem) else read_file(entry, stdin, dictionary):
            if isinstance(found, Problem):
                problems.append(found)
            else:
                ads.append((found.ad, found.source))
    return AdFile(tuple(ads), tuple(problems))


def read_table(
    blocks: Iterable[str], names: Iterable[str] | None = None, file: str = "text"
) -> tuple[Table, tuple[Problem, ...]]:
    """Read the ads of a text, in any of the formats, into one table, in their order and of whatever kind.

    The text may be cut into blocks anywhere. Only the attributes ``names`` are kept, if given, and never a secret. What
    is wrong with an ad is among the problems, where the text is called ``file``; what is wrong with attributes that are
    not kept may go unnoticed.
    """
    dictionary = pool_dictionary(names)
    problems: list[Problem] = []

    def ads() -> Iterator[ClassAd]:
        for found in _read_blocks(_joined(blocks), file, dictionary):
            if isinstance(found, Problem):
                problems.append(found)
            else:
                yield found.ad

    table = Table.from_ads(ads(), dictionary)
    return table, tuple(problems)


def _joined(blocks: Iterable[str]) -> Iterator[str]:
    """Put small blocks together."""
    waiting: list[str] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block)
        if size >= BLOCK:
            yield "".join(waiting)
            waiting, size = [], 0
    if size:
        yield "".join(waiting)


def read_file(entry: InputFile, stdin: BinaryIO | None, dictionary: AdDictionary) -> Iterator[ReadResult]:
    """Read the ads of one file, one by one; what is wrong with it is a problem among them."""
    try:
        stream = entry.open(stdin)
    except OSError as error:
        yield Problem(Severity.ERROR, Source(entry.name), f"the file is not read: {error.strerror or error}")
        return
    text = DecodedText(stream)
    try:
        yield from _read_blocks(iter(text), entry.name, dictionary)
    except UnreadableError as error:
        yield abort_problem(
            Source(entry.name, text.line), str(error), "an ad that was not complete is set aside"
        )
    finally:
        if entry.path is not None:
            stream.close()


def _read_blocks(blocks: Iterator[str], file: str, dictionary: AdDictionary) -> Iterator[ReadResult]:
    begun: list[str] = []
    size = 0
    for block in blocks:
        begun.append(block)
        size += len(block)
        if not is_blank(block) or size > _LONGEST_HEAD:
            break
    head = "".join(begun)
    rest = itertools.chain([head], blocks)
    form = detect_format(head)
    if form is AdFormat.LONG:
        yield from read_long(rest, file, dictionary)
    elif form is not None:
        yield from (_encoded(found, dictionary) for found in _READERS[form](rest, file))
    elif is_blank(head) and len(head) > _LONGEST_HEAD:
        message = f"the file begins with more than {_LONGEST_HEAD} blank characters; it is not read"
        yield Problem(Severity.ERROR, Source(file), message, _HINT)
    elif is_blank(head):
        yield Problem(Severity.WARNING, Source(file), "the file holds nothing")
    else:
        yield Problem(Severity.ERROR, Source(file), "the file holds no ads; it is not read", _HINT)


_READERS: Final = {AdFormat.JSON: read_json, AdFormat.NEW: read_new, AdFormat.XML: read_xml}


def _encoded(found: ReadResult, dictionary: AdDictionary) -> ReadResult:
    """Give an ad as numbers of the dictionary."""
    if isinstance(found, Problem):
        return found
    try:
        return ParsedAd(dictionary.kept(found.ad), found.source)
    except TooManyNamesError as error:
        return ad_problem(found.source, str(error))


@attrs.define
class _PoolBuilder:
    """The ads so far: per kind, in order of their first appearance."""

    ads: dict[PoolAdKind, dict[tuple[object, ...], tuple[ClassAd, Source]]] = attrs.field(
        factory=lambda: {
            kind: {} for kind in (PoolAdKind.SCHEDD, PoolAdKind.SUBMITTER, PoolAdKind.SLOT, PoolAdKind.JOB)
        }
    )
    counts: dict[PoolAdKind, int] = attrs.field(factory=lambda: dict.fromkeys(PoolAdKind, 0))
    problems: list[Problem] = attrs.field(factory=list)
    dictionary: AdDictionary = attrs.field(factory=pool_dictionary)

    def add_file(self, entry: InputFile, stdin: BinaryIO | None) -> None:
        ads = told = untold = 0
        for found in read_file(entry, stdin, self.dictionary):
            ads += isinstance(found, ParsedAd)
            for problem in self.add(found):
                if told < MAX_PROBLEMS:
                    told += 1
                    self.problems.append(problem)
                else:
                    untold += 1
        if untold:
            message = f"there are {untold} more problems of this kind in this file"
            self.problems.append(Problem(Severity.ERROR, Source(entry.name), message))
        if not ads and not told:
            self.problems.append(Problem(Severity.WARNING, Source(entry.name), "there is no ad in this file"))

    def add(self, found: ReadResult) -> Iterator[Problem]:
        if isinstance(found, Problem):
            yield found
            return
        kind = ad_kind(found.ad)
        if kind in self.ads:
            yield from self.add_identified(kind, identify(kind, found), found.source)
            return
        self.counts[kind] += 1
        if kind is PoolAdKind.UNKNOWN:
            message = (
                "an ad of unknown kind takes no part: it has no MyType, and no attribute that tells its kind"
            )
            yield Problem(Severity.WARNING, found.source, message, 'add MyType = "Machine" or what it is')
        elif kind is PoolAdKind.OTHER and (word := custom_type(found.ad)):
            message = f"an ad of type {shorten(word)} takes no part: HTCondor has no such type"
            yield Problem(Severity.NOTICE, found.source, message)

    def add_identified(
        self, kind: PoolAdKind, what: IdentifiedAd | Problem, source: Source
    ) -> Iterator[Problem]:
        if isinstance(what, Problem):
            yield what
            return
        if what.problem:
            yield what.problem
        earlier = self.ads[kind].get(what.key)
        if earlier:
            message = f"{what.label} was read before, at {earlier[1]}; this later ad takes its place"
            yield Problem(Severity.WARNING, source, message)
        self.ads[kind][what.key] = (what.ad, source)

    def snapshot(self) -> Snapshot:
        tables = {
            kind: Table.from_ads([ad for ad, _ in ads.values()], self.dictionary)
            for kind, ads in self.ads.items()
        }
        return Snapshot(
            schedds=tables[PoolAdKind.SCHEDD],
            submitters=tables[PoolAdKind.SUBMITTER],
            slots=tables[PoolAdKind.SLOT],
            jobs=tables[PoolAdKind.JOB],
            private=self.counts[PoolAdKind.PRIVATE],
            other=self.counts[PoolAdKind.OTHER] + self.counts[PoolAdKind.UNKNOWN],
            problems=tuple(self.problems),
        )

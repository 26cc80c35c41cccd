"""``parseOne``, ``parseAds`` and ``parseNext``: ads from texts and files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Final, TypeAlias

from negotiator.classad.bindings.classad2 import ClassAd
from negotiator.classad.bindings.enumerations import ParserType
from negotiator.classad.bindings.errors import ClassAdException, ClassAdValueError
from negotiator.classad.bindings.last_error import note_message
from negotiator.classad.bindings.long_form import SPACES, is_blank_line, long_record
from negotiator.classad.bindings.new_syntax import RecordScanner, first_record, record_end
from negotiator.classad.bindings.structured_forms import json_records, xml_records
from negotiator.classad.syntax import AdFormat, ParseError, detect_format

if TYPE_CHECKING:
    from negotiator.classad.syntax import Expr

Source: TypeAlias = str | IO[str] | Iterable[str]
"""A text, an open file, or texts that are read one after the other."""

_LIST: Final = re.compile(r"(?:[\s,{}]++|//[^\n]*+(?:\n|\Z)|/\*(?s:.*?)\*/)*")
_COMMENTS: Final = re.compile(r"(?:\s++|//[^\n]*+(?:\n|\Z)|/\*(?s:.*?)\*/)*")
_TOKEN: Final = re.compile(r"\w+|[=!<>&|]+|(?s:.)")
_FORMATS: Final = {
    AdFormat.LONG: ParserType.Old,
    AdFormat.JSON: ParserType.JSON,
    AdFormat.XML: ParserType.XML,
    AdFormat.NEW: ParserType.New,
}
_UNREADABLE: Final = "Unable to parse input stream into a ClassAd"


def parseOne(input: Source, parser: ParserType = ParserType.Auto) -> ClassAd:  # noqa: A002, N802 - HTCondor's names
    """Return all ads of a text or a file as one: of several attributes of one name the last counts.

    :raises ClassAdValueError: an ad does not parse.
    """
    merged = ClassAd()
    for ad in parseAds(input, parser):
        merged.update_from(ad)
    return merged


def parseAds(input: Source, parser: ParserType = ParserType.Auto) -> Iterator[ClassAd]:  # noqa: A002, N802
    """Yield the ads of a text or a file. A file is after the ad that was yielded last.

    :raises ClassAdValueError: an ad does not parse; those above it were yielded.
    """
    if isinstance(input, str):
        return (ad for ad, _ in _ads(input, ParserType(parser)))
    return _ads_of_file(input, ParserType(parser))


def parseNext(input: str | IO[str], parser: ParserType = ParserType.Auto) -> ClassAd | None:  # noqa: A002, N802
    """Return the first ad of a text, or the next one of a file, which is after the ad then; None if there is none.

    :raises ClassAdValueError: the ad does not parse.
    :raises ClassAdException: the file can't go back, so the format must be given.
    """
    if not isinstance(input, str):
        return _next_of_file(input, ParserType(parser))
    return next((ad for ad, _ in _ads(input, ParserType(parser))), None)


def _ads(text: str, parser: ParserType) -> Iterator[tuple[ClassAd, int]]:
    """Yield the ads of a text, each with the offset after it."""
    text = text.partition("\0")[0]
    if parser is ParserType.FileAuto:
        parser = _FORMATS.get(detect_format(text) or AdFormat.LONG, ParserType.Old)
    if parser is ParserType.XML:
        yield from ((_made(items), len(text)) for items in xml_records(text) if text.strip(SPACES))
    elif parser is ParserType.JSON:
        yield from ((_made(items), end) for items, end in json_records(text))
    else:
        at = _start(text, 0)
        while at < len(text):
            old = parser is ParserType.Old or (parser is ParserType.Auto and text[at] not in "/[")
            items, at = long_record(text, at) if old else _new_record(text, at, parser)
            if items is None or (old and not items):
                if at < len(text):
                    raise _unreadable("a line or an ad does not parse")
                return
            yield _made(items), at
            at = _start(text, at)


def _start(text: str, at: int) -> int:
    """Return the offset of the first character that is not white space."""
    while at < len(text) and text[at] in SPACES:
        at += 1
    return at


def _made(items: Iterable[tuple[str, Expr]]) -> ClassAd:
    return ClassAd.from_items(items)


def _new_record(text: str, start: int, parser: ParserType) -> tuple[Iterable[tuple[str, Expr]] | None, int]:
    """Return the attributes of the ad at ``start``, None if the text ends before it does, and the offset after it."""
    if parser is ParserType.New and (separators := _LIST.match(text, start)):
        start = separators.end()
    end = record_end(text, start)
    try:
        return first_record(text, start).items, end
    except ParseError as error:
        if _is_at_end(error, text[start:] if end < 0 else text[start:end], text[end:] if end >= 0 else ""):
            return None, len(text)
        raise _unreadable(str(error)) from None


def _is_at_end(error: ParseError, record: str, rest: str) -> bool:
    """True if the text ends where an ad does not parse: HTCondor takes that for the end of the ads."""
    beginning = _COMMENTS.match(record)
    offset = beginning.end() if beginning else 0
    if record.startswith("[", offset):
        lines = record.split("\n")
        offset = sum(len(line) + 1 for line in lines[: error.line - 1]) + error.column - 1
    token = _TOKEN.match(record, offset)
    unclosed = record.startswith(("//", "/*", '"', "'"), offset)
    return not rest and (unclosed or token is None or token.end() == len(record))


def _unreadable(reason: str) -> ClassAdValueError:
    note_message(reason)
    return ClassAdValueError(f"{_UNREADABLE}: {reason}")


# Files.


def _ads_of_file(file: IO[str] | Iterable[str], parser: ParserType) -> Iterator[ClassAd]:
    """Yield the ads of a file, which is put after each of them if it can be."""
    place = _place(file)
    text = "".join(file)
    end = 0
    for ad, end in _ads(text, parser):
        if place is not None:
            _go_to(file, place, text[:end])
        yield ad
    if place is not None:
        _go_to(file, place, text[:end])


def _place(file: object) -> int | None:
    try:
        return file.tell()  # type: ignore[attr-defined, no-any-return]
    except (AttributeError, OSError):
        return None


def _go_to(file: object, place: int, read: str) -> None:
    """Put a file after the text that was read from a place: in bytes, unless it is a text in memory."""
    width = len(read) if isinstance(file, io.StringIO) else len(read.encode("utf-8", "surrogateescape"))
    file.seek(place + width)  # type: ignore[attr-defined]


def _next_of_file(file: IO[str], parser: ParserType) -> ClassAd | None:
    if parser is ParserType.Auto:
        parser = _format_of_file(file)
    if parser in {ParserType.Old, ParserType.New}:
        text = _long_text(file) if parser is ParserType.Old else _new_text(file)
        return next((ad for ad, _ in _ads(text, parser)), None)
    return next(_ads_of_file(file, parser), None)


def _format_of_file(file: IO[str]) -> ParserType:
    """Return the format of the next ad, by its first character; the file stays where it is."""
    try:
        place = file.tell()
        character = file.read(1)
        while character and character in SPACES:
            character = file.read(1)
        file.seek(place)
    except io.UnsupportedOperation as error:
        message = "Can not look ahead in stream; you must explicitly specify a parser."
        raise ClassAdException(message) from error
    return ParserType.New if not character or character in "/[" else ParserType.Old


def _long_text(file: IO[str]) -> str:
    """Read the lines of the next ad in long form, and the blank line after it."""
    lines: list[str] = []
    while line := file.readline():
        blank = is_blank_line(line)
        if blank and lines:
            break
        if not blank:
            lines.append(line)
    return "".join(lines)


def _new_text(file: IO[str]) -> str:
    """Read the next ad in the new syntax, character by character, so that nothing of the one after it is read."""
    scanner = RecordScanner()
    while not scanner.complete and (character := file.read(1)):
        scanner.add(character)
    return scanner.text

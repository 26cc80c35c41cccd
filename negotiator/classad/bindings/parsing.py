"""``parseOne``, ``parseAds`` and ``parseNext``: ads from texts and files, in long form, new syntax, JSON or XML."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias
from xml.etree.ElementTree import ParseError as XMLError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from negotiator.classad.bindings.classad2 import ClassAd
from negotiator.classad.bindings.python_objects import (
    ClassAdException,
    ClassAdValueError,
    ParserType,
    note_message,
)
from negotiator.classad.syntax import (
    AdFormat,
    InvalidAdValueError,
    JsonObject,
    ParseError,
    RecordScanner,
    detect_format,
    first_record,
    json_record,
    parse_old,
    record_end,
    resolve_escapes,
    xml_value,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from negotiator.classad.syntax import Expr

SPACES: Final = " \t\n\v\f\r"

MAX_DEPTH: Final = 100
"""Brackets of JSON, or elements of XML, inside each other."""

_SEPARATORS: Final = re.compile(r"[\s,\[\]]*")
_BRACKETS: Final = re.compile(r'[][{}]|"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*"')
_JSON: Final = json.JSONDecoder(object_pairs_hook=JsonObject)
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


def _long_record(text: str, start: int) -> tuple[list[tuple[str, Expr]], int]:
    """Return the attributes of the ad that begins at ``start``, and the offset after it.

    As in HTCondor, a line that does not parse ends the ad, and the lines below it are skipped up to a blank one.
    """
    items: list[tuple[str, Expr]] = []
    at, skipping = start, False
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end].rstrip("\n")
        at = end
        if _is_blank_line(line):
            break
        if skipping or line.lstrip(" \t").startswith("#"):
            continue
        item = _long_attribute(line)
        if item is None:
            skipping = True
        else:
            items.append(item)
    return items, at


def _is_blank_line(line: str) -> bool:
    """True if a line ends an ad."""
    return not line.strip(SPACES)


def _long_attribute(line: str) -> tuple[str, Expr] | None:
    name, equals, text = line.partition("=")
    name = name.lstrip(SPACES).rstrip(" ")
    if not equals or not name:
        return None
    try:
        return name, parse_old(text.strip(" ").rstrip("\r"))
    except ParseError:
        return None


def _json_records(text: str, start: int = 0) -> Iterator[tuple[list[tuple[str, Expr]], int]]:
    """Yield the attributes of each object, and the offset after it. The objects may be in an array, or separate.

    :raises ClassAdValueError: the text is not JSON, or no ad can hold a value.
    """
    at = _skip(text, start)
    while at < len(text):
        _check_depth(text, at)
        try:
            pairs, at = _JSON.raw_decode(text, at)
            items = _json_attributes(pairs)
        except (ValueError, RecursionError) as error:
            raise ClassAdValueError(f"Unable to parse input stream into a ClassAd: {error}") from None
        at = _skip(text, at)
        yield items, at


def _skip(text: str, at: int) -> int:
    match = _SEPARATORS.match(text, at)
    return match.end() if match else at


def _json_attributes(pairs: object) -> list[tuple[str, Expr]]:
    if not isinstance(pairs, JsonObject):
        raise InvalidAdValueError("an ad must be an object in braces")
    return list(json_record(pairs).items)


def _check_depth(text: str, start: int) -> None:
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth <= 0:
            return
        if depth > MAX_DEPTH:
            raise ClassAdValueError(f"brackets are nested more than {MAX_DEPTH} deep")


def _xml_records(text: str, start: int = 0) -> Iterator[list[tuple[str, Expr]]]:
    """Yield the attributes of each ``<c>`` of a document.

    :raises ClassAdValueError: the text is not well-formed, declares entities, or has an element that no ad can hold.
    """
    try:
        document = fromstring(text[start:].strip())
        ads = [document] if document.tag == "c" else document.findall("c")
        for ad in ads:
            yield _xml_inside(ad, 0)
    except (XMLError, DefusedXmlException, ParseError, InvalidAdValueError, ValueError) as error:
        raise ClassAdValueError(f"Unable to parse input stream into a ClassAd: {error}") from None


def _xml_inside(element: Element[Any], depth: int) -> list[tuple[str, Expr]]:
    """Return the names and values in a ``<c>`` or an ``<l>``."""
    if depth > MAX_DEPTH:
        raise InvalidAdValueError(f"elements are nested more than {MAX_DEPTH} deep")
    if element.tag == "l":
        return [("", _xml_value(each, depth)) for each in element]
    return [_xml_attribute(each, depth) for each in element] if element.tag == "c" else []


def _xml_attribute(element: Element[Any], depth: int) -> tuple[str, Expr]:
    name = resolve_escapes(element.get("n", ""))
    if element.tag != "a" or not name or len(element) != 1:
        raise InvalidAdValueError("an ad consists of <a> elements with a name and one value")
    return name, _xml_value(element[0], depth)


def _xml_value(element: Element[Any], depth: int) -> Expr:
    text = element.text or ""
    return xml_value(element.tag, element.get("v", ""), text, _xml_inside(element, depth + 1))


Source: TypeAlias = str | IO[str] | Iterable[str]
"""A text, an open file, or texts that are read one after the other."""


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
        yield from (
            (ClassAd.from_items(items), len(text)) for items in _xml_records(text) if text.strip(SPACES)
        )
    elif parser is ParserType.JSON:
        yield from ((ClassAd.from_items(items), end) for items, end in _json_records(text))
    else:
        at = _start(text, 0)
        while at < len(text):
            old = parser is ParserType.Old or (parser is ParserType.Auto and text[at] not in "/[")
            items, at = _long_record(text, at) if old else _new_record(text, at, parser)
            if items is None or (old and not items):
                if at < len(text):
                    raise _unreadable("a line or an ad does not parse")
                return
            yield ClassAd.from_items(items), at
            at = _start(text, at)


def _start(text: str, at: int) -> int:
    """Return the offset of the first character that is not white space."""
    while at < len(text) and text[at] in SPACES:
        at += 1
    return at


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
        blank = _is_blank_line(line)
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

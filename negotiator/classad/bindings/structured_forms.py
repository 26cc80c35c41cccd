"""Reads ads in JSON and XML from a text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import ParseError as XMLError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from negotiator.classad.bindings.errors import ClassAdValueError
from negotiator.classad.syntax import (
    InvalidAdValueError,
    JsonObject,
    ParseError,
    check_json_name,
    json_value,
    resolve_escapes,
    xml_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from negotiator.classad.syntax import Expr

MAX_DEPTH: Final = 100
"""Brackets of JSON, or elements of XML, inside each other."""

_SEPARATORS: Final = re.compile(r"[\s,\[\]]*")
_BRACKETS: Final = re.compile(r'[][{}]|"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*"')
_JSON: Final = json.JSONDecoder(object_pairs_hook=JsonObject)


def json_records(text: str, start: int = 0) -> Iterator[tuple[list[tuple[str, Expr]], int]]:
    """Yield the attributes of each object, and the offset after it. The objects may be in an array, or separate.

    :raises ClassAdValueError: the text is not JSON, or no ad can hold a value.
    """
    at = _skip(text, start)
    while at < len(text):
        _check_depth(text, at)
        try:
            pairs, at = _JSON.raw_decode(text, at)
            items = _attributes(pairs)
        except (ValueError, RecursionError) as error:
            raise ClassAdValueError(f"Unable to parse input stream into a ClassAd: {error}") from None
        at = _skip(text, at)
        yield items, at


def _skip(text: str, at: int) -> int:
    match = _SEPARATORS.match(text, at)
    return match.end() if match else at


def _attributes(pairs: object) -> list[tuple[str, Expr]]:
    if not isinstance(pairs, JsonObject):
        raise InvalidAdValueError("an ad must be an object in braces")
    for name, _ in pairs:
        check_json_name(name)
    return [(name, json_value(value)) for name, value in pairs]


def _check_depth(text: str, start: int) -> None:
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth <= 0:
            return
        if depth > MAX_DEPTH:
            raise ClassAdValueError(f"brackets are nested more than {MAX_DEPTH} deep")


def xml_records(text: str, start: int = 0) -> Iterator[list[tuple[str, Expr]]]:
    """Yield the attributes of each ``<c>`` of a document.

    :raises ClassAdValueError: the text is not well-formed, declares entities, or has an element that no ad can hold.
    """
    try:
        document = fromstring(text[start:].strip())
        ads = [document] if document.tag == "c" else document.findall("c")
        for ad in ads:
            yield _inside(ad, 0)
    except (XMLError, DefusedXmlException, ParseError, InvalidAdValueError, ValueError) as error:
        raise ClassAdValueError(f"Unable to parse input stream into a ClassAd: {error}") from None


def _inside(element: Element[Any], depth: int) -> list[tuple[str, Expr]]:
    """Return the names and values in a ``<c>`` or an ``<l>``."""
    if depth > MAX_DEPTH:
        raise InvalidAdValueError(f"elements are nested more than {MAX_DEPTH} deep")
    if element.tag == "l":
        return [("", _value(each, depth)) for each in element]
    return [_attribute(each, depth) for each in element] if element.tag == "c" else []


def _attribute(element: Element[Any], depth: int) -> tuple[str, Expr]:
    name = resolve_escapes(element.get("n", ""))
    if element.tag != "a" or not name or len(element) != 1:
        raise InvalidAdValueError("an ad consists of <a> elements with a name and one value")
    return name, _value(element[0], depth)


def _value(element: Element[Any], depth: int) -> Expr:
    text = element.text or ""
    return xml_value(element.tag, element.get("v", ""), text, _inside(element, depth + 1))

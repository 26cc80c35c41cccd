"""Reads XML as ``condor_status -xml`` prints it: ``<classads><c><a n="Name"><s>slot1</s></a>...``.

As in HTCondor, strings and names have the escapes of the language (``C:\\\\Users``, ``\\303\\251``) below those of XML.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import ParseError as XMLError

import attrs
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from negotiator.classad import Expr, ParseError
from negotiator.classad.syntax import InvalidAdValueError, resolve_escapes, xml_value
from negotiator.pool.limits import MAX_AD, MAX_DEPTH, MAX_ELEMENTS
from negotiator.pool.parsed_ad import ReadResult, abort_problem, ad_problem, parse_message, parsed_ad
from negotiator.pool.secrets import is_secret
from negotiator.pool.vault import Secret, claim_ids
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TAGS: Final = frozenset({"c", "a", "i", "r", "s", "b", "e", "un", "er", "l", "at", "rt"})
_SURROGATES: Final = re.compile("[\udc80-\udcff]")


class _TooDeepError(Exception):
    """Elements are nested too deep."""


class _NotClassAdsError(Exception):
    """The first element is neither ``<classads>`` nor ``<c>``."""


@attrs.define
class _OpenElement:
    """An element whose end tag was not read yet: its text, and the values inside it."""

    tag: str
    name: str
    text: list[str] = attrs.field(factory=list)
    values: list[tuple[str, Expr]] = attrs.field(factory=list)


def read_xml(text: Iterable[str], file: str, *, keep_claims: bool = False) -> Iterator[ReadResult]:
    """Yield the ads of a document as it is read; ads before an error in the XML count."""
    found: deque[ReadResult] = deque()
    target = _XmlHandler(file, found, keep_claims=keep_claims)
    parser = DefusedXMLParser(target=target)
    target.parser = getattr(parser, "parser")  # noqa: B009 - the expat parser, unknown to typeshed
    pending = 0
    replaced = False
    for block in text:
        clean, number = _SURROGATES.subn("\N{REPLACEMENT CHARACTER}", block)
        if number and not replaced:
            replaced = True
            message = "bytes that are not UTF-8, which XML cannot hold, are replaced by U+FFFD"
            yield Problem(Severity.WARNING, Source(file), message)
        fault = _feed(parser, clean)
        pending = len(block) if found else pending + len(block)
        yield from found
        found.clear()
        if not fault and pending > MAX_AD:
            fault = f"an ad has more than {MAX_AD} characters"
        if fault:
            yield abort_problem(target.here(), fault)
            return
    if fault := _feed(parser, None):
        yield abort_problem(target.here(), fault)


def _feed(parser: DefusedXMLParser, block: str | None) -> str:
    """Feed the parser a block, or the end of the text if None; return the error, or ""."""
    try:
        if block is None:
            parser.close()
        else:
            parser.feed(block)
    except XMLError as error:
        return f"this is not well-formed XML: {str(error).partition(':')[0]}"
    except DefusedXmlException:
        return "the document declares entities or refers to other documents, which ads never do"
    except _TooDeepError:
        return f"more than {MAX_DEPTH} elements are nested one inside the other"
    except _NotClassAdsError:
        return "this is XML, but its first element is neither <classads> nor <c>"
    return ""


class _XmlHandler:
    """Receives the parser's events, keeps the stack of open elements and makes ads of them."""

    def __init__(self, file: str, found: deque[ReadResult], *, keep_claims: bool) -> None:
        self.file = file
        self.found = found
        self.keep_claims = keep_claims
        self.claims: list[Secret] = []  # of the ad that is being read
        self.parser: Any = None
        self.stack: list[_OpenElement] = []
        self.started = False
        self.source = Source(file)
        self.problem: Problem | None = None
        self.elements = 0  # of the ad that is being read

    def here(self) -> Source:
        return Source(self.file, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    # Events of the parser.

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.started:
            self.started = True
            if tag not in ("classads", "c"):
                raise _NotClassAdsError
        if not self.stack:
            if tag == "c":
                self.source, self.problem, self.elements = self.here(), None, 0
                self.claims.clear()
                self.stack.append(_OpenElement(tag, ""))
            return
        if len(self.stack) >= MAX_DEPTH:
            raise _TooDeepError
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            self.fault(f"it has more than {MAX_ELEMENTS} elements")
        if tag not in _TAGS:
            self.fault("an ad has no element of this name")
        self.stack.append(_OpenElement(tag, self.name_of(tag, attributes)))

    def data(self, data: str) -> None:
        if self.stack and self.problem is None:
            self.stack[-1].text.append(data)

    def end(self, _tag: str) -> None:
        if not self.stack:
            return
        element = self.stack.pop()
        if not self.stack:
            self.found.append(self.problem or parsed_ad(element.values, self.source, tuple(self.claims)))
        elif self.problem is not None:
            return
        elif not self.secret(element):
            self.close_element(element, self.stack[-1])
        elif self.keep_claims and element.tag == "s" and len(self.stack) == 2:
            self.claims += claim_ids(self.stack[-1].name, resolve_escapes("".join(element.text)) or "")

    def close(self) -> None:
        """End the document."""

    # From elements to values.

    def name_of(self, tag: str, attributes: dict[str, str]) -> str:
        """Return the name of an ``<a>``, the value of a ``<b>``, "" for others."""
        if tag != "a":
            return attributes.get("v", "")
        name = resolve_escapes(attributes.get("n", ""))
        if name is None:
            self.fault("the name of an attribute holds the character NUL")
        return name or ""

    def secret(self, element: _OpenElement) -> bool:
        """True if the element is a secret attribute of the ad, or a value inside one."""
        outermost = self.stack[1] if len(self.stack) > 1 else element
        return outermost.tag == "a" and is_secret(outermost.name)

    def close_element(self, element: _OpenElement, parent: _OpenElement) -> None:
        if element.tag == "a":
            if parent.tag != "c" or len(element.values) != 1 or not element.name:
                self.fault("an <a> must be inside a <c>, have a name and hold one value")
            else:
                parent.values.append((element.name, element.values[0][1]))
            return
        if parent.tag not in ("a", "l"):
            self.fault(f"<{element.tag}> must be inside an <a> or <l>")
            return
        try:
            value = xml_value(element.tag, element.name, "".join(element.text), element.values)
        except InvalidAdValueError as error:
            self.fault(str(error))
        except ParseError as error:
            self.fault(parse_message(self.attribute(), error))
        else:
            parent.values.append(("", value))

    def attribute(self) -> str:
        return self.stack[1].name if len(self.stack) > 1 else "a value"

    def fault(self, message: str) -> None:
        if self.problem is None:
            hint = f"the ad begins at line {self.source.line}"
            self.problem = ad_problem(self.here(), message, hint)

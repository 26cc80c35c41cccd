"""Reports that plugins make of a pool, for the HTTP interface and others that show them: see ``negotiator_reports``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from negotiator.hooks.administration import PluginUsage, StoredRows


@attrs.frozen
class ReportParameter:
    """A parameter of a report: a name, a sentence, and the value if none is given; ``choices`` are all values, if they are known."""

    name: str
    text: str
    default: str = ""
    choices: tuple[str, ...] = ()


@attrs.frozen(eq=False, kw_only=True)
class ReportSource:
    """The pool that a report is made of.

    ``usage`` is that of the plugin's own quotas. ``order_rows`` returns the rows that an order remembers, none without a state; it may
    raise StateError. ``now`` is in seconds since the epoch.
    """

    usage: PluginUsage
    order_rows: Callable[[str], StoredRows]
    now: float


@attrs.frozen(eq=False, kw_only=True)
class Report:
    """A table about a pool: ``row`` is the class of its rows.

    It is a class of attrs; its fields are strings, integers, finite floats, booleans, None, tuples of these, or such classes. ``rows``
    is called with what ``collect`` returned and with the values of all parameters, which are strings of at most 1,000 characters;
    it may raise InvalidCallError. Both are functions without effects.

    ``collect`` is called once each time that the pool was read. It returns what ``rows`` needs of it, and no more: that is kept until
    the pool is read again.

    ``texts`` are other forms of the report by media type, such as ``application/xml``: functions that are called as ``rows`` is and
    return a text.
    """

    name: str
    summary: str
    row: type
    collect: Callable[[ReportSource], Any]
    rows: Callable[[Any, Mapping[str, str]], Iterable[Any]]
    parameters: tuple[ReportParameter, ...] = ()
    texts: Mapping[str, Callable[[Any, Mapping[str, str]], str]] = attrs.field(factory=dict)

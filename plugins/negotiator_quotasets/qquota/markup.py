"""Rows of usage as XML: one ``qquota_rule`` a row.

Source: "Resource Quota Sets", qquota XML Schema; the elements are those that Grid Engine prints, see ``qquota.xsd``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.usage_rows import UsageRow

NAMESPACE = "http://arc.liv.ac.uk/repos/darcs/sge/source/source/dist/util/resources/schemas/qquota/qquota.xsd"
#: What no XML document may hold, not even as a reference (XML 1.0, 2.2).
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Readers make spaces of these in attributes, unless they are references (XML 1.0, 3.3.3).
_WHITE = {ord(character): f"&#{ord(character)};" for character in "\t\n\r"}


def lines(rows: Iterable[UsageRow], hosts: Hosts) -> Iterator[str]:
    """Give the lines of a document, without their ends; its encoding is to be UTF-8."""
    yield "<?xml version='1.0'?>"
    yield f'<qquota_result xmlns="{NAMESPACE}">'
    for row in rows:
        yield f" <qquota_rule name='{escaped(row.rule)}'>"
        for scope, names, excluded in row.filter_names(hosts):
            yield from (f"   <{scope}>{escaped(name)}</{scope}>" for name in names)
            yield from (f"   <x{scope}>{escaped(name)}</x{scope}>" for name in excluded)
        value = "" if row.used is None else f" value='{escaped(row.used)}'"
        yield f"   <limit resource='{escaped(row.complex.name)}' limit='{escaped(row.limit)}'{value}/>"
        yield " </qquota_rule>"
    yield "</qquota_result>"


def escaped(text: str) -> str:
    """A text as it stands in an element or in an attribute, in quotes of either kind.

    Users and projects are named by job ads: what XML can't hold is replaced.
    """
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)).translate(_WHITE)

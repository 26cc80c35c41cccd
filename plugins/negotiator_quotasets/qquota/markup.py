"""Usage rows as XML, one ``qquota_rule`` per row.

Source: "Resource Quota Sets", qquota XML Schema; the elements are those that Grid Engine prints, see ``qquota.xsd``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.usage_rows import UsageRow

NAMESPACE = "http://arc.liv.ac.uk/repos/darcs/sge/source/source/dist/util/resources/schemas/qquota/qquota.xsd"
#: Characters that an XML document may not have, not even as references (XML 1.0, 2.2).
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Characters that parsers replace by spaces in attributes, unless they are references (XML 1.0, 3.3.3).
_WHITE = {ord(character): f"&#{ord(character)};" for character in "\t\n\r"}


def lines(rows: Iterable[UsageRow], hosts: Hosts) -> Iterator[str]:
    """Yield the lines of the document, without newlines; it must be encoded as UTF-8."""
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
    """Return a text escaped for an element or an attribute, in quotes of either kind.

    Characters that XML can't have are replaced: names of users and projects come from job ads.
    """
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)).translate(_WHITE)

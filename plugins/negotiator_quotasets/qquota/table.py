"""Rows of usage as text, in three columns.

Source: qquota(1), OUTPUT FORMATS. As Grid Engine prints it, a limit is cut off at 20 characters; the XML has all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from negotiator.plugin import printable
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.usage_rows import UsageRow

_FORMAT = "%-18s %-20.20s %s"
_HEADER = (_FORMAT % ("resource quota rule", "limit", "filter"), "-" * 80)
_NO_FILTER = "-"


def lines(rows: Iterable[UsageRow], hosts: Hosts) -> Iterator[str]:
    """Give the lines of a table, without their ends; none where there are no rows.

    What cannot be printed on a terminal is replaced: users and projects are named by job ads.
    """
    for number, row in enumerate(rows):
        if not number:
            yield from _HEADER
        yield printable(_FORMAT % (row.rule, _limit(row), filters(row, hosts)))


def _limit(row: UsageRow) -> str:
    """``slots=2/10``, or ``arch=lx24-amd64`` for what is not consumed."""
    used = "" if row.used is None else f"{row.used}/"
    return f"{row.complex.name}={used}{row.limit}"


def filters(row: UsageRow, hosts: Hosts) -> str:
    """Whom a row is about: ``users alice hosts durin``, ``-`` for everybody."""
    return " ".join(_filter(row, *named) for named in row.filter_names(hosts)) or _NO_FILTER


def _filter(row: UsageRow, scope: str, names: tuple[str, ...], excluded: tuple[str, ...]) -> str:
    text = ",".join((*names, *(f"!{name}" for name in excluded)))
    whole = row.filters[scope].expanded and scope not in row.values
    return f"{scope} {{{text}}}" if whole else f"{scope} {text}"

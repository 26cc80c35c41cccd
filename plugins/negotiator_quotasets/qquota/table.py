"""Usage rows as text, in three columns.

Source: qquota(1), OUTPUT FORMATS. Grid Engine cuts off a limit at 20 characters, which can hide it or look like a smaller
one; here a longer limit is printed whole, and shifts the filter to the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from negotiator.plugin import printable
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.usage_rows import UsageRow

_FORMAT = "%-18s %-20s %s"
_HEADER = (_FORMAT % ("resource quota rule", "limit", "filter"), "-" * 80)
_NO_FILTER = "-"


def lines(rows: Iterable[UsageRow], hosts: Hosts) -> Iterator[str]:
    """Yield the lines of the table, without newlines; nothing if there are no rows.

    Unprintable characters are replaced: names of users and projects come from job ads.
    """
    for number, row in enumerate(rows):
        if not number:
            yield from _HEADER
        yield printable(_FORMAT % (row.rule, _limit(row), filters(row, hosts)))


def _limit(row: UsageRow) -> str:
    """Return ``slots=2/10``, or ``arch=lx24-amd64`` for a complex that is not consumed."""
    used = "" if row.used is None else f"{row.used}/"
    return f"{row.complex.name}={used}{row.limit}"


def filters(row: UsageRow, hosts: Hosts) -> str:
    """Return the filters of a row, such as ``users alice hosts durin``; ``-`` if it has none."""
    return " ".join(_filter(row, *each) for each in row.filter_names(hosts)) or _NO_FILTER


def _filter(row: UsageRow, scope: str, names: tuple[str, ...], excluded: tuple[str, ...]) -> str:
    text = ",".join((*names, *(f"!{name}" for name in excluded)))
    expanded = row.filters[scope].expanded and scope not in row.values
    return f"{scope} {{{text}}}" if expanded else f"{scope} {text}"

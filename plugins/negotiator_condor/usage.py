"""The report ``limits``: the use of each concurrency limit and its maximum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from negotiator.plugin import CounterKey
from negotiator_condor.limit_parser import SCALE
from negotiator_condor.settings import ConcurrencyLimits, ConfiguredLimit


def limit_usage(settings: ConcurrencyLimits, sums: Mapping[CounterKey, int]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each name that is configured or in use, then for the defaults of all other names.

    Entries have the mode if the bundle configures any.

    :param sums: the amounts in use, in millionths, by name.
    """
    used = {key[0]: amount for key, amount in sums.items() if amount}
    for name in sorted({*settings.own, *used}):
        yield _entry(settings, name, settings.of(name), used.get(name, 0))
    for prefix, limit in sorted(settings.prefixes.items()):
        yield _entry(settings, f"{prefix}.*", limit)
    yield _entry(settings, "*", settings.default)


def _entry(
    settings: ConcurrencyLimits, name: str, limit: ConfiguredLimit, used: int | None = None
) -> dict[str, Any]:
    amounts = {} if used is None else {"used": _number(used)}
    entry = {"limit": name, **amounts, "maximum": _number(limit.limit), "set_by": limit.key}
    return entry | {"mode": str(settings.mode(name))} if settings.concurrency_limit_modes else entry


def _number(amount: int) -> int | float:
    return amount // SCALE if amount % SCALE == 0 else amount / SCALE

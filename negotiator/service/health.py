"""The health check: the negotiator of the state, plugins, and machines that are used for more than they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from negotiator.app.overview import PoolOverview
from negotiator.pool.secrets import redact

_MOST: Final = 5  # texts in a message


@attrs.frozen
class HealthCheck:
    """One check: what is checked, and what was found to be wrong, empty if nothing was."""

    name: str
    description: str
    fault: str

    @property
    def is_passed(self) -> bool:
        """True if nothing was found to be wrong."""
        return not self.fault


def health_checks(overview: PoolOverview | None, failure: str) -> tuple[HealthCheck, ...]:
    """Return all checks.

    :param overview: the last one that was read; None if there is none.
    :param failure: why the pool cannot be read now, empty if it was read.
    """
    checks = [_check("Pool", "the bundle, the state and the ads of the pool can be read", [failure])]
    return (*checks, *(() if overview is None else _of_pool(overview)))


def _of_pool(overview: PoolOverview) -> Iterator[HealthCheck]:
    health = overview.health
    if health is not None:
        found = [] if health.health.is_sound else [f"{health.health}: {health.text}"]
        yield _check("Negotiator", "the negotiator of the state runs, and its last cycle took place", found)
    yield _check("Plugins", "no plugin failed while the pool was counted", map(str, overview.failures))
    over = (
        f"{host.name}: {name}"
        for host in overview.contents.hosts
        for name, amount in host.used.items()
        if name in host.capacity and amount > host.capacity[name]
    )
    yield _check("Nodes", "no machine is used for more than it has", over)


def _check(name: str, description: str, found: Iterable[str]) -> HealthCheck:
    texts = [redact(text) for text in found if text]
    more = f"; and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return HealthCheck(name, description, "; ".join(texts[:_MOST]) + more)

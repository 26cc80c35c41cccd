"""The health check: the negotiator of the state, plugins, and ads that cannot be used."""

from __future__ import annotations

from typing import Any

from negotiator.app.health import Health
from negotiator.app.overview import PoolOverview
from negotiator.pool.secrets import redact

_MOST = 5  # texts in a message


def health_checks(overview: PoolOverview | None, failure: str) -> dict[str, Any]:
    """Return all checks.

    :param overview: the last one that was read; None if there is none.
    :param failure: why the pool cannot be read now, empty if it was read.
    """
    checks = [_check("Pool", "the bundle, the state and the ads of the pool can be read", [failure])]
    if overview is not None:
        checks += _of_pool(overview)
    return {"Healthy": all(each["Succeeded"] for each in checks), "HealthChecks": checks}


def _of_pool(overview: PoolOverview) -> list[dict[str, Any]]:
    checks = [_check("Plugins", "no plugin failed while the pool was counted", map(str, overview.failures))]
    over = [
        f"{host.name}: {name}"
        for host in overview.contents.hosts
        for name, amount in host.used.items()
        if name in host.capacity and amount > host.capacity[name]
    ]
    checks.append(_check("Nodes", "no machine is used for more than it has", over))
    health = overview.health
    if health is not None:
        found = [] if health.health is Health.HEALTHY else [f"{health.health}: {health.text}"]
        checks.insert(
            0, _check("Negotiator", "the negotiator of the state runs, and its last cycle took place", found)
        )
    return checks


def _check(name: str, description: str, found: Any) -> dict[str, Any]:
    texts = [redact(text) for text in found if text]
    more = f"; and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    entry: dict[str, Any] = {"Name": name, "Succeeded": not texts, "Description": description}
    if texts:
        entry["DiagnosisMessage"] = "; ".join(texts[:_MOST]) + more
    return entry

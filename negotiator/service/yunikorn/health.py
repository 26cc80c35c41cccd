"""The health check in YuniKorn's shape, whose keys begin with capitals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from negotiator.service.health import HealthCheck


def health(checks: Iterable[HealthCheck]) -> dict[str, Any]:
    """Return all checks, and whether all are passed."""
    entries = [_entry(check) for check in checks]
    return {"Healthy": all(each["Succeeded"] for each in entries), "HealthChecks": entries}


def _entry(check: HealthCheck) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "Name": check.name,
        "Succeeded": check.is_passed,
        "Description": check.description,
    }
    return entry if check.is_passed else {**entry, "DiagnosisMessage": check.fault}

"""The outputs of ``negotiator status``, ``fetch``, ``replay`` and of the commands of the audit log."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, TypedDict

from negotiator.app.health import Health, NegotiatorStatus
from negotiator.app.service_settings import Origin
from negotiator.app.state_copies import StateSummary
from negotiator.audit.verify import Fault


class SettingValues(TypedDict):
    """A setting; ``place`` is the option, the variable or ``file:line:column`` that it comes from, null for a default."""

    value: str | float | bool | list[str] | None
    origin: Origin
    place: str | None


class SettingsOutput(TypedDict):
    """The settings of the service by key; ``file`` is null without a file."""

    file: str | None
    settings: dict[str, SettingValues]


class StatusOutput(TypedDict):
    """The health of a negotiator; ``status`` is the last one that it wrote, null if none has run yet; ``state`` is null if it cannot be read."""

    health: Health
    text: str
    status: NegotiatorStatus | None
    state: StateSummary | None


class FetchOutput(TypedDict):
    """The ads that were saved, by kind, and what did not answer."""

    folder: str
    schedds: int
    submitters: int
    slots: int
    jobs: int
    unanswered: list[str]
    set_aside: list[str]


class ReplayOutput(TypedDict):
    """A recorded cycle that was decided again, one object a line; ``difference`` is empty if it is the same."""

    file: str
    number: int
    now: float
    bundle: str
    matches: int
    difference: str


class AuditVerified(TypedDict):
    """A log that was verified: ``fault`` is the first wrong record, null if ``ok``."""

    ok: bool
    records: int
    files: int
    head: str
    fault: Fault | None
    bundles: int
    warnings: list[str]


class AuditUnverified(TypedDict):
    """A log that could not be verified."""

    ok: None
    error: str


#: The answers of ``negotiator status``, without and with ``--settings``.
STATUS: Final = (StatusOutput, SettingsOutput)
#: The answers of ``negotiator audit verify``.
AUDIT_VERIFY: Final = (AuditVerified, AuditUnverified)
#: The columns of a row.
AuditRow: TypeAlias = dict[str, Any]

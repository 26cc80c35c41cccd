"""The reasons of the cycle itself."""

from __future__ import annotations

from typing import TypeVar

from negotiator import __version__
from negotiator.hooks.charges import Charge, KeyCharge, Quota
from negotiator.hooks.manager import Attributed, HookFailure
from negotiator.hooks.records import Filter, Gate
from negotiator.queues.quantities import format_quantity
from negotiator.records import CORE, Provenance, Reason, Station, Verdict

R = TypeVar("R", Gate, Filter)


def core_reason(station: Station, verdict: Verdict, code: str, text: str, rule: str = "") -> Reason:
    """Return a reason of the core's own."""
    return Reason(verdict, code, text, Provenance(station, CORE, __version__, rule or code))


def plugin_reason(station: Station, attributed: Attributed[R]) -> Reason:
    """Return the reason that a plugin returned with its mask."""
    record = attributed.record
    where = Provenance(station, attributed.plugin, attributed.version, record.rule, record.source)
    return Reason(record.verdict, record.code, record.text, where, record.mode)


def quota_reason(
    attributed: Attributed[Charge] | Attributed[KeyCharge] | Attributed[Quota],
    quota: Quota,
    needed: object,
    used: int | None,
    limit: object,
    text: str = "",
) -> Reason:
    """Return the reason why a charge does not fit, with the numbers that are the same for all slots.

    The verdict is denied if the charge alone exceeds the limit, waiting if others have to release something first.

    :param text: the beginning of the sentence; by default the quota's own.
    """
    amounts = {"needed": needed, "used": used, "limit": limit}
    known = {name: value for name, value in amounts.items() if isinstance(value, int)}
    shown = {name: _amount(quota, value) for name, value in known.items()}
    parts = [
        f"uses {shown['used']}" if "used" in shown else "",
        f"needs {shown['needed']}" if "needed" in shown else "",
        f"may have {shown['limit']}" if "limit" in shown else "",
    ]
    resource = f" {quota.resource}" if quota.resource else ""
    text = f"{text or quota.text}:{resource} {', '.join(filter(None, parts)) or 'no room'}"
    never = "needed" in known and "limit" in known and known["needed"] > known["limit"]
    where = Provenance(Station.CHARGE, attributed.plugin, attributed.version, quota.rule, quota.source)
    verdict = Verdict.DENIED if never else Verdict.WAITING
    numbers = {name: scaled(quota, value) for name, value in known.items()}
    return Reason(verdict, quota.code, text, where, quota.mode, numbers)


def scaled(quota: Quota, value: int) -> float:
    """Return an amount on a quota's counter in the unit in which it is shown."""
    return value if quota.scale == 1 else value / quota.scale


def unspecified_reason(attributed: Attributed[Charge], quota: Quota) -> Reason:
    """Return the reason for a job that does not specify its amount of a limited resource."""
    limit = attributed.record.limit
    most = f" to {_amount(quota, limit)}" if isinstance(limit, int) else ""
    text = (
        f"{quota.text}: {quota.resource} is limited{most}, and the job's request is missing or not a number"
    )
    where = Provenance(Station.CHARGE, attributed.plugin, attributed.version, quota.rule, quota.source)
    return Reason(Verdict.MISCONFIGURED, "amount_unknown", text, where, quota.mode)


def _amount(quota: Quota, value: int) -> str:
    if quota.scale != 1:
        return f"{value / quota.scale:g}"
    return format_quantity(quota.resource, value) if quota.resource else str(value)


def failure_reason(station: Station, failure: HookFailure) -> Reason:
    """Return the reason for a plugin that failed, so that nothing was granted."""
    where = Provenance(station, failure.plugin, failure.version, failure.hook)
    return Reason(Verdict.BROKEN_PLUGIN, "plugin_error", failure.message, where)


#: The reason for a request whose owner has used up the steps of evaluation of this cycle.
WORK_EXCEEDED = core_reason(
    Station.MATCH,
    Verdict.MISCONFIGURED,
    "work_exceeded",
    "the expressions in the owner's jobs took too many steps: no slot in this cycle",
)
#: The reason for a request whose owner has steps left, which others of the cycle have used up.
WORK_WAITS = core_reason(
    Station.MATCH,
    Verdict.WAITING,
    "work_waits",
    "the expressions in jobs of other owners took the steps that all may take together: those of this owner are first in the next cycle",
)

"""The reasons that the cycle itself gives, each worded once."""

from __future__ import annotations

from typing import TypeVar

from negotiator import __version__
from negotiator.hooks.charges import Charge, KeyCharge, Quota
from negotiator.hooks.manager import Attributed, HookFailure
from negotiator.hooks.records import Filter, Gate
from negotiator.queues.quantities import format_quantity
from negotiator.records import Provenance, Reason, Station, Verdict

#: The name under which the core itself stands in provenance.
CORE = "negotiator"

R = TypeVar("R", Gate, Filter)


def core_reason(station: Station, verdict: Verdict, code: str, text: str, rule: str = "") -> Reason:
    """Give a reason of the core's own."""
    return Reason(verdict, code, text, Provenance(station, CORE, __version__, rule or code))


def plugin_reason(station: Station, attributed: Attributed[R]) -> Reason:
    """Give the reason that a plugin's mask comes with."""
    record = attributed.record
    where = Provenance(station, attributed.plugin, attributed.version, record.rule, record.source)
    return Reason(record.verdict, record.code, record.text, where, record.mode)


def quota_reason(
    attributed: Attributed[Charge] | Attributed[KeyCharge],
    quota: Quota,
    needed: object,
    used: int | None,
    limit: object,
) -> Reason:
    """Say that a charge does not fit, with the numbers where they are the same for all slots.

    What would never fit is denied; what waits for others to give something back is waited for.
    """
    numbers = {"needed": needed, "used": used, "limit": limit}
    known = {name: value for name, value in numbers.items() if isinstance(value, int)}
    shown = {name: _amount(quota, value) for name, value in known.items()}
    parts = [
        f"uses {shown['used']}" if "used" in shown else "",
        f"needs {shown['needed']}" if "needed" in shown else "",
        f"may have {shown['limit']}" if "limit" in shown else "",
    ]
    what = f" {quota.resource}" if quota.resource else ""
    text = f"{quota.text}:{what} {', '.join(filter(None, parts)) or 'no room'}"
    never = "needed" in known and "limit" in known and known["needed"] > known["limit"]
    where = Provenance(Station.CHARGE, attributed.plugin, attributed.version, quota.rule, quota.source)
    verdict = Verdict.DENIED if never else Verdict.WAITING
    told = {name: value if quota.scale == 1 else value / quota.scale for name, value in known.items()}
    return Reason(verdict, quota.code, text, where, quota.mode, told)


def unspecified_reason(attributed: Attributed[Charge], quota: Quota) -> Reason:
    """Say that a job does not tell how much it takes of what is limited."""
    limit = attributed.record.limit
    most = f" to {_amount(quota, limit)}" if isinstance(limit, int) else ""
    text = f"{quota.text}: {quota.resource} is limited{most}, and the job does not tell as a number how much it asks for"
    where = Provenance(Station.CHARGE, attributed.plugin, attributed.version, quota.rule, quota.source)
    return Reason(Verdict.MISCONFIGURED, "amount_unknown", text, where, quota.mode)


def _amount(quota: Quota, value: int) -> str:
    if quota.scale != 1:
        return f"{value / quota.scale:g}"
    return format_quantity(quota.resource, value) if quota.resource else str(value)


def failure_reason(station: Station, failure: HookFailure) -> Reason:
    """Say that a plugin could not be asked, so that nothing was granted."""
    where = Provenance(station, failure.plugin, failure.version, failure.hook)
    return Reason(Verdict.BROKEN_PLUGIN, "plugin_error", failure.message, where)

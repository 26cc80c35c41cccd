"""The reasons that the cycle itself gives, each worded once."""

from __future__ import annotations

from typing import TypeVar

from negotiator import __version__
from negotiator.hooks.manager import HookFailure, Stamped
from negotiator.hooks.records import Constraint, Filter, Gate
from negotiator.records import Mode, Provenance, Reason, Source, Station, Verdict

#: The name under which the core itself stands in provenance.
CORE = "negotiator"

R = TypeVar("R", Gate, Filter)


def core_reason(station: Station, verdict: Verdict, code: str, text: str, rule: str = "") -> Reason:
    """Give a reason of the core's own."""
    return Reason(verdict, code, text, Provenance(station, CORE, __version__, rule or code))


def plugin_reason(station: Station, stamped: Stamped[R]) -> Reason:
    """Give the reason that a plugin's mask comes with."""
    record = stamped.record
    return _stamped(
        station, stamped, record.verdict, record.code, record.text, record.rule, record.source, record.mode
    )


def constraint_reason(stamped: Stamped[Constraint], conjunct: str = "") -> Reason:
    """Give the reason of a constraint that is not true, or of one conjunct of it."""
    record = stamped.record
    code = f"{record.side}_constraint"
    whose = record.rule if record.text.startswith(f"{record.rule}: ") else record.text
    text = f"{whose}: {conjunct}" if conjunct else record.text
    return _stamped(
        Station.MATCH, stamped, Verdict.DENIED, code, text, record.rule, record.source, record.mode
    )


def failure_reason(station: Station, failure: HookFailure) -> Reason:
    """Say that a plugin could not be asked, so that nothing was granted."""
    where = Provenance(station, failure.plugin, failure.version, failure.hook)
    return Reason(Verdict.BROKEN_PLUGIN, "plugin_error", failure.message, where)


def _stamped(
    station: Station,
    stamped: Stamped[Gate] | Stamped[Filter] | Stamped[Constraint],
    verdict: Verdict,
    code: str,
    text: str,
    rule: str,
    source: Source | None,
    mode: Mode,
) -> Reason:
    return Reason(
        verdict, code, text, Provenance(station, stamped.plugin, stamped.version, rule, source), mode
    )

"""HTCondor's concurrency limits: licences and other resources that a job uses while it runs, on any slot.

Source: HTCondor manual, "Concurrency Limits", and the behaviour of condor_negotiator 25.14. A job requests them with
``ConcurrencyLimits = "sw1:3, sw2"``: three of the first, one of the second. The attribute may be an expression of the slot,
and so differ from slot to slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from negotiator.plugin import Section, hookimpl
from negotiator_condor.known_settings import KNOWN
from negotiator_condor.limit_parser import ATTRIBUTE
from negotiator_condor.settings import PATTERNS, ConcurrencyLimits

if TYPE_CHECKING:
    from negotiator.plugin import Charge, CounterUsage, Cycle, Filter, Request, StartingBundle, Table


@hookimpl
def negotiator_section() -> Section:
    """Declare the keys of ``pool.yaml``, and HTCondor's settings of single limits."""
    return Section(
        schema=ConcurrencyLimits,
        check=ConcurrencyLimits.problems,
        knobs=PATTERNS,
        known=KNOWN,
        rules=ConcurrencyLimits.rules,
    )


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Read ``ConcurrencyLimits``."""
    return [ATTRIBUTE]


@hookimpl
def negotiator_filter_slots(
    request: Request, slots: Table, settings: ConcurrencyLimits, cycle: Cycle
) -> Iterable[Filter]:
    """Exclude the slots on which the job's list is refused."""
    from negotiator_condor.charges import refused_lists

    return refused_lists(request, slots, settings, cycle)


@hookimpl
def negotiator_charges(
    request: Request, slots: Table, settings: ConcurrencyLimits, cycle: Cycle
) -> Iterable[Charge]:
    """Charge each name in the list of a job, or of a claim."""
    from negotiator_condor.charges import charges_of

    return charges_of(request, slots, settings, cycle)


@hookimpl
def negotiator_usage(
    report: str, used: CounterUsage, settings: ConcurrencyLimits
) -> Iterable[Mapping[str, Any]]:
    """Report ``limits``: the use of each limit and its maximum."""
    from negotiator_condor.charges import limit_usage

    return limit_usage(settings, used.sums) if report == "limits" else ()


@hookimpl
def negotiator_starting_bundles() -> Iterable[StartingBundle]:
    """Offer ``htcondor``: the settings of HTCondor's negotiator."""
    from negotiator_condor.starting_bundle import starting_bundle

    yield starting_bundle()

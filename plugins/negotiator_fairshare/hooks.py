"""The hooks of the plugin: settings, the order of turns, charges of accounting groups, usage, commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from negotiator.plugin import (
    Charge,
    CounterUsage,
    Cycle,
    KnownSetting,
    Request,
    RequestOrderType,
    Section,
    SlotRanks,
    Table,
    hookimpl,
)
from negotiator_fairshare.account_requests import change_rows
from negotiator_fairshare.commands.userprio import userprio
from negotiator_fairshare.cycle_figures import check_row
from negotiator_fairshare.group_charges import charges_of, group_usage
from negotiator_fairshare.groups.knobs import PATTERNS
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.submitter_order import SubmitterOrder

_ORDER = "submitters"
_COMPATIBLE = KnownSetting(name="compatible", default="exact", plugin="fairshare")


@hookimpl
def negotiator_section() -> Section:
    """Declare the knobs."""
    return Section(
        schema=FairShareSettings, check=FairShareSettings.problems, knobs=PATTERNS, known=(_COMPATIBLE,)
    )


@hookimpl
def negotiator_orders() -> Iterable[RequestOrderType]:
    """Bring the order of HTCondor's negotiator."""
    yield RequestOrderType(
        name=_ORDER,
        make=SubmitterOrder.of,
        in_queue_order=True,
        ranks=_ranks,
        check_row=check_row,
        change=change_rows,
        is_default=True,
    )


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Read nothing of a job but the submitter of its request."""
    return ()


@hookimpl
def negotiator_charges(
    request: Request, slots: Table, settings: FairShareSettings, cycle: Cycle, order: str
) -> Iterable[Charge]:
    """Charge the accounting group of a request, and those above it, with the weight of its slots."""
    return charges_of(request, slots, settings, cycle) if order == _ORDER else ()


@hookimpl
def negotiator_usage(
    report: str, used: CounterUsage, settings: FairShareSettings
) -> Iterable[Mapping[str, Any]]:
    """Report ``accounting-groups``: what each accounting group uses, and its quota."""
    return group_usage(settings, used.sums) if report == "accounting-groups" else ()


@hookimpl
def negotiator_commands() -> Iterable[click.Command]:
    """Add the command of condor_userprio."""
    yield userprio


def _ranks(settings: FairShareSettings | None) -> SlotRanks:
    return (settings or FairShareSettings()).ranks

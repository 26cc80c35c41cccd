"""Fair share: whose turn it is, as HTCondor's negotiator decides it.

``accounts`` has the accounts of submitters, ``groups`` computes quotas and negotiation rounds of accounting groups, and
``pie`` divides the pool in spins.
"""

from __future__ import annotations

from collections.abc import Iterable

import click

from negotiator.plugin import KnownSetting, RequestOrderType, Section, SlotRanks, hookimpl
from negotiator_fairshare.account_requests import change_rows
from negotiator_fairshare.cycle_figures import check_row
from negotiator_fairshare.groups.knobs import PATTERNS
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.submitter_order import SubmitterOrder
from negotiator_fairshare.userprio.command import userprio

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
        name="submitters",
        make=SubmitterOrder.of,
        in_queue_order=True,
        ranks=_ranks,
        check_row=check_row,
        change=change_rows,
        is_default=True,
    )


@hookimpl
def negotiator_commands() -> Iterable[click.Command]:
    """Add the command of condor_userprio."""
    yield userprio


def _ranks(settings: FairShareSettings | None) -> SlotRanks:
    return (settings or FairShareSettings()).ranks

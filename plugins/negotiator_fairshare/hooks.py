"""The hooks of the plugin: settings, the order of turns, charges of accounting groups, usage, reports, commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from negotiator.plugin import (
    KnownSetting,
    OrderAccounts,
    RequestOrderType,
    Section,
    SharedRows,
    SlotRanks,
    hookimpl,
)
from negotiator_fairshare.groups.knobs import PATTERNS
from negotiator_fairshare.settings import EVALUATED, FairShareSettings

if TYPE_CHECKING:
    import click

    from negotiator.plugin import (
        AccountAd,
        AccountRequest,
        Charge,
        CounterUsage,
        Cycle,
        OrderContext,
        OrderRows,
        PoolNegotiators,
        Report,
        Request,
        RequestOrder,
        RowsChange,
        SlotInUse,
        Table,
    )
    from negotiator_fairshare.group_turns import GroupCharges

_ORDER = "submitters"
_COMPATIBLE = KnownSetting(name="compatible", default="exact", plugin="fairshare")


@hookimpl
def negotiator_section() -> Section:
    """Declare the knobs."""
    return Section(
        schema=FairShareSettings,
        check=FairShareSettings.problems,
        knobs=PATTERNS,
        known=(_COMPATIBLE,),
        rules=FairShareSettings.rules,
        evaluated=EVALUATED,
    )


@hookimpl
def negotiator_orders() -> Iterable[RequestOrderType]:
    """Bring the order of HTCondor's negotiator."""
    yield RequestOrderType(
        name=_ORDER,
        make=_make,
        in_queue_order=True,
        ranks=_ranks,
        check_row=_check_row,
        change=_change,
        accounts=OrderAccounts(report=_report, change_text=_change_text, resources=_resources),
        sharing=SharedRows(is_shared=_is_shared, begin=_begin, rebase=_rebase, join=_join),
        is_default=True,
    )


@hookimpl
def negotiator_job_attributes(settings: FairShareSettings) -> Iterable[str]:
    """Read nothing of a job but the submitter of its request; with NEGOTIATOR_DEPTH_FIRST how much of a slot it takes."""
    return ("RequestCpus", "RequestMemory") if settings.NEGOTIATOR_DEPTH_FIRST else ()


@hookimpl
def negotiator_unused_hooks(settings: FairShareSettings) -> Iterable[str]:
    """Charge nothing if there are no accounting groups."""
    return ["negotiator_charges"] if settings.groups.tree.is_flat else ()


@attrs.frozen(eq=False)
class GroupPolicy:
    """The accounting groups of a bundle."""

    settings: FairShareSettings

    def begin_cycle(self, slots: Table, cycle: Cycle) -> GroupCharges:
        """Weigh the slots of a cycle."""
        from negotiator_fairshare.group_turns import GroupCharges

        return GroupCharges.of(slots, self.settings, cycle)


@hookimpl
def negotiator_policy(settings: FairShareSettings) -> GroupPolicy | None:
    """Weigh the slots of a cycle once for the charges of accounting groups; None without any group."""
    return None if settings.groups.tree.is_flat else GroupPolicy(settings)


@hookimpl
def negotiator_charges(request: Request, order: str, policy: GroupCharges | None) -> Iterable[Charge]:
    """Charge the accounting group of a request, and those above it, with the weight of its slots."""
    return () if policy is None or order != _ORDER else policy.of_request(request)


@hookimpl
def negotiator_usage(
    report: str, used: CounterUsage, settings: FairShareSettings
) -> Iterable[Mapping[str, Any]]:
    """Report ``accounting-groups``: what each accounting group uses, and its quota."""
    from negotiator_fairshare.group_turns import group_usage

    return group_usage(settings, used.sums) if report == "accounting-groups" else ()


@hookimpl
def negotiator_reports(settings: FairShareSettings) -> Iterable[Report]:
    """Bring ``userprio``: what condor_userprio shows."""
    from negotiator_fairshare.userprio.http_report import userprio_report

    yield userprio_report(settings)


@hookimpl
def negotiator_commands() -> Iterable[click.Command]:
    """Add the command of condor_userprio."""
    from negotiator_fairshare.commands.userprio import userprio

    yield userprio


def _make(context: OrderContext) -> RequestOrder:
    from negotiator_fairshare.submitter_order import SubmitterOrder

    return SubmitterOrder.of(context)


def _check_row(key: str, row: Mapping[str, Any]) -> None:
    from negotiator_fairshare.cycle_figures import check_row

    check_row(key, row)


def _change(rows: OrderRows, change: str, settings: Any, now: float) -> RowsChange:
    from negotiator_fairshare.account_requests import change_rows

    return change_rows(rows, change, settings, now)


def _report(rows: OrderRows, settings: Any, rollup: bool) -> Iterable[AccountAd]:  # noqa: FBT001 - the contract's
    from negotiator_fairshare.userprio.selection import account_ads

    return account_ads(rows, settings, rollup=rollup)


def _resources(rows: OrderRows, submitter: str) -> Iterable[SlotInUse]:
    from negotiator_fairshare.userprio.resources import recorded_resources

    return recorded_resources(rows, submitter)


def _is_shared(key: str) -> bool:
    from negotiator_fairshare.accounts.state_rows import is_shared

    return is_shared(key)


def _begin(rows: OrderRows, negotiators: PoolNegotiators) -> OrderRows:
    from negotiator_fairshare.accounts.state_rows import negotiators_row

    return {**rows, **negotiators_row(negotiators)}


def _rebase(left: OrderRows, current: OrderRows, settings: Any) -> OrderRows:
    from negotiator_fairshare.shared_accounts import rebased_rows

    return rebased_rows(left, current, settings)


def _join(own: OrderRows, current: OrderRows) -> OrderRows:
    from negotiator_fairshare.shared_accounts import joined_rows

    return joined_rows(own, current)


def _change_text(request: AccountRequest) -> str:
    from negotiator_fairshare.accounts.changes import AccountChange

    return AccountChange.of(request).to_text()


def _ranks(settings: FairShareSettings | None) -> SlotRanks:
    return (settings or FairShareSettings()).ranks

"""The quota sets as a plugin: what each request is charged, where it must not run, and what is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary, ref

import attrs
import click

from negotiator.plugin import Charge, CounterUsage, Cycle, Filter, Request, Section, Table, hookimpl
from negotiator_quotasets.pool import PoolRules
from negotiator_quotasets.qconf import qconf
from negotiator_quotasets.qquota import as_entries, qquota
from negotiator_quotasets.requests import RequestReader
from negotiator_quotasets.settings import FILES, QuotaSettings, check


@hookimpl
def negotiator_section() -> Section:
    """Own the rule sets, and the objects that they refer to."""
    return Section(schema=QuotaSettings, check=check, files=(FILES,), apart=("gridengine",))


@hookimpl
def negotiator_job_attributes(settings: QuotaSettings) -> Iterable[str]:
    """What jobs are told apart by."""
    return _bundle(settings).terms.attributes()


@hookimpl
def negotiator_filter_slots(
    request: Request, slots: Table, settings: QuotaSettings, cycle: Cycle
) -> Iterable[Filter]:
    """Keep a job from slots where what it asks for is not there, or more than a rule allows of what is not consumed."""
    rules = _rules(settings, slots, cycle)
    return rules.filters(request) if rules else ()


@hookimpl
def negotiator_charges(
    request: Request, slots: Table, settings: QuotaSettings, cycle: Cycle
) -> Iterable[Charge]:
    """Charge what a job takes on the counter of the rule of each set that is for it, host by host."""
    rules = _rules(settings, slots, cycle)
    return rules.charges(request) if rules else ()


@hookimpl
def negotiator_usage(report: str, used: CounterUsage, settings: QuotaSettings) -> Iterable[Mapping[str, Any]]:
    """Report ``quotas``: what is used of each limit; that of a formula is told as the formula."""
    return as_entries(settings, used.sums) if report == "quotas" else ()


@hookimpl
def negotiator_commands() -> Iterable[click.Command]:
    """Bring Grid Engine's commands."""
    return qconf, qquota


@attrs.define(eq=False)
class _Bundle:
    """What is worked out once for a bundle, and for the slots of a cycle; ``latest`` is what was asked for last."""

    terms: RequestReader
    pools: WeakKeyDictionary[Table, PoolRules] = attrs.field(factory=WeakKeyDictionary)
    latest: tuple[ref[Table], PoolRules] | None = None


_BUNDLES: WeakKeyDictionary[QuotaSettings, _Bundle] = WeakKeyDictionary()


def _bundle(settings: QuotaSettings) -> _Bundle:
    known = _BUNDLES.get(settings)
    if known is None:
        known = _BUNDLES[settings] = _Bundle(RequestReader(settings))
    return known


def _rules(settings: QuotaSettings, slots: Table, cycle: Cycle) -> PoolRules | None:
    """The rules over the slots of a cycle; None where a bundle says nothing of quotas."""
    bundle = _bundle(settings)
    if not bundle.terms.active:
        return None
    if bundle.latest is not None and bundle.latest[0]() is slots:
        return bundle.latest[1]
    known = bundle.pools.get(slots)
    if known is None:
        known = bundle.pools[slots] = PoolRules(settings, bundle.terms, slots, cycle.environment)
    bundle.latest = ref(slots), known
    return known

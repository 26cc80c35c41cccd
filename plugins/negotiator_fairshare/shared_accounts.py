"""The accounts that several negotiators of one pool share: what a cycle leaves meets what other negotiators left meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from negotiator.plugin import OrderRows
from negotiator_fairshare.accounts.account import MIN_PRIORITY, UNLIMITED, AccountRecord, stored
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.state_rows import (
    accounts_of,
    is_of_accounts,
    pool_use_of,
    rows_of,
)
from negotiator_fairshare.accounts.use import NegotiatorUse, PoolUse
from negotiator_fairshare.settings import FairShareSettings


def rebased_rows(left: OrderRows, current: OrderRows, settings: Any) -> OrderRows:
    """Return the rows of a cycle that others changed shared rows during.

    The accounts are those of ``current``, charged for the slots of this negotiator until the time of its cycle. Changes that administrators
    made meanwhile stay.

    :param left: the rows that the cycle left.
    :param current: those with which it would begin now.
    :param settings: of the plugin; None for the defaults.
    """
    pool = pool_use_of(left)
    if pool is None or pool.own not in pool.negotiators:
        return left
    cycle, own = pool.negotiators[pool.own], (settings or FairShareSettings()).accounts
    before = accounts_of(current, cycle.charged_until)
    accounts = before.updated(cycle.charged_until, own)
    seen = [name for name in accounts_of(left, 0).records if name not in before.records]
    new = [name for name in seen if name in cycle.use or name in own.groups]
    accounts = accounts.seen(new, own)
    if accounts.pool is not None:
        accounts = attrs.evolve(accounts, pool=accounts.pool.with_own(cycle))
    others = {key: row for key, row in left.items() if not is_of_accounts(key)}
    return {**rows_of(accounts), **others}


def joined_rows(own: OrderRows, current: OrderRows) -> OrderRows:
    """Return the rows to which the accounts of a negotiator that was the only one before are added.

    Priorities and usage are added up. Of the settings of administrators those in ``current`` stay.
    """
    added, accounts = accounts_of(own, 0), accounts_of(current, 0)
    if accounts.pool is None:
        return current
    records = dict(accounts.records)
    for name, record in added.records.items():
        known = records.get(name)
        records[name] = record if known is None else _sum(known, record)
    accounts = attrs.evolve(
        accounts,
        records=records,
        last_update=max(accounts.last_update, added.last_update),
        pool=_with_own(accounts.pool, added),
    )
    others = {key: row for key, row in current.items() if not is_of_accounts(key)}
    return {**rows_of(accounts), **others}


def _sum(known: AccountRecord, added: AccountRecord) -> AccountRecord:
    begins = [each for each in (known.begin_usage, added.begin_usage) if each]
    return attrs.evolve(
        known,
        priority=stored(max(MIN_PRIORITY, known.priority + added.priority)),
        factor=added.factor if known.factor is None else known.factor,
        accumulated_usage=stored(known.accumulated_usage + added.accumulated_usage),
        weighted_accumulated_usage=stored(
            known.weighted_accumulated_usage + added.weighted_accumulated_usage
        ),
        begin_usage=min(begins, default=0),
        last_usage=max(known.last_usage, added.last_usage),
        uncharged_time=known.uncharged_time + added.uncharged_time,
        weighted_uncharged_time=stored(known.weighted_uncharged_time + added.weighted_uncharged_time),
        ceiling=added.ceiling if known.ceiling == UNLIMITED else known.ceiling,
        floor=known.floor or added.floor,
    )


def _with_own(pool: PoolUse, added: Accounts) -> PoolUse:
    """Return the use with that of this negotiator, as its last cycle alone left it."""
    use: Mapping[str, tuple[int, float, float]] = {
        name: (
            record.resources_used,
            record.weighted_resources_used,
            record.hierarchical_weighted_resources_used,
        )
        for name, record in added.records.items()
    }
    return pool.with_own(NegotiatorUse(charged_until=added.last_update, use=use))

"""The commands that show accounts, and the Negotiator ad.

Source: ``Accountant::ReportState`` and ``Matchmaker::QUERY_ADS_commandHandler``.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from negotiator.plugin import (
    AccountAd,
    Ad,
    Allowance,
    CommandError,
    Environment,
    Expr,
    NegotiatorError,
    Payers,
    parse,
)
from negotiator_live.ads.accounting_ads import account_values, complete, group_names
from negotiator_live.ads.negotiator_ad import literal, literals
from negotiator_live.daemon.request import CommandHandler, CommandRequest
from negotiator_live.wire.ads import WireAd
from negotiator_live.wire.commands import DaemonCommand

MOST_SECONDS: Final = 5.0
"""Seconds that the constraint of a query may be evaluated for; it competes with the cycle for the processor."""

MOST_STEPS: Final = 2_000_000
"""Steps that the constraint of a query may take for all accounts; a comparison takes a few for each."""

_LONGEST: Final = 10_000  # characters of a constraint
_CONSTRAINT: Final = "_Constraint"
_UPDATE: Final = "LastUpdate"


def priorities(request: CommandRequest) -> None:
    """Send all accounts as one ad, whose attributes end with the number of the account."""
    _send_numbered(request, rollup=False)


def priorities_rolled_up(request: CommandRequest) -> None:
    """Send all accounts as one ad; groups have the sums of the groups below them."""
    _send_numbered(request, rollup=True)


def resources(request: CommandRequest) -> None:
    """Send the slots that a submitter uses, and when each was counted last."""
    submitter = request.channel.get_string()
    request.channel.end_received()
    with request.computing():
        found = request.control.resources(submitter)
    ad: dict[str, str] = {}
    for number, each in enumerate(sorted(found, key=lambda slot: slot.name), 1):
        ad |= {f"Name{number}": literal(each.name), f"StartTime{number}": str(each.since)}
    request.reply(ad, types=False)


def query(request: CommandRequest) -> None:
    """Send an ad for each account for which the query's Requirements are true."""
    wanted = request.ad()
    limit = wanted.integer("LimitResults")
    with request.computing():
        accounts = request.control.accounts()
        groups = group_names(accounts)
        found = _selected(accounts, wanted)
        ads = [
            literals(account_values(ad, groups)) for ad in itertools.islice(found, limit and max(limit, 0))
        ]
    _send_ads(request, wanted, ads)


def negotiator_ads(request: CommandRequest) -> None:
    """Send the Negotiator ad, whatever the query's Requirements are: there is one only."""
    _send_ads(request, request.ad(), request.negotiator_ads())


def _send_ads(request: CommandRequest, wanted: WireAd, ads: Iterable[Mapping[str, str]]) -> None:
    """Send ads as the answer to a query, with the attributes of its projection."""
    channel = request.channel
    names = frozenset(wanted.string("Projection").replace(",", " ").lower().split())
    for ad in ads:
        channel.put_int(1)
        channel.put_ad({name: text for name, text in ad.items() if not names or name.lower() in names})
    channel.put_int(0)
    channel.end_message()


def _send_numbered(request: CommandRequest, *, rollup: bool) -> None:
    request.end_without_message()
    with request.computing():
        ad = _numbered(request.control.accounts(rollup=rollup))
    request.reply(ad, types=False)


def _numbered(accounts: Sequence[AccountAd]) -> dict[str, str]:
    """Return all accounts as one ad, in which each has all attributes of its kind, and a group is in that above it."""
    groups = group_names(accounts)
    ad = {
        f"{name}{number}": literal(value)
        for number, account in enumerate(accounts, 1)
        for name, value in complete(account, groups).items()
        if name != _UPDATE
    }
    updates = [account[_UPDATE] for account in accounts if _UPDATE in account]
    ad[_UPDATE] = literal(updates[0] if updates else 0)
    ad["NumSubmittors"] = str(len(accounts))
    return ad


def _selected(accounts: Sequence[AccountAd], wanted: WireAd) -> Iterator[AccountAd]:
    """Yield the accounts for which the Requirements of a query are true."""
    constraint = _constraint(wanted.get("Requirements", "true"))
    end = time.monotonic() + MOST_SECONDS
    steps = Allowance(MOST_STEPS)
    environment = Environment(payers=Payers(lambda _: steps, expression=steps))
    for account in accounts:
        if constraint is not None and time.monotonic() > end:
            raise CommandError(f"the constraint of the query takes more than {MOST_SECONDS:g} s")
        if constraint is None or _is_true(account, constraint, environment):
            yield account
        if steps.exhausted:
            raise CommandError(f"the constraint of the query takes more than {MOST_STEPS:,} steps")


def _constraint(text: str) -> Expr | None:
    """Return the expression of a query; None for ``true``."""
    if text.strip().lower() == "true":
        return None
    if len(text) > _LONGEST:
        raise CommandError(f"the constraint of the query has more than {_LONGEST} characters")
    try:
        return parse(text)
    except NegotiatorError as error:
        raise CommandError(f"the constraint of the query is invalid: {error}") from error


def _is_true(
    account: Mapping[str, str | int | float | bool], constraint: Expr, environment: Environment
) -> bool:
    ad = Ad(account.items()).with_items([(_CONSTRAINT, constraint)])
    value = ad.evaluate(_CONSTRAINT, env=environment)
    return isinstance(value, bool | int | float) and bool(value)


HANDLERS: Final[dict[DaemonCommand, CommandHandler]] = {
    DaemonCommand.GET_PRIORITY: priorities,
    DaemonCommand.GET_PRIORITY_ROLLUP: priorities_rolled_up,
    DaemonCommand.GET_RESLIST: resources,
    DaemonCommand.QUERY_ACCOUNTING_ADS: query,
    DaemonCommand.QUERY_NEGOTIATOR_ADS: negotiator_ads,
}
"""The handlers of the commands that show accounts and the Negotiator ad; each needs READ authorization."""

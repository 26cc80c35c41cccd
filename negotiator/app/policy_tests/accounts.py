"""Makes the accounts of a policy test, as requests of an administrator would."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from negotiator.app.policy_tests.file import AccountValues, PolicyTest
from negotiator.cycle.jobs import submitters
from negotiator.errors import SettingsError
from negotiator.hooks.accounts import AccountChangeKind, AccountRequest
from negotiator.pool import Snapshot
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest
from negotiator.runtime.admin_actions import change_order
from negotiator.runtime.state import AdminAction, AdminRequest
from negotiator.runtime.state_manager import StateManager

#: The keys of an account, and what sets each in a running negotiator.
_KINDS: Final = {
    "priority": AccountChangeKind.PRIORITY,
    "factor": AccountChangeKind.FACTOR,
    "ceiling": AccountChangeKind.CEILING,
    "floor": AccountChangeKind.FLOOR,
    "accumulated_usage": AccountChangeKind.ACCUMULATED,
}


def set_accounts(test: PolicyTest, pool: Snapshot, state_manager: StateManager, now: float) -> None:
    """Set the accounts of a test at a time.

    :raises SettingsError: the order of the bundle keeps none, a value is refused, or no job of the test has the account.
    """
    known = set(submitters(pool.jobs).tolist())
    problems = [
        problem
        for name, values in (test.accounts or {}).items()
        for problem in _set(name, values, state_manager, now, known)
    ]
    if problems:
        raise SettingsError(problems, problems[0].source.file)


def _set(
    name: str, values: AccountValues, state_manager: StateManager, now: float, known: Collection[str]
) -> Iterator[Problem]:
    """Set the values of one account; yield what is wrong with them."""
    ordering, place = state_manager.bundle.ordering, values.source or Source("")
    order = ordering.chosen.record if ordering.chosen is not None else None
    if order is None or order.accounts is None:
        keeping = [each for each, kind in ordering.known.items() if kind.record.accounts is not None]
        hint = f"with accounts: order: {', '.join(keeping)}" if keeping else ""
        yield Problem(
            Severity.ERROR, place, f"the order of the bundle, {ordering.name}, has no accounts", hint
        )
        return
    if _is_unknown(name, known):
        near = suggest(name, known)
        yield Problem(Severity.ERROR, place, f"no job of the test has the account {name}", near)
        return
    for key, kind in _KINDS.items():
        value = getattr(values, key)
        if value is None:
            continue
        try:
            change = order.accounts.change_text(AccountRequest(kind, name, value))
        except ValueError as error:
            yield Problem(Severity.ERROR, values.sources.get(key, place), f"{key} of {name}: {error}")
            continue
        request = AdminRequest(0, now, "", (), AdminAction.CHANGE_ORDER, order=order.name, change=change)
        answer = change_order(request, state_manager, now)
        if not answer.ok:
            yield Problem(Severity.ERROR, values.sources.get(key, place), f"{key} of {name}: {answer.text}")


def _is_unknown(name: str, known: Collection[str]) -> bool:
    """True if an account is that of no job: a name without @ may be an accounting group, but not a user without domain."""
    if "@" in name:
        return name.lower() not in known
    return any(each.partition("@")[0] == name.lower() for each in known)

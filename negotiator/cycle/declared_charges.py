"""The charges that plugins declare for requests.

On slots that several jobs share, amounts of slots become those of what one job takes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.charges import Charges, quota_of
from negotiator.cycle.divisible_slots import Consumption
from negotiator.cycle.request_answers import RequestAnswers, RequestGroups
from negotiator.hooks import specs
from negotiator.hooks.answers import Answers, Attributed, HookFailure
from negotiator.hooks.charges import Charge, KeyCharge, PartAmounts, Quota
from negotiator.hooks.failures import describe_error
from negotiator.hooks.fields import WrongAnswerError, check_exactly
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Ints
from negotiator.queues import QueueTree


def charges_of_parts(
    answers: Answers[Charge | KeyCharge], consumption: Consumption
) -> Answers[Charge | KeyCharge]:
    """Return the charges with the amounts of what a request takes of each slot (``Quota.of_part``).

    A failure of a plugin is added to those of the answers.
    """
    records, failures = [], []
    for each in answers.records:
        try:
            records.append(_of_parts(each, consumption))
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            raise_if_interrupted(error)
            text = describe_error(error)
            failures.append(HookFailure(each.plugin, each.version, "negotiator_charges", text))
    return Answers(tuple(records), (*answers.failures, *failures))


def _of_parts(
    attributed: Attributed[Charge | KeyCharge], consumption: Consumption
) -> Attributed[Charge | KeyCharge]:
    record = attributed.record
    label = record.label
    if not isinstance(record, Charge) or not isinstance(label, Quota) or label.of_part is None:
        return attributed
    amounts = _amounts(record, label.of_part, consumption)
    return attributed._replace(record=attrs.evolve(record, amount=amounts))


def _amounts(charge: Charge, of_part: PartAmounts, consumption: Consumption) -> Ints:
    """Return the amount of each slot, (S,)."""
    divisible = consumption.divisible
    parts = of_part(divisible.part, consumption.rest)
    check_exactly(parts, np.ndarray, "a NumPy array of of_part of a Quota")
    if parts.dtype != np.int64 or parts.shape != (len(divisible.rows),) or parts.min(initial=0) < 0:
        message = f"expected {len(divisible.rows)} int64 of 0 or more of of_part of a Quota, got others"
        raise WrongAnswerError(message)
    amounts = np.array(np.broadcast_to(charge.amount, len(divisible.slots)), np.int64)
    amounts[divisible.rows] = parts
    return amounts


@attrs.define(eq=False)
class ChargeAnswers:
    """The charges of a request, or of all alike ones, and the failures of plugins."""

    answers: Answers[Charge | KeyCharge]
    _made: dict[bool, Charges] = attrs.field(factory=dict, init=False)
    _codes: dict[str, bool] = attrs.field(factory=dict, init=False)

    @property
    def records(self) -> tuple[Attributed[Charge | KeyCharge], ...]:
        """The charges as plugins declared them."""
        return self.answers.records

    @property
    def failures(self) -> tuple[HookFailure, ...]:
        """The failures of plugins."""
        return self.answers.failures

    def charges(self, request: Request, *, enforcing: bool) -> Charges:
        """Return the charges that enforce, or the others, of one of the requests."""
        return self.of_alike(enforcing=enforcing).of_request(request)

    def of_alike(self, *, enforcing: bool) -> Charges:
        """Return the charges that enforce, or the others, as they are the same for all of the requests."""
        if enforcing not in self._made:
            self._made[enforcing] = Charges.of(self.answers.records, enforcing=enforcing)
        return self._made[enforcing]

    def has_code(self, code: str) -> bool:
        """True if a quota with this code may refuse the requests."""
        if code not in self._codes:
            sums = self.of_alike(enforcing=True).declared_sums
            self._codes[code] = any(quota_of(each).code == code for each in sums)
        return self._codes[code]


@attrs.define(eq=False)
class DeclaredCharges:
    """Calls the plugins for the charges of a request over the slots of a cycle.

    The charges of the latest request are kept: its order may have read them before the turn.
    """

    slots: Table
    queues: QueueTree
    bundle: Bundle
    groups: RequestGroups | None = None  # None: each request is asked for by itself
    #: Plugins may have named the hook as unused under the queues of the bundle, not under others.
    _follows: bool = attrs.field(init=False)
    _shared: RequestAnswers[Charge | KeyCharge, ChargeAnswers] | None = attrs.field(init=False)
    _latest: tuple[Request, ChargeAnswers] | None = None

    def __attrs_post_init__(self) -> None:
        self._follows = self.queues.follows(self.bundle.partition.root)
        hook, self._shared = specs.negotiator_charges, None
        if self.groups is not None:
            implementations = self.bundle.hooks.implementations(hook, used=self._follows)
            self._shared = RequestAnswers(hook, implementations, self.groups, ChargeAnswers)

    def of(
        self,
        request: Request,
        cycle: Cycle,
        consumption: Consumption | None = None,
        queued: QueuedRequest | None = None,
    ) -> ChargeAnswers:
        """Return the charges, and the failures of plugins.

        :param consumption: what the request takes of slots that several jobs share.
        :param queued: the request at its turn; None if it is not one of the cycle's queue.
        """
        declared = self._of_slots(request, cycle, queued)
        return (
            declared
            if consumption is None
            else ChargeAnswers(charges_of_parts(declared.answers, consumption))
        )

    def _of_slots(self, request: Request, cycle: Cycle, queued: QueuedRequest | None) -> ChargeAnswers:
        if self._latest is not None and self._latest[0] is request:
            return self._latest[1]
        hooks = self.bundle.hooks
        arguments = partial(self._arguments, request, cycle)
        if queued is not None and self._shared is not None:
            declared = self._shared.of(hooks, queued, frozenset(), arguments)
        else:
            ask = hooks.ask if self._follows else hooks.ask_all
            declared = ChargeAnswers(ask(specs.negotiator_charges, **arguments()))
        self._latest = request, declared
        return declared

    def _arguments(self, request: Request, cycle: Cycle) -> dict[str, Any]:
        return {
            "request": request,
            "slots": self.slots,
            "queues": self.queues,
            "cycle": cycle,
            "order": self.bundle.ordering.name,
            "settings": self.bundle.settings,
        }

"""The charges of a request on slots that several jobs share: amounts of slots become those of what one job takes."""

from __future__ import annotations

import attrs
import numpy as np

from negotiator.cycle.divisible_slots import Consumption
from negotiator.hooks.answers import Answers, Attributed, HookFailure
from negotiator.hooks.charges import Charge, KeyCharge, PartAmounts, Quota
from negotiator.hooks.failures import describe_error
from negotiator.hooks.fields import WrongAnswerError, check_exactly
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.ledger import Ints


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

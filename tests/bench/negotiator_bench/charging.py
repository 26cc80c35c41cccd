"""The ledger: admission and charge of a large request, and of single matches one by one.

Admission, and the charge of what it grants, is of 10,000 alike jobs over 20,000 slots of 5,000 hosts, with 20 charges of which 5 are per host: with groups
that lie within each other, and with groups that cross and amounts that differ from slot to slot. A single match is
admitted, charged and released as a cycle does it, for a user and a group on a path of three queues, with two resources
and the running applications, of 1,000 users in turn.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from negotiator.ledger import Charge, Family, Grouping, KeyCharge, Ledger
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan

NESTED: Final = SpeedTarget("ours", at_most=5)
CROSSING: Final = SpeedTarget("ours", at_most=50)
SINGLE: Final = SpeedTarget("ours", at_most=20)

USERS: Final = 1_000
_EACH: Final = 4  # slots of a host
_PER_HOST: Final = 5
_CHARGES: Final = 20
_ROOM: Final = 10**7


def measure(plan: Plan) -> Measured:
    """Measure milliseconds a request, and microseconds a match."""
    random = np.random.default_rng(1)
    slots = plan.charged_slots
    rows, host = random.permutation(slots), np.arange(slots) // _EACH
    names = [f"host{number}" for number in range(slots // _EACH + 1)]
    per_host = [
        Charge(Grouping(host, Family(("host", str(number)), names)), 2, 5) for number in range(_PER_HOST)
    ]
    whole = [Charge(("pool", str(number)), 2, _ROOM) for number in range(_CHARGES - _PER_HOST)]
    across = random.integers(0, 40, slots)
    groups = [str(number) for number in range(40)]
    crossing = [
        Charge(Grouping(across, Family(("across", str(number)), groups)), 1, 200) for number in range(2)
    ]
    differing = [
        Charge(("sum", str(number)), random.integers(1, 9, slots), 4 * plan.charged_copies)
        for number in range(_CHARGES - _PER_HOST - len(crossing))
    ]
    nested = _admission("nest", [*per_host, *whole], rows, plan, NESTED)
    mixed = _admission("cross", [*per_host, *crossing, *differing], rows, plan, CROSSING)
    return Measured((nested, mixed, _single(plan)))


def _admission(
    what: str,
    charges: Sequence[Charge],
    rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    plan: Plan,
    target: SpeedTarget,
) -> Figure:
    def admit_and_charge() -> None:
        ledger = Ledger()
        ledger.commit(ledger.admit(charges, (), rows, plan.charged_copies))

    times = tuple(_seconds(admit_and_charge) * 1e3 for _ in range(plan.repetitions))
    granted = len(Ledger().admit(charges, (), rows, plan.charged_copies))
    facts = {"slots": len(rows), "copies": plan.charged_copies, "charges": len(charges), "granted": granted}
    label = f"{plan.charged_copies:,} jobs, {len(charges)} charges that {what}"
    return Figure(Area.ADMISSION, label, "ms", times, target=target if plan.judged else None, facts=facts)


def _single(plan: Plan) -> Figure:
    ledger = Ledger()
    matches = [_match(f"user{number}", f"group{number % 50}") for number in range(USERS)]
    rows = np.zeros(1, np.intp)
    for sums, keys in matches:
        others = [KeyCharge(each.counter, ["another"], each.limit) for each in keys]
        ledger.commit(ledger.admit(sums, others, rows, 1))

    def all_of_them() -> None:
        for sums, keys in matches:
            (receipt,) = ledger.commit(ledger.admit(sums, keys, rows, 1))
            ledger.release(receipt)

    times = tuple(_seconds(all_of_them) / USERS * 1e6 for _ in range(plan.repetitions))
    facts = {"users": USERS, "sums": len(matches[0][0]), "sets": len(matches[0][1])}
    label = "admission, charge and release of a match"
    return Figure(Area.CHARGING, label, "us", times, target=SINGLE if plan.judged else None, facts=facts)


def _match(user: str, group: str) -> tuple[list[Charge], list[KeyCharge]]:
    """Return the charges of one match: user and group, three queues, two resources and the application."""
    holders = [(kind, name, path) for kind, name in (("user", user), ("group", group)) for path in _PATH]
    sums = [
        Charge(("limits", *holder, resource), amount, 10**15)
        for holder in holders
        for resource, amount in _RESOURCES
    ]
    return sums, [KeyCharge(("limits", *holder), ["application"], 100) for holder in holders]


_PATH: Final = ("root.parent.leaf", "root.parent", "root")
_RESOURCES: Final = (("memory", 1 << 30), ("vcore", 1000))


def _seconds(function: Callable[[], None]) -> float:
    gc.collect()
    start = clock()
    function()
    return clock() - start

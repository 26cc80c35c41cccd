"""By how much an ad misses those of the other side: the least change of its number or text that would meet a condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import (
    Ad,
    ClassAdError,
    Column,
    Environment,
    Expr,
    Kind,
    Side,
    Table,
    evaluate_table,
    parse_old,
    references,
    unparse,
)
from negotiator.classad.syntax import Attr, Binary, Literal, Paren
from negotiator.hooks.records import Mask
from negotiator.records import Reason

#: The operator with its operands exchanged.
_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "=?=": "=?="}
_EQUAL: Final = frozenset({"==", "=?="})
#: The side of the slots of a job, and of the jobs of a slot, in conditions by their codes.
SLOTS: Final = {"job_requirements": Side.TARGET, "slot_requirements": Side.MY}
JOBS: Final = {"job_requirements": Side.MY, "slot_requirements": Side.TARGET}

Constant: TypeAlias = float | str


@attrs.frozen
class NearMiss:
    """A value of a job or of a slot that is too large, too small or another one, and the nearest that the others accept.

    ``subject`` is an attribute or an expression of its ad, empty for a constant in the condition itself; ``relation`` is how
    it must be to ``needed`` (``<=``, ``>=``, ``==``). ``opens`` counts the slots that it opens for a job, or the jobs for a slot.
    """

    subject: str
    now: Constant
    relation: str
    needed: Constant
    opens: int
    noun: str = "slot"

    def __str__(self) -> str:
        """``RequestMemory <= 14336 (now 16384): 212 slots``."""
        shown = [f'"{each}"' if isinstance(each, str) else f"{each:g}" for each in (self.needed, self.now)]
        subject = self.subject or "the constant"
        plural = "" if self.opens == 1 else "s"
        return f"{subject} {self.relation} {shown[0]} (now {shown[1]}): {self.opens} {self.noun}{plural}"


@attrs.frozen(eq=False)
class MissedAds:
    """The ads of the other side that nothing but one condition rejects, and how many each stands for, (R,).

    ``sides`` has their side in the conditions, by code: ``SLOTS`` or ``JOBS``.
    """

    ads: Table
    counts: NDArray[np.int64]
    sides: Mapping[str, Side] = SLOTS

    @classmethod
    def slots(cls, slots: Table, opened: Mask) -> MissedAds:
        """Return the slots of a mask, (N,)."""
        rows = np.flatnonzero(opened)
        return cls(slots.take(rows), np.ones(len(rows), np.int64))


def near_miss(reason: Reason, missed: MissedAds, own: Ad, env: Environment) -> NearMiss | None:
    """Return the least change of an ad that meets a condition; None if the condition does not compare it with the others.

    :param missed: the slots, if the ad is a job's; the jobs, if it is a slot's.
    """
    side = missed.sides.get(reason.code)
    if side is None or not len(missed.ads):
        return None
    comparison = _comparison(reason.provenance.rule)
    if comparison is None:
        return None
    operator, left, right = comparison
    names, others = (_of_own(each, side, own, missed.ads) for each in (left, right))
    if not names:
        operator, left, right, names, others = _TURNED[operator], right, left, others, names
    of_own, found = (evaluate_table(each, missed.ads, own, side=side, env=env) for each in (left, right))
    if not names or others or not of_own.is_constant:
        return None
    subject, now = _shown(left), of_own.value(0)
    near = None
    if isinstance(now, str) and operator in _EQUAL:
        near = _other_text(subject, now, found, missed.counts)
    elif isinstance(now, (int, float)) and not isinstance(now, bool):
        near = _other_number(subject, float(now), operator, found, missed.counts)
    return near if near is None or missed.sides is SLOTS else attrs.evolve(near, noun="job")


def _comparison(text: str) -> tuple[str, Expr, Expr] | None:
    try:
        found = parse_old(text)
    except ClassAdError:  # it was cut, or it is the name of something
        return None
    while isinstance(found, Paren):
        found = found.inner
    if isinstance(found, Binary) and found.op in _TURNED:
        return found.op, found.left, found.right
    return None


def _shown(operand: Expr) -> str:
    """Return an attribute's name, or an expression; nothing for a constant."""
    if isinstance(operand, Literal):
        return ""
    return operand.name if isinstance(operand, Attr) else unparse(operand)


def _of_own(operand: Expr, side: Side, own: Ad, others: Table) -> tuple[str, ...]:
    """Return the attributes of the own ad that an operand reads, as the ad spells them, and an empty name for a constant.

    Nothing if it reads anything else.
    """
    if isinstance(operand, Literal):
        return ("",)
    found = references(operand)
    if found.dynamic:
        return ()
    scoped, other = (found.my, found.target) if side is Side.TARGET else (found.target, found.my)
    spelled = {name.lower(): name for name in own}
    names = set(scoped)
    for name in found.unscoped:
        in_others = others.column(name).kind is not Kind.ABSENT
        if name not in spelled or (side is Side.MY and in_others):
            return ()
        names.add(name)
    if other or not names <= spelled.keys():
        return ()
    return tuple(spelled[name] for name in sorted(names))


def _other_number(
    subject: str, now: float, operator: str, others: Column, counts: NDArray[np.int64]
) -> NearMiss | None:
    numbers = others.numbers()
    finite = np.isfinite(numbers)
    numbers, counts = numbers[finite], counts[finite]
    if not len(numbers):
        return None
    if operator in _EQUAL:
        needed = float(numbers[np.abs(numbers - now).argmin()])
        return NearMiss(subject, now, "==", needed, int(counts[numbers == needed].sum()))
    needed = float(numbers.max() if operator in {"<", "<="} else numbers.min())
    return NearMiss(subject, now, operator, needed, int(counts[numbers == needed].sum()))


def _other_text(subject: str, now: str, others: Column, counts: NDArray[np.int64]) -> NearMiss | None:
    texts = Counter[str]()
    for each, count in zip(others.values(np.arange(len(others))), counts.tolist(), strict=True):
        if isinstance(each, str):
            texts[each] += count
    if not texts:
        return None
    ((needed, count),) = texts.most_common(1)
    return NearMiss(subject, now, "==", needed, count)

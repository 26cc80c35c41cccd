"""By how much a job misses slots: the least change of a number or a text of the job that would meet a condition."""

from __future__ import annotations

from collections import Counter
from typing import Final, TypeAlias

import attrs
import numpy as np

from negotiator.classad import (
    ClassAd,
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
_SIDES: Final = {"job_requirements": Side.TARGET, "slot_requirements": Side.MY}

Constant: TypeAlias = float | str


@attrs.frozen
class NearMiss:
    """A value of the job that is too large, too small or another one, and the nearest that slots accept.

    ``subject`` is an attribute or an expression of the job, empty for a constant in the condition itself; ``relation`` is how
    it must be to ``needed`` (``<=``, ``>=``, ``==``). ``slots`` are those that it opens.
    """

    subject: str
    now: Constant
    relation: str
    needed: Constant
    slots: int

    def __str__(self) -> str:
        """``RequestMemory <= 14336 (now 16384): 212 slots``."""
        shown = [f'"{each}"' if isinstance(each, str) else f"{each:g}" for each in (self.needed, self.now)]
        subject = self.subject or "the constant"
        plural = "" if self.slots == 1 else "s"
        return f"{subject} {self.relation} {shown[0]} (now {shown[1]}): {self.slots} slot{plural}"


def near_miss(reason: Reason, slots: Table, opened: Mask, job: ClassAd, env: Environment) -> NearMiss | None:
    """Return the least change of the job that meets a condition; None if the condition does not compare the job with the slots.

    :param opened: the slots, (N,), that nothing but this condition rejects.
    """
    side = _SIDES.get(reason.code)
    if side is None or not opened.any():
        return None
    comparison = _comparison(reason.provenance.rule)
    if comparison is None:
        return None
    operator, left, right = comparison
    names, others = (_of_job(each, side, job, slots) for each in (left, right))
    if not names:
        operator, left, right, names, others = _TURNED[operator], right, left, others, names
    of_job, of_slots = (evaluate_table(each, slots, job, side=side, env=env) for each in (left, right))
    if not names or others or not of_job.is_constant:
        return None
    subject, now = _shown(left), of_job.value(0)
    found = of_slots.take(np.flatnonzero(opened))
    if isinstance(now, str) and operator in _EQUAL:
        return _other_text(subject, now, found)
    if isinstance(now, (int, float)) and not isinstance(now, bool):
        return _other_number(subject, float(now), operator, found)
    return None


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


def _of_job(operand: Expr, side: Side, job: ClassAd, slots: Table) -> tuple[str, ...]:
    """Return the attributes of the job that an operand reads, as the job spells them, and an empty name for a constant.

    Nothing if it reads anything else.
    """
    if isinstance(operand, Literal):
        return ("",)
    found = references(operand)
    if found.dynamic:
        return ()
    own, other = (found.my, found.target) if side is Side.TARGET else (found.target, found.my)
    spelled = {name.lower(): name for name in job}
    of_job = set(own)
    for name in found.unscoped:
        in_slots = slots.column(name).kind is not Kind.ABSENT
        if name not in spelled or (side is Side.MY and in_slots):
            return ()
        of_job.add(name)
    if other or not of_job <= spelled.keys():
        return ()
    return tuple(spelled[name] for name in sorted(of_job))


def _other_number(subject: str, now: float, operator: str, slots: Column) -> NearMiss | None:
    numbers = slots.numbers()
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return None
    if operator in _EQUAL:
        needed = float(numbers[np.abs(numbers - now).argmin()])
        return NearMiss(subject, now, "==", needed, int((numbers == needed).sum()))
    needed = float(numbers.max() if operator in {"<", "<="} else numbers.min())
    return NearMiss(subject, now, operator, needed, int((numbers == needed).sum()))


def _other_text(subject: str, now: str, slots: Column) -> NearMiss | None:
    texts = Counter(each for each in slots.values(np.arange(len(slots))) if isinstance(each, str))
    if not texts:
        return None
    ((needed, count),) = texts.most_common(1)
    return NearMiss(subject, now, "==", needed, count)

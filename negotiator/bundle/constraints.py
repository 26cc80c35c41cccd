"""Central constraints as a cycle evaluates them: bound, and split at their top-level ``&&``, once for each bundle."""

from __future__ import annotations

import attrs

from negotiator.classad import Expr, Side, bind
from negotiator.classad.syntax import rejoin, split
from negotiator.hooks.answers import Attributed
from negotiator.hooks.declarations import Constraint, ConstraintSide
from negotiator.pool.shown_expression import shown_expression
from negotiator.records import Mode, Provenance, Reason, Station, Verdict


@attrs.frozen(eq=False)
class ConstraintConjunct:
    """One conjunct of a central constraint, and the reason why a slot on which it is not true is not a candidate.

    The expression is bound: ``MY`` and ``TARGET`` are the two ads themselves, also if an ad defines attributes of these names.
    """

    expression: Expr
    reason: Reason


@attrs.frozen(eq=False)
class BoundConstraint:
    """A central constraint: the record as its plugin gave it, and its conjuncts.

    ``slot_side`` is the side of the slots in the expression: MY for a constraint of resources, TARGET for one of jobs.
    """

    record: Constraint
    slot_side: Side
    conjuncts: tuple[ConstraintConjunct, ...]


def bind_constraint(attributed: Attributed[Constraint]) -> BoundConstraint:
    """Split and bind a constraint; one that is not enforced is counted as a whole, so it is not split."""
    record = attributed.record
    parts = rejoin(split(record.expression)) if record.mode is Mode.ENFORCE else (record.expression,)
    return BoundConstraint(
        record,
        Side.TARGET if record.side is ConstraintSide.JOB else Side.MY,
        tuple(
            ConstraintConjunct(
                bind(part), _reason(attributed, shown_expression(part) if len(parts) > 1 else "")
            )
            for part in parts
        ),
    )


def _reason(attributed: Attributed[Constraint], conjunct: str) -> Reason:
    """Return the reason of a constraint that is not true, or of one conjunct of it."""
    record = attributed.record
    # A text of the form "RULE: EXPRESSION" would show the whole expression beside the conjunct.
    subject = record.rule if record.text.startswith(f"{record.rule}: ") else record.text
    text = f"{subject}: {conjunct}" if conjunct else record.text
    where = Provenance(Station.MATCH, attributed.plugin, attributed.version, record.rule, record.source)
    return Reason(Verdict.DENIED, f"{record.side}_constraint", text, where, record.mode)

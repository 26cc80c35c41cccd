"""Lint of one expression: the rules in their order, each thing told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

import attrs

from negotiator.classad.columnar import Table
from negotiator.classad.context import Environment
from negotiator.classad.lint.attributes import attributes, case, no_other_ad, references
from negotiator.classad.lint.calls import calls, numbers
from negotiator.classad.lint.claims import clauses, constants, duplicates, of_whole, whole
from negotiator.classad.lint.expression_text import ExpressionText
from negotiator.classad.lint.facts import KnownAds, LintPool
from negotiator.classad.lint.finding import IN_POOL, Finding, LintCode
from negotiator.classad.lint.operands import not_conditions, operands, quoted
from negotiator.classad.lint.outcomes import is_of_one_side, over_ads, over_pairs
from negotiator.classad.lint.phrases import outcome
from negotiator.classad.lint.reading import MAX_LEVELS, NoFacts, TypedExpression, is_too_high, parts, read
from negotiator.classad.lint.results import bare
from negotiator.classad.lint.value_types import PossibleValue
from negotiator.classad.syntax import Attr, Call, Expr, Literal, fold
from negotiator.classad.values import Exceptional
from negotiator.records import Severity

MAX_NODES: Final = 20_000
MAX_FINDINGS: Final = 50  # of one kind; an author mends those first
_WANDERING: Final = frozenset({"unresolved", "evalineachcontext", "countmatches"})


def lint(
    expr: Expr,
    *,
    my: Table | None = None,
    target: Table | None = None,
    alone: bool = False,
    truth_counts: bool = True,
    my_word: str = "ad",
    target_word: str = "other ad",
    text: str | None = None,
    env: Environment | None = None,
) -> tuple[Finding, ...]:
    """Find what is wrong, or looks it, in an expression; causes come before what follows from them.

    ``my`` are the ads that the expression may stand in, ``target`` those they are matched with; of a side that is not
    given nothing is assumed. ``alone``: there is no other ad, as for a gate. ``truth_counts``: it is asked whether the expression is
    true (gates, Requirements), not for its value (Rank). The words say what one of the ads is called. With ``text``,
    which the expression was parsed from, findings know their place in it. ``MY`` and ``TARGET`` are the two ads for
    certain where the expression is bound (``bind``); otherwise an ad might have attributes of these names.
    """
    if is_too_high(expr) or len(parts(expr)) > MAX_NODES:
        message = (
            f"the expression has more than {MAX_LEVELS} levels or {MAX_NODES} parts: it was not looked at"
        )
        hint = "HTCondor gives up an evaluation beyond 400 levels"
        return (Finding(LintCode.TOO_LARGE, expr, message, hint),)
    pool = LintPool(
        KnownAds(my, my_word) if my is not None and len(my) else None,
        KnownAds(target, target_word) if target is not None and len(target) and not alone else None,
        alone=alone,
    )
    spelling = ExpressionText(text)
    found = _Linting(expr, pool, spelling, truth_counts, env or Environment()).run()
    found = [attrs.evolve(finding, span=spelling.span(finding.expr)) for finding in found]
    return (*found, *numbers(text or ""))


@attrs.frozen(eq=False)
class _Linting:
    expr: Expr
    pool: LintPool
    spelling: ExpressionText
    truth_counts: bool
    env: Environment

    def run(self) -> list[Finding]:
        reading = read(self.expr, NoFacts(self.pool.alone), self.spelling)
        with_pool = None
        if any(True for _ in self.pool.sides()) and not _wanders(reading):
            with_pool = read(self.expr, self.pool, self.spelling)
        found = _first(calls(reading), self._operands(reading), constants(reading), duplicates(reading))
        if self.pool.alone:
            found += _first(no_other_ad(reading))
        found += _first(clauses(reading, _ids(found)))
        if with_pool is None:
            found += _first(quoted(reading))
        else:
            found += _first(self._of_pool(with_pool, _ids(found)))
        place = {id(node): at for at, node in enumerate(reading.nodes)}
        found.sort(key=lambda finding: place[id(finding.expr)])
        if id(bare(self.expr)) not in _ids(found):
            found += self._whole(reading, with_pool)
        return found

    def _whole(self, reading: TypedExpression, with_pool: TypedExpression | None) -> list[Finding]:
        said = list(whole(reading, truth_counts=self.truth_counts))
        return said if said or with_pool is None else list(self._whole_in_pool(with_pool))

    def _operands(self, reading: TypedExpression) -> Iterator[Finding]:
        yield from operands(reading)
        yield from not_conditions(reading, whole=self.truth_counts)

    def _of_pool(self, reading: TypedExpression, told: frozenset[int]) -> Iterator[Finding]:
        yield from attributes(reading, self.pool)
        yield from case(reading, self.pool)
        for finding in self._operands(reading):
            if id(finding.expr) not in told and finding.code in IN_POOL:
                yield self._in_pool(finding, reading)
        yield from quoted(reading)

    def _in_pool(self, finding: Finding, reading: TypedExpression) -> Finding:
        concerned = self.pool.concerned(self._references(finding.expr, reading))
        return attrs.evolve(
            finding,
            code=IN_POOL[finding.code],
            message=f"{concerned}, {finding.message}",
        )

    def _references(self, expr: Expr, reading: TypedExpression) -> list[Attr]:
        inside = {id(part) for part in parts(expr)}
        return [node for node in references(reading, self.pool) if id(node) in inside]

    def _whole_in_pool(self, reading: TypedExpression) -> Iterator[Finding]:
        possible, whatever = self._outcome(reading)
        code = of_whole(possible, truth_counts=self.truth_counts)
        if code is None or code not in IN_POOL:
            return
        concerned = self.pool.concerned(self._references(self.expr, reading))
        is_never = "never true: it is " if code is LintCode.NEVER_TRUE else ""
        message = f"{concerned}{whatever}, {reading.shown(self.expr)} is {is_never}{outcome(possible)}"
        yield Finding(IN_POOL[code], self.expr, message)

    def _outcome(self, reading: TypedExpression) -> tuple[PossibleValue, str]:
        """Return what the whole is in this pool, and words for what it does not depend on."""
        my, target = self.pool.my, self.pool.target
        known = reading.of(reading.root)
        if my is not None and self.pool.alone:
            return over_ads(self.expr, my.table, self.env) or known, ""
        if my is not None and target is not None:
            return over_pairs(self.expr, my.table, target.table, self.env) or known, ""
        if my is not None and is_of_one_side(self.expr, my.table):
            return over_ads(self.expr, my.table, self.env) or known, ", whatever the other ad"
        return known, ", whatever the other ad"


def _first(*found: Iterable[Finding]) -> list[Finding]:
    return list(islice(chain(*found), MAX_FINDINGS))


def _wanders(reading: TypedExpression) -> bool:
    """Return whether a call may leave later names to be looked up elsewhere (SEMANTICS section 4)."""
    return any(isinstance(node, Call) and fold(node.name) in _WANDERING for node in reading.nodes)


def _ids(found: Iterable[Finding]) -> frozenset[int]:
    """Return the parts of which findings say what they are; not constants, which the parser shares."""
    return frozenset(
        id(bare(finding.expr))
        for finding in found
        if finding.severity is Severity.WARNING and finding.code is not LintCode.CASE_DIFFERS
        if not (isinstance(finding.expr, Literal) and isinstance(finding.expr.value, bool | Exceptional))
    )

"""Lints one expression: applies the rules in order and reports each mistake once.

With the ads of a pool, the possible values of the whole expression are those of its evaluation over their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

import attrs

from negotiator.classad.columnar import Table, evaluate_table
from negotiator.classad.context import Environment
from negotiator.classad.lint.condition_rules import (
    clauses,
    constants,
    duplicates,
    not_conditions,
    of_whole,
    operands,
    quoted,
    whole,
)
from negotiator.classad.lint.findings import IN_POOL, ExpressionText, Finding, LintCode, outcome
from negotiator.classad.lint.name_rules import attributes, calls, case, no_other_ad, numbers, references
from negotiator.classad.lint.typed_expression import (
    MAX_LEVELS,
    KnownAds,
    LintPool,
    NoFacts,
    TypedExpression,
    of_column,
    parts,
    read,
)
from negotiator.classad.lint.value_types import BOOLEAN, PossibleValue, either_of
from negotiator.classad.syntax import (
    MOVING_FUNCTIONS,
    SIDES,
    Attr,
    Call,
    Expr,
    Literal,
    ReferenceScan,
    Side,
    bare,
    fold,
    is_higher,
    scan,
)
from negotiator.classad.values import Exceptional, Kind
from negotiator.records import Severity

MAX_OTHERS: Final = 32
"""Maximum of different ads of one side with which an expression is evaluated; with more, the result is None."""

MAX_NAMES: Final = 500
MAX_NODES: Final = 20_000
MAX_FINDINGS: Final = 50  # of one group of rules; the rest shows once these are fixed


def _over_ads(expr: Expr, my: Table, env: Environment) -> PossibleValue | None:
    """Return what an expression is for all of these ads, each alone; None if each evaluation may differ."""
    if names_read(expr, my) is None:
        return None
    return of_column(evaluate_table(expr, my, env=env))


def _over_pairs(expr: Expr, my: Table, target: Table, env: Environment) -> PossibleValue | None:
    """Return what an expression is for all pairs; None if there are too many different ads to evaluate them all.

    Of ads that are equal in all attributes that the expression can read, one is evaluated, on both sides.
    """
    names = names_read(expr, my, target)
    if names is None:
        return None
    rows, others = my.take(my.group(names)[1]), target.take(target.group(names)[1])
    side = Side.MY
    if len(others) > MAX_OTHERS:
        rows, others, side = others, rows, Side.TARGET
    if len(others) > MAX_OTHERS:
        return None
    found: PossibleValue | None = None
    for row in range(len(others)):
        value = of_column(evaluate_table(expr, rows, others.ad(row), side=side, env=env))
        found = value if found is None else either_of(found, value)
        if found.types & BOOLEAN == BOOLEAN:
            break  # both true and false: there is nothing to report
    return found


def _is_of_one_side(expr: Expr, my: Table) -> bool:
    """True if an expression of these ads has the same value for any other ad."""
    for part in _followed(expr, set(SIDES), (my,)):
        if part.opaque or part.moves_scope or part.names[Side.TARGET]:
            return False
        if any(my.column(name).has(Kind.ABSENT) for name in part.names[None]):
            return False
    return True


def names_read(expr: Expr, *tables: Table) -> list[str] | None:
    """Return the names that an expression can read in ads of both sides, in lower case; None if it can read any."""
    names = set(SIDES)
    for part in _followed(expr, names, tables):
        if part.opaque or part.moves_scope or len(names) > MAX_NAMES:
            return None
    return sorted(names)


def _followed(expr: Expr, names: set[str], tables: tuple[Table, ...]) -> Iterator[ReferenceScan]:
    """Yield the references of an expression and of the attributes it reads in the ads; their names are added to ``names``."""
    pending = [scan(expr), *(part for name in names for table in tables for part in table.scans(name))]
    while pending:
        part = pending.pop()
        new = {name for named in part.names.values() for name in named} - names
        names |= new
        pending += (each for name in new for table in tables for each in table.scans(name))
        yield part


def lint(
    expr: Expr,
    *,
    my: Table | None = None,
    target: Table | None = None,
    alone: bool = False,
    truth_counts: bool = True,
    my_word: str = "ad",
    target_word: str = "other ad",
    my_computed: frozenset[str] = frozenset(),
    target_computed: frozenset[str] = frozenset(),
    text: str | None = None,
    env: Environment | None = None,
) -> tuple[Finding, ...]:
    """Return the probable mistakes in an expression, causes before consequences.

    :param my: ads that may own the expression; nothing is assumed of them if None.
    :param target: ads that they are matched with; likewise.
    :param alone: True without another ad, as for a gate.
    :param truth_counts: the expression is a condition (gates, Requirements), not a number or text (Rank).
    :param my_word: what an ad of ``my`` is called in messages; likewise ``target_word``.
    :param my_computed: attributes, in lower case, that ads of ``my`` get before the expression is evaluated; likewise
        ``target_computed``.
    :param text: the text that the expression was parsed from; with it, findings have a ``span``.
    :param env: the environment for evaluations with the ads of the pool.

    ``MY`` and ``TARGET`` are certain to mean the two ads if the expression is bound (``bind``); otherwise an ad might have
    attributes of these names.
    """
    if is_higher(expr, MAX_LEVELS) or len(parts(expr)) > MAX_NODES:
        message = f"the expression has more than {MAX_LEVELS} levels or {MAX_NODES} parts: it was not checked"
        hint = "HTCondor gives up an evaluation beyond 400 levels"
        return (Finding(LintCode.TOO_LARGE, expr, message, hint),)
    pool = LintPool(
        KnownAds(my, my_word, my_computed) if my is not None and len(my) else None,
        KnownAds(target, target_word, target_computed)
        if target is not None and len(target) and not alone
        else None,
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
        typed = read(self.expr, NoFacts(self.pool.alone), self.spelling)
        with_pool = None
        if any(True for _ in self.pool.sides()) and not _moves_scope(typed):
            with_pool = read(self.expr, self.pool, self.spelling)
        found = _first(calls(typed), self._operands(typed), constants(typed), duplicates(typed))
        if self.pool.alone:
            found += _first(no_other_ad(typed))
        found += _first(clauses(typed, _ids(found)))
        if with_pool is None:
            nothing_known = LintPool(None, None, alone=self.pool.alone)
            found += _first(attributes(typed, nothing_known), quoted(typed))
        else:
            found += _first(self._of_pool(with_pool, _ids(found)))
        place = {id(node): at for at, node in enumerate(typed.nodes)}
        found.sort(key=lambda finding: place[id(finding.expr)])
        if id(bare(self.expr)) not in _ids(found):
            found += self._whole(typed, with_pool)
        return found

    def _whole(self, typed: TypedExpression, with_pool: TypedExpression | None) -> list[Finding]:
        found = list(whole(typed, truth_counts=self.truth_counts))
        return found if found or with_pool is None else list(self._whole_in_pool(with_pool))

    def _operands(self, typed: TypedExpression) -> Iterator[Finding]:
        yield from operands(typed)
        yield from not_conditions(typed, whole=self.truth_counts)

    def _of_pool(self, typed: TypedExpression, reported: frozenset[int]) -> Iterator[Finding]:
        yield from attributes(typed, self.pool)
        yield from case(typed, self.pool)
        for finding in self._operands(typed):
            if id(finding.expr) not in reported and finding.code in IN_POOL:
                yield self._in_pool(finding, typed)
        yield from quoted(typed)

    def _in_pool(self, finding: Finding, typed: TypedExpression) -> Finding:
        concerned = self.pool.concerned(self._references(finding.expr, typed))
        return attrs.evolve(
            finding,
            code=IN_POOL[finding.code],
            message=f"{concerned}, {finding.message}",
        )

    def _references(self, expr: Expr, typed: TypedExpression) -> list[Attr]:
        inside = {id(part) for part in parts(expr)}
        return [node for node in references(typed, self.pool) if id(node) in inside]

    def _whole_in_pool(self, typed: TypedExpression) -> Iterator[Finding]:
        possible, scope = self._outcome(typed)
        code = of_whole(possible, truth_counts=self.truth_counts)
        if code is None or code not in IN_POOL:
            return
        concerned = self.pool.concerned(self._references(self.expr, typed))
        is_never = "never true: it is " if code is LintCode.NEVER_TRUE else ""
        message = f"{concerned}{scope}, {typed.shown(self.expr)} is {is_never}{outcome(possible)}"
        yield Finding(IN_POOL[code], self.expr, message)

    def _outcome(self, typed: TypedExpression) -> tuple[PossibleValue, str]:
        """Return the possible values of the whole in this pool, and a phrase for the ads that do not matter."""
        my, target = self.pool.my, self.pool.target
        known = typed.value_of(typed.root)
        if any(self.pool.is_computed(node) for node in references(typed, self.pool)):
            return known, ""
        if my is not None and self.pool.alone:
            return _over_ads(self.expr, my.table, self.env) or known, ""
        if my is not None and target is not None:
            return _over_pairs(self.expr, my.table, target.table, self.env) or known, ""
        if my is not None and _is_of_one_side(self.expr, my.table):
            return _over_ads(self.expr, my.table, self.env) or known, ", with any other ad"
        return known, ", with any other ad"


def _first(*found: Iterable[Finding]) -> list[Finding]:
    return list(islice(chain(*found), MAX_FINDINGS))


def _moves_scope(typed: TypedExpression) -> bool:
    """True if a call may move the evaluator to another ad, so that later names mean others (SEMANTICS section 4)."""
    return any(isinstance(node, Call) and fold(node.name) in MOVING_FUNCTIONS for node in typed.nodes)


def _ids(found: Iterable[Finding]) -> frozenset[int]:
    """Return the ids of the parts that warnings are about; not of constants, which the parser shares."""
    return frozenset(
        id(bare(finding.expr))
        for finding in found
        if finding.severity is Severity.WARNING and finding.code is not LintCode.CASE_DIFFERS
        if not (isinstance(finding.expr, Literal) and isinstance(finding.expr.value, bool | Exceptional))
    )

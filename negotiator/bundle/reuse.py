"""For which further jobs schedds may use the claim of a match: what the rules of a bundle mean for it, and which it leaves out.

A schedd that has a claim runs further jobs of the user on it without asking a negotiator, and divides the rest of a partitionable
slot. So each rule that a next job could break is put into the match as one expression that the slot's START tests, or
the match is for one job only. Rules that count what a pool uses have no such expression. Source: HTCondor, ``FindRunnableJob``
(``condor_schedd.V6/qmgmt.cpp``) and ``Scheduler::AddMrec`` (``schedd.cpp``), which keeps ``NegotiatorMatchExpr...``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from negotiator.bundle.model import Bundle, MatchMode
from negotiator.bundle.rules import declared_rules, text_for_daemons
from negotiator.classad import UNDEFINED, Expr, Side, bind, references
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Literal,
    Paren,
    RecordExpr,
    Unary,
    children,
    fold,
    with_operands,
)
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.declarations import ConstraintSide, DeclaredRule, GateTest
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.overruns import Reuse
from negotiator.records import Mode, Source

POLICY: Final = "NegotiatorMatchExprPolicy"
"""The attribute of a match that has the policy. Startds that test it have the line of ``negotiator export startd``."""

_LONGEST: Final = 8192  # characters of a policy: the schedd keeps it in each job that runs under it
#: What a partitionable slot has less of after a match.
_DIVIDED: Final = frozenset({"cpus", "memory", "disk", "gpus", "swap", "virtualmemory"})
_BOOLEAN: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "=?=", "=!=", "is", "isnt", "&&", "||"})


class RuleKind(enum.StrEnum):
    """How a rule decides."""

    GATE = "gate"  # about one ad
    MATCH = "match"  # about a job and a slot
    FILTER = "filter"  # about a job and a slot, by code of a plugin
    COUNT = "count"  # by what the pool uses, or by queues


@attrs.frozen(kw_only=True, eq=False)
class ReuseRule:
    """An enforced rule of a bundle.

    ``condition`` is true where the rule permits a job (TARGET) on a slot (MY), and false otherwise; None if no expression can say
    it: ``obstacle`` is why. ``reason`` is the text for people whose jobs are denied. ``kinds`` are the ads of a gate. ``can_be_bypassed``: a next job on the same
    claim may be one that the rule denies. ``reads_divided``: it reads what a match takes of a partitionable slot. ``reuse`` is for which further jobs it permits a claim.
    """

    plugin: str
    rule: str
    kind: RuleKind
    reason: str
    source: Source | None = None
    kinds: tuple[AdKind, ...] = ()
    condition: Expr | None = None
    obstacle: str = ""
    can_be_bypassed: bool = True
    reads_divided: bool = False
    reuse: Reuse = Reuse.ALLOW

    @property
    def name(self) -> str:
        """The rule with its plugin, for people."""
        return f"{self.plugin}: {self.rule}" if self.rule else f"plugin {self.plugin}"

    @property
    def is_test(self) -> bool:
        """True for a rule about jobs and slots as they are; False for one that counts."""
        return self.kind is not RuleKind.COUNT


@attrs.frozen(kw_only=True)
class Bypass:
    """A rule that jobs on a claim may break without being matched: its place, and why. ``is_allowed``: ``allow`` is written."""

    rule: str
    source: Source | None
    why: str
    is_allowed: bool = False

    def __str__(self) -> str:
        """``RULE (FILE:LINE:COLUMN): why``."""
        return f"{self.rule}{f' ({self.source})' if self.source else ''}: {self.why}"


@attrs.frozen(kw_only=True, eq=False)
class ReusePlan:
    """What the rules of a bundle mean for the claims of its matches.

    ``tested`` is what becomes of the claim of a slot whose START tests the policy of a match, ``untested`` of any other.
    ``policy`` is that expression (MY is the slot, TARGET the job), empty if ``tested`` is not ``SAME``.
    """

    rules: tuple[ReuseRule, ...]
    tested: Reuse
    untested: Reuse
    policy: str
    bypasses: tuple[Bypass, ...]  # in any pool
    fill: bool  # ``match: fill``

    @classmethod
    def of(cls, bundle: Bundle) -> ReusePlan:
        """Return the plan of a bundle: ``reuse`` of a rule, else of the bundle, else what keeps the promise of the tests."""
        rules = tuple(_rules(bundle))
        binding = [each for each in rules if each.reuse is not Reuse.ALLOW]
        needed = any(each.is_test and each.can_be_bypassed for each in binding)
        policy = _policy([each.condition for each in binding if each.condition is not None]) if needed else ""
        never = bundle.reuse is Reuse.NEVER or (needed and not policy) or any(map(_forbids, binding))
        tested = Reuse.NEVER if never else Reuse.SAME if policy else Reuse.ALLOW
        untested = Reuse.ALLOW if tested is Reuse.ALLOW else Reuse.NEVER
        policy = policy if tested is Reuse.SAME else ""
        bypasses = tuple(_bypasses(rules, never=never))
        return cls(
            rules=rules,
            tested=tested,
            untested=untested,
            policy=policy,
            bypasses=bypasses,
            fill=bundle.match is MatchMode.FILL,
        )

    @property
    def restrains(self) -> bool:
        """True if some claims may not be used for any further job."""
        return self.untested is not Reuse.ALLOW

    @property
    def one_job_rules(self) -> tuple[ReuseRule, ...]:
        """The tests that no expression can say, so that each claim is for one job."""
        return tuple(each for each in self.rules if each.is_test and _forbids(each))


def _forbids(rule: ReuseRule) -> bool:
    """True if a rule leaves each claim to one job."""
    within = rule.condition is not None or not rule.is_test or not rule.can_be_bypassed
    return rule.reuse is Reuse.NEVER or (rule.reuse is Reuse.SAME and not within)


def _bypasses(rules: tuple[ReuseRule, ...], *, never: bool) -> Iterator[Bypass]:
    for each in rules:
        if never or not each.can_be_bypassed:
            continue
        if each.kind is RuleKind.COUNT:
            yield Bypass(rule=each.name, source=each.source, why=each.obstacle)
        elif each.reuse is Reuse.ALLOW:
            yield Bypass(rule=each.name, source=each.source, why="reuse: allow is written", is_allowed=True)


def _policy(conditions: list[Expr]) -> str:
    """Return the expression that a match carries; empty if there is none, or if it is too long.

    A startd that has no such attribute finds it in the ad of the job, where a schedd copies it, with the two ads exchanged: there it
    is true. What counts is the test of the schedd, which has the attribute in its ad of the slot.
    """
    if not conditions:
        return ""
    is_elsewhere: Expr = Binary("=?=", Attr("ClusterId", AdRef(Side.TARGET)), Literal(UNDEFINED))
    text = text_for_daemons(Binary("||", Paren(is_elsewhere), Paren(conjunction(conditions))))
    return text if len(text) <= _LONGEST else ""


def conjunction(conditions: list[Expr]) -> Expr:
    """Return one expression that is true where all of these are; there is at least one."""
    whole: Expr = Paren(conditions[0])
    for each in conditions[1:]:
        whole = Binary("&&", whole, Paren(each))
    return whole


def _rules(bundle: Bundle) -> Iterator[ReuseRule]:
    """Yield the enforced rules: match expressions, then the rules that plugins declare, then plugins that declare none."""
    computed = _of_turns(bundle)
    for bound in bundle.constraints:
        record = bound.record
        if record.mode is Mode.ENFORCE:
            condition, obstacle = pair_condition(record.expression, record.side, computed)
            rule = ReuseRule(
                plugin=bound.conjuncts[0].reason.provenance.plugin,
                rule=record.rule,
                kind=RuleKind.MATCH,
                reason=record.text,
                source=record.source,
                condition=condition,
                obstacle=obstacle,
                can_be_bypassed=_reads_job(record.expression, record.side),
                reads_divided=_reads_divided(record.expression, _slot_side(record.side)),
            )
            yield _with_reuse(rule, record.reuse, bundle)
    failures: list[HookFailure] = []
    testing = bundle.hooks.plugins_with(specs.negotiator_filter_slots) | bundle.hooks.plugins_with(
        specs.negotiator_gate_ads
    )
    coding = testing - bundle.hooks.plugins_with(specs.negotiator_charges)
    declaring = {bound.conjuncts[0].reason.provenance.plugin for bound in bundle.constraints}
    for plugin, declared in declared_rules(bundle, failures):
        declaring.add(plugin)
        if declared.mode is Mode.ENFORCE and not declared.grants:
            found = _declared(plugin, declared, computed, is_code=plugin in coding)
            yield _with_reuse(found, declared.reuse, bundle)
    silent = {each.plugin for each in bundle.sections if each.record.rules is not None}
    unknown = dict.fromkeys(coding - declaring - silent, "its filters and gates are code")
    unknown |= {each.plugin: "it failed to name its rules" for each in failures if each.plugin in testing}
    for plugin, obstacle in sorted(unknown.items()):
        rule = ReuseRule(plugin=plugin, rule="", kind=RuleKind.FILTER, reason="", obstacle=obstacle)
        yield _with_reuse(rule, None, bundle)


def _with_reuse(rule: ReuseRule, own: Reuse | None, bundle: Bundle) -> ReuseRule:
    chosen = own or bundle.reuse
    if chosen is None:
        chosen = Reuse.SAME if rule.is_test and rule.can_be_bypassed else Reuse.ALLOW
        if rule.kind is RuleKind.GATE and rule.condition is not None:
            chosen = Reuse.SAME  # it costs nothing once another rule needs a policy
    return attrs.evolve(rule, reuse=chosen)


def _declared(plugin: str, rule: DeclaredRule, computed: frozenset[str], *, is_code: bool) -> ReuseRule:
    gate, condition, obstacle = rule.gate, None, ""
    bypassed, divided = not rule.kept_by_schedds, False
    kind = RuleKind.FILTER if is_code else RuleKind.COUNT
    if gate is not None:
        kind = RuleKind.GATE
        condition, obstacle = gate_condition(gate, computed)
        divided = AdKind.STARTD in gate.kinds and _reads_divided(gate.expression, Side.MY)
        bypassed = AdKind.JOB in gate.kinds or divided
    elif is_code:
        obstacle = "it is code of a plugin"
    else:
        obstacle = "it depends on what the pool uses or on queues, which no expression can say; reuse: never keeps it"
    return ReuseRule(
        plugin=plugin,
        rule=rule.rule,
        kind=kind,
        reason=rule.text if gate is None else gate.reason,
        source=rule.source,
        kinds=() if gate is None else gate.kinds,
        condition=condition,
        obstacle=obstacle,
        can_be_bypassed=bypassed,
        reads_divided=divided,
    )


def _of_turns(bundle: Bundle) -> frozenset[str]:
    """Return the attributes, in lower case, that a job has in its turn of a cycle only, such as SubmitterUserPrio."""
    found: set[str] = set()
    for section in bundle.sections:
        for use in section.record.evaluated.values():
            found |= use.target_computed if use.target is AdKind.JOB else frozenset()
            found |= use.my_computed if use.my is AdKind.JOB else frozenset()
    return frozenset(map(fold, found))


def _reads_job(expression: Expr, side: ConstraintSide) -> bool:
    """True if an expression over a pair depends on the job, or on what is left of a slot."""
    found = references(expression)
    of_job = found.my if side is ConstraintSide.JOB else found.target
    return bool(of_job or found.unscoped or found.dynamic) or _reads_divided(expression, _slot_side(side))


def _slot_side(side: ConstraintSide) -> Side:
    return Side.TARGET if side is ConstraintSide.JOB else Side.MY


def _reads_divided(expression: Expr, side: Side) -> bool:
    found = references(expression)
    return found.dynamic or bool(
        (found.unscoped | (found.my if side is Side.MY else found.target)) & _DIVIDED
    )


def gate_condition(gate: GateTest, computed: frozenset[str]) -> tuple[Expr | None, str]:
    """Return what is true where a gate keeps a job (TARGET) or a slot (MY); None, and why, if no expression can say it."""
    if AdKind.JOB not in gate.kinds and AdKind.STARTD not in gate.kinds:
        return None, "it tests schedds and submitters when jobs are matched"
    own = Side.TARGET if AdKind.JOB in gate.kinds else Side.MY
    if obstacle := _obstacle(gate.expression, computed if own is Side.TARGET else frozenset()):
        return None, obstacle

    def leaf(node: AdRef | Attr) -> Expr:
        if isinstance(node, Attr):
            return Attr(node.name, AdRef(own))
        return AdRef(own) if node.side is Side.MY else Literal(UNDEFINED)

    test = _as_boolean(_rewritten(bind(gate.expression), leaf))
    if not gate.keeps and isinstance(test, Binary) and test.op == "=?=" and test.right == Literal(value=True):
        return Binary("=!=", test.left, test.right), ""
    return Binary("=?=" if gate.keeps else "=!=", Paren(test), Literal(value=True)), ""


def pair_condition(
    expression: Expr, side: ConstraintSide, computed: frozenset[str]
) -> tuple[Expr | None, str]:
    """Return a match expression with MY as the slot and TARGET as the job; None, and why, if no expression can say it."""
    if obstacle := _obstacle(expression, computed):
        return None, obstacle
    if side is ConstraintSide.JOB and (names := sorted(references(expression).unscoped)):
        # The job's own value counts even if it is undefined, which no expression can tell from a name that the job does not have.
        return None, f"it reads {names[0]} without MY or TARGET"
    found = bind(expression)
    if side is ConstraintSide.JOB:
        found = swapped(found)
    return Binary("=?=", Paren(_as_boolean(found)), Literal(value=True)), ""


def swapped(expression: Expr) -> Expr:
    """Return a bound expression with the two ads exchanged; a name without a scope is still looked up in the same ad first."""

    def leaf(node: AdRef | Attr) -> Expr:
        if isinstance(node, AdRef):
            return AdRef(Side.MY if node.side is Side.TARGET else Side.TARGET)
        mine, other = Attr(node.name, AdRef(Side.MY)), Attr(node.name, AdRef(Side.TARGET))
        return Paren(Conditional(Binary("=?=", other, Literal(UNDEFINED)), mine, other))

    return _rewritten(expression, leaf)


def of_whole_slot(condition: Expr) -> Expr:
    """Return a condition that reads of a part of a partitionable slot what the whole slot has."""

    def whole(node: Expr) -> Expr:
        if not (isinstance(node, Attr) and node.scope == AdRef(Side.MY) and fold(node.name) in _DIVIDED):
            return node
        is_part = Binary("=?=", Attr("DynamicSlot", AdRef(Side.MY)), Literal(value=True))
        total = Elvis(Attr(f"TotalSlot{node.name}", AdRef(Side.MY)), node)
        return Paren(Conditional(Paren(is_part), Paren(total), node))

    return _rewritten(condition, lambda node: node, whole)


def _obstacle(expression: Expr, computed: frozenset[str]) -> str:
    """Return why an expression cannot be written for other ads; empty if it can."""
    found = references(expression)
    if found.dynamic or _has_record(expression):
        return "it reads attributes that its text does not name"
    if of_turn := sorted((found.my | found.target | found.unscoped) & computed):
        return f"it reads {of_turn[0]}, which a job has in its turn of a cycle only"
    if not text_for_daemons(expression):
        return "it has a text that HTCondor's daemons would read otherwise, such as one of several lines"
    return ""


def _has_record(expression: Expr) -> bool:
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, RecordExpr):
            return True
        pending.extend(children(node))
    return False


def _as_boolean(expression: Expr) -> Expr:
    """Return an expression that is true where the given one counts as true: a number other than 0 does."""
    whole = expression
    while isinstance(whole, Paren):
        whole = whole.inner
    is_boolean = (
        (isinstance(whole, Binary) and whole.op in _BOOLEAN)
        or (isinstance(whole, Unary) and whole.op == "!")
        or (isinstance(whole, Literal) and isinstance(whole.value, bool))
        or (
            isinstance(whole, Call)
            and fold(whole.name) in {"isundefined", "iserror", "regexp", "stringlistmember"}
        )
    )
    return (
        expression
        if is_boolean
        else Conditional(Paren(expression), Literal(value=True), Literal(value=False))
    )


def _rewritten(
    expression: Expr, leaf: Callable[[AdRef | Attr], Expr], other: Callable[[Expr], Expr] = lambda node: node
) -> Expr:
    """Return an expression with each reference to an ad, and each name without a scope, replaced; then ``other`` nodes."""
    done: list[Expr] = []
    pending: list[tuple[Expr, bool]] = [(expression, False)]
    while pending:
        node, visited = pending.pop()
        if isinstance(node, AdRef) or (isinstance(node, Attr) and node.scope is None):
            done.append(leaf(node))
        elif visited:
            count = len(children(node))
            operands = tuple(done[len(done) - count :]) if count else ()
            del done[len(done) - count :]
            lost = isinstance(node, Attr) and operands[0] == Literal(UNDEFINED)
            done.append(Literal(UNDEFINED) if lost else other(with_operands(node, operands)))
        else:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(children(node)))
    return done[0]

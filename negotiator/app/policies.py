"""Use case: what each policy, gate, limit and quota does now, and which of them did nothing in the last cycles.

The ads or pairs of a pool for which a policy is true, false or undefined are counted by columns. Of ads that are equal in all attributes that an
expression can read, one is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs
import numpy as np

from negotiator.activity import activity, advance
from negotiator.app.cycle_details import rule_effects
from negotiator.app.cycles import CycleEntry, last_cycles
from negotiator.app.cycles import CycleHistory as CycleHistory
from negotiator.app.cycles import RuleActivity as RuleActivity
from negotiator.app.cycles import RuleEffect as RuleEffect
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.bundle import Bundle
from negotiator.bundle.expressions import BundleExpression, bundle_expressions
from negotiator.bundle.rules import BundleRule, BundleRules, bundle_rules
from negotiator.classad import Column, Environment, Expr, Kind, Side, Table, bind, evaluate_table
from negotiator.classad.lint import names_read
from negotiator.explain.rules import RuleCounts as RuleCounts
from negotiator.explain.rules import RuleKey, count_rules
from negotiator.hooks.ad_kinds import AdKind, tables_by_kind
from negotiator.hooks.answers import HookFailure
from negotiator.pool import Snapshot
from negotiator.records import CORE, Source

MAX_EVALUATED: Final = 64
"""Maximum of different ads of one side that an expression is evaluated for; with more, the pairs are a sample."""

WORDS: Final = {
    AdKind.SCHEDD: "schedd",
    AdKind.SUBMITTER: "submitter",
    AdKind.STARTD: "slot",
    AdKind.JOB: "job",
}


@attrs.frozen
class PolicyCount:
    """The values of one policy in a pool.

    ``subject`` is "slot", "job", ... or "pair of slot and job". ``invalid`` counts errors and values that are no condition.
    ``counted`` is the sum of the values; it is less than ``total`` if only a sample of the pairs was evaluated.
    ``discarded`` is None for a policy of matches. ``source`` is its place.
    """

    rule: str
    subject: str
    total: int
    true: int
    false: int
    undefined: int
    invalid: int
    discarded: int | None = None
    source: Source | None = None

    @property
    def counted(self) -> int:
        """The number of ads or pairs that were evaluated."""
        return self.true + self.false + self.undefined + self.invalid

    def __str__(self) -> str:
        """``RULE: 20 slots: true 3, false 17, undefined 0; discards 3``."""
        plural = "" if self.total == 1 else "s"
        subject = (
            self.subject.replace("pair", f"pair{plural}") if " " in self.subject else self.subject + plural
        )
        sample = f" (a sample of {self.counted:,})" if self.counted < self.total else ""
        values = f"true {self.true:,}, false {self.false:,}, undefined {self.undefined:,}"
        invalid = f", error {self.invalid:,}" if self.invalid else ""
        effect = "" if self.discarded is None else f"; discards {self.discarded:,}"
        return f"{self.rule}: {self.total:,} {subject}{sample}: {values}{invalid}{effect}"


def policy_counts(bundle: Bundle, pool: Snapshot, now: float) -> tuple[PolicyCount, ...]:
    """Return the counts of all gates and match expressions of a bundle, in the order of the bundle.

    :param now: the time that expressions see, in seconds since the epoch.
    """
    ads = tables_by_kind(pool)
    expressions, _ = bundle_expressions(bundle, ads, now)
    found: list[PolicyCount] = []
    with activity("trying the policies on the ads", len(expressions), "expression"):
        for each in expressions:
            found += expression_counts(each, ads, now)
            advance(1)
    return tuple(found)


def expression_counts(
    each: BundleExpression, ads: Mapping[AdKind, Table], now: float
) -> Iterator[PolicyCount]:
    """Yield the counts of a gate for each kind of its ads, or that of a match expression for pairs.

    :param ads: all ads of the pool.
    :param now: the time that the expression sees, in seconds since the epoch.
    """
    tree, env = bind(each.tree), Environment(now=now)
    for kind in each.discarded:
        column = evaluate_table(tree, ads[kind], env=env)
        values = _values(column, np.ones(len(ads[kind]), np.int64))
        yield PolicyCount(each.rule, WORDS[kind], len(ads[kind]), *values, each.discarded[kind], each.source)
    if each.is_constraint:
        my, target = ads[each.my[0]], ads[each.target[0]]
        pairs = _pairs(tree, my, target, env)
        yield PolicyCount(
            each.rule, "pair of slot and job", len(my) * len(target), *pairs, source=each.source
        )


def _pairs(tree: Expr, my: Table, target: Table, env: Environment) -> tuple[int, int, int, int]:
    """Return the numbers of pairs by value; of the side with fewer different ads, one after the other is evaluated."""
    rows, weights = _distinct(tree, my, target)
    others, other_weights = _distinct(tree, target, my)
    side = Side.MY
    if len(others) > len(rows):
        rows, weights, others, other_weights, side = others, other_weights, rows, weights, Side.TARGET
    chosen = np.unique(np.linspace(0, max(len(others) - 1, 0), MAX_EVALUATED).astype(np.int64))
    found = np.zeros(4, np.int64)
    for row in chosen if len(others) else ():
        column = evaluate_table(tree, rows, others.ad(int(row)), side=side, env=env)
        found += np.asarray(_values(column, weights)) * other_weights[row]
    true, false, undefined, invalid = found.tolist()
    return true, false, undefined, invalid


def _distinct(
    tree: Expr, table: Table, other: Table
) -> tuple[Table, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the ads that differ for an expression, and how many each of them stands for."""
    names = names_read(tree, table, other)
    if names is None:
        return table, np.ones(len(table), np.int64)
    groups, first = table.group(names)
    return table.take(first), np.bincount(groups, minlength=len(first)).astype(np.int64)


def _values(column: Column, weights: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, int, int, int]:
    """Return the weights of the rows that are true, false, undefined, and anything else."""
    size = weights.shape
    true = column.is_true()
    condition = np.zeros(size, np.bool_)
    for kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL):
        condition = condition | np.broadcast_to(column.where(kind), size)
    undefined = np.broadcast_to(column.where(Kind.UNDEFINED), size)
    parts = (true, condition & ~true, undefined, ~(condition | undefined))
    first, second, third, fourth = (int(weights[part].sum()) for part in parts)
    return first, second, third, fourth


@attrs.frozen(kw_only=True)
class RuleUse:
    """A rule, and what it does.

    ``text`` is what it says, or for a rule that the bundle's plugins do not declare one of its sentences. ``counts`` is what it does in a cycle
    now. ``decisive`` are the jobs without a slot of which it took the last candidates. ``overruns`` are the running jobs that break it, or would if it
    enforced. ``activity`` is what it did in the cycles of
    the negotiator of a state; None without a state, and for a rule whose text or mode is not that of the last cycle. ``is_declared`` is
    false for a rule that is not known to be in the bundle: its cycles are not counted.
    """

    plugin: str
    rule: str
    text: str
    source: str
    mode: str
    counts: RuleCounts
    decisive: int
    overruns: int = 0
    activity: RuleActivity | None = None
    is_declared: bool = True


@attrs.frozen(kw_only=True)
class PolicyReport:
    """What the rules of a bundle do, those first that do most.

    ``cycle`` is the number of the cycle of a negotiator in which they did it; None for a cycle over a pool now, of which is known what only
    one rule did. ``has_history`` is true if a state has activities. ``rules_left_out`` counts rules that have none, since there are too many.
    """

    cycle: int | None
    slots: int
    jobs: int
    matched: int
    unmatched: int
    rules: tuple[RuleUse, ...]
    has_history: bool
    rules_left_out: int
    failures: tuple[HookFailure, ...] = ()


def policy_report(view: PoolView) -> PolicyReport:
    """Return what each rule does in a cycle over a pool now, which changes nothing, or did in the last cycle of a state without a pool.

    :raises InvalidCallError: neither a pool is named nor a state with a cycle.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    location = view.targets.state_location
    history = CycleHistory() if location is None else last_cycles(location.folder)
    rules = bundle_rules(view.bundle)
    if view.paths or history.last is None:
        require_pool(view.targets)
        return _of_pool(view, rules, history)
    last = history.last
    # Its entry is gone if so many cycles have failed since.
    unknown = CycleEntry(begun=last.ended, ended=last.ended, bundle="")
    entry = next((each for each in reversed(history.cycles) if each.number == last.number), unknown)
    counts: dict[RuleKey, RuleCounts] = {}
    for each in last.rules:
        if each.plugin != CORE:
            counts.setdefault(_key_of(each), RuleCounts()).add(_counts(each))
    return PolicyReport(
        cycle=last.number,
        slots=entry.slots,
        jobs=entry.jobs,
        matched=entry.matches,
        unmatched=entry.unmatched,
        rules=_uses(rules, counts, last.rules, history.rules),
        has_history=bool(history.rules),
        rules_left_out=history.rules_left_out,
        failures=rules.failures,
    )


def _of_pool(view: PoolView, rules: BundleRules, history: CycleHistory) -> PolicyReport:
    bundle = view.bundle
    snapshot, state = view.snapshot, view.cycle_state
    with activity("counting what each rule does"):
        counted = count_rules(snapshot, bundle, view.cycle, state)
    result = counted.result
    failures = (*view.group_failures, *rules.failures, *result.failures)
    return PolicyReport(
        cycle=None,
        slots=len(view.snapshot.slots),
        jobs=len(view.snapshot.jobs),
        matched=len(result.matches),
        unmatched=sum(each.jobs for each in result.rejections),
        rules=_uses(rules, counted.counts, rule_effects(result), history.rules),
        has_history=bool(history.rules),
        rules_left_out=history.rules_left_out,
        failures=tuple(dict.fromkeys(failures)),
    )


def _counts(effect: RuleEffect) -> RuleCounts:
    return RuleCounts(
        ads=effect.ads,
        requests=effect.requests,
        slots=effect.rejected,
        jobs=effect.jobs,
        matches=effect.warned,
    )


def _key_of(effect: RuleEffect) -> RuleKey:
    return RuleKey(effect.plugin, effect.rule, effect.source, effect.mode)


@attrs.define
class _RuleSums:
    rule: BundleRule | None
    key: RuleKey
    text: str = ""
    counts: RuleCounts = attrs.field(factory=RuleCounts)
    decisive: int = 0
    overruns: int = 0


def _uses(
    rules: BundleRules,
    counts: dict[RuleKey, RuleCounts],
    effects: Iterable[RuleEffect],
    activities: Iterable[RuleActivity],
) -> tuple[RuleUse, ...]:
    """Return the rules of the bundle and those that did something, each once."""
    sums: dict[object, _RuleSums] = {
        each.digest: _RuleSums(each, _key(each), each.text) for each in rules.rules
    }

    def own(key: RuleKey) -> _RuleSums:
        rule = rules.find(key.plugin, key.rule, key.source)
        return sums.setdefault(key if rule is None else rule.digest, _RuleSums(rule, key))

    for key, each in counts.items():
        own(key).counts.add(each)
    for effect in effects:
        if effect.plugin != CORE:
            found = own(_key_of(effect))
            found.decisive += effect.decisive
            found.overruns += effect.overruns
            found.text = found.text or effect.text
    known = {each.digest: each for each in activities}
    uses = (_use(each, known) for each in sums.values())
    return tuple(sorted(uses, key=lambda each: (-each.decisive, -each.counts.slots, -each.counts.ads)))


def _use(found: _RuleSums, known: dict[str, RuleActivity]) -> RuleUse:
    return RuleUse(
        **found.key._asdict(),
        text=found.text,
        counts=found.counts,
        decisive=found.decisive,
        overruns=found.overruns,
        activity=None if found.rule is None else known.get(found.rule.digest),
        is_declared=found.rule is not None,
    )


def _key(rule: BundleRule) -> RuleKey:
    return RuleKey(rule.plugin, rule.rule, str(rule.source), str(rule.mode))


def policy_values(report: PolicyReport) -> dict[str, Any]:
    """Return the report as JSON values; what only one rule did is left out if it is not known."""
    hidden = {"failures"}
    if report.cycle is not None:
        hidden |= {name for name in attrs.fields_dict(RuleCounts) if name.endswith("_alone")}
    return attrs.asdict(report, filter=lambda field, _: field.name not in hidden)

"""Use case: what each policy, gate, limit and quota does now, and which of them did nothing in the last cycles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from negotiator.activity import activity
from negotiator.app.cycle_details import rule_effects
from negotiator.app.cycles import CycleEntry, last_cycles
from negotiator.app.cycles import CycleHistory as CycleHistory
from negotiator.app.cycles import RuleActivity as RuleActivity
from negotiator.app.cycles import RuleEffect as RuleEffect
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.bundle.rules import BundleRule, BundleRules, bundle_rules
from negotiator.explain.rules import RuleCounts as RuleCounts
from negotiator.explain.rules import RuleKey, count_rules
from negotiator.hooks.answers import HookFailure
from negotiator.records import CORE


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

"""The coverage of a bundle by its tests: each expression true, false and undefined, each rule at work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self, TypeAlias

import attrs

from negotiator.app.policy_counts import PolicyCount
from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.bundle import Bundle
from negotiator.bundle.rules import BundleRule, BundleRules, bundle_rules
from negotiator.cycle.result import CycleResult
from negotiator.hooks.access import Access, AccessDecision
from negotiator.hooks.answers import HookFailure
from negotiator.placement.chain import MATCHED
from negotiator.records import Mode, Provenance, Source

#: An expression by its name and its place.
_Expression: TypeAlias = tuple[str, Source]


@attrs.frozen
class ExpressionCoverage:
    """How many ads or pairs of all tests an expression is true, false, undefined and anything else for.

    ``undefined_without`` names an attribute without which it would be undefined for one of these ads or pairs; it is empty if there is none.
    """

    rule: str
    source: Source
    true: int = 0
    false: int = 0
    undefined: int = 0
    invalid: int = 0
    undefined_without: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The values that the tests have not seen: true, false, and undefined if it can be."""
        seen = {"true": self.true, "false": self.false}
        if self.undefined_without:
            seen[f"undefined (without {self.undefined_without})"] = self.undefined
        return tuple(value for value, count in seen.items() if not count)

    def plus(self, count: PolicyCount) -> ExpressionCoverage:
        """Return the sum with the counts of one more test."""
        return attrs.evolve(
            self,
            true=self.true + count.true,
            false=self.false + count.false,
            undefined=self.undefined + count.undefined,
            invalid=self.invalid + count.invalid,
        )


@attrs.frozen
class RuleCoverage:
    """How many tests have seen a rule at work.

    A placement rule is at work if it places a job, an access rule if it decides, any other rule if it takes a job or a slot from a decision.
    """

    plugin: str
    rule: str
    source: Source
    tests: int


@attrs.frozen
class UncoveredRule:
    """A rule of a bundle that no test covers: the missing values of its expression, or ``at work``."""

    plugin: str
    rule: str
    source: Source
    missing: tuple[str, ...]


def uncovered_rules(
    rules: Iterable[RuleCoverage], expressions: Iterable[ExpressionCoverage]
) -> tuple[UncoveredRule, ...]:
    """Return the rules that the tests have not seen at work, or not with each value, in the order of the bundle."""
    values = {(each.rule, each.source): each.missing for each in expressions}
    found = []
    for rule in rules:
        missing = values.pop((rule.rule, rule.source), ())
        if not rule.tests and not {"true", "false"} & {*missing}:
            missing = ("at work", *missing)
        found.append(UncoveredRule(rule.plugin, rule.rule, rule.source, missing))
    found += (UncoveredRule("", *key, missing) for key, missing in values.items())
    return tuple(each for each in found if each.missing)


def expression_coverage(
    tests: Iterable[Sequence[PolicyCount]], undefined: Mapping[_Expression, str]
) -> tuple[ExpressionCoverage, ...]:
    """Return the coverage of each expression, in the order of the bundle.

    :param undefined: for expressions that can be undefined, an attribute without which they are.
    """
    found: dict[_Expression, ExpressionCoverage] = {}
    for counts in tests:
        for count in counts:
            key = count.rule, count.source or Source("pool.yaml")
            known = found.get(key) or ExpressionCoverage(*key, undefined_without=undefined.get(key, ""))
            found[key] = known.plus(count)
    return tuple(found.values())


@attrs.frozen(eq=False)
class CoveredRules:
    """The rules of a bundle: those that place jobs, those that grant something, and all others.

    Built-in rules, and those of the configuration of the service, are left out. ``failures`` are of plugins whose rules are not known.
    """

    placing: tuple[BundleRule, ...]
    granting: tuple[BundleRule, ...]
    denying: BundleRules

    @classmethod
    def of(cls, bundle: Bundle) -> Self:
        """Return the rules of a bundle."""
        found = bundle_rules(bundle)
        chain = bundle.chain.rules if bundle.chain is not None else ()
        placing = [
            BundleRule(
                plugin=each.type.plugin,
                rule=each.configured.name,
                text="",
                source=each.configured.source,
                mode=Mode.ENFORCE,
            )
            for each in chain
        ]
        return cls(_own(placing, bundle), _own(found.granting, bundle), found)

    @property
    def failures(self) -> tuple[HookFailure, ...]:
        """The failures of plugins whose rules are not known."""
        return self.denying.failures

    def coverage(self, tests: Iterable[frozenset[BundleRule]]) -> tuple[RuleCoverage, ...]:
        """Return in how many tests each rule was at work.

        :param tests: of each test, the rules at work.
        """
        seen = Counter(rule for test in tests for rule in test)
        rules = (*self.placing, *self.granting, *self.denying.rules)
        return tuple(RuleCoverage(each.plugin, each.rule, each.source, seen[each]) for each in rules)

    def at_work(self, decided: PolicyTestCycle) -> frozenset[BundleRule]:
        """Return the rules that decided something in a test."""
        found = (
            self.denying.find(each.plugin, each.rule, str(each.source or ""))
            for each in _provenances(decided.result)
        )
        return frozenset(
            filter(None, (*found, *self._of_placements(decided.result), *self._of_access(decided)))
        )

    def _of_placements(self, result: CycleResult) -> Iterator[BundleRule]:
        steps = [step for placed in result.placements for step in placed.placement.steps]
        sources = {(step.plugin, step.source) for step in steps if step.code == MATCHED}
        yield from (each for each in self.placing if (each.plugin, each.source) in sources)
        yield from self._granting(step.access for step in steps if step.access is not None)

    def _of_access(self, decided: PolicyTestCycle) -> Iterator[BundleRule]:
        return self._granting(each.decided_by.record for each in decided.access)

    def _granting(self, answers: Iterable[Access]) -> Iterator[BundleRule]:
        """Yield the rules of answers; an answer without a place is known by its rule alone."""
        decided = {
            (each.rule, each.source) for each in answers if each.decision is not AccessDecision.ABSTAIN
        }
        for each in self.granting:
            if not decided.isdisjoint({(each.rule, each.source), (each.rule, None)}):
                yield each


def _own(rules: Iterable[BundleRule], bundle: Bundle) -> tuple[BundleRule, ...]:
    return tuple(each for each in rules if each.source.file in bundle.files)


def _provenances(result: CycleResult) -> Iterator[Provenance]:
    yield from (each.reason.provenance for each in result.discarded)
    for outcome in result.outcomes:
        yield from (each.reason.provenance for each in outcome.removals if each.removed or each.rejected)
        if outcome.rejection is not None:
            yield outcome.rejection.reason.provenance
        for match in outcome.matches:
            yield from (each.provenance for each in match.warnings)

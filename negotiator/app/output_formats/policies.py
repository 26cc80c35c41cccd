"""The outputs of ``negotiator check``, ``lint``, ``test``, ``plugins``, ``policies``, ``audit rollout``, ``diff`` and ``whatif``."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from negotiator.app.cycles import RuleActivity
from negotiator.app.diff import ChangedJob, MatchChanges, RuleChanges, ShareChange
from negotiator.app.output_formats.reasons import ProblemValues
from negotiator.hooks.answers import PluginInfo
from negotiator.records import Severity, Source


class PolicyCountValues(TypedDict):
    """The values of one policy in a pool."""

    rule: str
    subject: str
    total: int
    true: int
    false: int
    undefined: int
    invalid: int
    discarded: int | None
    source: Source | None
    counted: int


class BypassValues(TypedDict):
    """A rule that further jobs of a claim may break without being matched, its place, and why."""

    rule: str
    place: str
    why: str


class CheckOutput(TypedDict):
    """The problems of a bundle; ``ok`` is true if none is an error.

    On ``one_job_slots`` of the pool a claim is for one job; ``reuse`` says why.
    """

    folder: str
    ok: bool
    digest: str
    errors: int
    warnings: int
    notices: int
    problems: list[ProblemValues]
    policies: list[PolicyCountValues]
    bypassed: list[BypassValues]
    one_job_slots: int
    reuse: list[str]


class FindingValues(TypedDict):
    """A finding in an expression; ``start`` and ``end`` count characters from 0, null if unknown."""

    code: str
    severity: Severity
    message: str
    hint: str
    part: str
    start: int | None
    end: int | None


class LintedValues(TypedDict):
    """An expression, and the problem if it does not parse."""

    expression: str
    problem: ProblemValues | None
    findings: list[FindingValues]


class LintOutput(TypedDict):
    """The expressions in the order of the command line."""

    expressions: list[LintedValues]


class MismatchValues(TypedDict):
    """An expectation that is not met, and its place."""

    file: str
    line: int
    column: int
    message: str


class TestValues(TypedDict):
    """A test of policies."""

    file: str
    line: int
    name: str
    passed: bool
    mismatches: list[MismatchValues]


class ExpressionCoverageValues(TypedDict):
    """The values of an expression in all tests."""

    rule: str
    true: int
    false: int
    undefined: int
    invalid: int
    undefined_without: str
    file: str
    line: int
    column: int


class RuleCoverageValues(TypedDict):
    """How many tests have seen a rule at work."""

    plugin: str
    rule: str
    tests: int
    file: str
    line: int
    column: int


class UncoveredValues(TypedDict):
    """A rule that no test covers, and what is missing."""

    plugin: str
    rule: str
    missing: list[str]
    file: str
    line: int
    column: int


class TestOutput(TypedDict):
    """The results of tests of policies, and what they cover."""

    tests: list[TestValues]
    failed: int
    expressions: list[ExpressionCoverageValues]
    rules: list[RuleCoverageValues]
    uncovered: list[UncoveredValues]
    plugin_failures: list[str]


class PluginsOutput(TypedDict):
    """The plugins in the order of their calls, and the problems of the bundle."""

    plugins: list[PluginInfo]
    problems: list[ProblemValues]


class RuleCountsValues(TypedDict):
    """What a rule does in a cycle; ``..._alone`` counts what no other rule does, and is known of a cycle over a pool now."""

    ads: int
    ads_alone: NotRequired[int]
    requests: int
    slots: int
    slots_alone: NotRequired[int]
    jobs: int
    jobs_alone: NotRequired[int]
    matches: int
    matches_alone: NotRequired[int]


class RuleUseValues(TypedDict):
    """A rule, and what it does."""

    plugin: str
    rule: str
    text: str
    source: str
    mode: str
    counts: RuleCountsValues
    decisive: int
    overruns: int
    activity: RuleActivity | None
    is_declared: bool


class PoliciesOutput(TypedDict):
    """What the rules of a bundle do; ``cycle`` is null for a cycle over a pool now."""

    cycle: int | None
    slots: int
    jobs: int
    matched: int
    unmatched: int
    rules: list[RuleUseValues]
    has_history: bool
    rules_left_out: int


class TotalChanges(TypedDict):
    """Matches before and after, and numbers of changed jobs."""

    before: int
    gained: int
    lost: int
    moved: int
    reason: int
    after: int


class Comparison(TypedDict):
    """What two bundles decide otherwise; ``failures`` and ``stops`` have those before and after."""

    before: str
    after: str
    total: TotalChanges
    cycles: int
    users: dict[str, MatchChanges]
    queues: dict[str, MatchChanges]
    rules: list[RuleChanges]
    shares: list[ShareChange]
    jobs: list[ChangedJob]
    jobs_left_out: int
    failures: list[list[str]]
    stops: list[int]

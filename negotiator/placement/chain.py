"""The chain of placement rules: the first rule whose queue accepts an application places it; its trace, rule by rule.

Source: "App Placement Rules". An application that no rule places is rejected. A rule that fails (an invalid queue name,
a parent rule that gives a leaf) rejects it at once; after a mismatch the next rule is tried. Access policies are asked once for each question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from negotiator import __version__
from negotiator.hooks.access import Access, AccessDecision, AccessKind, AccessQuestion
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.manager import HookManager
from negotiator.hooks.placement import Application, ConfiguredRule, PlacementRule, QueueTarget
from negotiator.hooks.plugin_output import running_plugin
from negotiator.placement.filters import UserFilter
from negotiator.queues import RECOVERY, ROOT, MutableQueueTree, QueueChange, QueueTree
from negotiator.queues.names import LONGEST_PATH, below, is_qualified, is_queue_name, is_queue_path
from negotiator.queues.tree import QueueError
from negotiator.records import Source

_BATCH = 5_000
MATCHED = "matched"
NO_RULE_MATCHED = "no_rule_matched"
#: Codes that reject an application at once; after any other the next rule is tried.
FATAL = frozenset(
    {
        "invalid_queue_name",
        "parent_is_leaf",
        "create_under_leaf",
        "create_under_draining",
        "plugin_error",
    }
)
_HOOK = "negotiator_placement_rules"


@attrs.define
class AccessCache:
    """The cached answers of a bundle's policies for one state of the queues, and the failures of policies."""

    hooks: HookManager
    settings: Mapping[str, Any]
    queues: QueueTree
    failures: dict[HookFailure, None] = attrs.field(factory=dict)
    _known: dict[AccessQuestion, Attributed[Access]] = attrs.field(factory=dict)

    def ask(self, questions: Iterable[AccessQuestion]) -> None:
        """Evaluate several questions in one call, for later use."""
        missing = [question for question in dict.fromkeys(questions) if question not in self._known]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            answers, failures = self.hooks.access(batch, self.queues, self.settings)
            self._known.update(zip(batch, answers, strict=True))
            self.failures.update(dict.fromkeys(failures))

    def answer(self, question: AccessQuestion) -> Attributed[Access]:
        """Return the deciding answer to one question."""
        known = self._known.get(question)
        if known is None:
            self.ask([question])
            known = self._known[question]
        return known

    def submit(self, user: str, groups: tuple[str, ...], path: str) -> Attributed[Access]:
        """Return whether a user may submit to a queue, which may not exist yet."""
        return self.answer(AccessQuestion(user, groups, AccessKind.SUBMIT, path))


def is_granted(answer: Attributed[Access]) -> bool:
    """True if a deciding answer grants access."""
    return answer.record.decision is AccessDecision.GRANT


@attrs.frozen
class PlacementStep:
    """One rule that was tried, the queue it gave (empty for none), and the result.

    ``code`` is ``matched``; or a mismatch, after which the next rule is tried: ``filtered``, ``no_value``,
    ``queue_missing``, ``queue_is_parent``, ``queue_draining``, ``access_denied``, ``queue_reserved``; or a failure that
    rejects the application at once: ``invalid_queue_name``, ``parent_is_leaf``, ``create_under_leaf``,
    ``create_under_draining``, ``plugin_error``.
    """

    rule: str
    queue: str
    code: str
    text: str
    plugin: str
    version: str
    source: Source
    access: Access | None = None  # the answer of the access policies for the queue, if they were asked


@attrs.frozen
class Placement:
    """The queue of an application, empty if it is rejected; ``code`` is that of the last step, or ``no_rule_matched``."""

    queue: str
    code: str
    steps: tuple[PlacementStep, ...]

    @property
    def placed(self) -> bool:
        """True if the application has a queue."""
        return bool(self.queue)


@attrs.frozen
class ApplicationPlacement:
    """The placement of new applications that are alike in all that rules read: one of them, and how many jobs."""

    application: Application
    jobs: int
    first_job: str
    placement: Placement


@attrs.frozen
class QueueLevel:
    """A queue on the path that a rule returns: it must exist unless ``create``."""

    path: str
    create: bool
    rule: str

    @property
    def qualified(self) -> str:
        """The path from the root; a relative path is below the root."""
        return self.path if is_qualified(self.path) else below(ROOT, self.path)


@attrs.frozen
class Proposal:
    """The result of a rule for an application, before queues are checked: levels from the top, or a code and a text."""

    levels: tuple[QueueLevel, ...] = ()
    code: str = ""
    text: str = ""


@attrs.frozen
class ChainRule:
    """One configured rule, with its type from a plugin."""

    type: Attributed[PlacementRule]
    configured: ConfiguredRule
    filter: UserFilter
    parent: ChainRule | None = None
    own_tags: tuple[str, ...] = ()

    def propose(self, application: Application) -> Proposal:
        """Return the queue of the rule for an application; it may not exist."""
        if not self.filter.applies(application.user, application.groups):
            text = f"the filter of rule {self.configured.name} excludes {application.user}"
            return Proposal(code="filtered", text=text)
        return self.same_for_all or self._proposed(application)

    @cached_property
    def same_for_all(self) -> Proposal | None:
        """The proposal for all applications that pass the filter, if it is constant."""
        above = self.parent
        if not self.type.record.fixed or (above and not (above.filter.takes_all and above.same_for_all)):
            return None
        return self._proposed(Application(user=""))

    def _proposed(self, application: Application) -> Proposal:
        name = self.configured.name
        try:
            target = self._target(application)
        except BaseException as error:  # noqa: BLE001 - a plugin must not end the program, not even by SystemExit
            raise_if_interrupted(error)
            return Proposal(code="plugin_error", text=f"rule {name}: {describe_error(error)}")
        if target is None:
            return Proposal(code="no_value", text=self.type.record.absent)
        if not is_queue_path(target.path):
            wrong = next(each for each in target.path.split(".") if not is_queue_name(each))
            return Proposal(code="invalid_queue_name", text=f"invalid queue name {wrong[:80]!r}")
        if target.qualified:
            return self._levels((), target.path)
        above: tuple[QueueLevel, ...] = ()
        if self.parent is not None:
            given = self.parent.propose(application)
            if given.code:
                return attrs.evolve(given, text=f"parent rule: {given.text}")
            above = given.levels
        parent = above[-1].qualified if above else ROOT
        return self._levels(above, below(parent, target.path))

    def _levels(self, above: tuple[QueueLevel, ...], path: str) -> Proposal:
        if len(path) > LONGEST_PATH:
            text = f"{path[:80]!r}... has {len(path)} characters: a queue's path has at most {LONGEST_PATH}"
            return Proposal(code="invalid_queue_name", text=text)
        return Proposal((*above, QueueLevel(path, self.configured.create, self.configured.name)))

    def _target(self, application: Application) -> QueueTarget | None:
        target = self.type.record.target(application, self.configured)
        if target is not None and (type(target) is not QueueTarget or type(target.path) is not str):
            raise TypeError(f"expected a QueueTarget or None, got {type(target).__name__}")
        if target is not None and target.qualified and not (is_qualified(target.path) or target.path == ROOT):
            raise ValueError("expected a qualified QueueTarget to begin at the root")
        return target

    @property
    def tags(self) -> Iterator[str]:
        """Yield the names of the tags that the rule and its parents read."""
        yield from self.own_tags
        if self.parent is not None:
            yield from self.parent.tags


@attrs.frozen
class Chain:
    """All rules of a partition; ``fallback`` is the queue of applications that no rule places, empty to reject them."""

    rules: tuple[ChainRule, ...]
    tags: frozenset[str]  # names of the tags that rules read, in lower case
    fallback: str = ""

    def place(
        self, applications: Sequence[Application], queues: MutableQueueTree, cache: AccessCache, now: float
    ) -> tuple[tuple[Placement, ...], tuple[QueueChange, ...]]:
        """Place applications in their order, and create the queues that they need.

        :param queues: the queues, which are changed.
        :param cache: answers of access policies for the view of the same ``queues``.
        """
        with running_plugin("a placement rule"):
            return self._place(applications, queues, cache, now)

    def _place(
        self, applications: Sequence[Application], queues: MutableQueueTree, cache: AccessCache, now: float
    ) -> tuple[tuple[Placement, ...], tuple[QueueChange, ...]]:
        proposals: list[list[Proposal]] = [[] for _ in applications]
        questions: list[AccessQuestion | None] = []
        self._propose(applications, proposals, questions)
        cache.ask(filter(None, questions))
        placements: list[Placement] = []
        changes: list[QueueChange] = []
        for application, proposed, question in zip(applications, proposals, questions, strict=True):
            placement = self._decide(application, proposed, queues.view, cache, question)
            if placement.placed and queues.view.get(placement.queue) is None:
                try:
                    changes += queues.create(placement.queue, now)
                except QueueError as error:
                    placement = _not_created(placement, error)
            placements.append(placement)
        return tuple(placements), tuple(changes)

    def failures(self, placements: Iterable[Placement]) -> Iterator[HookFailure]:
        """Yield the failures of plugins' rules."""
        for placement in placements:
            for step in placement.steps[-1:]:
                if step.code == "plugin_error":
                    yield HookFailure(step.plugin, step.version, _HOOK, step.text)

    def _propose(
        self,
        applications: Sequence[Application],
        proposals: Sequence[list[Proposal]],
        questions: list[AccessQuestion | None],
    ) -> None:
        """Evaluate the rules up to the first that returns a queue, and collect the access questions for one batch."""
        for application, proposed in zip(applications, proposals, strict=True):
            question = None
            for rule in self.rules:
                proposal = rule.propose(application)
                proposed.append(proposal)
                if proposal.levels:
                    path = proposal.levels[-1].path.lower()
                    question = AccessQuestion(application.user, application.groups, AccessKind.SUBMIT, path)
                    break
            questions.append(question)

    def _decide(
        self,
        application: Application,
        proposed: Sequence[Proposal],
        queues: QueueTree,
        cache: AccessCache,
        question: AccessQuestion | None = None,
    ) -> Placement:
        """Return the placement of an application; ``question`` is the access question of the last of ``proposed``."""
        steps: list[PlacementStep] = []
        for number, rule in enumerate(self.rules):
            proposal = proposed[number] if number < len(proposed) else rule.propose(application)
            path, code, text, access = _accepts(application, proposal, queues, cache, question)
            steps.append(
                PlacementStep(
                    rule.configured.name,
                    path,
                    code,
                    text,
                    rule.type.plugin,
                    rule.type.version,
                    rule.configured.source,
                    access,
                )
            )
            if code == MATCHED:
                return Placement(path, MATCHED, tuple(steps))
            if code in FATAL:
                return Placement("", code, tuple(steps))
        recovery = queues.get(RECOVERY)
        if application.forced and (recovery is None or recovery.leaf):
            steps.append(_own("recovery", RECOVERY, MATCHED, "a forced application that no rule places"))
            return Placement(RECOVERY, MATCHED, tuple(steps))
        if self.fallback:
            proposal = Proposal((QueueLevel(self.fallback, create=False, rule="fallback"),))
            path, code, text, access = _accepts(application, proposal, queues, cache)
            steps.append(attrs.evolve(_own("fallback", path, code, text), access=access))
            if code == MATCHED:
                return Placement(path, MATCHED, tuple(steps))
        return Placement("", NO_RULE_MATCHED, tuple(steps))


def walk(proposal: Proposal, queues: QueueTree) -> tuple[str, str, str]:
    """Return the queue of a rule, as written, or a code and a text why there is no queue.

    Only the path is checked: each level exists or may be created, and no level but the last is a leaf.
    """
    if proposal.code:
        return "", proposal.code, proposal.text
    last = proposal.levels[-1]
    for level in proposal.levels:
        if not level.create and queues.get(level.path) is None:
            return (
                level.path,
                "queue_missing",
                f"{level.path} does not exist, and rule {level.rule} does not create it",
            )
        if level is not last:
            above = queues.get(level.qualified)
            if above is not None and above.leaf:
                return level.path, "parent_is_leaf", f"{above.path} is a leaf and can have no children"
    return last.path, "", ""


def _accepts(
    application: Application,
    proposal: Proposal,
    queues: QueueTree,
    cache: AccessCache,
    question: AccessQuestion | None = None,
) -> tuple[str, str, str, Access | None]:
    """Return the queue of a rule, a code and a text: whether the queue accepts the application; and the answer of access policies."""
    path, code, text = walk(proposal, queues)
    if code:
        return path, code, text, None
    path = path.lower()
    if path.startswith(RECOVERY) and _is_reserved(path, application):
        return path, "queue_reserved", f"{path} is reserved for forced applications that no rule places", None
    queue = queues.get(path)
    if queue is not None and not queue.leaf:
        return path, "queue_is_parent", f"{path} is a parent queue: only leaves take applications", None
    if question is None or question.queue != path:
        question = AccessQuestion(application.user, application.groups, AccessKind.SUBMIT, path)
    answer = cache.answer(question)
    if not is_granted(answer):
        code = "plugin_error" if answer.record.rule == "plugin_error" else "access_denied"
        return path, code, answer.record.text, answer.record
    if queue is not None and queue.draining:
        return path, "queue_draining", f"{path} is draining: it takes no new applications", answer.record
    return path, MATCHED, answer.record.text, answer.record


def _is_reserved(path: str, application: Application) -> bool:
    return path.startswith(below(RECOVERY, "")) or (path == RECOVERY and not application.forced)


def _own(rule: str, path: str, code: str, text: str) -> PlacementStep:
    return PlacementStep(rule, path, code, text, "negotiator", __version__, Source(""))


def _not_created(placement: Placement, error: QueueError) -> Placement:
    *before, last = placement.steps
    return Placement("", error.code, (*before, attrs.evolve(last, code=error.code, text=str(error))))

"""Check what queues and users may have: limits of users and groups, resources and numbers of applications, and the modes of both.

Names, amounts, and the limits and maxima of the queues above are compared.

Source: "User and Group Quota Enforcement", limits in the queue configuration; YuniKorn's checks of its configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

import attrs

from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import LimitEntry
from negotiator.queues.model import QueueConfig, QueueLimit
from negotiator.queues.modes import PREFIX, PROPERTIES
from negotiator.queues.names import GROUP_NAME, USER_NAME, WILDCARD, is_group_name, is_user_name
from negotiator.queues.quantities import (
    Resources,
    added,
    compared,
    exceeding,
    is_zero,
    smaller,
)
from negotiator.records import Mode, ScalarText, Source
from negotiator.records.text import suggest


def check_resources(root: QueueConfig, findings: Findings) -> None:
    """Check that maxima are within those above, and guaranteed resources within both, on all levels."""
    _guaranteed(root, {}, findings)


def check_applications(root: QueueConfig, findings: Findings) -> None:
    """Check that children of a queue with a maximum of applications have one too, and not a larger one."""
    for queue in root.walk():
        for child in queue.children if queue.applications else ():
            if not child.applications:
                message = (
                    f"{child.path} has no maxapplications, and {queue.path} above it has {queue.applications}"
                )
                code, hint = (
                    "queue_maxapps_unset_under_limited_parent",
                    f"set it to at most {queue.applications}",
                )
                findings.error(code, child.source, message, hint)
            elif child.applications > queue.applications:
                message = f"{child.path}: {child.applications} applications are more than the {queue.applications} of {queue.path}"
                findings.error(
                    "queue_maxapps_exceeds_parent", child.source, message, "lower one or raise the other"
                )


def _guaranteed(queue: QueueConfig, above: Resources, findings: Findings) -> Resources:
    """Return the guaranteed resources of a queue; ``above`` is the smallest maximum of the queues above."""
    own = exceeding(queue.guaranteed, queue.max)
    if own:
        message = f"{queue.path}: guaranteed resources exceed the maximum: {compared(own, queue.guaranteed, queue.max)}"
        findings.error("guaranteed_exceeds_max", queue.source, message, "lower one or raise the other")
    over = exceeding(queue.max, above)
    if over:
        message = f"{queue.path}: the maximum exceeds that of the queues above it: {compared(over, queue.max, above)}"
        findings.error(
            "child_max_exceeds_parent_max", queue.source, message, "lower it, or raise those above"
        )
    maximum = smaller(queue.max, above)
    total: Resources = {}
    for child in queue.children:
        total = added(total, _guaranteed(child, maximum, findings))
    below = exceeding(total, queue.guaranteed)
    if below:
        message = f"{queue.path}: the guaranteed resources of its children exceed its own: {compared(below, total, queue.guaranteed)}"
        findings.error("children_guaranteed_exceed_parent_guaranteed", queue.source, message)
    too_much = exceeding(total, maximum)
    if too_much and queue.children:
        message = f"{queue.path}: the guaranteed resources of its children exceed its maximum: {compared(too_much, total, maximum)}"
        findings.error("children_guaranteed_exceed_max", queue.source, message)
    return total if is_zero(queue.guaranteed) else queue.guaranteed


def check_modes(root: QueueConfig, findings: Findings) -> None:
    """Refuse unknown modes, and unknown properties with the prefix of this program."""
    for where, key, text, source in _properties(root):
        if not key.startswith(PREFIX):
            continue
        if key not in PROPERTIES:
            message = f"{where}: unknown property {key[:80]}"
            findings.error("property_unknown", source, message, suggest(key, PROPERTIES))
        elif text not in set(Mode):
            message = f"{where}: {key} must be {', '.join(Mode)}, not {text[:80]!r}"
            findings.error("mode_unknown", source, message, suggest(text, Mode, listed=False))


def _properties(root: QueueConfig) -> Iterator[tuple[str, str, str, Source]]:
    """Yield the place, the name, the value and the source of each property of a queue or a template."""
    for queue in root.walk():
        yield from _sourced(queue.path, queue.properties, queue.property_sources, queue.source)
        if (template := queue.template) is not None:
            where = f"childtemplate of {queue.path}"
            yield from _sourced(where, template.properties, template.property_sources, queue.source)


def _sourced(
    where: str, texts: Mapping[str, str], sources: Mapping[str, Source], otherwise: Source
) -> Iterator[tuple[str, str, str, Source]]:
    for key, text in texts.items():
        yield where, key, text, sources.get(key, otherwise)


class SubjectKind(StrEnum):
    """Whether a limit is for a user or a group."""

    USER = "user"
    GROUP = "group"


@attrs.define
class _ListedNames:
    """The names of one kind in the limits of a queue so far."""

    kind: SubjectKind
    valid: Callable[[str], bool]
    form: str
    seen: set[str] = attrs.field(factory=set)

    def take(self, names: Sequence[ScalarText], findings: Findings) -> tuple[str, ...]:
        for name in names:
            self._one(name, findings)
        if WILDCARD in [name.text for name in names] and len(names) > 1:
            message = f"the wildcard is listed with other {self.kind}s and has the same limit as each of them"
            findings.warning(names[-1].source, message, "put it into an entry of its own, the last")
        return tuple(name.text for name in names)

    def _one(self, name: ScalarText, findings: Findings) -> None:
        text, source = name.text, name.source
        if text != WILDCARD and not self.valid(text):
            findings.error(
                f"limit_invalid_{self.kind}", source, f"invalid {self.kind} name {text[:80]!r}", self.form
            )
        if text in self.seen:
            message = f"duplicate limit for {self.kind} {text[:80]}"
            findings.error(f"limit_duplicate_{self.kind}", source, message, "remove one of the two")
        elif WILDCARD in self.seen:
            message = f"{self.kind} {text[:80]} comes after the wildcard, which matches all"
            findings.error(
                f"limit_{self.kind}_after_wildcard", source, message, "move it before the entry with '*'"
            )
        self.seen.add(text)


def check_limits(entries: Sequence[LimitEntry], findings: Findings) -> tuple[QueueLimit, ...]:
    """Check the limits of one queue or partition, and return them."""
    users = _ListedNames(SubjectKind.USER, is_user_name, USER_NAME)
    groups = _ListedNames(SubjectKind.GROUP, is_group_name, GROUP_NAME)
    return tuple(_limit(entry, users, groups, findings) for entry in entries)


def _limit(entry: LimitEntry, users: _ListedNames, groups: _ListedNames, findings: Findings) -> QueueLimit:
    if not entry.users and not entry.groups:
        findings.error(
            "limit_names_missing",
            entry.source,
            "this limit has neither users nor groups",
            "list users or groups; '*' is everybody",
        )
    named_users = users.take(entry.users or (), findings)
    named_groups = groups.take(entry.groups or (), findings)
    if groups.seen == {WILDCARD}:
        message = "the wildcard group alone would be a limit of the whole queue"
        findings.error(
            "limit_group_wildcard_alone", entry.source, message, "list a group before it, or limit the queue"
        )
    applications = findings.count("maxapplications", entry.maxapplications)
    resources = findings.resources(entry.maxresources, entry.source)
    if resources is not None:
        _check_limits_something(resources, applications, entry, findings)
    text = entry.limit.text if entry.limit else ""
    return QueueLimit(
        named_users,
        named_groups,
        resources or {},
        applications,
        text,
        *([entry.source] if entry.source else []),
    )


def _check_limits_something(
    resources: Resources, applications: int, entry: LimitEntry, findings: Findings
) -> None:
    if resources and is_zero(resources):
        message = "all resources of this limit are zero"
        findings.error("limit_resources_zero", entry.source, message, "remove maxresources, or set an amount")
    elif not resources and not applications:
        message = "this limit sets no maximum"
        findings.error(
            "limit_nothing_set", entry.source, message, "set maxresources or maxapplications above 0"
        )


def check_levels(root: QueueConfig, findings: Findings) -> None:
    """Compare limits with the maximum of their queue, and with the limits of the same user or group above."""
    waiting: list[tuple[QueueConfig, Resources, int, tuple[QueueConfig, ...]]] = [(root, {}, 0, ())]
    while waiting:
        queue, maximum, applications, above = waiting.pop()
        maximum = smaller(queue.max, maximum)
        applications = queue.applications or applications
        for limit in queue.limits:
            _against_queue(limit, queue, maximum, applications, findings)
            for subject, name in _names(limit):
                _against_ancestors(limit, subject, name, above, findings)
        limited = (*above, queue) if queue.limits else above
        waiting += [(child, maximum, applications, limited) for child in reversed(queue.children)]


def _names(limit: QueueLimit) -> Iterator[tuple[SubjectKind, str]]:
    yield from ((SubjectKind.USER, name) for name in limit.users)
    yield from ((SubjectKind.GROUP, name) for name in limit.groups)


def _against_queue(
    limit: QueueLimit, queue: QueueConfig, maximum: Resources, applications: int, findings: Findings
) -> None:
    over = exceeding(limit.resources, maximum)
    if over:
        message = (
            f"the limit is above the maximum of {queue.path}: {compared(over, limit.resources, maximum)}"
        )
        findings.error(
            "limit_resources_exceed_queue", limit.source, message, "it could never be reached: lower it"
        )
    if applications and limit.applications > applications:
        message = f"{limit.applications} applications are more than the {applications} of {queue.path}"
        findings.error(
            "limit_maxapps_exceed_queue", limit.source, message, "it could never be reached: lower it"
        )


def _against_ancestors(
    limit: QueueLimit, subject: SubjectKind, name: str, above: Sequence[QueueConfig], findings: Findings
) -> None:
    """Compare a limit with the one limit of each queue above that applies to the name: its own, or the wildcard's."""
    reported: set[str] = set()
    for queue in above:
        other, by = _applicable(queue, subject, name)
        if other is None:
            continue
        kind = "_wildcard" if by == WILDCARD != name else ""
        other_limit = f"that of {by if by != WILDCARD else 'the wildcard'} at {queue.path} ({other.source})"
        over = exceeding(limit.resources, other.resources)
        code = f"limit_{subject}_resources_exceed_ancestor{kind}"
        if over and code not in reported:
            message = f"the limit of {subject} {name} is above {other_limit}: {compared(over, limit.resources, other.resources)}"
            findings.error(code, limit.source, message, "lower it: the limit above applies too")
            reported.add(code)
        code = f"limit_{subject}_maxapps_exceed_ancestor{kind}"
        if other.applications and not 0 < limit.applications <= other.applications and code not in reported:
            number = limit.applications or "no limit of"
            message = f"{number} applications for {subject} {name} are more than {other.applications}, {other_limit}"
            findings.error(
                code, limit.source, message, f"set maxapplications to at most {other.applications}"
            )
            reported.add(code)


def _applicable(queue: QueueConfig, subject: SubjectKind, name: str) -> tuple[QueueLimit | None, str]:
    """Return the limit of a queue that applies to a name, and the name it is listed under."""
    for wanted in dict.fromkeys((name, WILDCARD)):
        for limit in queue.limits:
            if wanted in (limit.users if subject is SubjectKind.USER else limit.groups):
                return limit, wanted
    return None, ""

"""Resources that say why jobs get no slot, or a slot no job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from negotiator.app.decisions import decision_of
from negotiator.app.why.idle import group_values, idle_groups, selected
from negotiator.app.why.subject import WhyKind
from negotiator.app.why.texts import idle_text
from negotiator.service.api.records import (
    Explanation,
    IdleJobGroup,
    IdleJobGroups,
    IdleQuery,
    JobQuestion,
    NameQuestion,
)
from negotiator.service.api.resource import ApiRequest


def explain(kind: WhyKind) -> Callable[[ApiRequest[JobQuestion | NameQuestion]], Explanation]:
    """Return what answers questions about jobs, users, queues or slots."""

    def answer(request: ApiRequest[JobQuestion | NameQuestion]) -> Explanation:
        shown = request.overviews.present
        found = shown.explanations.why(kind, request.given.name)
        return Explanation(
            kind=found.subject.kind,
            name=found.subject.name,
            asof=shown.explanations.overview.now,
            sentences=found.text.sentences,
            tables=found.text.tables,
            facts=_facts(found.values),
        )

    return answer


def idle_jobs(request: ApiRequest[IdleQuery]) -> IdleJobGroups:
    """Return why the idle jobs get no slot, by reason, user or queue."""
    given, shown = request.given, request.overviews.present
    report = selected(shown.explanations.idle(), given.user, given.queue)
    groups = idle_groups(report.idle, given.by, by_text=True)
    return IdleJobGroups(
        asof=shown.explanations.overview.now,
        matched=report.matched,
        jobs=sum(each.jobs for each in groups),
        total=len(groups),
        sentences=idle_text(report, given.by, groups).sentences,
        split_classes=report.split,
        groups=tuple(IdleJobGroup(**group_values(each)) for each in given.of(groups)),
    )


def _facts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for readers: of the last decision what ``/decisions`` has, not the audit record itself."""
    decided = values.get("decided")
    return {**values, **({"decided": attrs.asdict(decision_of(decided))} if decided else {})}

"""Resources that say why jobs get no slot, or a slot no job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from negotiator.app.decisions import decision_of
from negotiator.app.why.subject import WhyKind
from negotiator.service.api.records import Explanation, JobQuestion, NameQuestion
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


def _facts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for readers: of the last decision what ``/decisions`` has, not the audit record itself."""
    decided = values.get("decided")
    return {**values, **({"decided": attrs.asdict(decision_of(decided))} if decided else {})}

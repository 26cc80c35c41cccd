"""Resources that say why jobs get no slot, or a slot no job."""

from __future__ import annotations

from collections.abc import Callable

from negotiator.app.why_subject import WhyKind
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
            sentences=found.words.sentences,
            tables=found.words.tables,
            facts=dict(found.values),
        )

    return answer

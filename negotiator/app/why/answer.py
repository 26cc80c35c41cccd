"""Use case: why a job or the jobs of a user or a queue get no slot, or a slot no job; as text and as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from negotiator.app.overview import PoolOverview, pool_overview
from negotiator.app.pool_view import PoolView
from negotiator.app.why.holder import why_holder, why_holder_values
from negotiator.app.why.job import why_job, why_values
from negotiator.app.why.slot import why_slot, why_slot_values
from negotiator.app.why.subject import WhyKind, WhySubject, find_subject
from negotiator.app.why.texts import WhyTable as WhyTable
from negotiator.app.why.texts import WhyText as WhyText
from negotiator.app.why.texts import holder_text, job_text, slot_text
from negotiator.hooks.answers import HookFailure


@attrs.frozen
class WhyAnswer:
    """An answer: what it is about, the text, and the same as JSON values. ``failures`` are of plugins."""

    subject: WhySubject
    text: WhyText
    values: Mapping[str, Any]
    failures: tuple[HookFailure, ...] = ()


def why_answer(
    view: PoolView, word: str, kind: WhyKind | None = None, overview: PoolOverview | None = None
) -> WhyAnswer:
    """Return why jobs get no slot, or a slot no job; nothing is changed.

    :param word: a job, a slot, a user or a queue.
    :param kind: what the word names; None to find it out.
    :param overview: that of the pool, if it is known already.
    :raises InvalidCallError: no pool is named, or the word is invalid or names several: the message has them.
    :raises NotFoundError: the pool has no such thing; the message has the nearest names.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    subject = find_subject(view, word, kind)
    if subject.kind in {WhyKind.USER, WhyKind.QUEUE}:
        return _of_holder(view, subject, overview)
    return _of_job(view, subject) if subject.kind is WhyKind.JOB else _of_slot(view, subject)


def _of_job(view: PoolView, subject: WhySubject) -> WhyAnswer:
    found = why_job(view, subject.name)
    return WhyAnswer(subject, job_text(found), why_values(found))


def _of_slot(view: PoolView, subject: WhySubject) -> WhyAnswer:
    found = why_slot(view, subject.name)
    return WhyAnswer(subject, slot_text(found), why_slot_values(found))


def _of_holder(view: PoolView, subject: WhySubject, overview: PoolOverview | None) -> WhyAnswer:
    found = why_holder(view, subject, overview or pool_overview(view))
    return WhyAnswer(subject, holder_text(found), why_holder_values(found), found.failures)

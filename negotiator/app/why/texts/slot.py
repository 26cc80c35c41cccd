"""Why a slot runs no idle job, or what it runs, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from negotiator.app.phrases import first_end_sentence, number, sentence
from negotiator.app.record_words import record_words
from negotiator.app.why.slot import RefusedJobs, SlotOutcome, WhySlot
from negotiator.app.why.texts.job import (
    MATCH_FILL,
    WhyTable,
    WhyText,
    all_texts,
    conditions_table,
    reason_text,
)


def slot_text(found: WhySlot) -> WhyText:
    """Return the answer: conditions that reject most jobs by themselves first, then quotas and what competes."""
    return WhyText.of([*_answer(found)], _tables(found))


def _answer(found: WhySlot) -> Iterator[str]:
    alone = found.alone
    states = ", ".join(filter(None, (found.state, found.activity)))
    yield f"Slot {found.slot}{f' ({states})' if states else ''}{_amounts(found)}"
    yield from _use(found)
    decisive = alone.decisive
    if decisive is not None:
        yield sentence(decisive)
    elif found.competing is not None:
        yield from _competition(found, found.competing)
    elif not alone.jobs:
        yield "Waiting: no idle job takes part, so there is nothing to run."
    if found.undivided and alone.possible > 1:
        yield f"It is a partitionable slot, which gives one match a cycle; {MATCH_FILL}."
    if decisive is not None and alone.jobs and found.use is None:
        yield _fitting(found)
    if found.decided is not None:
        words = record_words(found.decided)
        yield f"Last match: cycle {found.decided['cycle']} at {found.decided['time']}: {words.what}"


def _amounts(found: WhySlot) -> str:
    shown = [
        f"{each.resource} {each.left:g}" + ("" if each.total in {None, each.left} else f" of {each.total:g}")
        for each in found.amounts
    ]
    return f": {', '.join(shown)}" if shown else ""


def _use(found: WhySlot) -> Iterator[str]:
    if found.parts:
        gone = [each.resource for each in found.amounts if each.total and not each.left]
        rest = f": no {' and no '.join(gone)} left" if gone else ""
        yield f"{number(found.parts, 'dynamic slot')} of it {'is' if found.parts == 1 else 'are'} in the pool{rest}."
    if found.use is None:
        return
    jobs = found.use.jobs
    what = f"job {jobs[0]}" if len(jobs) == 1 else number(len(jobs), "job") if jobs else "a job"
    yield f"It runs {what}{f' of {found.use.user}' if found.use.user else ''}."
    yield from first_end_sentence(found.use.first_end, "on it")


def _fitting(found: WhySlot) -> str:
    alone = found.alone
    if alone.fitting:
        return f"Of {number(alone.jobs, 'idle job')}, {alone.fitting} would fit, but quotas refuse them."
    return f"None of {number(alone.jobs, 'idle job')} fits it."


def _competition(found: WhySlot, competing: SlotOutcome) -> Iterator[str]:
    could = f"{found.alone.possible} of {number(found.alone.jobs, 'idle job')} could run on it"
    if competing.job:
        yield f"A cycle now would give it to job {competing.job} of {competing.user}: {could}."
        return
    first = next(iter(competing.waiting), None)
    yield (
        sentence(first.reason)
        if first is not None
        else "Waiting: the jobs that could run on it get other slots"
    )
    yield f"{could}; a cycle now would give {competing.elsewhere} of them other slots, and it to none."


def _tables(found: WhySlot) -> Sequence[WhyTable]:
    alone = found.alone
    remedies = tuple(
        (all_texts(remedy.conditions), str(remedy.jobs))
        for remedy in alone.remedies
        if not alone.possible and len(remedy.conditions) > 1
    )
    waiting = () if found.competing is None else found.competing.waiting
    title = f"What keeps idle jobs from it ({number(alone.jobs, 'job')} in {number(alone.classes, 'class')})"
    return [
        conditions_table(title, alone.conditions),
        WhyTable("Fewest to change", ("CONDITIONS", "OPENS"), remedies, (1,)),
        _refused("Quotas", alone.quotas),
        _refused("Jobs that could run on it and get no slot", waiting),
        _refused("Idle jobs that take no part", alone.no_part),
    ]


def _refused(title: str, found: Sequence[RefusedJobs]) -> WhyTable:
    rows = tuple((str(each.jobs), str(each.reason.verdict), reason_text(each.reason)) for each in found)
    return WhyTable(title, ("JOBS", "VERDICT", "REASON"), rows, (0,), name=2)

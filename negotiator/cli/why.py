"""``negotiator why`` and ``why-not``: why a job gets no slot, or not a certain one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

import click

from negotiator.app.pool_view import PoolView
from negotiator.app.record_words import record_words
from negotiator.app.why import (
    Condition,
    HolderShare,
    JobAlone,
    JobOutcome,
    WhyJob,
    WhyNot,
    why_job,
    why_not_values,
    why_values,
)
from negotiator.app.why import why_not as find_why_not
from negotiator.app.why_holder import why_holder, why_holder_values
from negotiator.app.why_slot import why_slot, why_slot_values
from negotiator.app.why_subject import WhyKind, WhySubject, find_subject
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.phrases import ends, number, rule, sentence
from negotiator.cli.problems import print_problems
from negotiator.cli.render import print_table, print_wrapped, printable
from negotiator.cli.why_holder import print_why_holder
from negotiator.cli.why_slot import print_why_slot
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import CORE


class _Draw(Protocol):
    """Prints an answer; at most a screen unless ``full``."""

    def __call__(self, *, full: bool) -> None: ...


#: An answer as JSON values, and what prints it.
_Answer: TypeAlias = tuple[dict[str, Any], _Draw]


def why(word: str, kind: str | None, targets: CommandTargets, *, full: bool, as_json: bool) -> None:
    """Print why a job, or the jobs of a user or a queue, get no slot, or a slot no job; the decisive reason first."""
    view = load_view(targets)
    subject = find_subject(view, word, WhyKind(kind) if kind else None)
    answer, draw = _ANSWERS[subject.kind](view, subject)
    if as_json:
        click.echo(json.dumps(answer, indent=2))
        return
    print_problems(view.snapshot.problems[:1], err=True)
    draw(full=full)


def _of_job(view: PoolView, subject: WhySubject) -> _Answer:
    found = why_job(view, subject.name)
    return why_values(found), partial(_print_job, found)


def _of_slot(view: PoolView, subject: WhySubject) -> _Answer:
    found = why_slot(view, subject.name)
    return why_slot_values(found), partial(print_why_slot, found)


def _of_holder(view: PoolView, subject: WhySubject) -> _Answer:
    found = why_holder(view, subject)
    print_failures(found.failures)
    return why_holder_values(found), partial(print_why_holder, found)


_ANSWERS: Final[Mapping[WhyKind, Callable[[PoolView, WhySubject], _Answer]]] = {
    WhyKind.JOB: _of_job,
    WhyKind.SLOT: _of_slot,
    WhyKind.USER: _of_holder,
    WhyKind.QUEUE: _of_holder,
}


def _print_job(found: WhyJob, *, full: bool) -> None:  # noqa: ARG001 - its tables are always complete
    for line in _answer(found):
        print_wrapped(printable(line))
    click.echo()
    _print_conditions(found.alone)
    _print_least(found.alone)


def why_not(job: str, slot: str, targets: CommandTargets, *, as_json: bool) -> None:
    """Print why a job does not get a slot."""
    view = load_view(targets)
    answer = find_why_not(view, job, slot)
    if as_json:
        click.echo(json.dumps(why_not_values(answer), indent=2))
        return
    print_problems(view.snapshot.problems[:1], err=True)
    for line in _answer_of_slot(answer):
        print_wrapped(printable(line))


def _answer_of_slot(answer: WhyNot) -> Iterator[str]:
    found = answer.found
    yield f"Job {answer.job} and {answer.slot}"
    yield from (f"  {sentence(each)}" for each in (*found.reasons, *found.quotas))
    if found.reasons or found.quotas:
        return
    if found.chosen == answer.slot:
        yield "Nothing keeps them apart: alone the job would get this slot."
    else:
        other = f"prefers {found.chosen}" if found.chosen else "gets no slot"
        yield f"Nothing keeps them apart, but alone the job {other}."


def _answer(found: WhyJob) -> Iterator[str]:
    alone = found.alone
    queue = f", in {alone.queue}" if alone.queue else ""
    yield f"Job {found.job} of {found.user}{queue} (submitter {found.submitter}, schedd {found.schedd or 'unknown'})"
    if alone.decisive is not None:
        yield f"{sentence(alone.decisive)}"
        yield from (f"  since: {sentence(each)}" for each in alone.causes)
    else:
        among = f"{alone.candidates} of {number(alone.slots, 'slot')}"
        yield f"Alone it would get {alone.slot}: {among} could run it now."
    if alone.decisive is not None:
        yield from ends(alone.first_end, "on slots that it only waits for")
    yield from _among_others(found.competing)
    yield from _last_decision(found.decided)
    yield from _standing(found.share)


def _among_others(found: JobOutcome | None) -> Iterator[str]:
    """Yield what a cycle with all idle jobs would decide."""
    if found is None:
        return
    if found.slot:
        yield f"With all idle jobs of the pool a cycle now would give it {found.slot}."
    elif found.reason is not None:
        yield f"With all idle jobs of the pool: {sentence(found.reason)}"


def _last_decision(record: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the last decision that the audit log has about the job."""
    if record is None:
        return
    words = record_words(record)
    why = f": {words.why}" if words.why else ""
    yield f"Cycle {record['cycle']} at {record['time']}: {words.what}{why}"


def _standing(share: HolderShare | None) -> Iterator[str]:
    """Yield what the submitter was entitled to in the last cycle, and what it used."""
    if share is not None:
        yield (
            f"Share of {share.holder}: entitled to {share.entitled:g} ({share.unit}), used {share.used_before:g} before the last cycle and "
            f"{share.used:g} after it; priority {share.priority:g}; {number(share.waiting, 'job')} without a slot"
        )


def _print_conditions(alone: JobAlone) -> None:
    """Print each condition that rejects slots, those first that reject most by themselves."""
    conditions = sorted(alone.conditions, key=lambda each: (-each.alone, -each.rejected))
    rows = [(_text(each), str(each.rejected), str(each.alone), str(each.lever)) for each in conditions]
    rows += [
        (
            f"discarded: {printable(each.reason.text)} ({printable(rule(each.reason))})",
            str(each.count),
            "",
            str(each.kind),
        )
        for each in alone.discarded
    ]
    headers = ("CONDITION", "REJECTS", "ALONE", "WHO CAN CHANGE IT")
    print_table(f"What keeps it from slots ({alone.slots} take part)", headers, rows, right=(1, 2))
    quotas = [(printable(sentence(each.reason)), str(each.rejected)) for each in alone.quotas]
    print_table("Quotas", ("QUOTA", "REFUSES"), quotas, right=(1,))


def _text(condition: Condition) -> str:
    reason = condition.reason
    where = "" if reason.provenance.plugin == CORE else f" ({printable(rule(reason))})"
    near = f"; nearest: {printable(str(condition.near))}" if condition.near else ""
    return f"{printable(reason.text)}{where}{near}"


def _print_least(alone: JobAlone) -> None:
    """Print the fewest conditions that leave no slot together, and the fewest that would have to change."""
    if len(alone.together) > 1:
        together = [(_text(each), str(each.rejected)) for each in alone.together]
        print_table("Together these leave no slot", ("CONDITION", "REJECTS"), together, right=(1,))
    rows = [
        (
            " and ".join(printable(each.reason.text) for each in remedy.conditions),
            str(remedy.slots),
            _levers(remedy.conditions),
        )
        for remedy in alone.remedies
        if alone.decisive is not None
    ]
    print_table("Fewest to change", ("CONDITIONS", "OPENS", "WHO"), rows, right=(1,))


def _levers(conditions: tuple[Condition, ...]) -> str:
    return ", ".join(dict.fromkeys(str(each.lever) for each in conditions))

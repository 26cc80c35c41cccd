"""Why a job gets no slot, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from negotiator.app.cycles import HolderShare
from negotiator.app.phrases import first_end_sentence, number, rule, sentence
from negotiator.app.record_words import record_words
from negotiator.app.why.job import Condition, JobAlone, JobOutcome, WhyJob
from negotiator.app.why.texts.text import WhyTable, WhyText, all_texts, conditions_table, reason_text


def job_text(found: WhyJob) -> WhyText:
    """Return the answer: conditions that reject most slots by themselves first, then the fewest that have to change."""
    alone = found.alone
    return WhyText.of(
        [*_answer(found)], [_conditions(alone), _quotas(alone), _together(alone), _remedies(alone)]
    )


def _answer(found: WhyJob) -> Iterator[str]:
    alone = found.alone
    queue = f", in {alone.queue}" if alone.queue else ""
    yield f"Job {found.job} of {found.user}{queue} (submitter {found.submitter}, schedd {found.schedd or 'unknown'})"
    if alone.decisive is not None:
        yield sentence(alone.decisive)
        yield from (f"  since: {sentence(each)}" for each in alone.causes)
    else:
        among = f"{alone.candidates} of {number(alone.slots, 'slot')}"
        yield f"Alone it would get {alone.slot}: {among} could run it now."
    if alone.decisive is not None:
        yield from first_end_sentence(alone.first_end, "on slots that it only waits for")
    yield from _among_others(found.competing)
    yield from _last_decision(found.decided)
    yield from _last_share(found.share)


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


def _last_share(share: HolderShare | None) -> Iterator[str]:
    """Yield what the submitter was entitled to in the last cycle, and what it used."""
    if share is not None:
        yield (
            f"Share of {share.holder}: entitled to {share.entitled:g} ({share.unit}), used {share.used_before:g} before the last cycle and "
            f"{share.used:g} after it; priority {share.priority:g}; {number(share.waiting, 'job')} without a slot"
        )


def _conditions(alone: JobAlone) -> WhyTable:
    """Return each condition that rejects slots, and the gates that discarded some."""
    conditions = sorted(alone.conditions, key=lambda each: (-each.alone, -each.rejected))
    discarded = (
        (f"discarded: {each.reason.text} ({rule(each.reason)})", str(each.count), "", str(each.kind))
        for each in alone.discarded
    )
    return conditions_table(f"What keeps it from slots ({alone.slots} take part)", conditions, *discarded)


def _quotas(alone: JobAlone) -> WhyTable:
    rows = tuple((sentence(each.reason), str(each.rejected)) for each in alone.quotas)
    return WhyTable("Quotas", ("QUOTA", "REFUSES"), rows, (1,))


def _together(alone: JobAlone) -> WhyTable:
    """Return the fewest conditions that leave no slot together."""
    found = alone.together if len(alone.together) > 1 else ()
    rows = tuple((reason_text(each.reason, each.near), str(each.rejected)) for each in found)
    return WhyTable("Together these leave no slot", ("CONDITION", "REJECTS"), rows, (1,))


def _remedies(alone: JobAlone) -> WhyTable:
    """Return the fewest conditions that would have to change."""
    rows = tuple(
        (
            all_texts(remedy.conditions),
            str(remedy.slots),
            _levers(remedy.conditions),
        )
        for remedy in alone.remedies
        if alone.decisive is not None
    )
    return WhyTable("Fewest to change", ("CONDITIONS", "OPENS", "WHO"), rows, (1,))


def _levers(conditions: tuple[Condition, ...]) -> str:
    return ", ".join(dict.fromkeys(str(each.lever) for each in conditions))

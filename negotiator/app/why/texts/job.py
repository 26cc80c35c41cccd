"""Why a job gets no slot, as text; tables of conditions and the texts of reasons, for other answers too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from negotiator.app.cycles import HolderShare
from negotiator.app.phrases import first_end_sentence, number, rule, sentence
from negotiator.app.record_words import record_words
from negotiator.app.why.job import JobAlone, Remedy, WhyJob
from negotiator.app.why.text_tables import WhyTable as WhyTable
from negotiator.app.why.text_tables import WhyText as WhyText
from negotiator.explain.job import Condition, NearMiss
from negotiator.explain.job.conditions import lever_of
from negotiator.records import CORE, Reason

#: What a partitionable slot could do instead of giving one match a cycle.
MATCH_FILL: Final = "with match: fill in pool.yaml it gives as many as it has room for"


def conditions_table(title: str, conditions: Iterable[Condition], *more: tuple[str, ...]) -> WhyTable:
    """Return the table of conditions, in their order, with further rows after them."""
    rows = [
        (reason_text(each.reason, each.near), str(each.rejected), str(each.alone), str(each.lever))
        for each in conditions
    ]
    headers = ("CONDITION", "REJECTS", "ONLY THIS", "WHO CAN CHANGE IT")
    return WhyTable(title, headers, (*rows, *more), (1, 2), "condition")


def all_texts(conditions: Iterable[Condition]) -> str:
    """Return conditions that would all have to change, in one line."""
    return " and ".join(each.reason.text for each in conditions)


def reason_text(reason: Reason, near: NearMiss | None = None) -> str:
    """Return the text of a reason, the rule of a policy with its place, and the nearest value that would do."""
    where = "" if reason.provenance.plugin == CORE else f" ({rule(reason)})"
    return f"{reason.text}{where}{f'; nearest: {near}' if near else ''}"


def job_text(found: WhyJob) -> WhyText:
    """Return the answer: the decision of the cycle, then what rejects most slots by itself, and the fewest that have to change."""
    alone = found.alone
    return WhyText.of(
        [*_answer(found)], [_conditions(alone), _quotas(alone), _together(alone), _remedies(found.remedies)]
    )


def _answer(found: WhyJob) -> Iterator[str]:
    alone, decisive = found.alone, found.decisive
    queue = f", in {alone.queue}" if alone.queue else ""
    yield f"Job {found.job} of {found.user}{queue} (submitter {found.submitter}, schedd {found.schedd or 'unknown'})"
    if decisive is not None:
        yield sentence(decisive)
        yield from (f"  since: {sentence(each)}" for each in alone.causes)
    if alone.decisive is None:
        among = f"{alone.candidates} of {number(alone.slots, 'slot')}"
        yield f"Alone it would get {alone.slot}: {among} could run it now."
    if decisive is not None:
        yield from _undivided(alone)
        yield from first_end_sentence(alone.first_end, "on slots that it only waits for")
    elif found.competing is not None:
        yield f"With all idle jobs of the pool a cycle now would give it {found.competing.slot}."
    yield from _last_decision(found.decided)
    yield from _last_share(found.share)


def _undivided(alone: JobAlone) -> Iterator[str]:
    """Yield why slots with room for further jobs may give none to this one."""
    if alone.undivided == 1:
        which = "It is" if alone.candidates == 1 else "One of them is"
        yield f"{which} a partitionable slot, which gives one match a cycle; {MATCH_FILL}."
    elif alone.undivided:
        yield f"{alone.undivided} of them are partitionable slots, each of which gives one match a cycle; {MATCH_FILL}."


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
        (
            f"discarded: {each.reason.text} ({rule(each.reason)})",
            str(each.count),
            "",
            str(lever_of(each.reason, None)),
        )
        for each in alone.discarded
    )
    part = "1 takes" if alone.slots == 1 else f"{alone.slots} take"
    return conditions_table(f"What keeps it from slots ({part} part)", conditions, *discarded)


def _quotas(alone: JobAlone) -> WhyTable:
    rows = tuple((sentence(each.reason), str(each.rejected)) for each in alone.quotas)
    return WhyTable("Quotas", ("QUOTA", "REFUSES"), rows, (1,))


def _together(alone: JobAlone) -> WhyTable:
    """Return the fewest conditions that leave no slot together."""
    found = alone.together if len(alone.together) > 1 else ()
    rows = tuple((reason_text(each.reason, each.near), str(each.rejected)) for each in found)
    return WhyTable("Together these leave no slot", ("CONDITION", "REJECTS"), rows, (1,))


def _remedies(remedies: Sequence[Remedy]) -> WhyTable:
    """Return the fewest conditions that would have to change."""
    rows = tuple(
        (
            all_texts(remedy.conditions),
            str(remedy.slots),
            _levers(remedy.conditions),
        )
        for remedy in remedies
    )
    return WhyTable("Fewest to change", ("CONDITIONS", "OPENS", "WHO"), rows, (1,))


def _levers(conditions: tuple[Condition, ...]) -> str:
    return ", ".join(dict.fromkeys(str(each.lever) for each in conditions))

"""Phrases of reports, on the command line and on pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from negotiator.records import CORE, Reason
from negotiator.records.text import utc_time

if TYPE_CHECKING:
    from negotiator.explain.first_end import FirstEnd

#: The name of the jobs that have no user, queue or rule, since they took no part in a cycle.
NO_PART: Final = "(took no part)"


def number(count: int, noun: str) -> str:
    """Return ``1 job``, ``2 jobs``, ``2 matches``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith(('ch', 'ss')) else 's'}"


def rule(reason: Reason) -> str:
    """Return the rule of a policy with its source; for the core's own reasons, the core."""
    provenance = reason.provenance
    return provenance.plugin if provenance.plugin == CORE else str(provenance)


def first_end_sentence(found: FirstEnd | None, which: str) -> Iterator[str]:
    """Yield a sentence about the first of some running jobs to end; nothing if no ad says when.

    :param which: describes the running jobs: ``on it``, ``with a slot``.
    """
    if found is not None:
        stated = f"{found.stated} of {number(found.jobs, 'job')} {which} {'states' if found.stated == 1 else 'state'}"
        yield f"It may change by {utc_time(found.time)}: job {found.job} runs no longer ({stated} a longest run time)."


def sentence(reason: Reason) -> str:
    """Return the verdict and the text of a reason, with the rule of a policy."""
    where = "" if reason.provenance.plugin == CORE else f" ({rule(reason)})"
    return f"{str(reason.verdict).replace('_', ' ').capitalize()}: {reason.text}{where}"

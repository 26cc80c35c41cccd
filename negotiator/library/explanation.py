"""Why a job gets no slot in a cycle, for Python."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import attrs

from negotiator.app.why.job import Condition, Remedy, WhyJob, why_values
from negotiator.app.why.text_tables import WhyText
from negotiator.app.why.texts import job_text
from negotiator.library.printed import Printed
from negotiator.library.records import rule_text
from negotiator.records import Reason


@attrs.frozen(eq=False, repr=False, slots=False)
class JobExplanation(Printed):
    """Why a job gets no slot, or which one it gets: the answer of ``negotiator why`` about the job of a result.

    ``str()`` is the text of the command, and a notebook shows tables. The reason is that of the cycle; the conditions are those of
    the job alone, without the other idle jobs.

    >>> import negotiator as n
    >>> result = n.run(n.read_pool("examples/first-pool"), now=1_800_000_000)
    >>> why = result.explain("14.0")
    >>> str(why.reason.verdict), why.reason.code, why.slot
    ('denied', 'job_requirements', '')
    >>> why.conditions[0].rejected
    33
    """

    found: WhyJob = attrs.field(repr=False)

    @property
    def job(self) -> str:
        """The id of the job."""
        return self.found.job

    @property
    def schedd(self) -> str:
        """The name of its schedd, in lower case; empty if unknown."""
        return self.found.schedd

    @property
    def user(self) -> str:
        """The owner of the job."""
        return self.found.user

    @property
    def submitter(self) -> str:
        """The submitter whose share it takes."""
        return self.found.submitter

    @property
    def queue(self) -> str:
        """The path of its queue; empty if no rule placed it."""
        return self.found.alone.queue

    @property
    def slot(self) -> str:
        """The slot that it got in the cycle; empty if it got none."""
        return self.found.competing.slot if self.found.competing else ""

    @property
    def reason(self) -> Reason | None:
        """The decisive reason of the cycle; None if it got a slot."""
        return self.found.decisive

    @property
    def rule(self) -> str:
        """The rule of a policy that decides, with its file and line; empty if it is none."""
        return "" if self.reason is None else rule_text(self.reason)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What rejects slots: each with its reason, and how many it rejects in all and alone."""
        return self.found.alone.conditions

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The fewest conditions that would have to change, and how many slots that opens."""
        return self.found.remedies

    @property
    def quotas(self) -> tuple[Reason, ...]:
        """The quotas that refuse the slots which nothing else rejects."""
        return tuple(each.reason for each in self.found.alone.quotas)

    @cached_property
    def values(self) -> dict[str, Any]:
        """All of it as JSON values, as ``negotiator why --json`` prints them."""
        return why_values(self.found)

    @property
    def _most_rows(self) -> int | None:
        return None

    def _text(self) -> WhyText:
        return job_text(self.found)

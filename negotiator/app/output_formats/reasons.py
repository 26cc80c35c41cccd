"""Reasons, problems and records, which the outputs of several commands have.

Their annotations are evaluated here: since Python 3.14, msgspec looks for those that are texts in the modules of subclasses.
"""

from typing import Any, TypeAlias, TypedDict

from negotiator.records import Mode, Severity, Verdict

#: A record of the audit log, as docs/audit.md describes it for each kind.
AuditRecord: TypeAlias = dict[str, Any]


class ProvenanceValues(TypedDict):
    """The plugin and the rule that a reason comes from; ``source`` is ``file:line:column``, null if unknown."""

    station: str
    plugin: str
    version: str
    rule: str
    source: str | None


class ReasonValues(TypedDict):
    """Why something was not granted: a sentence, and the same for programs."""

    verdict: Verdict
    mode: Mode
    code: str
    text: str
    numbers: dict[str, float | str]
    provenance: ProvenanceValues


class OverrunCountValues(TypedDict):
    """A rule, and how many running jobs break it, or would if it enforced."""

    jobs: int
    reason: ReasonValues


class JobsReasonValues(ReasonValues):
    """A reason, and the number of jobs that it counts for."""

    jobs: int


class ProblemValues(TypedDict):
    """A problem of a file; lines and columns count from 1, and are 0 if unknown."""

    severity: Severity
    file: str
    line: int
    column: int
    message: str
    hint: str
    excerpt: str

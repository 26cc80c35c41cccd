"""The kinds of ads that hooks are called for."""

from __future__ import annotations

import enum


class AdKind(enum.StrEnum):
    """The kinds of ads that gates test."""

    SCHEDD = "schedd"
    SUBMITTER = "submitter"
    STARTD = "startd"
    JOB = "job"

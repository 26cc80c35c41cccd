"""Policies over what runs: rules that running jobs break, what becomes of them, and how schedds may reuse a claim.

A schedd starts further jobs of a user on a claim without asking a negotiator, and policies, jobs and slots change while
jobs run. So each cycle tests what runs as if it were matched now. Source: HTCondor, ``FindRunnableJob``
(``condor_schedd.V6/qmgmt.cpp``).
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from negotiator.ledger import CounterKey
    from negotiator.records import Reason


class OverrunAction(enum.StrEnum):
    """What becomes of a running job that a policy would deny."""

    REPORT = "report"  # it is recorded and shown, and runs on
    VACATE = "vacate"  # its startd vacates the claim: retirement and vacate time are granted (VACATE_CLAIM)
    REMOVE = "remove"  # its startd ends the claim at once (VACATE_CLAIM_FAST)


class Reuse(enum.StrEnum):
    """For which further jobs a schedd may use the claim of a match."""

    ALLOW = "allow"  # for any of the user that its Requirements permit, as HTCondor does
    SAME = "same"  # for those that the policies permit: the startds' START tests what the match carries
    NEVER = "never"  # for none: each job is matched


@attrs.frozen(kw_only=True)
class Overrun:
    """A rule that something in use breaks when a cycle begins: a running job that it would deny, or a limit that is exceeded.

    ``reason`` is the rule's, with file and line: the one that the job would be denied with, or that jobs get which wait for the limit.
    ``subject`` is what breaks it, for people: ``job 12.0 of ann on slot1@host``, ``user sue in root.a``. ``since`` is the time
    of the first cycle that found it, in seconds since the epoch.

    Of a running job: ``job`` ("cluster.proc"), ``schedd``, ``user``, ``slot`` (its name), the rule's ``action``, and ``asked``:
    when its end was requested last, in seconds since the epoch, 0 if never.

    Of a limit, where these are empty: ``resource`` (empty for counts), ``used`` and ``limit`` in the unit of the resource (bytes
    of memory, thousandths of vcore), and ``counter``, the plugin's own key.
    """

    reason: Reason
    subject: str
    since: float
    job: str = ""
    schedd: str = ""
    user: str = ""
    slot: str = ""
    action: OverrunAction = OverrunAction.REPORT
    resource: str = ""
    used: float = 0.0
    limit: float = 0.0
    counter: CounterKey = ()
    asked: float = 0.0

    @property
    def is_limit(self) -> bool:
        """True for a limit that is exceeded; False for a running job that a rule would deny."""
        return not self.slot

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies it from cycle to cycle: the plugin, and the job and rule, or the counter."""
        plugin = self.reason.provenance.plugin
        if self.is_limit:
            return (plugin, "", *map(str, self.counter))
        return (plugin, self.reason.provenance.rule, self.schedd, self.job, self.slot)


@attrs.frozen(kw_only=True)
class Eviction:
    """A running job that is to end, since it has broken a rule for longer than the grace time.

    ``startd`` is the address of the slot's startd (``MyAddress``); ``fast``: at once, without retirement and vacate time.
    """

    overrun: Overrun
    startd: str
    fast: bool


@attrs.frozen
class EvictionOutcome:
    """What became of an eviction: whether the startd accepted it; ``text`` is the reason of a failure."""

    eviction: Eviction
    accepted: bool
    text: str = ""


@attrs.frozen
class OverrunCount:
    """One rule and how many running jobs break it; of a rule that does not enforce, how many would."""

    reason: Reason
    jobs: int

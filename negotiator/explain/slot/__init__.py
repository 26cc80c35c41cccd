"""Explains why a slot runs no idle job: what rejects which of them, counted by jobs, in one pass over classes of alike jobs."""

from negotiator.explain.slot.explanation import JobRemedy as JobRemedy
from negotiator.explain.slot.explanation import RefusedJobs as RefusedJobs
from negotiator.explain.slot.explanation import SlotAlone as SlotAlone
from negotiator.explain.slot.explanation import SlotOutcome as SlotOutcome
from negotiator.explain.slot.explanation import slot_outcome as slot_outcome
from negotiator.explain.slot.one_slot import explain_jobs as explain_jobs

"""Explains why a job gets no slot: what each condition rejects, the fewest that have to change, and by how much."""

from negotiator.explain.job.alone import explain_alone as explain_alone
from negotiator.explain.job.alone import explain_slot as explain_slot
from negotiator.explain.job.alone import why_not_served as why_not_served
from negotiator.explain.job.conditions import Condition as Condition
from negotiator.explain.job.conditions import Lever as Lever
from negotiator.explain.job.conditions import Remedy as Remedy
from negotiator.explain.job.explanation import JobAlone as JobAlone
from negotiator.explain.job.explanation import JobOutcome as JobOutcome
from negotiator.explain.job.explanation import SlotForJob as SlotForJob
from negotiator.explain.job.explanation import outcome_of as outcome_of
from negotiator.explain.job.near_miss import NearMiss as NearMiss

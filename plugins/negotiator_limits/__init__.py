"""Limits of users and groups on the queues, and what of them is used.

Source: "User and Group Quota Enforcement". A limit of the queue configuration is for each user alone, and for all users
of a group together. It counts what is used in its queue and below, and holds beside those of the queues above it.
"""

from negotiator.plugin import EffectiveLimit as EffectiveLimit
from negotiator.plugin import LimitIndex as LimitIndex
from negotiator_limits.charges import charges_for as charges_for
from negotiator_limits.hooks import negotiator_charges as negotiator_charges
from negotiator_limits.hooks import negotiator_job_attributes as negotiator_job_attributes
from negotiator_limits.hooks import negotiator_usage as negotiator_usage
from negotiator_limits.levels import Label as Label
from negotiator_limits.report import group_usage as group_usage
from negotiator_limits.report import user_usage as user_usage
from negotiator_limits.single_match import Denial as Denial
from negotiator_limits.tracking import Tracking as Tracking
from negotiator_limits.usage import read_usage as read_usage

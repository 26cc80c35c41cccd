"""Limits of users and groups on the queues, and the report of their usage.

Source: "User and Group Quota Enforcement". A limit of the queue configuration holds for each user alone, and for all
users of a group together. It limits the usage in its queue and below, in addition to the limits of the queues above.
"""

from negotiator_limits.hooks import negotiator_application_groups as negotiator_application_groups
from negotiator_limits.hooks import negotiator_charges as negotiator_charges
from negotiator_limits.hooks import negotiator_job_attributes as negotiator_job_attributes
from negotiator_limits.hooks import negotiator_policy as negotiator_policy
from negotiator_limits.hooks import negotiator_section as negotiator_section
from negotiator_limits.hooks import negotiator_usage as negotiator_usage

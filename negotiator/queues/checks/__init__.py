"""Checks of the queue configuration, one file for each kind; all problems are reported at once."""

from negotiator.queues.checks.structure import check_configuration as check_configuration

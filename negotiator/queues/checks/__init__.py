"""What can be wrong with a queue configuration, one file a kind of mistake; all of it is told at once."""

from negotiator.queues.checks.partitions import check_configuration as check_configuration

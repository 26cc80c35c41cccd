"""Use cases: why a job, the jobs of a user or a queue, or all idle jobs get no slot, and why a slot runs no idle job."""

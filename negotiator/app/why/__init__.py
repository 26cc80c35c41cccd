"""Use cases: why a job, or the jobs of a user or a queue, get no slot, and why a slot runs no idle job."""

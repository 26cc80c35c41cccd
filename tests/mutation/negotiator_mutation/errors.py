"""What is wrong with a call of ``make mutate``."""


class MutationError(Exception):
    """A room, a list of equivalent mutants or a run of the unchanged tests is invalid."""

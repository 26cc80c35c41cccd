"""What all tests share."""

from hypothesis import settings

# How long an example takes says more about the machine than about the program.
settings.register_profile("project", deadline=None)
settings.register_profile("thorough", max_examples=10_000, deadline=None)
settings.load_profile("project")

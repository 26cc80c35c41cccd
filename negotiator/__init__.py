"""A matchmaker for compute pools whose every policy is a plugin."""

__version__ = "0.1.0"

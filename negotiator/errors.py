"""The root of the exceptions that the product raises for others to catch.

Each room derives its own from it; ``negotiator.app`` maps them to exit codes and HTTP status codes.
"""

from __future__ import annotations


class NegotiatorError(Exception):
    """Root of the product's exceptions: the message says what is wrong, where, and what to do about it."""

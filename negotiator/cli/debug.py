"""``negotiator --debug``: the tracebacks of what plugins raise."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOGGER = "negotiator.hooks"


@contextmanager
def plugin_tracebacks() -> Iterator[None]:
    """Print the traceback of each failure of a plugin to standard error, as long as the context lasts."""
    logger, handler = logging.getLogger(LOGGER), logging.StreamHandler(sys.stderr)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)

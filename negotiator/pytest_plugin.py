"""Fixtures of pytest for the tests of plugins. Nothing of the negotiator is imported before a test uses one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def negotiator_call() -> Callable[..., tuple[Any, ...]]:
    """Call one hook of a plugin: the function ``negotiator.testing.call``."""
    from negotiator.testing import call  # noqa: PLC0415 - at first use

    return call


@pytest.fixture
def negotiator_cycle() -> Callable[..., Any]:
    """Run one whole small cycle: the function ``negotiator.testing.cycle``."""
    from negotiator.testing import cycle  # noqa: PLC0415 - at first use

    return cycle

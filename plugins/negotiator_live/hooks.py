"""The hooks of this plugin."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.plugin import LivePool, PoolContext, PoolControl, PoolSource, Section, hookimpl
from negotiator_live import pool
from negotiator_live.settings import SECTION, at_collector


@hookimpl
def negotiator_section() -> Section:
    """Declare ``htcondor:`` in ``pool.yaml``."""
    return SECTION


@hookimpl
def negotiator_pool_sources() -> Iterator[PoolSource]:
    """Bring the source ``htcondor``."""
    yield PoolSource(name="htcondor", open=_open, at=at_collector)


def _open(context: PoolContext, control: PoolControl) -> LivePool:
    del control  # no daemon can connect to this program yet
    return pool.HTCondorPool(context.settings.htcondor)

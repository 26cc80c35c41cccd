"""A gate: discards slots that were not heard from for 15 minutes."""

from negotiator.plugin import AdKind, Gate, hookimpl


@hookimpl
def negotiator_gate_ads(kind, ads, cycle):
    if kind is AdKind.STARTD:
        stale = cycle.now - ads.numbers("LastHeardFrom", default=0) > 900
        yield Gate(rule="stale", discard=stale, code="stale", text="not heard from for 15 minutes")

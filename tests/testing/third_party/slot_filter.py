"""A filter: a job that names a rack gets slots of that rack only."""

import numpy as np

from negotiator.plugin import Filter, hookimpl


@hookimpl
def negotiator_job_attributes():
    return ["WantedRack"]


@hookimpl
def negotiator_filter_slots(request, slots):
    rack = request.ad.string("WantedRack")
    allow = np.ones(len(slots), dtype=bool) if rack is None else slots.strings("Rack") == rack
    yield Filter(rule="rack", allow=allow, code="other_rack", text="the slot is in another rack")

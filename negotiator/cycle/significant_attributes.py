"""The significant attributes of a live pool: jobs that are equal in these may be offered as one request.

Source: HTCondor manual, "Significant Attributes"; ``Matchmaker::compute_significant_attrs`` (``matchmaker.cpp``).
"""

from __future__ import annotations

from typing import Final

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.offered_slots import slots_to_match
from negotiator.cycle.reference_closure import SCOPE_NAMES, ReferenceClosure
from negotiator.cycle.requests import SUBMITTER_ATTRIBUTES
from negotiator.pool.ad_kind import SUBMITTER

#: A job of its own: with these attributes no two jobs are alike.
_EACH_JOB: Final = frozenset({"clusterid", "procid"})

_ALWAYS: Final = frozenset(
    {"concurrencylimits", "jobuniverse", "requestcpus", "requestdisk", "requestmemory"}
    | {name.lower() for name in SUBMITTER_ATTRIBUTES if name != SUBMITTER}
    | SCOPE_NAMES
)
_AMOUNT_OF_SLOT: Final = "totalslot"


def significant_attributes(slots: Table, bundle: Bundle) -> frozenset[str]:
    """Return the job attributes, in lower case, that a cycle with these slots can read of any job.

    A schedd adds what the expressions of its jobs read. If an expression or a plugin may read any attribute, the ids of the jobs are
    among them: then each job is a request of its own.
    """
    slots = slots_to_match(slots, bundle)
    requests = frozenset(
        f"request{name.removeprefix(_AMOUNT_OF_SLOT)}"
        for name in slots.names()
        if name.startswith(_AMOUNT_OF_SLOT)
    )
    closure = ReferenceClosure(slots, exact=not SCOPE_NAMES & slots.names(), requests=requests)
    found, before = closure.of_bundle(bundle), bundle.source.job_attributes
    known = _ALWAYS | requests | (found or frozenset()) | (before or frozenset())
    return known if found is not None and before is not None else known | _EACH_JOB

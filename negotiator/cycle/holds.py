"""Applications that administrators keep out of matching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from negotiator.cycle.reasons import core_reason
from negotiator.hooks.records import Mask
from negotiator.queues.applications import ApplicationId, ApplicationRegistry, Keys
from negotiator.records import Reason, Station, Verdict


@attrs.frozen
class ApplicationHold:
    """A hold on an application: the administrator, the time in seconds since the epoch, and a note."""

    by: str
    at: float
    note: str = ""


def held_jobs(
    keys: Keys, registry: ApplicationRegistry, held: Mapping[ApplicationId, ApplicationHold]
) -> Iterator[tuple[Mask, Reason]]:
    """Yield, for each held application, the mask of its jobs, (N,), and the reason.

    :param keys: the keys of the jobs' applications in the registry, (N,).
    """
    for application, hold in held.items():
        note = f": {hold.note}" if hold.note else ""
        text = f"its application was taken out of matching by {hold.by}{note}"
        reason = core_reason(Station.PLACE, Verdict.WAITING, "held_by_admin", text)
        yield keys == registry.key(application), reason

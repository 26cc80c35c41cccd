"""Why a verdict fell, and which rule of whom made it fall."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import attrs

from negotiator.records.source import Source


class Verdict(enum.StrEnum):
    """Four answers that are not the same thing, and must never be told as if they were."""

    DENIED = "denied"  # a rule says no, and will say no again
    WAITING = "waiting"  # nothing forbids it; what it needs is in use
    MISCONFIGURED = "misconfigured"  # the ad or the bundle is wrong, somebody has to mend it
    BROKEN_PLUGIN = "broken_plugin"  # a policy could not be asked, so nothing was granted


class Station(enum.StrEnum):
    """The stations of a negotiation cycle, in the order of the river."""

    ADMIT = "admit"
    PLACE = "place"
    ORDER = "order"
    MATCH = "match"
    CHARGE = "charge"
    RECORD = "record"
    SETTLE = "settle"


class Mode(enum.StrEnum):
    """How far a policy may go."""

    ENFORCE = "enforce"  # it decides
    WARN = "warn"  # it does not decide; each match that it would have forbidden is marked, and recorded
    DRYRUN = "dryrun"  # it does not decide; what it would have done is counted, and recorded


@attrs.frozen
class Provenance:
    """Where a verdict comes from: the station, the plugin that made it, the rule, and where that is written."""

    station: Station
    plugin: str
    version: str
    rule: str
    source: Source | None = None

    def __str__(self) -> str:
        """``expressions: small-machines (pool.yaml:12:3)``."""
        where = f" ({self.source})" if self.source else ""
        return f"{self.plugin}: {self.rule}{where}"


def _no_numbers() -> Mapping[str, int | float | str]:
    return {}


@attrs.frozen
class Reason:
    """One reason of one verdict.

    ``code`` is for machines (``slot_requirements``, ``plugin_error``), ``text`` is a sentence for people, and
    ``numbers`` hold what was compared (``needed``, ``used``, ``limit``, ...).
    """

    verdict: Verdict
    code: str
    text: str
    provenance: Provenance
    mode: Mode = Mode.ENFORCE
    numbers: Mapping[str, int | float | str] = attrs.field(factory=_no_numbers)

"""Reasons of verdicts, with their provenance."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import attrs

from negotiator.records.problem import Source


class Verdict(enum.StrEnum):
    """Four answers with different meanings, which must not be confused."""

    DENIED = "denied"  # a rule forbids it, and will again
    WAITING = "waiting"  # nothing forbids it, but the resources it needs are in use
    MISCONFIGURED = "misconfigured"  # the ad or the bundle is wrong and has to be corrected
    BROKEN_PLUGIN = "broken_plugin"  # a policy plugin failed, so nothing was granted


class Station(enum.StrEnum):
    """The stations of a negotiation cycle, in their order."""

    ADMIT = "admit"
    PLACE = "place"
    ORDER = "order"
    MATCH = "match"
    CHARGE = "charge"
    RECORD = "record"
    SETTLE = "settle"


class Mode(enum.StrEnum):
    """The effect of a policy's verdict."""

    ENFORCE = "enforce"  # it decides
    WARN = "warn"  # it does not decide; each match that it would deny is marked and recorded
    DRYRUN = "dryrun"  # it does not decide; its denials are counted and recorded


#: The name of the core as the plugin of a ``Provenance``; no plugin can have it.
CORE = "negotiator"


@attrs.frozen
class Provenance:
    """The origin of a verdict: the station, the plugin, the rule, and the file and line of the rule."""

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
    """The reason of a verdict.

    ``code`` is for programs (``slot_requirements``, ``plugin_error``), ``text`` is a sentence for people, and
    ``numbers`` are the values that were compared (``needed``, ``used``, ``limit``, ...).

    >>> import negotiator as n
    >>> result = n.run(n.read_pool("examples/first-pool"), n.load_bundle("policies/limits"), now=1_800_000_000)
    >>> reason = result.explain("18.1").reason
    >>> str(reason.verdict), reason.code, reason.numbers["limit"]
    ('waiting', 'user_limit', 16000)
    """

    verdict: Verdict
    code: str
    text: str
    provenance: Provenance
    mode: Mode = Mode.ENFORCE
    numbers: Mapping[str, int | float | str] = attrs.field(factory=_no_numbers)

    @property
    def is_of_policy(self) -> bool:
        """True if a rule of a policy denies something: neither the ads nor the order of requests."""
        return self.verdict is Verdict.DENIED and self.provenance.plugin != CORE

"""Metrics in the text format of Prometheus.

Names and labels follow Prometheus's conventions: base units, ``_total`` for counters. No label has a user, a job or a queue with room: the
number of series does not grow with the pool. Counters are of the negotiator's process, and begin at 0 when it starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Final

import attrs
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from negotiator import __version__
from negotiator.app.health import NegotiatorStatus
from negotiator.app.overview import PoolContents, PoolOverview
from negotiator.queues import ROOT
from negotiator.service.overviews import Overviews

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

#: Maxima of queues are shown from this use on, at most so many.
_NEARLY_FULL: Final = 0.8
_MOST: Final = 100
#: The resources that queues.yaml counts in thousandths.
_THOUSANDTHS: Final = frozenset({"vcore"})


def metrics_text(overviews: Overviews) -> bytes:
    """Return all metrics of the last overview, and of the negotiator that uses the state."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_PoolMetrics(overviews))
    return generate_latest(registry)


@attrs.frozen(eq=False)
class _PoolMetrics(Collector):
    overviews: Overviews

    def collect(self) -> Iterator[Metric]:
        """Yield the families of metrics."""
        yield _gauge("negotiator_build_info", "The version, as a label.", [((__version__,), 1)], ("version",))
        yield _gauge(
            "negotiator_pool_readable", "1 if the pool could be read last time.", not self.overviews.failure
        )
        shown = self.overviews.shown
        if shown is None:
            return
        overview = shown.overview
        yield _gauge("negotiator_pool_read_timestamp_seconds", "When the pool was read.", overview.now)
        yield from _of_contents(overview.contents)
        yield from _of_negotiator(overview)


def _of_contents(contents: PoolContents) -> Iterator[Metric]:
    """Yield what the pool holds and what of it is used."""
    yield _gauge("negotiator_hosts", "Machines of the pool.", len(contents.hosts))
    yield _gauge("negotiator_slots", "Slots of the pool.", sum(host.slots for host in contents.hosts))
    yield _gauge(
        "negotiator_running_jobs",
        "Jobs that have a slot, or that were matched with one.",
        contents.running_jobs,
    )
    yield _gauge("negotiator_idle_jobs", "Jobs that wait for a slot.", contents.idle_jobs)
    yield _gauge(
        "negotiator_rejected_jobs",
        "Idle jobs that are not considered: no queue, held, ...",
        contents.rejected,
    )
    used = contents.used(ROOT)
    help_ = "bytes of memory, cores, else whole units"
    for name, amounts in (("capacity", contents.capacity), ("used", used)):
        values = [((resource,), _base(resource, amounts[resource])) for resource in sorted(amounts)]
        yield _gauge(
            f"negotiator_resource_{name}",
            f"What the pool has or uses of a resource: {help_}.",
            values,
            ("resource",),
        )
    help_ = f"Use of the maxima of queues of which at least {_NEARLY_FULL:.0%} are used."
    fullest = nlargest(_MOST, _nearly_full(contents), key=itemgetter(1))
    yield _gauge("negotiator_queue_used_ratio", help_, fullest, ("queue", "resource"))


def _nearly_full(contents: PoolContents) -> Iterator[tuple[tuple[str, ...], float]]:
    for queue in contents.queues:
        for name, most in queue.config.max.items():
            used = contents.used(queue.path).get(name, 0)
            ratio = used / most if most else float(used > 0)
            if ratio >= _NEARLY_FULL:
                yield (queue.path, name), ratio


def _base(resource: str, amount: int) -> float:
    return amount / 1000 if resource in _THOUSANDTHS else amount


def _of_negotiator(overview: PoolOverview) -> Iterator[Metric]:
    """Yield what the negotiator of the state did; nothing without a state."""
    health = overview.health
    if health is None:
        return
    yield _gauge(
        "negotiator_healthy",
        "1 if the negotiator runs, and its last cycle took place or it is standby.",
        health.health.is_sound,
    )
    status = health.status
    if status is None:
        return
    yield _gauge(
        "negotiator_start_timestamp_seconds", "When the negotiator's process started.", status.started
    )
    totals = status.totals
    for name, text, value in (
        ("negotiator_cycles", "Negotiation cycles that took place.", totals.cycles),
        ("negotiator_failed_cycles", "Negotiation cycles that did not take place.", totals.failed),
        ("negotiator_cycle_duration_seconds", "Seconds of the cycles that took place.", totals.seconds),
        ("negotiator_matches", "Matches that were made.", totals.matches),
        ("negotiator_undelivered_matches", "Matches that could not be delivered.", totals.undelivered),
    ):
        yield CounterMetricFamily(name, text, value=value)
    yield from _of_last_cycle(status)


def _of_last_cycle(status: NegotiatorStatus) -> Iterator[Metric]:
    last = status.last
    if last is None:
        return
    yield _gauge("negotiator_last_cycle_timestamp_seconds", "When the last cycle ended.", last.ended)
    yield _gauge(
        "negotiator_last_cycle_duration_seconds", "Seconds of the last cycle.", last.ended - last.begun
    )
    yield _gauge("negotiator_last_cycle_slots", "Slots that the last cycle read.", last.slots)
    yield _gauge("negotiator_last_cycle_jobs", "Job ads that the last cycle read.", last.jobs)
    values = [((each.station, each.verdict, each.code), each.jobs) for each in last.unmatched]
    text = "Jobs of the last cycle that got no slot, by the reason that took their last candidates."
    yield _gauge("negotiator_last_cycle_unmatched_jobs", text, values, ("station", "verdict", "code"))
    text = "Daemons of the pool that did not answer in the last cycle."
    yield _gauge("negotiator_last_cycle_unanswered", text, len(last.unanswered))
    text = "Running jobs that broke a rule when the last cycle began."
    yield _gauge("negotiator_last_cycle_overruns", text, last.overruns)
    text = "Limits that running jobs exceeded when the last cycle began."
    yield _gauge("negotiator_last_cycle_limits_exceeded", text, last.limits_exceeded)
    text = "Running jobs that not every rule could judge when the last cycle began."
    yield _gauge("negotiator_last_cycle_unjudged", text, last.unjudged)


def _gauge(
    name: str,
    text: str,
    values: float | Sequence[tuple[tuple[str, ...], float]],
    labels: tuple[str, ...] = (),
) -> GaugeMetricFamily:
    """Return a gauge: one value, or one for each combination of labels."""
    if isinstance(values, Sequence):
        family = GaugeMetricFamily(name, text, labels=labels)
        for label_values, value in values:
            family.add_metric(label_values, value)
        return family
    return GaugeMetricFamily(name, text, value=float(values))

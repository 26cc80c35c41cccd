"""Sums up a cycle for people: what each rule removed, what each submitter or queue got, and the calls of plugins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import attrs

from negotiator.cycle.result import CycleResult
from negotiator.hooks.answers import PluginInfo, PluginStatus
from negotiator.hooks.order import ShareUse
from negotiator.pool.secrets import redact
from negotiator.records import Reason
from negotiator.records.text import printable
from negotiator.runtime.cycle_history import CycleDetails, HolderShare, PluginUse, RuleEffect

_MOST: Final = 500  # rules, and holders of shares
_LONGEST: Final = 500  # characters of a text

_RuleKey: TypeAlias = tuple[str, ...]


def cycle_details(
    result: CycleResult, ended: float, effects: Sequence[RuleEffect], plugins: Iterable[PluginInfo]
) -> CycleDetails:
    """Return the details of a cycle.

    :param ended: when it ended, in seconds since the epoch.
    :param effects: the effect of each rule.
    """
    return CycleDetails(
        number=result.number,
        ended=ended,
        rules=tuple(effects[:_MOST]),
        shares=tuple(_shares(result)),
        plugins=tuple(map(_plugin, plugins)),
    )


@attrs.define(eq=False)
class _Sums:
    """The sums of one reason of a rule."""

    example: Reason
    ads: int = 0
    requests: int = 0
    removed: int = 0
    rejected: int = 0
    decisive: int = 0
    jobs: int = 0
    warned: int = 0
    overruns: int = 0

    @property
    def counts(self) -> dict[str, Any]:
        """The sums by name."""
        return attrs.asdict(self, filter=lambda field, _: field.name != "example")


def rule_effects(result: CycleResult) -> list[RuleEffect]:
    """Return the effect of each rule in a cycle, those first that were decisive for most jobs, then those that removed most."""
    found: dict[_RuleKey, _Sums] = {}

    def sums(reason: Reason) -> _Sums:
        key = _key(reason)
        if key not in found:
            found[key] = _Sums(reason)
        return found[key]

    for discarded in result.discarded:
        sums(discarded.reason).ads += discarded.count
    for outcome in result.outcomes:
        # A rule may have several reasons: one for each part of an expression, or each limited resource.
        touched: set[_Sums] = set()
        for removal in outcome.removals:
            own = sums(removal.reason)
            own.removed += removal.removed
            own.rejected += removal.rejected
            touched.add(own)
        for own in touched:
            own.requests += 1
            own.jobs += outcome.unmatched
        for match in outcome.matches:
            for own in set(map(sums, match.warnings)):
                own.warned += 1
    for each in result.overrun_counts:
        sums(each.reason).overruns += each.jobs
    for rejection in result.rejections:
        sums(rejection.reason).decisive += rejection.jobs
    order = sorted(
        found.items(), key=lambda item: (-item[1].decisive, -item[1].removed, -item[1].ads, item[0])
    )
    return [RuleEffect(**_names(key), text=_text(own.example.text), **own.counts) for key, own in order]


def _names(key: _RuleKey) -> dict[str, Any]:
    return dict(zip(("station", "plugin", "rule", "source", "mode", "verdict", "code"), key, strict=True))


def _key(reason: Reason) -> _RuleKey:
    origin = reason.provenance
    texts = (origin.plugin, origin.rule, str(origin.source or ""))
    return (
        str(origin.station),
        *map(_text, texts),
        str(reason.mode),
        str(reason.verdict),
        _text(reason.code),
    )


def _shares(result: CycleResult) -> Iterator[HolderShare]:
    """Yield what each holder of a share was entitled to and got, and the reason of most of its jobs that wait."""
    waiting: dict[str, Counter[tuple[str, str]]] = {}
    for outcome in result.outcomes:
        rejection = outcome.rejection
        if rejection is not None:
            reason = rejection.reason.code, rejection.reason.text
            for holder in {outcome.request.submitter, outcome.request.queue}:
                waiting.setdefault(holder, Counter())[reason] += rejection.jobs
    for share in result.shares[:_MOST]:
        yield _share(share, waiting.get(share.holder, Counter()))


def _share(share: ShareUse, waiting: Counter[tuple[str, str]]) -> HolderShare:
    ((code, text), _), *_ = waiting.most_common(1) or [(("", ""), 0)]
    return HolderShare(
        holder=_text(share.holder),
        unit=_text(share.unit),
        priority=share.priority,
        entitled=share.entitled,
        used_before=share.used_before,
        used=share.used,
        granted=share.granted,
        waiting=waiting.total(),
        code=_text(code),
        text=_text(text),
    )


def _plugin(info: PluginInfo) -> PluginUse:
    return PluginUse(
        name=_text(info.name),
        version=_text(info.version),
        calls=info.calls,
        seconds=info.seconds,
        failures=info.failures,
        slow_calls=info.slow_calls,
        is_off=info.status is PluginStatus.OFF,
        last_failure=_text(info.last_failure),
    )


def _text(text: str) -> str:
    return redact(printable(text))[:_LONGEST]

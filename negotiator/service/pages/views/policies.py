"""*Policies*: what each rule did in the last cycle, and the rules that did nothing."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from markupsafe import Markup

from negotiator.app.cycles import CycleHistory, RuleActivity, RuleEffect
from negotiator.bundle.rules import BundleRule
from negotiator.service.pages.views.elements import Moment, Rows, message, moment, picture
from negotiator.service.pages.views.sources import SourcePlace, source_place


@attrs.frozen
class EffectRow:
    """What one reason of a rule did."""

    rule: str
    text: str
    source: SourcePlace
    station: str
    mode: str
    verdict: str
    ads: str
    requests: str
    removed: str
    rejected: str
    warned: str
    overruns: str
    decisive: str
    picture: Markup


@attrs.frozen
class IdleRule:
    """A rule of the bundle that did nothing in the last cycles; ``is_all`` if it did nothing since it is counted."""

    rule: str
    text: str
    source: SourcePlace
    mode: str
    idle: str
    cycles: str
    since: Moment | None
    is_all: bool


@attrs.frozen
class PoliciesView:
    """The page. ``is_present`` is False if the last cycle had another bundle than the one of now."""

    number: str
    ended: Moment | None
    effects: Rows
    idle: Rows
    is_present: bool


def policies_view(
    history: CycleHistory,
    bundle: str,
    digest: str,
    files: Mapping[str, bytes],
    rules: tuple[BundleRule, ...],
) -> PoliciesView | None:
    """Return the page; None before the first cycle.

    :param bundle: the digest of the bundle of the last cycle; ``digest`` that of the bundle of now.
    :param files: those of the bundle of now, by name.
    :param rules: those of the bundle of now.
    """
    details = history.last
    if details is None:
        return None
    is_present = bundle == digest
    most = max((each.decisive for each in details.rules), default=0)
    known = files if is_present else {}
    effects = [_effect(each, most, known) for each in details.rules]
    texts = {each.digest: each.text for each in rules}
    idle = [each for each in history.rules if each.idle and each.digest in texts]
    idle.sort(key=lambda each: -each.idle)
    return PoliciesView(
        f"{details.number}",
        moment(details.ended),
        Rows.first(effects, len(effects)),
        Rows.first((_idle(each, texts[each.digest], files) for each in idle), len(idle)),
        is_present,
    )


def _effect(effect: RuleEffect, most: int, files: Mapping[str, bytes]) -> EffectRow:
    return EffectRow(
        message(": ".join(filter(None, (effect.plugin, effect.rule)))),
        message(effect.text),
        source_place(effect.source, files),
        message(effect.station),
        message(effect.mode),
        message(effect.verdict),
        _count(effect.ads),
        _count(effect.requests),
        _count(effect.removed),
        _count(effect.rejected),
        _count(effect.warned),
        _count(effect.overruns),
        _count(effect.decisive),
        picture(round(effect.decisive * 100 / most, 1) if most else 0.0),
    )


def _idle(activity: RuleActivity, text: str, files: Mapping[str, bytes]) -> IdleRule:
    return IdleRule(
        message(f"{activity.plugin}: {activity.rule}"),
        message(text),
        source_place(activity.source, files),
        message(activity.mode),
        f"{activity.idle:,}",
        f"{activity.cycles:,}",
        moment(activity.since),
        not activity.active,
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else ""

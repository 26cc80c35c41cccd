"""*Policies*: what each rule did in the last cycle, and the rules that did nothing."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from markupsafe import Markup

from negotiator.app.cycles import CycleDetails, RuleEffect
from negotiator.bundle.expressions import BundleExpression
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
    decisive: str
    picture: Markup


@attrs.frozen
class IdleRule:
    """An expression of the bundle that did nothing in the last cycle."""

    rule: str
    text: str
    source: SourcePlace


@attrs.frozen
class PoliciesView:
    """The page. ``is_present`` is False if the last cycle had another bundle than the one of now."""

    number: str
    ended: Moment | None
    effects: Rows
    idle: Rows
    is_present: bool


def policies_view(
    details: CycleDetails,
    bundle: str,
    digest: str,
    files: Mapping[str, bytes],
    configured: tuple[BundleExpression, ...],
) -> PoliciesView:
    """Return the page.

    :param bundle: the digest of the bundle of the last cycle; ``digest`` that of the bundle of now.
    :param files: those of the bundle of now, by name.
    :param configured: the expressions of the bundle of now.
    """
    is_present = bundle == digest
    most = max((each.decisive for each in details.rules), default=0)
    known = files if is_present else {}
    effects = [_effect(each, most, known) for each in details.rules]
    active = {each.source for each in details.rules}
    idle = [each for each in configured if is_present and each.source and str(each.source) not in active]
    return PoliciesView(
        f"{details.number}",
        moment(details.ended),
        Rows.first(effects, len(effects)),
        Rows.first((_idle(each, files) for each in idle), len(idle)),
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
        _count(effect.decisive),
        picture(round(effect.decisive * 100 / most, 1) if most else 0.0),
    )


def _idle(expression: BundleExpression, files: Mapping[str, bytes]) -> IdleRule:
    return IdleRule(
        message(expression.rule), message(expression.text or ""), source_place(str(expression.source), files)
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else ""

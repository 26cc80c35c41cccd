"""How many cycles each rule of the bundle was counted for, and in how many of them it did something."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from negotiator.bundle.rules import BundleRule
from negotiator.runtime import stored_fields


@attrs.frozen(kw_only=True)
class RuleActivity:
    """How often a rule of the bundle did something: it discarded an ad, rejected a slot, or would have if it enforced.

    ``digest`` is that of the rule's text and mode: with another one, counting begins anew. ``since`` is the end of the first cycle that
    counts, ``last`` that of the last one in which it did something (None: in none), in seconds since the epoch. ``cycles`` counts the
    cycles, ``active`` those of them in which it did something, and ``idle`` those since.
    """

    plugin: str = stored_fields.text()
    rule: str = stored_fields.text()
    source: str = stored_fields.text()
    mode: str = stored_fields.text()
    digest: str = stored_fields.text()
    since: float = stored_fields.number()
    cycles: int = stored_fields.counter()
    active: int = stored_fields.counter()
    idle: int = stored_fields.counter()
    last: float | None = stored_fields.optional_number()


def with_cycle(
    before: Sequence[RuleActivity], rules: Sequence[BundleRule], active: Collection[str], ended: float
) -> tuple[RuleActivity, ...]:
    """Return the activity of the rules of a bundle after one more cycle.

    :param before: until then; a rule that is not in the bundle any more is left out.
    :param active: the digests of the rules that did something in the cycle.
    :param ended: the end of the cycle, in seconds since the epoch.
    """
    known = {each.digest: each for each in before}
    return tuple(_counted(known.get(rule.digest), rule, rule.digest in active, ended) for rule in rules)


def _counted(before: RuleActivity | None, rule: BundleRule, is_active: bool, ended: float) -> RuleActivity:  # noqa: FBT001
    return RuleActivity(
        plugin=rule.plugin,
        rule=rule.rule,
        source=str(rule.source),
        mode=str(rule.mode),
        digest=rule.digest,
        since=before.since if before else ended,
        cycles=(before.cycles if before else 0) + 1,
        active=(before.active if before else 0) + is_active,
        idle=0 if is_active else (before.idle if before else 0) + 1,
        last=ended if is_active else before.last if before else None,
    )

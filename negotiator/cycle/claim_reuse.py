"""What the plan of a bundle for the reuse of claims means in a pool: by slot, by match, and which rules it leaves out there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs
import numpy as np

from negotiator.bundle.model import Bundle, MatchMode
from negotiator.bundle.reuse import POLICY, Bypass, ReusePlan
from negotiator.classad import Ad, Expr, Side, Table, conjuncts, evaluate, is_true, parse_ad, references
from negotiator.classad.syntax import Attr, Paren, fold, scope_side
from negotiator.hooks.overruns import Reuse
from negotiator.hooks.records import Mask, Match
from negotiator.pool import Snapshot

#: The expressions of a slot that usually lead to its START. ``SavedRequirements`` are its own under NegotiatorRequirements.
_USUAL: Final = ("Requirements", "SavedRequirements", "Start")
_MOST_NAMES: Final = 32
_DENYING: Final = parse_ad(f"[{POLICY} = false]")
_EMPTY: Final = Ad()
#: The first version whose schedd heeds RestrictToAuthenticatedIdentity (HTCONDOR-1175).
_OLDEST: Final = (10, 3)
_VERSION: Final = re.compile(r"\$CondorVersion: (\d+)\.(\d+)\.", re.ASCII)
_MOST_NAMED: Final = 3


def tests_policy(slots: Table) -> Mask:
    """Return the slots whose START denies a job for which the policy of their match is false, (N,)."""
    names: tuple[str, ...] = _USUAL
    while True:
        groups, first = slots.group_expressions(names)
        found = [_Test.of(slots.ad(row)) for row in first.tolist()]
        further = {name for each in found for name in each.names} - {fold(each) for each in names}
        if not further or len(names) > _MOST_NAMES:
            return np.array([each.denies for each in found], np.bool_)[groups]
        names = (*names, *sorted(further))


def filled_slots(bundle: Bundle, slots: Table) -> Mask | None:
    """Return the slots of which a match may fill a partitionable one, (N,); None if there are none.

    The schedd divides a slot that is filled, which it does only if the claim may be used for further jobs.
    """
    if bundle.match is not MatchMode.FILL:
        return None
    plan = ReusePlan.of(bundle)
    if not plan.restrains:
        return np.ones(len(slots), np.bool_)
    return None if plan.tested is Reuse.NEVER else tests_policy(slots)


def reuse_of_matches(plan: ReusePlan, matches: Iterable[Match]) -> dict[str, Reuse]:
    """Return, by id, for which further jobs the claims of matches may be used; those for any job are left out."""
    if not plan.restrains:
        return {}
    known: dict[tuple[int, ...], bool] = {}
    found: dict[str, Reuse] = {}
    for match in matches:
        slot = match.slot_ad
        key = tuple(id(slot.get(name)) for name in _USUAL)
        test = known.get(key)
        if test is None:
            of_slot = _Test.of(slot)
            test = of_slot.denies
            if of_slot.names <= {fold(each) for each in _USUAL}:
                known[key] = test
        found[match.id] = plan.tested if test else plan.untested
    return found


@attrs.frozen(kw_only=True)
class ReuseReport:
    """What a pool makes of the plan: how many of its slots test the policy, and the rules that jobs may break there.

    ``one_job`` is how many slots have claims for one job only. ``notes`` are sentences on why, and on what that costs.
    """

    slots: int = 0
    one_job: int = 0
    bypasses: tuple[Bypass, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, plan: ReusePlan, pool: Snapshot) -> ReuseReport:
        """Return the report of a pool."""
        count = len(pool.slots)
        one_job = 0
        if plan.restrains:
            tested = int(np.count_nonzero(tests_policy(pool.slots)))
            one_job = count if plan.tested is Reuse.NEVER else count - tested
        old = _old_schedds(pool.schedds) if one_job else ""
        bypasses = (*plan.bypasses, *(_of_old(plan, old) if old else ()))
        notes = tuple(_notes(plan)) if one_job else ()
        return cls(slots=count, one_job=one_job, bypasses=bypasses, notes=notes)

    @classmethod
    def of_bundle(cls, plan: ReusePlan) -> ReuseReport:
        """Return what is known without a pool: rules of which ``allow`` is written, and those that leave each claim to one job."""
        allowed = tuple(each for each in plan.bypasses if each.is_allowed)
        notes = (f"each claim is for one job: {each}" for each in _obstacles(plan))
        return cls(bypasses=allowed, notes=tuple(notes))


def _obstacles(plan: ReusePlan) -> list[str]:
    """Return the tests that no expression can say, each with why."""
    places = ((each, f" ({each.source})" if each.source else "") for each in plan.one_job_rules)
    return [f"{each.name}{place}: {each.obstacle}" for each, place in places if each.obstacle]


def _notes(plan: ReusePlan) -> Iterator[str]:
    if plan.tested is Reuse.NEVER:
        rules = _obstacles(plan)
        why = f" ({'; '.join(rules[:_MOST_NAMED])})" if rules else ""
        yield f"each claim is for one job{why}"
    else:
        yield "each claim is for one job, since START does not test the policy of a match (negotiator export startd)"
    if plan.fill:
        yield "match: fill has no effect where a claim is for one job"


def _of_old(plan: ReusePlan, old: str) -> Iterator[Bypass]:
    why = f"{old} use a claim for further jobs whatever the match says: HTCondor {'.'.join(map(str, _OLDEST))} is needed"
    for each in plan.rules:
        if each.is_test and each.can_be_bypassed and each.reuse is not Reuse.ALLOW:
            yield Bypass(rule=each.name, source=each.source, why=why)


def _old_schedds(schedds: Table) -> str:
    """Return the schedds whose version does not know that a claim is for one job, for people; empty if there are none."""
    old: list[str] = []
    versions: Sequence[str | None] = schedds.strings("CondorVersion").tolist()
    for name, version in zip(schedds.strings("Name").tolist(), versions, strict=True):
        found = _VERSION.match(version or "")
        if found is not None and (int(found[1]), int(found[2])) < _OLDEST:
            old.append(str(name))
    if not old:
        return ""
    more = f" and {len(old) - _MOST_NAMED} more" if len(old) > _MOST_NAMED else ""
    return f"{'schedd' if len(old) == 1 else 'schedds'} {', '.join(sorted(old)[:_MOST_NAMED])}{more}"


@attrs.frozen
class _Test:
    """Whether the Requirements of a slot have the test of the policy, and the attributes (lower case) that lead to it."""

    denies: bool
    names: frozenset[str]

    @classmethod
    def of(cls, slot: Ad) -> _Test:
        pending, seen = ["savedrequirements" if "SavedRequirements" in slot else "requirements"], set[str]()
        denies = False
        while pending and len(seen) < _MOST_NAMES:
            name = pending.pop()
            seen.add(name)
            expr = slot.get(name)
            for part in () if expr is None else conjuncts(expr):
                own = _own_attribute(part)
                if own is not None and own in slot:
                    pending += {own} - seen
                else:
                    denies = denies or _is_test(part)
        return cls(denies, frozenset(seen))


def _own_attribute(part: Expr) -> str | None:
    """Return the attribute of the slot that a conjunct names, in lower case; None if it is anything else."""
    while isinstance(part, Paren):
        part = part.inner
    if (
        isinstance(part, Attr)
        and not part.absolute
        and (part.scope is None or scope_side(part.scope) is Side.MY)
    ):
        return fold(part.name)
    return None


def _is_test(part: Expr) -> bool:
    found = references(part)
    if found.my | found.unscoped != {fold(POLICY)} or found.target or found.dynamic:
        return False  # it may be true for a job that the policy denies, such as one that says so itself
    return evaluate(part, _DENYING) is False and is_true(evaluate(part, _EMPTY))

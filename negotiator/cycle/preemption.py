"""Preemption: the slots with running jobs that a request may get, and what a match with each of them ends.

Source: HTCondor manual, "Preemption" and PREEMPTION_REQUIREMENTS; the behaviour of condor_negotiator 25.14.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Final

import attrs
import numpy as np

from negotiator.classad import Ad, Environment, Expr, Side, Table, bind, parse
from negotiator.classad.columnar import ColumnCache, TrueRows
from negotiator.classad.syntax import Binary, Literal, fold
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.dynamic_slots import DynamicSlots, EnlargedSlots, wants_joint_preemption
from negotiator.cycle.numbering import Numbers
from negotiator.cycle.rank import Ranks
from negotiator.cycle.result import ONLY_BY_RANK
from negotiator.cycle.slot_order import RankValues
from negotiator.hooks.order import ClaimedAllowance
from negotiator.hooks.records import Mask, Request
from negotiator.hooks.slot_offer import Preemption, PreemptionRules, PreemptionStates, PreemptionVictims
from negotiator.records import Provenance, Reason, Source, Station, Verdict

_CURRENT = "(MY.PreemptingRank ?: MY.CurrentRank)"
_PREFERS: Expr = bind(parse(f"MY.Rank > {_CURRENT}"))
_LIKES_AS_MUCH: Expr = bind(parse(f"MY.Rank >= {_CURRENT}"))
_LIKES_LESS: Expr = bind(parse(f"MY.Rank < {_CURRENT}"))
#: The rank of slots that are free: no preemption rank is lower.
_NO_RANK = float(-np.finfo(np.float32).max)
#: The codes of the reasons of slots that keep the job that they run.
KEEPS_JOB: Final = frozenset(
    {"runs_own_job", "preemption_requirements", "slot_rank", "not_preemptable", "dynamic_slot"}
)


@attrs.frozen(eq=False)
class PreemptingCandidates:
    """What matches of one request end, (N,), and the order of slots that are equal in all else, (N,) each."""

    states: PreemptionStates
    ranks: tuple[RankValues, ...]  # most significant first


@attrs.frozen(eq=False)
class SlotPreemption:
    """The rules of preemption over the slots of one cycle; ``plugin`` has the name and version of the order."""

    rules: PreemptionRules
    cache: ColumnCache[TrueRows]
    pool_ranks: Ranks
    plugin: tuple[str, str]
    dynamic: DynamicSlots | None = None  # those of which a match may end several

    @cached_property
    def ends_no_job(self) -> bool:
        """True if no match may end a job, whatever the request: all jobs are protected, and no slot prefers another one."""
        written, prefers = self.rules.requirements, self.cache.dependencies_of(_PREFERS, Side.MY)
        may_end = not isinstance(written, Literal) or written.value is True
        if may_end or self.rules.joint is not None or prefers.names or not prefers.within_limits:
            return False
        return prefers.cacheable and not (self.has_user & self.cache.get(_PREFERS, Ad(), Side.MY).rows).any()

    def _keep_all(self, candidates: CandidateSet, submitter: str, claimed: ClaimedAllowance) -> int:
        """Remove the slots with jobs where no match may end any; return how many the requirements protect."""
        if claimed.only_by_rank:
            candidates.remove_all(ONLY_BY_RANK)
            return 0
        key = fold(submitter)
        if key not in self._kept:
            own = self.has_user & self._is_of(submitter)
            self._kept[key] = TrueRows.from_mask(own), TrueRows.from_mask(self.has_user & ~own)
        own_jobs, others = self._kept[key]
        candidates.remove_rows(own_jobs, self._own)
        left = candidates.left
        candidates.remove_rows(others, self._protected)
        return left - candidates.left

    @cached_property
    def _kept(self) -> dict[str, tuple[TrueRows, TrueRows]]:
        """The slots that run jobs of each submitter, and those that run other ones."""
        return {}

    @cached_property
    def has_user(self) -> Mask:
        """The slots that run a job of somebody, (N,)."""
        return np.array(self.rules.users != "", np.bool_)

    def apply(
        self, candidates: CandidateSet, request: Request, env: Environment, claimed: ClaimedAllowance
    ) -> tuple[PreemptingCandidates | None, int]:
        """Remove the slots whose jobs a request may not end.

        :returns: what matches with the others end, None if all of them are free; and the number of slots whose jobs
            the requirements protect.
        """
        if claimed.victims is not None:
            return self._of_victims(candidates, request, env, claimed.victims), 0
        if self.ends_no_job:
            return None, self._keep_all(candidates, request.submitter, claimed)
        if self.rules.joint is not None and self.rules.joint.exclusive:
            candidates.remove(self.rules.joint.slots, self._together)
        by_rank = self.has_user & self.cache.get(_PREFERS, request.ad, Side.MY, env).rows
        others = self.has_user & ~by_rank
        protected = 0
        if claimed.only_by_rank:
            candidates.remove(~by_rank, ONLY_BY_RANK)
        elif others.any():
            own = others & self._is_of(request.submitter)
            candidates.remove(own, self._own)
            others &= ~own
            if self.requirements is not None:
                refused = others & ~self.allowed(request.ad, env)
                protected = int(np.count_nonzero(refused & candidates.keep))
                candidates.remove(refused, self._protected)
                others &= ~refused
            likes = self.cache.get(_LIKES_AS_MUCH, request.ad, Side.MY, env).rows
            candidates.remove(others & ~likes, self._liked_less)
        if not (self.has_user & candidates.keep).any():
            return None, protected
        states = np.full(len(by_rank), Preemption.NONE, np.int8)
        states[self.has_user] = Preemption.PRIORITY
        states[by_rank] = Preemption.RANK
        return PreemptingCandidates(
            states, (states.astype(np.float64), self.ranks(request.ad, env))
        ), protected

    def enlarged(
        self,
        request: Request,
        env: Environment,
        claimed: ClaimedAllowance,
        tried: Mask,
        matches: Callable[[Table], Mask],
        listing: object,
    ) -> EnlargedSlots | None:
        """Return the partitionable slots that match once jobs of several of their dynamic slots end.

        :param tried: the slots that do not match as they are, and that the request may get, (N,).
        :param matches: returns which slots of a table match the request.
        :param listing: see ``DynamicSlots.find``.
        """
        if self.dynamic is None or not wants_joint_preemption(request):
            return None
        if claimed.victims is not None:
            return self.dynamic.find_victims(request, env, tried, matches, self.pool_ranks, claimed.victims)
        by_priority = None
        # As in condor_negotiator, empty requirements are true of no dynamic slot.
        if not claimed.only_by_rank and self.requirements is not None:
            by_priority = self.allowed(request.ad, env) & ~self._is_of(request.submitter)
        rank = partial(Ranks.of_pool, rank=self.rules.rank, job=request.ad, env=env)
        return self.dynamic.find(
            request, env, tried, matches, self.pool_ranks, by_priority, rank, listing=listing
        )

    def with_enlarged(
        self, preempting: PreemptingCandidates | None, enlarged: EnlargedSlots
    ) -> PreemptingCandidates:
        """Return the candidates with partitionable slots of which jobs end; their ranks are those of ``EnlargedSlots``."""
        if preempting is None:
            states = np.full(len(self.has_user), Preemption.NONE, np.int8)
            ranks = (
                () if enlarged.is_of_victims else (states.astype(np.float64), np.full(len(states), _NO_RANK))
            )
            preempting = PreemptingCandidates(states, ranks)
        states = preempting.states.copy()
        states[enlarged.rows] = enlarged.states
        return PreemptingCandidates(states, preempting.ranks)

    def allowed(self, job: Ad, env: Environment) -> Mask:
        """Return the slots of which the requirements are true for a job, (N,); all without requirements."""
        if self.requirements is None:
            return np.ones(len(self.rules.users), np.bool_)
        return self.cache.get(self.requirements, job, Side.MY, env).rows

    def ranks(self, job: Ad, env: Environment) -> RankValues:
        """Return the rank of preemption of the slots for a job, (N,); that of slots without users is the lowest."""
        return np.where(self.has_user, self.pool_ranks.of_pool(self.rules.rank, job, env), _NO_RANK)

    def _of_victims(
        self, candidates: CandidateSet, request: Request, env: Environment, victims: PreemptionVictims
    ) -> PreemptingCandidates | None:
        """Remove all slots but those whose jobs the turn may end."""
        ending = self.has_user & victims.slots
        text = "no job that may be ended for this one runs on the slot"
        candidates.remove(~ending, self._reason("not_preemptable", text, victims.rule, victims.source))
        liked_less = ending & self.cache.get(_LIKES_LESS, request.ad, Side.MY, env).rows
        candidates.remove(liked_less, self._liked_less)
        if not candidates.keep.any():
            return None
        states = np.where(ending, Preemption.GUARANTEE, Preemption.NONE).astype(np.int8)
        return PreemptingCandidates(states, ())

    @cached_property
    def requirements(self) -> Expr | None:
        """The condition that a job of another user may be ended."""
        written = self.rules.requirements
        # The boolean true alone counts: a number is a condition everywhere else.
        return None if written is None else bind(Binary("=?=", written, Literal(True)))

    def _is_of(self, submitter: str) -> Mask:
        """Return the slots that run a job of a submitter, (N,)."""
        codes, names = self._users
        return np.array(codes == names.get(fold(submitter), -1), np.bool_)

    @cached_property
    def _users(self) -> tuple[Numbers, dict[str, int]]:
        names: dict[str, int] = {}
        users = self.rules.users.tolist()
        folded = {user: fold(user) for user in set(users)}
        codes = [names.setdefault(folded[user], len(names)) for user in users]
        return np.array(codes, np.int64), names

    @cached_property
    def _own(self) -> Reason:
        return self._reason(
            "runs_own_job", "the slot runs a job of the submitter, and does not prefer this one", "Rank"
        )

    @cached_property
    def _together(self) -> Reason:
        text = "the job in a dynamic slot ends only for a match with its partitionable slot"
        return self._reason("dynamic_slot", text, "ALLOW_PSLOT_PREEMPTION")

    @cached_property
    def _protected(self) -> Reason:
        text = "PREEMPTION_REQUIREMENTS is not true: the slot keeps its job"
        return self._reason("preemption_requirements", text, "PREEMPTION_REQUIREMENTS")

    @cached_property
    def _liked_less(self) -> Reason:
        return self._reason("slot_rank", "the slot prefers the job that it runs", "Rank")

    def _reason(self, code: str, text: str, rule: str, source: Source | None = None) -> Reason:
        return Reason(Verdict.WAITING, code, text, Provenance(Station.MATCH, *self.plugin, rule, source))

"""The steps of evaluation that each owner of jobs, and each machine, may cause in one cycle.

Ads are expressions that users write. Steps are counted, not seconds, so that a cycle can be replayed. An owner who has no
steps left gets no slot in this cycle; a machine without steps left is matched with nobody. All others lose nothing.

One person may have many names. What owners take beyond the steps of their plain ads is also taken from a budget of all of them
together. Once it is used up, further ones wait for the next cycle, in which those who took from it come after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from negotiator.classad import Allowance, Payers, Table
from negotiator.classad.syntax import AttributeMap, fold
from negotiator.cycle.reasons import WORK_EXCEEDED, WORK_WAITS
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle
from negotiator.pool.ad_kind import string_value
from negotiator.records import Reason

#: Steps of an owner for each slot of the pool, of at least so many slots, and for each of the owner's job ads:
#: many times what plain ads take, and less than a second in a pool of 5,000 slots.
STEPS_EACH_SLOT: Final = 400
LEAST_SLOTS: Final = 1_000
STEPS_EACH_AD: Final = 1_000
#: Each ad is matched with all slots: one more step for this many. A plain ad takes fewer even if it can reuse nothing that
#: other ads were evaluated for.
SLOTS_OF_STEP: Final = 2

#: Steps of a machine, and for each request that its slots are matched with.
STEPS_EACH_MACHINE: Final = 200_000
STEPS_EACH_REQUEST: Final = 600

#: What owners take beyond plain ads, all of them together, is what so many of them may take alone.
OWNERS_TOGETHER: Final = 2

_UNLIMITED: Final = 1 << 62


@attrs.define(eq=False)
class OwnerAllowance(Allowance):
    """The steps of an owner that are left now.

    ``plain`` are those of plain ads, which are not taken from the budget of all owners. ``given`` are those that the owner may take,
    ``kept_back`` those of them that the budget of all owners does not allow now, and ``shared`` what was taken from it.
    """

    name: str
    plain: int
    given: int
    kept_back: int = 0
    shared: int = 0

    @property
    def waits(self) -> bool:
        """True if no steps are left because other owners took those of all of them."""
        return self.exhausted and self.steps + self.kept_back > 0


@attrs.define(eq=False)
class _SharedBudget:
    """The steps that owners may take beyond those of their plain ads, all of them together.

    ``costly`` are owners who come after all others: they took from it since everybody had a turn.
    """

    left: int
    costly: frozenset[str]
    _current: OwnerAllowance | None = attrs.field(default=None, init=False)
    _waiting: set[str] = attrs.field(factory=set, init=False)
    _took: set[str] = attrs.field(factory=set, init=False)

    def begin(self, owner: OwnerAllowance) -> None:
        """Let an owner take what is left, once it is known what the one before took."""
        current, self._current = self._current, owner
        if current is not owner:
            if current is not None:
                self._settle(current)
            self._limit(owner)

    def _settle(self, owner: OwnerAllowance) -> None:
        taken = owner.given - owner.steps - owner.kept_back
        shared = max(0, taken - owner.plain)
        if shared > owner.shared:
            self._took.add(owner.name)
            self.left -= shared - owner.shared
            owner.shared = shared
        if owner.waits:
            self._waiting.add(owner.name)

    def _limit(self, owner: OwnerAllowance) -> None:
        left = owner.steps + owner.kept_back
        plain = max(0, owner.plain - (owner.given - left))
        may_take = 0 if owner.name in self.costly else max(0, self.left)
        owner.steps = min(left, plain + may_take)
        owner.kept_back = left - owner.steps

    def taken(self) -> tuple[str, ...]:
        """Return the owners who come after all others in the next cycle, sorted; none once nobody but them waits."""
        if self._current is not None:
            self._settle(self._current)
        if not self._waiting - self.costly:
            return ()
        return tuple(sorted(self.costly | (self._took - self._waiting)))


@attrs.define(eq=False)
class WorkAccounts:
    """The allowances of one cycle. ``ads`` is the number of job ads of each owner."""

    slots: int
    ads: Mapping[str, int]
    steps_each_machine: int = STEPS_EACH_MACHINE
    costly: frozenset[str] = frozenset()  # owners who come after all others
    _owners: dict[str, OwnerAllowance] = attrs.field(factory=dict)
    _machines: dict[str, Allowance] = attrs.field(factory=dict)
    # The owner of each request of the cycle, as ``owner_of`` names them.
    of_requests: Sequence[str] = attrs.field(default=(), init=False)
    # By the identity of the owner's allowance: the cycle, and the same in which the owner pays.
    _cycles: dict[int, tuple[Cycle, Cycle]] = attrs.field(factory=dict, init=False)
    _budget: _SharedBudget = attrs.field(init=False)
    # The last job and its owner's: a turn looks the same one up several times.
    _last: tuple[AttributeMap, OwnerAllowance] | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._budget = _SharedBudget(OWNERS_TOGETHER * self._steps_of_expressions, self.costly)

    @classmethod
    def of(cls, slots: Table, jobs: Table, costly: Iterable[str] = ()) -> WorkAccounts:
        """Return the accounts of a pool, nothing charged.

        :param costly: what ``costly_owners`` returned in the cycle before.
        """
        return cls(len(slots), _ads_of_owners(jobs), costly=frozenset(costly))

    def for_ads(self, cycle: Cycle, kind: AdKind) -> Cycle:
        """Return the cycle for hooks that test a table of ads: each ad pays for itself."""
        rows = self.owner if kind is AdKind.JOB else self.machine
        return attrs.evolve(cycle, payers=Payers(rows, expression=Allowance(_UNLIMITED)))

    def for_job(self, cycle: Cycle, job: AttributeMap) -> Cycle:
        """Return the cycle for matching one job: its owner pays for the job's expressions, each machine for its own."""
        return self._paid_by(cycle, self.owner(job))

    def _paid_by(self, cycle: Cycle, owner: Allowance) -> Cycle:
        known = self._cycles.get(id(owner))
        if known is None or known[0] is not cycle:  # an owner has many turns in the same cycle
            known = self._cycles[id(owner)] = (
                cycle,
                Cycle(cycle.number, cycle.now, cycle.digest, Payers(self.machine, owner)),
            )
        return known[1]

    def for_request(self, cycle: Cycle, queued: QueuedRequest) -> Cycle:
        """Return the cycle for a turn of a request, as ``for_job`` does; ``of_requests`` has its owner."""
        return self._paid_by(cycle, self._of_owner(self.of_requests[queued.number]))

    def before_matching(self, requests: int) -> None:
        """Give each machine the steps for being matched with so many requests."""
        self._machines.clear()
        self._cycles.clear()
        self.steps_each_machine = STEPS_EACH_MACHINE + STEPS_EACH_REQUEST * requests

    def owner(self, job: AttributeMap) -> Allowance:
        """Return the allowance of the owner of a job."""
        if self._last is None or self._last[0] is not job:
            self._last = job, self._of_owner(owner_of(job))
        else:
            self._budget.begin(self._last[1])
        return self._last[1]

    def _of_owner(self, name: str) -> OwnerAllowance:
        found = self._owners.get(name)
        if found is None:
            ads, each = self.ads.get(name, 0), STEPS_EACH_AD + self.slots // SLOTS_OF_STEP
            steps = self._steps_of_expressions + ads * each
            found = self._owners[name] = OwnerAllowance(steps, name, max(ads, 1) * each, steps)
        self._budget.begin(found)
        return found

    @property
    def _steps_of_expressions(self) -> int:
        """The steps of each owner beside those of plain ads."""
        return STEPS_EACH_SLOT * max(self.slots, LEAST_SLOTS)

    def costly_owners(self) -> tuple[str, ...]:
        """Return the owners who took from the budget of all owners, and come after others in the next cycle; none if nobody waits."""
        return self._budget.taken()

    def machine(self, ad: AttributeMap) -> Allowance:
        """Return the allowance of the machine of a slot; of the ad's Name for other daemons."""
        name = fold(string_value(ad, "Machine") or string_value(ad, "Name"))
        found = self._machines.get(name)
        if found is None:
            found = self._machines[name] = Allowance(self.steps_each_machine)
        return found


def for_policy(cycle: Cycle) -> Cycle:
    """Return the cycle for evaluating an expression of the administrator for a request: only the ads' attributes cost."""
    if cycle.payers is None:
        return cycle
    return attrs.evolve(cycle, payers=attrs.evolve(cycle.payers, expression=Allowance(_UNLIMITED)))


def is_exceeded(cycle: Cycle) -> bool:
    """True if the owner of the request that is being matched has no steps left."""
    return cycle.payers is not None and cycle.payers.exhausted


def work_reason(cycle: Cycle) -> Reason:
    """Return why the owner of the request that is being matched has no steps left."""
    owner = None if cycle.payers is None else cycle.payers.other
    return WORK_WAITS if isinstance(owner, OwnerAllowance) and owner.waits else WORK_EXCEEDED


def owner_of(job: AttributeMap) -> str:
    """Return the owner of a job in lower case, as far as it is a constant; empty otherwise.

    Also of an ad of which a plugin may read other attributes only: the cycle reads this one, to charge what the plugin evaluates.
    """
    job = job.unlimited()
    return fold(string_value(job, "Owner") or string_value(job, "User"))


def _ads_of_owners(jobs: Table) -> Mapping[str, int]:
    """Return how many job ads each owner has: as ``owner_of`` names them."""
    return Counter(owners_of(jobs))


def owners_of(jobs: Table) -> list[str]:
    """Return the owner of each job, as ``owner_of`` does."""
    if not len(jobs):
        return []
    groups, first = jobs.group(["Owner", "User"])
    names = [owner_of(jobs.ad(row)) for row in first.tolist()]
    return [names[group] for group in groups.tolist()]

"""Decides about the pool of a policy test: one production cycle, after an earlier one if the test wants it."""

from __future__ import annotations

from typing import Self

import attrs

from negotiator.app.access import AccessAnswer, access_report
from negotiator.app.policy_tests.accounts import set_accounts
from negotiator.app.policy_tests.file import AccessExpectation, PolicyTest
from negotiator.app.policy_tests.pool import pool_of
from negotiator.bundle import Bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.jobs import with_idle_jobs
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleResult
from negotiator.explain.job import JobOutcome, outcome_of, why_not_served
from negotiator.hooks.records import Cycle
from negotiator.pool import Snapshot
from negotiator.runtime.state_manager import StateManager


@attrs.frozen(eq=False)
class PolicyTestCycle:
    """The pool of a test, the state before its cycle, and what the cycle decided."""

    pool: Snapshot
    bundle: Bundle
    cycle: Cycle
    state: CycleState
    result: CycleResult
    access: tuple[AccessAnswer, ...]  # to the questions of the test, in their order

    @classmethod
    def of(cls, test: PolicyTest, bundle: Bundle) -> Self:
        """Run the cycle of a test.

        :raises SettingsError: the pool, the accounts or the time of the test are invalid.
        """
        pool, now = pool_of(test), test.time
        begun = now - (test.since_last_cycle or 0)
        state_manager = StateManager.begin(bundle, begun)
        set_accounts(test, pool, state_manager, begun)
        if test.since_last_cycle:
            running = with_idle_jobs(pool)
            before = _state(test, state_manager, running, begun)
            state_manager.adopt(run_cycle(running, bundle, Cycle(1, begun, bundle.digest), before))
        cycle = Cycle(2 if test.since_last_cycle else 1, now, bundle.digest)
        state = _state(test, state_manager, pool, now)
        access = tuple(_access(each, test, bundle, now) for each in test.access)
        return cls(pool, bundle, cycle, state, run_cycle(pool, bundle, cycle, state), access)

    def outcome(self, row: int, job: str, schedd: str) -> JobOutcome:
        """Return what the cycle decided about a job.

        :param row: its row among the jobs of the pool.
        """
        found = outcome_of(self.result, job, schedd)
        if found is not None:
            return found
        reasons = why_not_served(self.pool, self.bundle, self.cycle, self.state, row)
        return JobOutcome(reason=reasons[0])


def _state(test: PolicyTest, state_manager: StateManager, pool: Snapshot, now: float) -> CycleState:
    """Return the state before a cycle, with the groups of the test."""
    state, _ = state_manager.cycle_state(pool, now)
    groups = {user: tuple(own) for user, own in (test.groups or {}).items()}
    return attrs.evolve(state, groups={**state.groups, **groups})


def _access(expected: AccessExpectation, test: PolicyTest, bundle: Bundle, now: float) -> AccessAnswer:
    """Return whether a user may do something; the groups of the test precede those that plugins know."""
    user = expected.user.text
    groups = expected.groups or (test.groups or {}).get(user, [])
    paths = () if expected.may.of_configuration else (expected.queue.lower(),)
    report = access_report(bundle, user, groups, paths, now)
    return next(each for each in report.answers if each.kind is expected.may)

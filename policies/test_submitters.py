"""The example bundles of fair share and of preemption: who gets how much, and which running jobs have to leave."""

from collections import Counter
from pathlib import Path

import attrs
import pytest

import pools
from negotiator.bundle import load_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle, PreemptedJob

HERE = Path(__file__).parent
WEEK = 7 * 86_400

#: The slots that users of TestPreemption used for a week.
USE = {"ann@d": 6, "bob@d": 7, "eve@d": 8, "dan@d": 10}


def used_slot(number, user, **changed):
    """Return a slot of one core that runs a job of a user."""
    own = {"State": '"Claimed"', "RemoteUser": f'"{user}"', "RemoteOwner": f'"{user}"', "Cpus": "1"}
    own |= {"JobId": f'"{number + 90}.0"', "Rank": "0.0", "CurrentRank": "0.0"}
    return pools.slot(number, **(own | changed))


def waiting(cluster, user, count, **changed):
    """Return idle jobs of a user."""
    own = {"Owner": f'"{user.partition("@")[0]}"', "User": f'"{user}"', "ClusterId": str(cluster)}
    return [pools.job(number, **(own | changed)) for number in range(count)]


def run(name, slots, jobs, use=None):
    """Return the result of a cycle under a bundle, after a week in which users used these numbers of slots."""
    bundle = load_bundle(HERE / name)
    state, now = None, pools.NOW
    if use is not None:
        users = [user for user, count in use.items() for _ in range(count)]
        busy = pools.snapshot([used_slot(number, user) for number, user in enumerate(users)])
        state, now = run_cycle(busy, bundle, Cycle(1, now, bundle.digest)).state, now + WEEK
        state = attrs.evolve(state, journal=())
    return run_cycle(pools.snapshot(slots, jobs), bundle, Cycle(2, now, bundle.digest), state)


class TestFairShare:
    ANN, SUE, IDA = "ann@example.org", "sue@example.org", "ida@partner.org"

    def shares(self, slots, jobs, use=None):
        """Return the number of matches by user."""
        return Counter(entry.submitter for entry in run("fair-share", slots, jobs, use).journal)

    @staticmethod
    def small(count):
        return [pools.slot(number, Cpus="1", SlotWeight="1") for number in range(count)]

    def test_use_of_a_week_counts_half_after_it(self):
        """The real priorities are (0.5 + 4) / 2 and (0.5 + 1) / 2: three to one."""
        jobs = waiting(1, self.ANN, 40) + waiting(2, self.SUE, 40)
        found = self.shares(self.small(40), jobs, {self.ANN: 4, self.SUE: 1})
        assert found == {self.ANN: 10, self.SUE: 30}

    def test_users_of_other_domains_get_a_quarter(self):
        jobs = waiting(1, self.ANN, 40) + waiting(2, self.IDA, 40)
        assert self.shares(self.small(25), jobs) == {self.ANN: 20, self.IDA: 5}

    def test_users_of_other_domains_get_what_nobody_else_wants(self):
        jobs = waiting(1, self.ANN, 5) + waiting(2, self.IDA, 40)
        assert self.shares(self.small(25), jobs) == {self.ANN: 5, self.IDA: 20}

    @pytest.mark.parametrize("trick", [{}, {"Cpus": "0"}, {"Memory": "0"}, {"SlotWeight": "0"}])
    def test_a_slot_with_much_memory_costs_as_much_as_its_part_of_a_machine(self, trick):
        """The pool weighs 24, and each share of 12 buys three large slots, or eight small ones and a large one."""
        large = [pools.slot(number, Cpus="1", SlotWeight="1", Memory="16384") for number in range(8, 12)]
        jobs = waiting(1, self.ANN, 40, Requirements="TARGET.Memory > 8192", **trick)
        jobs += waiting(2, self.SUE, 40)
        assert self.shares(self.small(8) + large, jobs) == {self.ANN: 3, self.SUE: 9}


class TestPreemption:
    """After a week the priority of bob is 17 % worse than ann's, eve's 33 %, and dan's 66 %."""

    ANN, BOB, EVE, DAN = "ann@d", "bob@d", "eve@d", "dan@d"

    def ended(self, slots, count, user=ANN, **changed):
        """Return the jobs that a cycle ends, by slot: the matches of a user's jobs in their order."""
        result = run("preemption", slots, waiting(1, user, count, **changed), USE)
        return {match.slot: match.preempts for match in result.matches}

    def test_a_priority_has_to_be_20_percent_better(self):
        slots = [used_slot(number, user, TotalJobRunTime="7200") for number, user in enumerate(USE)]
        assert self.ended(slots, 4) == {
            "s3@h": PreemptedJob(self.DAN, "priority"),
            "s2@h": PreemptedJob(self.EVE, "priority"),
        }

    def test_nobody_ends_jobs_of_users_with_a_better_priority(self):
        slots = [used_slot(number, user, TotalJobRunTime="7200") for number, user in enumerate(USE)]
        assert not self.ended(slots, 4, self.DAN)

    @pytest.mark.parametrize(
        ("run_time", "ends"),
        [("3600", True), ("3599", False), ("0", False), (None, False), ('"7200"', False), ("error", False)],
    )
    def test_a_job_may_run_for_an_hour(self, run_time, ends):
        assert bool(self.ended([used_slot(0, self.DAN, TotalJobRunTime=run_time)], 1)) is ends

    @pytest.mark.parametrize(
        "trick", [{"TotalJobRunTime": "9999"}, {"SubmitterUserPrio": "0"}, {"RemoteUserPrio": "1e9"}]
    )
    def test_no_attribute_of_the_job_circumvents_the_policy(self, trick):
        slots = [used_slot(0, self.DAN), used_slot(1, self.BOB, TotalJobRunTime="7200")]
        assert not self.ended(slots, 2, **trick)

    def test_the_job_of_the_worst_user_that_loses_least_leaves_first(self):
        users = [(self.EVE, "4000"), (self.DAN, "7300"), (self.DAN, "7200"), (self.EVE, "40000")]
        slots = [used_slot(n, user, TotalJobRunTime=seconds) for n, (user, seconds) in enumerate(users)]
        assert list(self.ended(slots, 4)) == ["s2@h", "s1@h", "s0@h", "s3@h"]

    def test_free_slots_come_first(self):
        slots = [used_slot(0, self.DAN, TotalJobRunTime="7200"), pools.slot(1, Cpus="1", Rank="0.0")]
        assert self.ended(slots, 1) == {"s1@h": None}

    def test_a_slot_that_prefers_a_job_takes_it_at_once_from_any_user(self):
        preferring = used_slot(0, self.ANN, Rank='TARGET.Project =?= "bio"', TotalJobRunTime="5")
        assert not self.ended([preferring], 1, self.DAN)
        assert self.ended([preferring], 1, self.DAN, Project='"bio"') == {
            "s0@h": PreemptedJob(self.ANN, "rank")
        }

    def test_a_slot_that_prefers_its_own_job_keeps_it(self):
        assert not self.ended([used_slot(0, self.DAN, CurrentRank="1.0", TotalJobRunTime="7200")], 1)

    def test_a_retirement_time_protects_from_both_kinds(self):
        protected = {"TotalJobRunTime": "7200", "RetirementTimeRemaining": "60"}
        slots = [used_slot(0, self.DAN, **protected), used_slot(1, self.DAN, Rank="1.0", **protected)]
        assert not self.ended(slots, 2)

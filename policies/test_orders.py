"""The example bundles of accounting groups and of the order of queues: who gets how much."""

from collections import Counter
from pathlib import Path

import pytest

import pools

HERE = Path(__file__).parent


class TestAccountingGroups:
    """Forty slots with one core each."""

    NAME = "accounting-groups"

    def run(self, jobs, **changed):
        """Return the number of matches by accounting name, given the numbers of jobs."""
        ads = []
        for cluster, (name, count) in enumerate(jobs.items(), 1):
            user = name.rpartition(".")[2]
            own = {"Owner": f'"{user}"', "User": f'"{user}@d"', "ClusterId": str(cluster)}
            own["AccountingGroup"] = f'"{name}"' if "." in name else None
            ads += [pools.job(number, **(own | changed)) for number in range(count)]
        slots = [pools.slot(number, Cpus="1") for number in range(40)]
        result = pools.cycle(pools.snapshot(slots, ads), HERE / self.NAME)
        return dict(Counter(entry.submitter.removesuffix("@d") for entry in result.journal))

    def test_each_group_gets_its_quota_if_all_want_more(self):
        wanted = ["physics.ann", "physics.cms.eve", "physics.atlas.sue", "biology.tim", "students.bob", "joe"]
        assert self.run(dict.fromkeys(wanted, 40)) == {
            "physics.ann": 6,
            "physics.cms.eve": 12,
            "physics.atlas.sue": 6,
            "biology.tim": 6,
            "students.bob": 4,
            "joe": 6,
        }

    @pytest.mark.parametrize(
        ("wanted", "matched"),
        [
            (["physics.cms.eve"], {"physics.cms.eve": 24}),
            (["physics.cms.eve", "physics.atlas.sue"], {"physics.cms.eve": 16, "physics.atlas.sue": 8}),
            (["biology.tim"], {"biology.tim": 40}),
            (["students.bob", "students.kim"], {"students.bob": 2, "students.kim": 2}),
        ],
    )
    def test_surplus_goes_to_groups_that_accept_it_and_no_further(self, wanted, matched):
        assert self.run(dict.fromkeys(wanted, 40)) == matched

    def test_visitors_get_what_is_left_in_the_end_and_little_beside_others(self):
        assert self.run({"physics.cms.eve": 40, "visitors.ida": 40}) == {
            "physics.cms.eve": 24,
            "visitors.ida": 16,
        }
        assert self.run({"joe": 40, "visitors.ida": 40}) == {"joe": 36, "visitors.ida": 4}

    @pytest.mark.parametrize(
        "trick",
        [
            {"AcctGroup": '"biology"'},
            {"SubmitterNegotiatingGroup": '"biology"'},
            {"SubmitterAutoregroup": "true"},
            {"WeightedIdleJobs": "1e9"},
            {"AccountingGroup": '"students.nobody.bob"'},
            {"AccountingGroup": '"STUDENTS.bob"'},
        ],
    )
    def test_no_attribute_of_the_job_circumvents_the_quota_of_its_group(self, trick):
        assert sum(self.run({"students.bob": 40}, **trick).values()) == 4


class TestQueueOrder:
    @staticmethod
    def served(slots, **jobs):
        """Return the number of jobs of each queue that get one of so many slots; 9 jobs wait in each queue."""
        ads = [
            pools.job(
                number,
                ClusterId=str(cluster),
                Queue=f'"root.{queue.replace("_", ".")}"',
                JobPrio=str(priority),
                RequestCpus="1",
                RequestMemory="1",
            )
            for cluster, (queue, priority) in enumerate(jobs.items(), 1)
            for number in range(9)
        ]
        result = pools.cycle(
            pools.snapshot([pools.slot(n, Cpus="1") for n in range(slots)], ads), HERE / "queue-order"
        )
        return {each.path.removeprefix("root."): each.granted for each in result.order}

    def test_production_gets_twice_as_much_as_research_whatever_their_priorities(self):
        assert self.served(9, production_day=0, research=999) == {"production.day": 6, "research": 3}

    def test_the_day_is_before_the_night(self):
        assert self.served(6, production_day=0, production_night=4) == {
            "production.day": 6,
            "production.night": 0,
        }
        assert self.served(6, production_day=0, production_night=6) == {
            "production.day": 0,
            "production.night": 6,
        }

    def test_scavengers_get_what_is_left(self):
        assert self.served(9, research=0, scavenger=9999) == {"research": 9, "scavenger": 0}
        assert self.served(12, research=0, scavenger=9999) == {"research": 9, "scavenger": 3}

    def test_machines_in_use_are_filled_first(self):
        slots = [
            pools.slot(0, Machine='"idle"'),
            pools.slot(1, Machine='"used"', State='"Claimed"'),
            pools.slot(2, Machine='"used"'),
        ]
        result = pools.cycle(
            pools.snapshot(slots, [pools.job(Queue='"root.research"')]), HERE / "queue-order"
        )
        assert [match.slot for match in result.matches] == ["s2@h"]

    @staticmethod
    def ended(waited, **used):
        """Return how many jobs of each queue are ended for production, whose 9 jobs have waited for so many seconds."""
        slots, jobs = [], []
        for number, queue in enumerate(name for name, count in used.items() for _ in range(count)):
            ids = {"GlobalJobId": f'"h#{90 + number}.0#1"'}
            one = {"RequestCpus": "1", "RequestMemory": "1", "ClusterId": str(90 + number)}
            taken = {
                "RemoteUser": '"tester@d"',
                "JobId": f'"{90 + number}.0"',
                "JobStart": str(1000 + number),
            }
            slots.append(pools.slot(number, Cpus="1", State='"Claimed"', **taken, **ids))
            host = {"RemoteHost": f'"s{number}@h"', "JobStatus": "2", "JobPrio": "99"}
            jobs.append(pools.job(Queue=f'"root.{queue}"', **one, **host, **ids))
        for number in range(9):
            one = {"RequestCpus": "1", "RequestMemory": "1", "QDate": str(int(pools.NOW) - waited)}
            jobs.append(pools.job(number, Queue='"root.production.day"', **one))
        result = pools.cycle(pools.snapshot(slots, jobs), HERE / "queue-order")
        return Counter(match.preempts.queue.removeprefix("root.") for match in result.matches)

    def test_production_takes_its_guarantee_back_from_scavengers_first_and_then_from_research(self):
        assert self.ended(600, research=10, scavenger=2) == {"scavenger": 2, "research": 6}

    def test_research_keeps_its_guarantee(self):
        assert self.ended(600, research=4, scavenger=1) == {"scavenger": 1}

    def test_jobs_wait_for_ten_minutes_before_others_are_ended(self):
        assert not self.ended(599, research=10, scavenger=2)

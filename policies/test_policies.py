"""The ads that each example bundle admits and refuses; no attribute of an ad circumvents a policy."""

from collections import Counter
from pathlib import Path

import attrs
import pytest

import pools
from negotiator.bundle import check_bundle, load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import AccessDecision, AccessKind, AccessQuestion, Cycle
from negotiator.queues import QueueTree
from negotiator.records import Station
from pools import matched, rules

HERE = Path(__file__).parent
BUNDLES = sorted(path.name for path in HERE.iterdir() if path.is_dir() and not path.name.startswith("_"))


@pytest.mark.parametrize("name", BUNDLES)
def test_every_example_bundle_passes_check_without_a_remark(name):
    assert [str(problem) for problem in check_bundle(HERE / name) if not _is_expected(problem)] == []


def _is_expected(problem):
    """True for a notice about the original system's file, which has a macro of its own."""
    return "MINIMUM_MEMORY" in problem.message


class TestMinimumMachine:
    def test_a_machine_under_128_mb_is_discarded(self, pool):
        result = pool.slot(TotalMemory="64").slot(TotalMemory="128").job().decide(HERE / "minimum-machine")
        assert matched(result) == [("1.0", "s1@h")]
        assert "minimum-memory" in rules(result)

    def test_a_slot_with_all_memory_in_use_is_not_a_small_machine(self, pool):
        result = pool.slot(TotalMemory="8192", Memory="0").job().decide(HERE / "minimum-machine")
        assert matched(result) == [("1.0", "s0@h")]

    def test_a_slow_machine_is_discarded(self, pool):
        result = pool.slot(Mips="999").slot(Mips="1000").job().decide(HERE / "minimum-machine")
        assert matched(result) == [("1.0", "s1@h")]


class TestRestartLimit:
    @pytest.mark.parametrize(("starts", "runs"), [("0", True), ("11", True), ("12", False), (None, True)])
    def test_a_job_may_be_restarted_ten_times(self, pool, starts, runs):
        result = pool.slot().job(NumJobStarts=starts).decide(HERE / "restart-limit")
        assert bool(matched(result)) is runs

    @pytest.mark.parametrize("starts", ['"0"', "error", "{ 1 }", "[ a = 1 ]"])
    def test_an_attribute_of_another_type_does_not_circumvent_the_limit(self, pool, starts):
        assert not matched(pool.slot().job(NumJobStarts=starts).decide(HERE / "restart-limit"))

    def test_other_users_are_not_limited(self, pool):
        result = pool.slot().job(Owner='"alice"', NumJobStarts="99").decide(HERE / "restart-limit")
        assert matched(result)


class TestLowQualityMachines:
    def test_the_group_gets_slow_machines_only_and_others_get_any(self, pool):
        pool.slot(Mips="9000").slot(Mips="2000").slot()
        pool.job(AcctGroup='"group_students"').job(Owner='"alice"', User='"alice@d"')
        result = pool.decide(HERE / "low-quality-machines")
        assert ("1.0", "s1@h") in matched(result)
        assert len(matched(result)) == 2

    @pytest.mark.parametrize(
        "trick",
        [
            {"Mips": "1"},
            {"TARGET": "[ Mips = 1 ]"},
            {"students_on_low_quality_machines": "true"},
            {"MY": '[ AcctGroup = "x" ]'},
        ],
    )
    def test_no_attribute_of_the_job_circumvents_the_policy(self, pool, trick):
        pool.slot(Mips="9000").job(AcctGroup='"group_students"', **trick)
        assert not matched(pool.decide(HERE / "low-quality-machines"))


class TestGroupPrograms:
    @pytest.mark.parametrize(
        ("group", "program", "licences", "runs"),
        [
            ('"group_bio"', '"/opt/bio/blast"', "true", True),
            ('"group_bio"', '"/bin/sleep"', "true", False),
            ('"group_bio"', '"/bin/sleep"', "false", True),
            ('"group_bio"', '"/opt/bio/blast"', None, False),
            (None, '"/bin/sleep"', "true", True),
            (None, '"/opt/bio/hmmer"', "false", False),
        ],
    )
    def test_programs_of_the_group_run_on_their_machines_only(self, pool, group, program, licences, runs):
        result = (
            pool.slot(HasLicences=licences).job(AcctGroup=group, Cmd=program).decide(HERE / "group-programs")
        )
        assert bool(matched(result)) is runs


class TestSanityChecks:
    @pytest.mark.parametrize(
        "wrong", [{"Cpus": '"four"'}, {"Memory": None}, {"Disk": "-1"}, {"TotalMemory": "1"}]
    )
    def test_a_slot_with_impossible_values_is_discarded(self, pool, wrong):
        assert not matched(pool.slot(**wrong).job().decide(HERE / "sanity-checks"))

    @pytest.mark.parametrize(
        "wrong", [{"Owner": None}, {"Owner": '""'}, {"RequestCpus": "-1"}, {"RequestMemory": '"all"'}]
    )
    def test_a_job_with_impossible_values_is_discarded(self, pool, wrong):
        assert not matched(pool.slot().job(**wrong).decide(HERE / "sanity-checks"))

    def test_valid_ads_are_admitted(self, pool):
        assert matched(pool.slot(TotalMemory="8192").job(RequestCpus="1").decide(HERE / "sanity-checks"))

    def test_a_schedd_without_a_name_is_discarded_with_its_jobs(self, pool):
        result = pool.schedd(MyType='"Scheduler"').slot().job().decide(HERE / "sanity-checks")
        assert not matched(result)


class TestAuditChosenMatches:
    def test_the_bundle_selects_matches_by_an_expression_and_no_denials(self):
        audit = load_bundle(HERE / "audit-chosen-matches").audit
        assert audit.matches.text.startswith("MY.Owner")
        assert audit.denials == "none"


class TestOriginalSystem:
    def test_the_file_of_the_original_system_works_unchanged(self, pool):
        pool.slot(TotalMemory="100").slot(Mips="10").slot(OnBattery="true").slot(Mips="9000").slot(
            Mips="2000"
        )
        pool.job(NumJobStarts="11").job(AcctGroup='"group_students"')
        result = pool.decide(HERE / "original-system")
        assert matched(result) == [("1.1", "s4@h")]

    def test_the_jobs_of_a_discarded_schedd_are_discarded(self, pool):
        pool.schedd(Name='"untrusted.example.org"').schedd(Name='"good"').slot().slot()
        pool.job(GlobalJobId='"untrusted.example.org#1.0#5"').job(GlobalJobId='"good#1.1#5"')
        assert [job for job, _ in matched(pool.decide(HERE / "original-system"))] == ["1.1"]


def queue_of(name, user, groups=None, **attributes):
    """Return the queue of a user's job under a bundle, None if it is rejected; groups come from the plugins.

    The job requests memory and cores, which limited queues require.
    """
    bundle = load_bundle(HERE / name)
    known, _ = bundle.hooks.user_groups([user], pools.NOW, bundle.settings)
    state = attrs.evolve(
        CycleState.new(bundle, pools.NOW), groups=known if groups is None else {user: groups}
    )
    job = pools.job(Owner=f'"{user}"', **({"RequestMemory": "512", "RequestCpus": "1"} | attributes))
    pool = pools.snapshot([pools.slot()], [job])
    result = run_cycle(pool, bundle, Cycle(1, pools.NOW, bundle.digest), state)
    return next((match.queue for match in result.matches), None)


class TestPlacementRules:
    NAME = "placement-rules"

    @pytest.mark.parametrize(
        ("user", "groups", "attributes", "queue"),
        [
            ("sarah", ("sarah", "test_app", "dev_app"), {"namespace": '"newapp"'}, "root.dev.newapp.sarah"),
            ("john", ("john",), {"namespace": '"testing"'}, "root.namespaces.testing"),
            ("john", ("john",), {}, "root.production"),
            ("bob", ("bob",), {"namespace": '"testapp"'}, "root.production"),
            ("sue", ("sue",), {"namespace": '"testapp"'}, "root.users.sue"),
            ("finance.test", (), {}, "root.users.finance_dot_test"),
        ],
    )
    def test_each_user_has_a_queue(self, user, groups, attributes, queue):
        assert queue_of(self.NAME, user, groups, **attributes) == queue

    def test_a_group_name_that_only_contains_dev_is_not_a_developer_group(self):
        assert queue_of(self.NAME, "eve", ("webdev",), namespace='"newapp"') == "root.users.eve"

    @pytest.mark.parametrize(
        "requested_queue", ["root.production", "production", "root.PRODUCTION", "root.production.x"]
    )
    def test_requesting_production_gives_no_access_to_it(self, requested_queue):
        assert queue_of(self.NAME, "eve", ("eve",), Queue=f'"{requested_queue}"') == "root.users.eve"

    def test_an_operator_may_request_any_queue(self):
        assert queue_of(self.NAME, "olga", ("operators",), Queue='"production"') == "root.production"


class TestQueueConfiguration:
    NAME = "queue-configuration"

    @pytest.mark.parametrize(
        ("user", "requested_queue", "queue"),
        [
            ("anna", None, "root.companya.anna"),
            ("anna", "root.companyA.development", "root.companya.development"),
            ("ben", "root.companyB.Development", "root.companyb.development"),
            ("ben", "root.companyA.development", "root.companyb.ben"),
            ("release", "root.production.companyA", "root.production.companya"),
            ("anna", "root.production.companyA", "root.companya.anna"),
            ("visitor", None, None),
            ("visitor", "root.companyA.development", None),
            ("nobody_knows", None, None),
        ],
    )
    def test_each_company_has_its_own_queues(self, user, requested_queue, queue):
        assert queue_of(self.NAME, user, Queue=requested_queue and f'"{requested_queue}"') == queue

    @pytest.mark.parametrize(
        ("user", "act", "queue", "may"),
        [
            ("anna", AccessKind.ADMINISTER, "root.companya.development", True),
            ("anna", AccessKind.ADMINISTER, "root.companyb.development", False),
            ("olga", AccessKind.ADMINISTER, "root.companyb.development", True),
            ("olga", AccessKind.CONFIGURE, "", True),
            ("anna", AccessKind.CONFIGURE, "", False),
        ],
    )
    def test_administrators_of_each_queue(self, user, act, queue, may):
        bundle = load_bundle(HERE / self.NAME)
        known, _ = bundle.hooks.user_groups([user], pools.NOW, bundle.settings)
        question = AccessQuestion(user, known[user], act, queue)
        tree = QueueTree.of(bundle.partition.root, 0)
        (answer,), _ = bundle.hooks.access([question], tree, bundle.settings)
        assert (answer.record.decision is AccessDecision.GRANT) is may

    @pytest.mark.parametrize("missing", ["RequestMemory", "RequestCpus"])
    def test_a_job_without_the_limited_request_gets_no_slot(self, missing):
        assert queue_of(self.NAME, "anna", **{missing: None}) is None
        assert queue_of(self.NAME, "ben", **{missing: None}) == "root.companyb.ben"

    @pytest.mark.parametrize(("cpus", "queue"), [("50", "root.companya.anna"), ("51", None)])
    def test_a_queue_of_a_user_has_the_maximum_of_the_template(self, cpus, queue):
        assert queue_of(self.NAME, "anna", RequestCpus=cpus) == queue

    def test_a_queue_of_a_user_starts_with_the_template(self):
        tree = QueueTree.of(load_bundle(HERE / self.NAME).partition.root, 0).mutable()
        tree.create("root.companya.anna", 1)
        assert tree.view.get("root.companyA.anna").config.max == {"vcore": 50_000}


class TestLimits:
    """Four slots; the jobs are in root.students.new, a queue that a rule creates."""

    NAME = "limits"

    def run(self, *jobs):
        """Return the number of matches, and the rules of the denials, of one cycle over jobs with these attributes."""
        defaults = {"RequestMemory": "1024", "RequestCpus": "1", "Queue": '"root.students.new"'}
        bundle = load_bundle(HERE / self.NAME)
        users = ["tester", "eve", "anna", "ben"]
        groups, _ = bundle.hooks.user_groups(users, pools.NOW, bundle.settings)
        ads = [pools.job(number, **(defaults | job)) for number, job in enumerate(jobs)]
        slots = [pools.slot(number, Cpus="32", GPUs="1") for number in range(4)]
        state = attrs.evolve(CycleState.new(bundle, pools.NOW), groups=groups)
        cycle = Cycle(1, pools.NOW, bundle.digest)
        result = run_cycle(pools.snapshot(slots, ads), bundle, cycle, state)
        rule_names = {
            each.reason.provenance.rule
            for outcome in result.outcomes
            for each in outcome.removals
            if each.reason.provenance.station is Station.CHARGE or each.reason.verdict == "misconfigured"
        }
        return len(result.matches), rule_names

    @pytest.mark.parametrize(
        ("user", "cpus", "matched", "rule"),
        [
            ("tester", "2", 3, "limit of user tester at root.students"),
            ("eve", "1", 2, "limit of user * at root.students"),
            ("tester", "7", 0, "limit of user tester at root.students"),
        ],
    )
    def test_a_named_user_has_a_limit_of_their_own(self, user, cpus, matched, rule):
        assert self.run(*[{"Owner": f'"{user}"', "RequestCpus": cpus}] * 4) == (matched, {rule})

    def test_the_users_of_a_group_share_its_limit(self):
        jobs = [
            {"Owner": f'"{user}"', "RequestCpus": cpus} for user in ("anna", "ben") for cpus in ("1", "2")
        ]
        running = [{"JobStatus": "2", "RemoteHost": '"x@h"'} | job for job in jobs[:2]]
        assert self.run(*running, jobs[3]) == (0, {"limit of group physics at root.students"})
        assert self.run(*running, jobs[2]) == (1, set())

    def test_the_limit_of_running_applications_counts_clusters(self):
        jobs = [{"Owner": '"eve"', "ClusterId": cluster} for cluster in ("1", "1", "2")]
        assert self.run(*jobs) == (2, {"limit of user * at root.students"})

    def test_the_limit_of_a_parent_queue_applies_too(self):
        big = {"Queue": '"root.default"', "RequestCpus": "8"}
        assert self.run(*[big] * 3) == (2, {"limit of user * at root"})

    def test_a_queue_has_one_gpu_for_all(self):
        jobs = [{"RequestGPUs": "1", "Owner": f'"{user}"'} for user in ("eve", "tester")]
        assert self.run(*jobs) == (1, {"maximum of root.students"})

    @pytest.mark.parametrize(
        ("limits", "matched"),
        [
            ("MATLAB:2", 1),
            ("matlab", 3),
            ("matlab:4", 0),
            ("large.idl", 2),
            ("large", 2),
            ("spice:5", 2),
            ("spice:2.5", 4),
            ("matlab, large.idl:2", 1),
        ],
    )
    def test_licences_are_limited_in_the_whole_pool(self, limits, matched):
        requested_queue = {"ConcurrencyLimits": f'"{limits}"', "Queue": '"root.default"'}
        assert self.run(*[requested_queue] * 4)[0] == matched

    def test_two_licences_of_a_group_are_counted_separately(self):
        jobs = [
            {"ConcurrencyLimits": f'"large.{name}"', "Queue": '"root.default"'}
            for name in ("a", "a", "b", "b")
        ]
        assert self.run(*jobs)[0] == 4

    @pytest.mark.parametrize(
        "trick",
        [
            {"RequestCpus": None},
            {"RequestCpus": '"1"'},
            {"RequestCpus": "-1"},
            {"RequestCpus": "error"},
            {"RequestMemory": None},
            {"RequestMemory": "{ 1 }"},
            {"RequestMemory": "-1"},
            {"RequestMemory": "undefined"},
            {"RequestGPUs": '"none"'},
            {"ConcurrencyLimits": '"matlab:0"'},
            {"ConcurrencyLimits": '"matlab:-1"'},
        ],
    )
    def test_no_attribute_of_the_job_circumvents_a_limit(self, trick):
        matched, rule_names = self.run(trick)
        assert matched == 0
        assert rule_names

    def test_a_huge_request_does_not_overflow(self):
        """2^44 MiB are 2^64 bytes, which would be 0 as an integer of 64 bits."""
        assert self.run({"RequestMemory": str(2**44)})[0] == 0


class TestRollout:
    def warned(self, pool):
        """Return the rules that would have refused the matches, with their modes."""
        result = pool.decide(HERE / "rollout")
        reasons = [reason for match in result.matches for reason in match.warnings]
        return result, Counter((reason.provenance.rule, str(reason.mode)) for reason in reasons)

    def test_a_student_above_the_limit_gets_slots_up_to_the_maximum_of_the_queue(self, pool):
        for _ in range(9):
            pool.slot().job(Queue='"root.students"', RequestCpus="1")
        result, warned = self.warned(pool)
        assert len(result.matches) == 8
        assert warned[("limit of user * at root.students", "warn")] == 6

    def test_a_licence_too_many_and_a_full_host_are_only_named(self, pool):
        for number in range(5):
            pool.slot().job(RequestCpus="1", ConcurrencyLimits='"matlab"' if number < 3 else None)
        result, warned = self.warned(pool)
        assert len(result.matches) == 5
        assert warned == {("concurrency limit matlab", "warn"): 1, ("per_host/1", "dryrun"): 1}

    def test_a_small_machine_stays_for_now(self, pool):
        result, _ = self.warned(pool.slot(TotalMemory="512").job())
        assert matched(result) == [("1.0", "s0@h")]
        assert [each.reason.mode for each in result.discarded] == ["warn"]

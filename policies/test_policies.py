"""What each example bundle keeps out, what it lets through, and that no ad gets around it."""

from pathlib import Path

import attrs
import pools
import pytest
from pools import matched, rules

from negotiator.bundle import check_bundle, load_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.standing import Standing
from negotiator.hooks import AccessQuestion, Act, Cycle, Decision
from negotiator.queues import QueueTree

HERE = Path(__file__).parent
BUNDLES = sorted(path.name for path in HERE.iterdir() if path.is_dir() and not path.name.startswith("_"))


@pytest.mark.parametrize("name", BUNDLES)
def test_every_example_bundle_passes_check_without_a_remark(name):
    assert [str(problem) for problem in check_bundle(HERE / name) if not _is_expected(problem)] == []


def _is_expected(problem):
    """The original system's file has a macro of its own; amounts of queues are counted one day."""
    return "MINIMUM_MEMORY" in problem.message or "no effect here yet" in problem.message


class TestMinimumMachine:
    def test_a_machine_under_128_mb_does_not_join(self, pool):
        result = pool.slot(TotalMemory="64").slot(TotalMemory="128").job().decide(HERE / "minimum-machine")
        assert matched(result) == [("1.0", "s1@h")]
        assert "minimum-memory" in rules(result)

    def test_a_slot_whose_memory_is_all_in_use_is_not_taken_for_a_small_machine(self, pool):
        result = pool.slot(TotalMemory="8192", Memory="0").job().decide(HERE / "minimum-machine")
        assert matched(result) == [("1.0", "s0@h")]

    def test_a_slow_machine_does_not_join(self, pool):
        result = pool.slot(Mips="999").slot(Mips="1000").job().decide(HERE / "minimum-machine")
        assert matched(result) == [("1.0", "s1@h")]


class TestRestartLimit:
    @pytest.mark.parametrize(("starts", "runs"), [("0", True), ("11", True), ("12", False), (None, True)])
    def test_a_job_may_be_restarted_ten_times(self, pool, starts, runs):
        result = pool.slot().job(NumJobStarts=starts).decide(HERE / "restart-limit")
        assert bool(matched(result)) is runs

    @pytest.mark.parametrize("starts", ['"0"', "error", "{ 1 }", "[ a = 1 ]"])
    def test_an_attribute_of_another_type_does_not_get_around_it(self, pool, starts):
        assert not matched(pool.slot().job(NumJobStarts=starts).decide(HERE / "restart-limit"))

    def test_other_users_are_not_concerned(self, pool):
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
    def test_no_attribute_of_the_job_gets_around_it(self, pool, trick):
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
    def test_a_slot_that_cannot_be_right_is_kept_out(self, pool, wrong):
        assert not matched(pool.slot(**wrong).job().decide(HERE / "sanity-checks"))

    @pytest.mark.parametrize(
        "wrong", [{"Owner": None}, {"Owner": '""'}, {"RequestCpus": "-1"}, {"RequestMemory": '"all"'}]
    )
    def test_a_job_that_cannot_be_right_is_kept_out(self, pool, wrong):
        assert not matched(pool.slot().job(**wrong).decide(HERE / "sanity-checks"))

    def test_ads_that_are_right_go_on(self, pool):
        assert matched(pool.slot(TotalMemory="8192").job(RequestCpus="1").decide(HERE / "sanity-checks"))

    def test_a_schedd_without_a_name_is_kept_out_with_its_jobs(self, pool):
        result = pool.schedd(MyType='"Scheduler"').slot().job().decide(HERE / "sanity-checks")
        assert not matched(result)


class TestAuditChosenMatches:
    def test_the_bundle_selects_matches_by_an_expression_and_no_denials(self):
        audit = load_bundle(HERE / "audit-chosen-matches").audit
        assert audit.matches.text.startswith("MY.Owner")
        assert audit.denials == "none"


class TestOriginalSystem:
    def test_its_file_works_unchanged(self, pool):
        pool.slot(TotalMemory="100").slot(Mips="10").slot(OnBattery="true").slot(Mips="9000").slot(
            Mips="2000"
        )
        pool.job(NumJobStarts="11").job(AcctGroup='"group_students"')
        result = pool.decide(HERE / "original-system")
        assert matched(result) == [("1.1", "s4@h")]

    def test_a_schedd_that_is_discarded_takes_its_jobs_along(self, pool):
        pool.schedd(Name='"untrusted.example.org"').schedd(Name='"good"').slot().slot()
        pool.job(GlobalJobId='"untrusted.example.org#1.0#5"').job(GlobalJobId='"good#1.1#5"')
        assert [job for job, _ in matched(pool.decide(HERE / "original-system"))] == ["1.1"]


def queue_of(name, user, groups=None, **attributes):
    """Where a job of a user goes under a bundle, and None where it is rejected; the groups are those that plugins know."""
    bundle = load_bundle(HERE / name)
    known, _ = bundle.hooks.user_groups([user], pools.NOW, bundle.settings)
    standing = attrs.evolve(
        Standing.new(bundle, pools.NOW), groups=known if groups is None else {user: groups}
    )
    pool = pools.snapshot([pools.slot()], [pools.job(Owner=f'"{user}"', **attributes)])
    result = run_cycle(pool, bundle, Cycle(1, pools.NOW, bundle.digest), standing)
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
    def test_each_has_a_queue(self, user, groups, attributes, queue):
        assert queue_of(self.NAME, user, groups, **attributes) == queue

    def test_a_group_that_only_has_dev_somewhere_in_it_is_none_of_the_developers(self):
        assert queue_of(self.NAME, "eve", ("webdev",), namespace='"newapp"') == "root.users.eve"

    @pytest.mark.parametrize(
        "asked", ["root.production", "production", "root.PRODUCTION", "root.production.x"]
    )
    def test_asking_for_production_does_not_let_anybody_in(self, asked):
        assert queue_of(self.NAME, "eve", ("eve",), Queue=f'"{asked}"') == "root.users.eve"

    def test_an_operator_may_ask_for_any_queue(self):
        assert queue_of(self.NAME, "olga", ("operators",), Queue='"production"') == "root.production"


class TestQueueConfiguration:
    NAME = "queue-configuration"

    @pytest.mark.parametrize(
        ("user", "asked", "queue"),
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
    def test_each_company_has_its_own_queues(self, user, asked, queue):
        assert queue_of(self.NAME, user, Queue=asked and f'"{asked}"') == queue

    @pytest.mark.parametrize(
        ("user", "act", "queue", "may"),
        [
            ("anna", Act.ADMINISTER, "root.companya.development", True),
            ("anna", Act.ADMINISTER, "root.companyb.development", False),
            ("olga", Act.ADMINISTER, "root.companyb.development", True),
            ("olga", Act.CONFIGURE, "", True),
            ("anna", Act.CONFIGURE, "", False),
        ],
    )
    def test_who_administers_what(self, user, act, queue, may):
        bundle = load_bundle(HERE / self.NAME)
        known, _ = bundle.hooks.user_groups([user], pools.NOW, bundle.settings)
        question = AccessQuestion(user, known[user], act, queue)
        tree = QueueTree.of(bundle.partition.root, 0)
        (answer,), _ = bundle.hooks.access([question], tree, bundle.settings)
        assert (answer.record.decision is Decision.GRANT) is may

    def test_a_queue_of_a_user_starts_with_the_template(self):
        tree = QueueTree.of(load_bundle(HERE / self.NAME).partition.root, 0)
        tree.create("root.companya.anna", 1)
        assert tree.get("root.companyA.anna").config.max == {"vcore": 50_000}

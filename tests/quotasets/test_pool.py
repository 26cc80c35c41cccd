"""Quota sets in a cycle: attributes of jobs and slots, matches, and the reasons of jobs without one."""

import gc
import weakref

import attrs
import pytest

from negotiator.bundle import check_bundle, load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.hooks import specs
from negotiator.plugin import Allowance, Cycle, Payers
from negotiator.testing import queues, request
from negotiator_quotasets import hooks
from pools import NOW, cycle, job, matched, slot, snapshot
from quota_sets import ENGINE, bundle, counted, decide, host_slots, reasons, rules, write

HOSTS = host_slots("lxa", "lxb", "sol", each=2)


def jobs(*each):
    """Jobs with these attributes."""
    return [job(number, **more) for number, more in enumerate(each)]


def alike(count, **more):
    """So many jobs with the same attributes."""
    return jobs(*[more] * count)


def runs(where, **more):
    """The attributes of a running job."""
    return {"JobStatus": "2", "RemoteHost": f'"{where}"', **more}


def where(result):
    return [slot for _, slot in matched(result)]


class TestRules:
    def test_each_host_is_limited_by_the_rule_that_applies_to_it(self, tmp_path):
        """Rules with filters of hosts differ from slot to slot of one request."""
        sets = rules("hosts lxa to slots=1", "hosts {@lx} to slots=2", "users {*} to slots=0")
        assert where(decide(bundle(tmp_path, sets, ENGINE), alike(9), HOSTS)) == ["0@lxa", "0@lxb", "1@lxb"]

    def test_all_sets_limit_together_with_other_plugins(self, tmp_path):
        """Queue limits, for example."""
        sets = rules("hosts {*} to slots=1") + rules("users {*} to slots=2", name="s")
        assert where(decide(bundle(tmp_path, sets), alike(9), HOSTS)) == ["0@lxa", "0@lxb"]
        queues = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits: [{limit: l, users: ["*"], maxresources: {vcore: 1}}]
        queues: [{name: one}]
    placementrules: [{name: fixed, value: root.one}]
"""
        limited = bundle(tmp_path / "more", sets, queues=queues)
        result = decide(limited, alike(9, RequestCpus="1", RequestMemory="1"), HOSTS)
        assert where(result) == ["0@lxa"]
        assert counted(result) == {"r/1/slots/////lxa": 1, "s/1/slots/tester////": 1}

    def test_of_several_jobs_those_that_fit_are_matched_and_the_others_get_a_reason(self, tmp_path):
        """It names the first full host, and how many more there are."""
        sets = rules("name one users {*} hosts {*} to slots=1")
        result = decide(bundle(tmp_path, sets), alike(9), HOSTS)
        assert where(result) == ["0@lxa", "0@lxb", "0@sol"]
        (reason,) = reasons(result)
        assert reason[:2] == ("waiting", "resource_quota")
        assert 'cannot run because it exceeds limit "tester////lxa/" in rule "r/one" and 2 more' in reason[2]
        result = decide(
            bundle(tmp_path / "2", rules("users {*} hosts {*} to slots=1")),
            alike(2),
            host_slots("lxa", each=2),
        )
        assert [each[2] for each in reasons(result)] == [
            'cannot run because it exceeds limit "tester////lxa/" in rule "r/1": slots uses 1, needs 1, may have 1'
        ]

    @pytest.mark.parametrize(
        ("cpus", "count"),
        [(None, 4), ("1", 4), ("2", 2), ("3", 1), ("5", 0), ("0", 4), ("-7", 4), ("0.5", 4)],
    )
    def test_a_job_takes_the_slots_that_it_requests_and_at_least_one(self, tmp_path, cpus, count):
        """By the default expression, RequestCpus."""
        result = decide(bundle(tmp_path, rules("users {*} to slots=4")), alike(9, RequestCpus=cpus), HOSTS)
        assert len(matched(result)) == count

    def test_users_groups_projects_and_environments_are_those_of_the_job(self, tmp_path):
        """Groups as placement resolves them."""
        sets = rules(
            "users @staff to slots=1", "projects {*} to slots=1", "pes {mpi*} to slots=1", "to slots=0"
        )
        given = bundle(tmp_path, sets, ENGINE, pool="placement: {groups: MY.Groups}\n")
        twice = [
            {"Owner": '"roland"'},
            {"Owner": '"eve"', "Groups": '"users,wheel"'},
            {"Project": '"p"'},
            {"Project": '"q"'},
            {"Project": '"p"'},
            {"ParallelEnvironment": '"mpi2"'},
            {"ParallelEnvironment": '"smp"'},
            {},
        ]
        result = decide(given, jobs(*twice), HOSTS)
        assert counted(result) == {
            "r/1/slots/////": 1,
            "r/2/slots//p///": 1,
            "r/2/slots//q///": 1,
            "r/3/slots///mpi2//": 1,
        }

    @pytest.mark.parametrize(
        ("name", "counts"),
        [("one", True), ("ONE", True), ("root.one", True), ("two", False), ("root.*", True), ("root", False)],
    )
    def test_a_rule_names_queues_by_leaf_or_path(self, tmp_path, name, counts):
        """Of queues.yaml, ignoring case."""
        queues = "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: One}]}], placementrules: [{name: fixed, value: root.one}]}]"
        result = decide(bundle(tmp_path, rules(f"queues {name} to slots=0"), queues=queues), alike(1), HOSTS)
        assert bool(matched(result)) is not counts

    def test_the_sums_of_decimals_are_exact(self, tmp_path):
        """0.1 + 0.1 + 0.1 is 0.3, and a fourth does not fit; charged once per job, whatever its slots."""
        given = bundle(tmp_path, rules("to shared=0.3"), ENGINE)
        result = decide(
            given, alike(9, Requestshared="0.1", RequestCpus="2"), host_slots("h", each=9, Cpus="9")
        )
        assert (len(matched(result)), counted(result)) == (3, {"r/1/shared/////": 300_000})

    def test_the_smallest_amount_is_rounded_up(self, tmp_path):
        """To a millionth."""
        given = bundle(tmp_path, rules("to shared=0"), ENGINE)
        assert matched(decide(given, alike(1, Requestshared="1.0e-9"), HOSTS)) == []

    @pytest.mark.parametrize(("ignored", "found"), [("true", []), ("false", ["0@lxa.site"])])
    def test_domains_are_ignored_as_the_bundle_configures(self, tmp_path, ignored, found):
        """ignore_fqdn, which is true by default."""
        given = bundle(tmp_path, rules("hosts lxa to slots=0"), f"ignore_fqdn: {ignored}\n")
        assert where(decide(given, alike(1), host_slots("lxa.site"))) == found

    def test_consumables_are_multiplied_by_the_slots_and_have_defaults(self, tmp_path):
        """Memory and times in their units; a default of 1M is charged to jobs without a request."""
        sets = rules("to mem=10M,tm=1:00:00")
        requests = [
            {"Requestmem": '"2M"', "RequestCpus": "3"},
            {},
            {"Requestmem": "1048576", "Requesttm": '"0:30:00"'},
        ]
        result = decide(bundle(tmp_path, sets, ENGINE), jobs(*requests), HOSTS)
        assert counted(result) == {"r/1/mem/////": 8 << 20, "r/1/tm/////": 1800}
        result = decide(
            bundle(tmp_path / "2", sets, ENGINE),
            jobs({"Requesttm": '"1:00:01"'}, {"Requestmem": "10485761"}),
            HOSTS,
        )
        assert matched(result) == []

    def test_a_request_of_0_is_denied_where_more_is_used_than_allowed(self, tmp_path):
        """And allowed where just all of it is used; a default of 0 is not a request."""
        job_requests = [runs("0@lxa", Requestlic="2"), {"Requestlic": "0"}, {}]
        for limit, count in ((2, 2), (1, 1)):
            result = decide(
                bundle(tmp_path / str(limit), rules(f"to lic={limit}"), ENGINE), jobs(*job_requests), HOSTS
            )
            assert len(matched(result)) == count

    @pytest.mark.parametrize(
        ("limit", "attributes", "passes"),
        [
            ("static=5", {"Requeststatic": "5"}, True),
            ("static=5", {"Requeststatic": "6"}, False),
            ("static=5", {}, True),
            ("word=lx-amd64", {"Requestword": '"lx-*"'}, True),
            ("word=sol", {"Requestword": '"lx-*"'}, False),
        ],
    )
    def test_other_complexes_are_compared(self, tmp_path, limit, attributes, passes):
        """By their relation, if a job requests them."""
        own = host_slots("lxa", static="9", word='"lx-amd64"')
        result = decide(bundle(tmp_path, rules(f"to {limit}"), ENGINE), jobs(attributes), own)
        assert bool(matched(result)) is passes
        if not passes:
            text = 'cannot run because it exceeds limit "/////" in rule "r/1"'
            assert reasons(result) == [("denied", "resource_quota", text)]

    @pytest.mark.parametrize(
        ("attributes", "room"),
        [
            ({"num_proc": "2"}, 2),
            ({"num_proc": "2.0"}, 2),
            ({"TotalCpus": "3"}, 3),
            ({"DetectedCpus": "1"}, 1),
            ({}, 4),
            ({"num_proc": "0"}, 0),
            ({"num_proc": '"x"'}, 0),
            ({"num_proc": "-5"}, 0),
            ({"num_proc": "-1e300"}, 0),
            ({"num_proc": "1e300"}, 9),
            ({"num_proc": "{ 1 }"}, 0),
            ({"num_proc": 'real("NaN")'}, 0),
            ({"num_proc": "error"}, 0),
            ({"num_proc": "1 + 1"}, 2),
            ({"Cpus": None}, 0),
        ],
    )
    def test_a_formula_uses_the_attributes_of_the_slots_of_a_host(self, tmp_path, attributes, room):
        """A host whose slots have no valid value has no room; other hosts have."""
        sets = rules("hosts {bad} to slots=$num_proc")
        own = host_slots("bad", each=9, **attributes) + host_slots("good")
        found = where(decide(bundle(tmp_path, sets), alike(12), own))
        assert len([each for each in found if each.endswith("bad")]) == room
        assert "0@good" in found


class TestRunningJobs:
    def test_a_running_job_is_charged_on_the_host_of_its_slot(self, tmp_path):
        """By the current rules, whatever their limits."""
        given = jobs(runs("0@lxb"), runs("1@lxb", Owner='"eve"'), {}, {})
        result = decide(bundle(tmp_path, rules("hosts {*} to slots=1")), given, HOSTS[2:])
        assert where(result) == ["0@sol"]
        assert counted(result) == {"r/1/slots/////lxb": 2, "r/1/slots/////sol": 1}

    def test_a_counter_above_its_limit_denies_new_jobs_of_that_counter_only(self, tmp_path):
        """A running job of 4 slots where 2 are allowed."""
        given = jobs(runs("0@lxa", RequestCpus="4"), {}, {"Owner": '"eve"'})
        result = decide(bundle(tmp_path, rules("users {*} to slots=2")), given, HOSTS)
        assert [job for job, _ in matched(result)] == ["1.2"]
        assert "uses 4, needs 1, may have 2" in reasons(result)[0][2]

    def test_new_sets_count_running_jobs(self, tmp_path):
        """After a reload of the bundle while jobs run."""
        given = jobs(runs("0@lxa", Project='"p"'), {"Project": '"p"'})
        first = bundle(tmp_path, rules("users {*} to slots=1"))
        assert matched(decide(first, given, HOSTS)) == []
        write(tmp_path / "b", rules("projects {*} to slots=2"))
        second = decide(load_bundle(tmp_path / "b"), given, HOSTS)
        assert counted(second) == {"r/1/slots//p///": 2}

    def test_matches_that_the_pool_does_not_show_yet_count(self, tmp_path):
        """Those of the journal, on the host of their slot."""
        given = bundle(tmp_path, rules("users {*} hosts {*} to slots=2"))
        before = run_cycle(snapshot(HOSTS[:1], [job(7, RequestCpus="2")]), given, Cycle(1, NOW, given.digest))
        (entry,) = before.journal
        assert entry.slot == "0@lxa"
        state = attrs.evolve(CycleState.new(given, NOW), journal=(entry,))
        result = run_cycle(snapshot(HOSTS, alike(9)), given, Cycle(2, NOW, given.digest), state)
        assert where(result) == ["0@lxb", "1@lxb", "0@sol", "1@sol"]
        assert counted(result)["r/1/slots/tester////lxa"] == 2

    @pytest.mark.parametrize("wrong", [{"Requestlic": '"x"'}, {"Project": "{ 1 }"}, {"Requeststatic": "2.5"}])
    def test_a_running_job_that_became_invalid_counts_with_its_valid_values(self, tmp_path, wrong):
        """Otherwise users could edit running jobs to have their slots for free."""
        given = jobs(runs("0@lxa", RequestCpus="2", **wrong), {})
        result = decide(bundle(tmp_path, rules("users {*} to slots=2,lic=1,static=9"), ENGINE), given, HOSTS)
        assert matched(result) == []
        assert counted(result) == {"r/1/slots/tester////": 2}


HOSTILE = {
    "no number": {"Requestlic": '"many"'},
    "less than nothing": {"Requestlic": "-1"},
    "less than nothing, as a text": {"Requestlic": '"-1"'},
    "a list": {"Requestlic": "{ 1 }"},
    "an error": {"Requestlic": "error"},
    "not a number": {"Requestlic": 'real("NaN")'},
    "infinite": {"Requestlic": 'real("INF")'},
    "infinity": {"Requestlic": '"infinity"'},
    "true": {"Requestlic": "true"},
    "what the slot has": {"Requestlic": "TARGET.Cpus"},
    "one thing alone and another on a slot": {"Requestlic": "TARGET.Cpus is undefined ? 1 : 4"},
    "the same by a name of the slot": {"Requestlic": "Memory is undefined ? 1 : 4"},
    "the same by another attribute": {
        "Requestlic": "MY.A",
        "A": "MY.B + 1",
        "B": "TARGET.Cpus is undefined ? 0 : 4",
    },
    "text that is evaluated": {"Requestlic": 'eval(strcat("TARGET", ".Cpus is undefined")) ? 1 : 4'},
    "an attribute with the name of the job's scope": {"Requestlic": "2 + 2", "MY": "[ Requestlic = 1 ]"},
    "an attribute with the name of the slot's scope": {
        "Requestlic": "TARGET.Requestlic",
        "TARGET": "[ Requestlic = 1 ]",
    },
    "slots that are none": {"RequestCpus": '"3"'},
    "slots of a list": {"RequestCpus": "{ 3 }"},
    "slots of the slot": {"RequestCpus": "ifThenElse(TARGET.Cpus > 0, 8, 1)"},
    "a fraction of a static": {"Requeststatic": "2.5"},
    "a static that is no number": {"Requeststatic": '"x"'},
    "a static list": {"Requeststatic": "{ 1 }"},
    "an expression that is not closed": {"Requestword": '"((("'},
    "an expression that is too deep": {"Requestword": f'"{"(" * 60}x{")" * 60}"'},
    "an expression that is too long": {"Requestword": f'"{"x" * 2000}"'},
    "a project that is too long": {"Project": f'"{"x" * 3000}"'},
    "a project that cannot be printed": {"Project": '"p\x1b[2J"'},
    "a project that is a list": {"Project": '{ "p" }'},
    "a project of the slot": {"Project": "TARGET.Name"},
    "an environment that is too long": {"ParallelEnvironment": f'"{"x" * 3000}"'},
}


class TestHostileJobs:
    @pytest.mark.parametrize("case", HOSTILE)
    def test_a_job_with_invalid_values_is_misconfigured_and_gets_no_match(self, tmp_path, case):
        """Other jobs are not affected, and the plugin does not fail."""
        sets = rules(
            "users {*} projects {*} pes {*} to slots=9", "users {*} to slots=2,lic=2,static=9,word=x"
        )
        given = jobs(HOSTILE[case], {"Owner": '"eve"', "Requestlic": "1"})
        own = host_slots("lxa", each=2, static="9", word='"x"')
        result = decide(bundle(tmp_path, sets, ENGINE), given, own)
        assert [job for job, _ in matched(result)] == ["1.1"]
        assert {each[:2] for each in reasons(result)} - {("waiting", "taken")} == {
            ("misconfigured", "request_unreadable")
        }
        assert all(each[2].isprintable() and len(each[2]) <= 500 for each in reasons(result))

    @pytest.mark.parametrize(
        "much", [{"Requestlic": "1e300"}, {"RequestCpus": "1e300"}, {"Requestlic": '"99999999t"'}]
    )
    def test_a_huge_request_is_denied_by_the_rule(self, tmp_path, much):
        """It is not a failure of the plugin."""
        result = decide(bundle(tmp_path, rules("users {*} to slots=2,lic=2"), ENGINE), jobs(much), HOSTS)
        assert {each[:2] for each in reasons(result)} == {("denied", "resource_quota")}

    @pytest.mark.parametrize("value", ["3", "1 + 2", 'eval("3")', "MY.N", "N + 0"])
    def test_expressions_over_the_job_alone_are_evaluated(self, tmp_path, value):
        """An expression that may read the slot, as ``eval`` may, is refused."""
        result = decide(
            bundle(tmp_path, rules("users {*} to lic=2"), ENGINE),
            jobs({"Requestlic": value, "N": "3"}),
            HOSTS,
        )
        verdict = "misconfigured" if "eval" in value else "denied"
        assert [each[0] for each in reasons(result)] == [verdict]

    def test_names_with_slashes_do_not_share_a_counter(self, tmp_path):
        """Although their reasons look alike."""
        sets = rules("projects {*} pes {*} to slots=1")
        job_requests = [
            {"Project": '"a/b"', "ParallelEnvironment": '"c"'},
            {"Project": '"a"', "ParallelEnvironment": '"b/c"'},
        ]
        assert len(matched(decide(bundle(tmp_path, sets), jobs(*job_requests), HOSTS))) == 2


class TestHostileSlots:
    def test_names_of_machines_ignore_case(self, tmp_path):
        """A host with two spellings has one counter."""
        own = [slot(0, Machine='"h"'), slot(1, Machine='"H"'), slot(2, Machine='strcat("h", "")')]
        assert len(matched(decide(bundle(tmp_path, rules("hosts {*} to slots=1")), alike(3), own))) == 1

    def test_a_machine_may_be_computed(self, tmp_path):
        """Slots with the same expression may be on different hosts."""
        own = [slot(number, Machine='strcat("h", Number)', Number=str(number)) for number in range(3)]
        result = decide(bundle(tmp_path, rules("hosts {*} to slots=1")), alike(3), own)
        assert sorted(counted(result)) == [f"r/1/slots/////h{number}" for number in range(3)]

    @pytest.mark.parametrize("machine", [None, "{ 1 }", "5", "undefined", "error"])
    def test_slots_without_a_machine_share_the_limit_of_one_host(self, tmp_path, machine):
        own = [slot(number, Machine=machine) for number in range(2)] + [slot(2, Machine=None)]
        assert len(matched(decide(bundle(tmp_path, rules("hosts {*} to slots=1")), alike(3), own))) == 1

    @pytest.mark.parametrize("machine", [f'"{"m" * 5000}"', '"m\x1b[2J"'])
    def test_a_machine_with_an_invalid_name_is_not_a_failure(self, tmp_path, machine):
        """With limits of consumables and of other complexes."""
        sets = rules("users * hosts {*} to slots=1,static=1")
        given = jobs({"Requeststatic": "5"}, {}, {})
        result = decide(
            bundle(tmp_path, sets, ENGINE), given, [slot(0, Machine=machine), slot(1, Machine=machine)]
        )
        assert len(matched(result)) == 1
        assert {each[0] for each in reasons(result)} == {"denied", "waiting"}
        assert all(each[2].isprintable() for each in reasons(result))

    @pytest.mark.parametrize("value", ['"x"', "-5", "{ 1 }", "2.5", "error", f'"{"9" * 500}"'])
    def test_a_host_with_an_invalid_value_has_none_of_the_complex(self, tmp_path, value):
        """Other hosts are used."""
        engine = ENGINE + "complex_values: {lic: 9}\n"
        given = jobs({"Requestlic": "1"}, {"Requeststatic": "1", "Owner": '"eve"'})
        own = host_slots("bad", each=2, lic=value, static=value) + host_slots(
            "good", each=2, lic="1", static="1"
        )
        result = decide(bundle(tmp_path, "", engine), given, own)
        assert sorted(where(result)) == ["0@good", "1@good"]
        assert "broken_plugin" not in {each[0] for each in reasons(result)}


class TestBundles:
    def test_without_sets_nothing_is_read_filtered_or_charged(self, tmp_path):
        """A pool without quotas has no cost."""
        given = bundle(tmp_path)
        assert given.job_attributes is not None
        assert not any("project" in name for name in given.job_attributes)
        result = decide(given, alike(1, Requestlic="error", Project="{ 1 }"), HOSTS)
        assert len(matched(result)) == 1
        assert counted(result) == {}

    def test_the_significant_attributes_are_those_of_the_expressions(self, tmp_path):
        """Of complexes that are declared, limited or offered."""
        engine = ENGINE + "job: {project: MY.AcctProject, slots: 'MY.Cores ?: 1'}\n"
        found = bundle(tmp_path, rules("to slots=1,h_rt=5"), engine).job_attributes
        assert {"acctproject", "parallelenvironment", "cores", "requestlic", "requesth_rt"} <= found
        assert not found & {"project", "requesth_vmem"}

    @pytest.mark.parametrize(
        ("sets", "engine", "place", "words"),
        [
            ("{\n name a\n limit to nothing=1\n}\n", "", "a.rqs:3:", "nothing"),
            ("{\n name a\n}\n", "", "a.rqs:", "no rules"),
            (rules("to slots=1"), "complexes: [{name: lic}]\n", "gridengine.yaml:1:", "shortcut"),
            (
                rules("to slots=1"),
                "complex_values:\n  nothing: 5\n",
                "gridengine.yaml:2:12",
                "unknown complex",
            ),
            (rules("to slots=1"), "usersets: 5\n", "gridengine.yaml:1:", ""),
            (rules("to slots=1"), "a: [\n", "gridengine.yaml:", ""),
        ],
    )
    def test_a_bundle_with_problems_is_refused_and_each_has_its_place(
        self, tmp_path, sets, engine, place, words
    ):
        """File, line and column."""
        problems = [
            str(each) for each in check_bundle(write(tmp_path, sets, engine)) if each.severity == "error"
        ]
        assert any(each.startswith(place) and words in each for each in problems), problems
        with pytest.raises(Exception, match=place.partition(":")[0]):
            load_bundle(tmp_path)

    def test_the_rules_of_a_cycle_and_its_table_are_freed_in_the_next_cycle(self, tmp_path):
        """The memory of a daemon does not grow."""
        given = bundle(tmp_path, rules("users {*} hosts {*} to slots=1"), ENGINE)
        result = decide(given, alike(2), HOSTS)
        assert len(matched(result)) == 2
        pool = snapshot(host_slots("x"), alike(1))
        gone = weakref.ref(pool.slots)
        cycle(pool, given)
        cycle(snapshot(HOSTS, alike(1)), given, number=2)
        del pool, result
        gc.collect()
        assert gone() is None

    def test_the_owner_of_a_job_pays_for_its_requests_and_the_machine_of_a_slot_for_its_values(
        self, tmp_path
    ):
        """Whoever comes first: nobody pays for the expressions of another one, and none are free."""
        slow = 'ifThenElse(regexp("(a|aa)+$",strcat("{}","aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","x")),2,1)'
        names = {name: {"Owner": f'"{name}"', "User": f'"{name}@d"'} for name in ("ada", "mallory")}
        costly = [{"Requestlic": slow.format(number)} | names["mallory"] for number in range(40)]
        given = bundle(tmp_path, rules("users {*} to lic=100"), ENGINE)
        result = decide(given, jobs(names["ada"], *costly, names["ada"] | {"Requestlic": "1"}), HOSTS)
        found = {outcome.request.user: outcome.removals for outcome in result.outcomes}
        assert sum(each.slot_ad is not None and each.submitter == "ada@d" for each in result.matches) == 2
        assert "work_exceeded" in {each.reason.code for each in found["mallory"]}

        account, machines = Allowance(10**6), {}
        payers = Payers(lambda ad: machines.setdefault(ad.string("Machine"), Allowance(10**6)), account)
        slots = snapshot([slot(Machine='"m"', lic=slow.format("")), slot(1, Machine='"n"')]).slots
        answers = given.hooks.ask(
            specs.negotiator_charges,
            request=attrs.evolve(request(), ad=job(0, Requestlic=slow.format("b"))),
            slots=slots,
            queues=queues(),
            settings=given.settings,
            cycle=Cycle(1, NOW, "x", payers),
            order="names",
        )
        assert not answers.failures
        assert account.steps < 10**6
        assert machines["m"].steps < 10**6

    def test_without_queues_the_owner_is_the_user(self, tmp_path):
        """The hook is called directly."""
        policy = hooks.negotiator_policy(
            bundle(tmp_path, rules("users {*} to slots=1"), ENGINE).settings["quotasets"]
        )
        requests = attrs.evolve(request(), ad=job(0, Owner='"alice"'), user="")
        cycle_at = Cycle(1, NOW, "x")
        begun = policy.begin_cycle(snapshot(HOSTS).slots, cycle_at)
        (found,) = hooks.negotiator_charges(requests, cycle_at, begun)
        assert (found.counter[2], found.amount, found.limit) == ("alice", 1, 1)

    def test_a_table_that_lasts_for_several_cycles_is_evaluated_at_the_time_of_each(self, tmp_path):
        """Standard input is read once for all cycles."""
        given = bundle(tmp_path, rules("users {*} to slots=9"), ENGINE)
        pool = snapshot(HOSTS)
        grows = attrs.evolve(
            request(), ad=job(0, RequestCpus=f"ifThenElse(time() > {NOW}, 4, 1)"), user="alice"
        )
        amounts = [
            found.record.amount
            for number, now in ((1, NOW), (2, NOW + 60))
            for found in given.hooks.ask(
                specs.negotiator_charges,
                request=grows,
                slots=pool.slots,
                queues=queues(),
                settings=given.settings,
                cycle=Cycle(number, now, "x"),
                order="names",
            ).records
            if found.plugin == "quotasets"
        ]
        assert amounts == [1, 4]


def test_a_job_running_on_an_unknown_slot_is_charged_by_every_rule_that_may_apply(tmp_path):
    """Whichever host it is on, no limit is exceeded."""
    sets = rules("users * hosts @lx to slots=1", "users * to slots=1")
    gone = runs("0@gone", RequestCpus="1")
    result = decide(bundle(tmp_path, sets, ENGINE), jobs(gone), HOSTS)
    assert counted(result) == {"r/1/slots/////": 1, "r/2/slots/////": 1}

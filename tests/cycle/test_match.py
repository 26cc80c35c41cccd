"""Requirements of both sides, the slots that each reason removes, and decisions equal to pairwise evaluation."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pools
from negotiator.audit.records import intent_records
from negotiator.bundle.model import AuditSettings
from negotiator.classad import evaluate, is_true, parse
from negotiator.records import Verdict
from pools import ad, job, matched, reasons, slot, snapshot


def removals(result, request=0):
    return {
        item.reason.provenance.rule: (item.removed, item.rejected)
        for item in result.outcomes[request].removals
    }


def test_each_conjunct_counts_the_slots_it_removed_and_rejected_independently():
    slots = [slot(0, Memory="1", Arch='"ARM"'), slot(1, Arch='"ARM"'), slot(2, Memory="1")]
    request_ad = job(Requirements='(TARGET.Memory >= 2) && (TARGET.Arch == "X86_64" && TARGET.NoSuch)')
    assert removals(pools.cycle(snapshot(slots, [request_ad]))) == {
        "TARGET.Memory >= 2": (2, 2),
        'TARGET.Arch == "X86_64"': (1, 3),
        "TARGET.NoSuch": (0, 3),
    }


def test_the_requirements_of_slots_are_counted_by_conjunct_too():
    slots = [
        slot(n, Requirements="Start && TARGET.RequestCpus <= MY.Cpus", Start=start)
        for n, start in enumerate(("true", "false"))
    ]
    result = pools.cycle(snapshot(slots, [job(RequestCpus="8")]))
    assert removals(result) == {"Start": (1, 1), "TARGET.RequestCpus <= MY.Cpus": (1, 2)}


@pytest.mark.parametrize(
    "nothing",
    [
        {"Requirements": None},
        {"Requirements": "undefined"},
        {"Requirements": "error"},
        {"Requirements": '"true"'},
    ],
)
def test_without_true_requirements_on_both_sides_there_is_no_match(nothing):
    assert not matched(pools.cycle(snapshot([slot(**nothing)], [job()])))
    assert not matched(pools.cycle(snapshot([slot()], [job(**nothing)])))


def test_missing_requirements_are_misconfigured_and_not_denied():
    result = pools.cycle(snapshot([slot(Requirements=None)], [job(Requirements=None)]))
    verdicts = {item.reason.code: item.reason.verdict for item in result.outcomes[0].removals}
    assert verdicts == {
        "no_job_requirements": Verdict.MISCONFIGURED,
        "no_slot_requirements": Verdict.MISCONFIGURED,
    }


def test_a_slot_is_matched_once_and_the_next_job_waits():
    result = pools.cycle(snapshot([slot()], [job(0), job(1, Owner='"zoe"', User='"zoe@d"')]))
    assert matched(result) == [("1.0", "s0@h")]
    (waiting,) = result.outcomes[1].removals
    assert (waiting.reason.code, waiting.reason.verdict, waiting.removed) == ("taken", Verdict.WAITING, 1)


@pytest.mark.parametrize("state", ["Claimed", "claimed", "Preempting"])
def test_a_slot_in_use_is_waited_for(tmp_path, state):
    bundle = pools.write_bundle(tmp_path / "b", "order: names\n")
    result = pools.cycle(snapshot([slot(State=f'"{state}"')], [job()]), bundle)
    assert not matched(result)
    assert reasons(result) == {"in_use"}


def test_alike_jobs_are_one_request_and_get_as_many_slots_as_there_are():
    result = pools.cycle(snapshot([slot(n) for n in range(3)], [job(n) for n in range(5)]))
    (outcome,) = result.outcomes
    assert [match.job for match in outcome.matches] == ["1.0", "1.1", "1.2"]
    assert (outcome.request.count, outcome.unmatched, outcome.first_unmatched) == (5, 2, "1.3")


@pytest.mark.parametrize(
    ("count", "jobs"), [("3", 3), ("0", 1), ('"many"', 1), ("-5", 1), ('real("NaN")', 1)]
)
def test_a_resource_request_ad_counts_for_several_jobs(count, jobs):
    pool = snapshot([slot(n) for n in range(5)], [job(JobStatus=None, _condor_RESOURCE_COUNT=count)])
    assert [match.job for match in pools.cycle(pool).matches] == ["1.0"] * jobs


def test_jobs_differ_only_in_attributes_that_slots_and_policies_read():
    slots = [slot(Requirements="TARGET.Small || Wanted", Wanted="TARGET.Kind == 1")]
    alike = [job(0, Iwd='"/a"'), job(1, Iwd='"/b"')]
    assert pools.cycle(snapshot(slots, alike)).counts.requests == 1
    assert pools.cycle(snapshot(slots, [job(0, Kind="1"), job(1, Kind="2")])).counts.requests == 2
    assert pools.cycle(snapshot(slots, [job(0, Kind="1"), job(1, Kind="1.0")])).counts.requests == 2
    assert (
        pools.cycle(snapshot(slots, [job(0, Kind="X", X="1"), job(1, Kind="X", X="2")])).counts.requests == 2
    )


def test_an_expression_gives_the_user_of_each_job(tmp_path):
    bundle = pools.write_bundle(tmp_path / "b", 'NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.Name == "bad@d"')
    jobs = [job(n, AccountingGroup="MY.Mine", Mine=f'"{name}"') for n, name in enumerate(("good", "bad"))]
    result = pools.cycle(
        snapshot([slot(0), slot(1)], jobs, submitters=[ad(Name='"bad@d"'), ad(Name='"good@d"')]), bundle
    )
    assert [(match.job, match.submitter) for match in result.matches] == [("1.0", "good@d")]
    states = [slot(n, State="MY.Now", Now=f'"{state}"') for n, state in enumerate(("Claimed", "Unclaimed"))]
    by_name = pools.write_bundle(tmp_path / "names", "order: names\n")
    assert matched(pools.cycle(snapshot(states, [job()]), by_name)) == [("1.0", "s1@h")]


def test_an_expression_gives_the_priority_of_each_job():
    jobs = [job(n, JobPrio="MY.Own", Own=str(n)) for n in range(3)]
    result = pools.cycle(snapshot([slot(n) for n in range(3)], jobs))
    assert [match.job for match in result.matches] == ["1.2", "1.1", "1.0"]


def test_the_schedds_order_is_by_priority_then_by_age():
    jobs = [
        job(0, QDate="5"),
        job(1, JobPrio="3", QDate="9"),
        job(2, QDate="1"),
        job(3, JobPrio="-1", QDate="0"),
    ]
    result = pools.cycle(snapshot([slot(n) for n in range(4)], jobs))
    assert [match.job for match in result.matches] == ["1.1", "1.2", "1.0", "1.3"]


@pytest.mark.parametrize(
    ("status", "code"), [("2", "job_running"), ("5", "job_held"), ("4", "job_completed"), ('"x"', None)]
)
def test_only_idle_jobs_request_slots(status, code):
    result = pools.cycle(snapshot([slot()], [job(JobStatus=status)]))
    assert (code in reasons(result)) if code else matched(result)


@pytest.mark.parametrize("universe", ["7", "9", "12"])
def test_jobs_of_universes_that_are_not_matched_are_discarded(universe):
    assert not matched(pools.cycle(snapshot([slot()], [job(JobUniverse=universe)])))


def test_circular_requirements_do_not_match():
    assert not matched(pools.cycle(snapshot([slot()], [job(Requirements="MY.Requirements && true")])))
    assert matched(pools.cycle(snapshot([slot()], [job(Requirements="true || MY.Requirements")])))


def test_requirements_of_very_many_conjuncts_have_a_bounded_number_of_reasons():
    request_ad = job(Requirements=" && ".join(f"TARGET.Memory > {n}" for n in range(150)))
    result = pools.cycle(snapshot([slot(0, Memory="150"), slot(1, Memory="-1")], [request_ad]))
    assert matched(result) == [("1.0", "s0@h")]
    assert len(result.outcomes[0].removals) <= 65


def test_the_same_input_gives_the_same_result_byte_for_byte():
    pool = snapshot(
        [slot(n, Memory=str(n % 3)) for n in range(9)], [job(n, Kind=str(n % 2)) for n in range(12)]
    )
    first, second = (json.dumps(intent_records(pools.cycle(pool), AuditSettings())) for _ in range(2))
    assert first == second


ATTRIBUTES = st.sampled_from(
    [
        "1",
        "2",
        "2.0",
        "true",
        '"a"',
        '"A"',
        "undefined",
        "error",
        "MY.B",
        "TARGET.A + 1",
        "B",
        "MY.A > 1 && B",
        "isUndefined(Requirements)",
        "TARGET.Requirements =!= false",
        "MY.Requirements =?= true",
        'eval("A")',
    ]
)
ADS = st.dictionaries(st.sampled_from(["A", "B", "C"]), ATTRIBUTES)
CLAUSES = st.sampled_from(
    [
        "TARGET.A == MY.A",
        "A > 1",
        "B =?= undefined",
        "TARGET.B != 2",
        "C",
        "MY.C",
        "A",
        "MY.C || TARGET.C",
        "true",
        "TARGET.Requirements",
        "isUndefined(Requirements)",
        "!MY.Requirements",
        "countMatches(A, { [ B = 1 ] }) > 0",
    ]
)
REQUIREMENTS = st.lists(CLAUSES, min_size=1, max_size=3).map(" && ".join)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(ADS, REQUIREMENTS), min_size=1, max_size=4),
    st.lists(st.tuples(ADS, REQUIREMENTS), min_size=1, max_size=4),
)
def test_decisions_equal_pairwise_evaluation(slots, jobs):
    slot_ads = [slot(n, **items, Requirements=text) for n, (items, text) in enumerate(slots)]
    job_ads = [job(n, **items, Requirements=text) for n, (items, text) in enumerate(jobs)]
    requirements = parse("MY.Requirements")
    for asking in job_ads:
        result = pools.cycle(snapshot(slot_ads, [asking]))
        fits = [
            offered
            for offered in slot_ads
            if is_true(evaluate(requirements, asking, offered))
            and is_true(evaluate(requirements, offered, asking))
        ]
        assert result.outcomes[0].candidates == len(fits)
        assert bool(result.matches) == bool(fits)


class TestScheddsAndSubmitters:
    GATE = 'NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.Name == "bad"'

    def test_if_a_schedd_is_discarded_a_job_without_a_schedd_is_too(self, tmp_path):
        bundle = pools.write_bundle(tmp_path / "b", self.GATE)
        schedds = [ad(Name='"bad"'), ad(Name='"good"')]
        assert not matched(pools.cycle(snapshot([slot()], [job()], schedds), bundle))
        assert matched(pools.cycle(snapshot([slot()], [job()], [schedds[1]]), bundle))

    def test_a_submitter_is_identified_by_its_name_and_schedd(self, tmp_path):
        bundle = pools.write_bundle(tmp_path / "b", "NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.IdleJobs == 7")
        submitters = [
            ad(Name='"tester@d"', ScheddName='"one"', IdleJobs="7"),
            ad(Name='"tester@d"', ScheddName='"two"', IdleJobs="1"),
        ]
        jobs = [job(0, GlobalJobId='"one#1.0#1"'), job(1, GlobalJobId='"two#1.1#1"')]
        result = pools.cycle(snapshot([slot(0), slot(1)], jobs, submitters=submitters), bundle)
        assert [job_id for job_id, _ in matched(result)] == ["1.1"]

    def test_a_discarded_submitter_without_a_schedd_is_discarded_at_all_schedds(self, tmp_path):
        """Even if another ad of its name is admitted."""
        bundle = pools.write_bundle(tmp_path / "b", "NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.IdleJobs == 7")
        let_in = ad(Name='"tester@d"', ScheddName='"one"', IdleJobs="1")
        kept_out = ad(Name='"tester@d"', IdleJobs="7")
        jobs = [job(0, GlobalJobId='"one#1.0#1"')]
        assert matched(pools.cycle(snapshot([slot()], jobs, submitters=[let_in]), bundle))
        assert not matched(pools.cycle(snapshot([slot()], jobs, submitters=[let_in, kept_out]), bundle))


def test_a_job_in_a_pool_without_slots_has_a_reason():
    """The rejection that the schedd gets has it too."""
    result = pools.cycle(snapshot([], [job()]))
    assert removals(result) == {"no_slots": (0, 0)}
    assert [each.reason.code for each in result.rejections] == ["no_slots"]


def test_the_user_of_a_job_learns_why_all_slots_were_discarded(tmp_path):
    bundle = pools.write_bundle(
        tmp_path / "b",
        """
        policies:
          - name: small
            applies_to: startd
            expression: MY.Memory < 10
            description: the machine is too small
        """,
    )
    slots = [slot(number, Memory="1") for number in range(3)]
    (rejection,) = pools.cycle(snapshot(slots, [job()]), bundle).rejections
    assert rejection.reason.code == "no_slots"
    assert (
        rejection.reason.text
        == "no slot takes part in this cycle: 3 of 3 discarded: the machine is too small"
    )

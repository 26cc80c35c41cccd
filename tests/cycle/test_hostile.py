"""The ads of one user neither stop nor slow down a cycle, nor change its decisions about other users."""

import pytest

import pools
from pools import ad, job, matched, slot, snapshot

OTHER = {"Owner": '"zoe"', "User": '"zoe@d"'}


def test_a_cycle_in_which_every_slot_is_discarded_ends(tmp_path):
    bundle = pools.write_bundle(tmp_path / "b", "NEGOTIATOR_PE_STARTD_ONLY_EXPR: true\n")
    pool = snapshot([slot(Memory="MY.Cpus * 2")], [job(Requirements="TARGET.Memory > 1")])
    assert not matched(pools.cycle(pool, bundle))


def test_an_ad_for_very_many_jobs_costs_no_more_than_the_slots():
    requests = [job(n, JobStatus=None, _condor_RESOURCE_COUNT="100000") for n in range(2000)]
    result = pools.cycle(snapshot([slot(0), slot(1)], requests))
    assert result.outcomes[0].request.count == 200_000_000
    assert len(result.matches) == 2


def test_a_job_with_a_resource_count_gets_one_slot():
    result = pools.cycle(snapshot([slot(n) for n in range(5)], [job(_condor_RESOURCE_COUNT="5")]))
    assert len(result.matches) == 1


def test_a_job_that_reads_its_own_id_does_not_split_the_requests_of_others():
    jobs = [job(n) for n in range(20)]
    alone = job(99, Rank="MY.ProcId", **OTHER)
    assert pools.cycle(snapshot([slot()], [*jobs, alone])).counts.requests == 2


def test_an_exception_of_a_policy_for_one_users_jobs_denies_no_other_user(tmp_path):
    plugin = (
        "from negotiator.plugin import Filter, hookimpl\nimport numpy as np\n\n"
        "@hookimpl\ndef negotiator_job_attributes():\n    return ['Odd']\n\n"
        "@hookimpl\ndef negotiator_filter_slots(request, slots):\n"
        "    if 'Odd' in request.ad:\n        raise ValueError('odd')\n    return []\n"
    )
    bundle = pools.write_bundle(tmp_path / "b", plugins={"p": plugin})
    odd = [job(n, Odd=str(n), Owner='"a"', User='"a@d"') for n in range(9)]
    pool = snapshot([slot()], [*odd, job(50, **OTHER)])
    for _ in range(2):
        assert matched(pools.cycle(pool, bundle)) == [("1.50", "s0@h")]


@pytest.mark.parametrize(
    "trick",
    [
        {"GlobalJobId": '"nosuch#1.0#1"'},
        {"GlobalJobId": '" bad#1.0#1"'},
        {"GlobalJobId": None},
        {"GlobalJobId": 'strcat("go", "od")'},
    ],
)
def test_no_job_of_a_discarded_schedd_is_admitted_under_an_unknown_name(tmp_path, trick):
    bundle = pools.write_bundle(tmp_path / "b", 'NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.Name == "bad"')
    schedds = [ad(Name='"bad"'), ad(Name='"good"')]
    assert not matched(pools.cycle(snapshot([slot()], [job(**trick)], schedds), bundle))
    honest = job(GlobalJobId='"good#1.0#1"')
    assert matched(pools.cycle(snapshot([slot()], [honest], schedds), bundle))


@pytest.mark.parametrize(
    "trick",
    [{"AccountingGroup": '"tester@d "'}, {"User": None}, {"User": '"x@d"'}, {"AccountingGroup": "MY.No"}],
)
def test_no_job_of_a_discarded_submitter_is_admitted_under_another_name(tmp_path, trick):
    bundle = pools.write_bundle(tmp_path / "b", 'NEGOTIATOR_SUBMITTER_CONSTRAINT: MY.Name != "tester@d"')
    submitters = [ad(Name='"tester@d"', ScheddName='"s"'), ad(Name='"zoe@d"', ScheddName='"s"')]
    where = {"GlobalJobId": '"s#1.0#1"'}
    pool = snapshot([slot()], [job(**where, **trick)], submitters=submitters)
    assert not matched(pools.cycle(pool, bundle))
    assert matched(pools.cycle(snapshot([slot()], [job(**where, **OTHER)], submitters=submitters), bundle))


def test_names_do_not_depend_on_earlier_cycles():
    pool = snapshot([slot()], [job(GlobalJobId='strcat("s", string(random(1000000)), "#1.0#1")')])
    assert len({pools.cycle(pool).matches[0].schedd for _ in range(3)}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "NEGOTIATOR_PE_JOB_ONLY_EXPR: |\n  MY.RequestMemory > 5 &&\n  MY.RequestCpus > 5\n",
        "policies:\n  - name: p\n    applies_to: startd\n    expression: 'false'\n    description: |\n      one\n      two\n",
        f"NEGOTIATOR_PE_JOB_EXPR: {' || '.join(['TARGET.Cpus > 0'] * 300)}\n",
    ],
)
def test_the_layout_of_an_expression_does_not_matter(tmp_path, text):
    bundle = pools.write_bundle(tmp_path / "b", text)
    assert matched(pools.cycle(snapshot([slot()], [job()]), bundle))


@pytest.mark.parametrize("name", ["MY", "my", "SELF"])
def test_an_attribute_named_like_a_scope_does_not_change_the_user_of_a_job(name):
    """User, groups, queue and resources are read from the job's ad itself."""
    borrowed = '[ Owner = "alice"; Queue = "root.alice"; RequestCpus = 0 ]'
    bundle = pools.load_bundle(pools.default_bundle())
    job = pools.job(**{name: borrowed}, RequestCpus="2", RequestMemory="1")
    result = pools.cycle(pools.snapshot([pools.slot()], [job]), bundle)
    (placed,) = result.placements
    assert placed.application.user == "tester"
    assert placed.application.queue == ""
    assert pools.used(result)["limits.user.tester.root.vcore"] == 2000


def test_an_amount_that_depends_on_the_slot_is_unspecified():
    """Otherwise it would be evaluated without the slot, and be larger on the slot."""
    bundle = pools.load_bundle(pools.default_bundle())
    attributes = {"RequestCpus": "isUndefined(TARGET.Cpus) ? 1 : 8", "RequestMemory": "1"}
    ads = pools.snapshot([pools.slot()], [pools.job(**attributes)])
    (outcome,) = pools.cycle(ads, bundle).outcomes
    assert "vcore" in outcome.request.unknown


def test_the_memory_expression_of_condor_submit_has_a_value_before_the_job_ran():
    """Although slots in use have such an attribute too."""
    written = "ifThenElse(MemoryUsage =!= undefined, MemoryUsage, (ImageSize + 1023) / 1024)"
    own = pools.job(RequestMemory=written, ImageSize="2048", RequestCpus="1")
    (outcome,) = pools.cycle(pools.snapshot([pools.slot(MemoryUsage="7")], [own])).outcomes
    assert outcome.request.resources["memory"] == 2 * 1024**2
    assert not outcome.request.unknown

"""The table that an ad goes to, and the key that identifies it."""

import pytest

from negotiator.pool import snapshot_builder
from negotiator.records import Severity

COUNTED = ("schedds", "submitters", "slots", "jobs")


def where(pool):
    return {kind: len(getattr(pool, kind)) for kind in COUNTED if len(getattr(pool, kind))} | {
        kind: getattr(pool, kind) for kind in ("private", "other") if getattr(pool, kind)
    }


@pytest.mark.parametrize(
    ("ad", "kind"),
    [
        ('MyType = "Machine"\nName = "s"\nState = "Owner"', "slots"),
        ('MyType = "Slot"\nName = "s"\nCpus = 1', "slots"),
        ('MyType = "machine"\nName = "s"\nRequirements = true\nClaimId = "x"', "slots"),
        ('MyType = "Machine"\nName = "s"\nMyAddress = "<1>"\nClaimId = "x"', "private"),
        ('MyType = "Machine"\nName = "s"\nMyAddress = "<1>"\nCapability = "x"', "private"),
        ('MyType = "Job"\nClusterId = 1\nProcId = 0', "jobs"),
        ('MyType = "Job"\nClusterId = 1\nProcId = -1', "other"),
        ('MyType = "Job"\nClusterId = 1\nProcId = -1\nJobStatus = 1\nAutoClusterId = 3', "other"),
        ('MyType = "Job"\nClusterId = 1\nProcId = -99\nJobStatus = 1', "other"),
        ('MyType = "Job"\nClusterId = 1\nProcId = -99', "jobs"),
        ('MyType = "Job"\nClusterId = 1\nProcId = -1\nWantPslotPreemption = true', "jobs"),
        ('MyType = "Job"\nClusterId = 1\nProcId = 0\nEpochAdType = "EPOCH"', "jobs"),
        ('ClusterId = 1\nProcId = 0\nEpochAdType = "INPUT"', "other"),
        ('MyType = "Scheduler"\nName = "s"', "schedds"),
        ('MyType = "Submitter"\nName = "u@d"', "submitters"),
        ('MyType = "Negotiator"\nName = "n"', "other"),
        ('MyType = "StartD"\nName = "n"\nState = "x"\nActivity = "y"', "other"),
        ('MyType = "Accounting"\nName = "n"', "other"),
        ('MyType = "(unknown type)"\nClusterId = 1\nProcId = 0', "jobs"),
        ('MyType = ""\nName = "s"\nState = "Unclaimed"\nActivity = "Idle"', "slots"),
        ("ClusterId = 1\nProcId = 0\nJobStatus = 1", "jobs"),
        ('ClusterId = 1\nProcId = 0\nState = "x"\nActivity = "y"', "jobs"),
        ("_condor_RESOURCE_COUNT = 2\nClusterId = 1\nProcId = 0", "jobs"),
        ('GlobalJobId = "s#1.0#9"\nState = "Claimed"\nActivity = "Busy"\nName = "s"', "slots"),
        ('Machine = "m"\nCpus = 4\nMemory = 100', "slots"),
        ('Name = "s"\nSlotType = "Dynamic"', "slots"),
        ('Name = "u"\nScheddName = "s"\nIdleJobs = 4', "submitters"),
        ('Name = "s"\nTotalIdleJobs = 1\nTotalRunningJobs = 2', "schedds"),
    ],
)
def test_the_kind_of_an_ad(snapshot, ad, kind):
    """By MyType, or without one, by attributes that only one kind has."""
    pool = snapshot(ad + "\n")
    assert where(pool) == {kind: 1}
    assert all(problem.severity is not Severity.ERROR for problem in pool.problems)


def test_ads_of_types_unknown_to_htcondor_are_reported(snapshot):
    """An ad with a custom type takes no part, which a notice says."""
    pool = snapshot('MyType = "glidefactory"\nName = "x"\n')
    assert where(pool) == {"other": 1}
    assert "type glidefactory" in pool.problems[0].message
    assert pool.problems[0].severity is Severity.NOTICE


def test_ads_of_unknown_kind_are_reported(snapshot):
    """An ad of unknown kind takes no part; the problem says where it is and what to add."""
    pool = snapshot("# prio\n\nLastUpdate = 1\n")
    assert where(pool) == {"other": 1}
    (problem,) = pool.problems
    assert "unknown kind" in problem.message
    assert problem.source.line == 3
    assert "MyType" in problem.hint


@pytest.mark.parametrize(
    ("ad", "name"),
    [
        ('Machine = "m"\nSlotID = 3', "slot3@m"),
        ('Machine = "m"', "m"),
        ("SlotID = 3", "slot@<stdin>:1"),
        ("Name = 5", "slot@<stdin>:1"),
    ],
)
def test_a_slot_without_a_name_is_given_one(snapshot, ad, name):
    """A slot without a Name can be matched; a warning gives the name, which is the same each time."""
    pool = snapshot(f'{ad}\nMyType = "Machine"\nState = "Unclaimed"\n')
    assert [slot.string("Name") for slot in pool.slots.ads] == [name]
    (problem,) = pool.problems
    assert name in problem.message
    assert problem.severity is Severity.WARNING


@pytest.mark.parametrize(
    "ad", ["ProcId = 0", "ClusterId = 1", 'ClusterId = 1\nProcId = "0"', "ClusterId = x\nProcId = 0"]
)
def test_a_job_without_its_ids_is_set_aside(snapshot, ad):
    """A match cannot be delivered to a job without ids."""
    pool = snapshot(f'MyType = "Job"\n{ad}\nOwner = "u"\n')
    assert where(pool) == {}
    (problem,) = pool.problems
    assert "without ClusterId and ProcId" in problem.message
    assert problem.severity is Severity.ERROR


def test_a_job_has_its_ids_from_its_global_id(snapshot):
    """The GlobalJobId holds both ids."""
    pool = snapshot('MyType = "Job"\nGlobalJobId = "schedd#12.3#1700000000"\n')
    (job,) = pool.jobs.ads
    assert (job.integer("ClusterId"), job.integer("ProcId")) == (12, 3)
    assert pool.problems[0].severity is Severity.NOTICE


def test_a_submitter_without_a_name_is_set_aside(snapshot):
    """Its jobs could not be charged to anybody."""
    pool = snapshot('MyType = "Submitter"\nIdleJobs = 3\n')
    assert where(pool) == {}
    assert "submitter without Name" in pool.problems[0].message


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('Name = "s"\nMyAddress = "<1>"', 'Name = "s"\nMyAddress = "<1>"', True),
        ('Name = "s"\nMyAddress = "<1>"', 'Name = "s"\nMyAddress = "<2>"', False),
        ('Name = "s"\nStartdIpAddr = "<1>"', 'Name = "s"\nMyAddress = "<1>"', True),
        ('Name = "s"', 'Name = "S"', False),
    ],
)
def test_of_two_ads_of_a_slot_the_later_counts(snapshot, one, other, same):
    """Slots with the same name and address are one, as in a collector; the later ad counts, with a warning."""
    pool = snapshot(
        f'{one}\nState = "Old"\nMyType = "Machine"\n\n{other}\nState = "New"\nMyType = "Machine"\n'
    )
    assert [ad.string("State") for ad in pool.slots.ads] == (["New"] if same else ["Old", "New"])
    assert [problem.severity for problem in pool.problems] == ([Severity.WARNING] if same else [])
    assert not same or "<stdin>:1" in pool.problems[0].message


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('GlobalJobId = "a#1.0#9"', 'GlobalJobId = "a#1.0#9"', True),
        ('GlobalJobId = "a#1.0#9"', 'GlobalJobId = "b#1.0#9"', False),
        ('GlobalJobId = "a#1.0#9"\nOwner = "ann"', 'GlobalJobId = "a#1.0#9"\nOwner = "bob"', False),
        ('GlobalJobId = "a#1.0#9"\nOwner = "ann"', 'GlobalJobId = "a#1.0#9"\nUser = "ann"', True),
        ('GlobalJobId = "a#1.0#9"', 'GlobalJobId = "a#1.0#9"\nOwner = "ann"', False),
        ('GlobalJobId = "<stdin>"', "", False),
        ("", "", True),
    ],
)
def test_of_two_ads_of_a_job_the_first_counts(snapshot, one, other, same):
    """Jobs of different schedds and owners differ; the later ad of one job is set aside with a warning."""
    job = 'MyType = "Job"\nClusterId = 1\nProcId = 0\n'
    pool = snapshot(f"{job}{one}\nA = 1\n\n{job}{other}\nA = 2\n".replace("\n\nA", "\nA"))
    assert [ad.integer("A") for ad in pool.jobs.ads] == ([1] if same else [1, 2])
    assert [problem.severity for problem in pool.problems] == ([Severity.WARNING] if same else [])
    assert (
        not same
        or "set aside: job 1.0 of the same owner was read before, at <stdin>:1" in pool.problems[0].message
    )


@pytest.mark.parametrize(
    "mark", ["_condor_RESOURCE_COUNT = 1", "WantMatchDiagnostics = 2", "AutoClusterId = 5"]
)
@pytest.mark.parametrize("count", [2, 100])
def test_a_schedd_may_ask_for_one_job_several_times(snapshot, mark, count):
    """A parallel job asks once for each of its nodes; read by columns or one by one."""
    request = f'MyType = "Job"\nClusterId = 1\nProcId = 0\nGlobalJobId = "s#1.0#7"\nOwner = "ann"\n{mark}\n\n'
    pool = snapshot(request * count)
    assert (len(pool.jobs), pool.problems) == (count, ())
    queue = snapshot(request.replace("\n\n", "\nJobStatus = 1\n\n") * count)
    assert (len(queue.jobs), len(queue.problems)) == (1, count - 1)


@pytest.mark.parametrize("count", [1, 60])
@pytest.mark.parametrize("cluster", ["ProcId = -1", "ClusterSize = 1\nTotalSubmitProcs = 3"])
def test_cluster_ads_beside_their_jobs_take_no_part(snapshot, count, cluster):
    """As ``condor_q -factory -long`` prints them, or as they are in the log of the queue."""
    ads = "".join(
        f'MyType = "Job"\nClusterId = {number}\n{proc}\nOwner = "u"\nJobStatus = 1\n\n'
        for number in range(count)
        for proc in (cluster, "ProcId = 0")
    )
    pool = snapshot(ads)
    assert (where(pool), pool.problems) == ({"jobs": count, "other": count}, ())
    assert pool.jobs.numbers("ProcId").tolist() == [0] * count


def test_problems_are_listed_one_by_one_up_to_a_limit(snapshot, monkeypatch):
    """A file of nothing but bad ads does not fill the memory with problems."""
    monkeypatch.setattr(snapshot_builder, "MAX_PROBLEMS", 3)
    pool = snapshot("A = (\n\n" * 10)
    assert len(pool.problems) == 4
    assert "7 more problems" in pool.problems[-1].message

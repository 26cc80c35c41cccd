"""Requests for more than one job or for none: parallel jobs and owner capacity units, on a real pool."""

import pytest

from live_site import LiveSite

#: The dedicated scheduler is trusted by all slots, and gives back at once what it does not use.
SETTINGS = """SCHEDD_NAME = access@pool
DedicatedScheduler = "DedicatedScheduler@access@pool"
STARTD_ATTRS = $(STARTD_ATTRS), DedicatedScheduler
RANK = Scheduler =?= $(DedicatedScheduler)
UNUSED_CLAIM_TIMEOUT = 2
OCU_SUPER_USERS = condor@example.org, root@example.org
CLAIM_WORKLIFE = 0
SLOT_TYPE_1 = cpus=1, memory=512, disk=1%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 4
"""
DEDICATED = "DedicatedScheduler@access@pool"
PARALLEL = "universe = parallel\nmachine_count = {}"
#: Owner capacity units of a user: the schedd asks for a slot of each, with ProcId -99.
CREATE = """import classad2, htcondor2
schedd = htcondor2.Schedd()
for cpus in {}:
    unit = f'Owner = "ann"\\nRequestCpus = {{cpus}}\\nRequestMemory = 1\\nRequestDisk = 1\\n'
    print(schedd.create_ocu(classad2.parseOne(unit))["OCUId"])
"""


@pytest.fixture(scope="module")
def pool(running_pool_of):
    """Start a pool with a dedicated scheduler and four slots."""
    with running_pool_of(SETTINGS) as started:
        yield started


@pytest.fixture
def site(pool, tmp_path):
    """Return a folder that serves the pool."""
    yield LiveSite(*pool, tmp_path)
    pool[0].remove_jobs()


def claimed(site):
    """Return the users of claimed slots, one for each slot."""
    users = site.pool.inside("run", "condor_status", "-constraint", 'State == "Claimed"', "-af", "RemoteUser")
    return users.split()


def test_a_parallel_job_runs_on_as_many_slots_as_it_has_nodes(site):
    """Its requests are those of the dedicated scheduler, whose slots are its own afterwards, and those of other jobs are theirs."""
    cluster, other = site.submit(more=PARALLEL.format(2)), site.submit(2, user="bob")
    site.serve_until(
        lambda: site.history(cluster, "JobStatus") and len(site.history(other, "JobStatus")) == 2
    )
    assert site.history(cluster, "JobStatus", "ExitCode") == ["4 0"]
    by_submitter = {}
    for match in site.matches():
        by_submitter.setdefault(match["submitter"], []).append(match["job"])
    assert by_submitter[DEDICATED.lower()] == [f"{cluster}.0"] * 2
    assert len(by_submitter["bob@example.org"]) == 2


def test_a_parallel_job_takes_slots_from_others_by_the_rank_of_the_slots(site):
    """``RANK`` of dedicated slots prefers their scheduler: two of the four jobs that run are preempted."""
    running = site.submit(4, user="bob", seconds=300)
    with site.serving() as process:
        process.wait_for(lambda: site.running(running) == 4)
        process.wait_for(lambda: len(claimed(site)) == 4)
        cluster = site.submit(seconds=60, more=PARALLEL.format(2))
        process.wait_for(lambda: site.running(cluster) == 1)
        process.wait_for(lambda: site.running(running) == 2)  # their schedd hears of it a little later


def test_a_policy_denies_the_requests_of_a_parallel_job_and_its_user_sees_why(site):
    site.write('NEGOTIATOR_PE_JOB_ONLY_EXPR: MY.Project =?= "closed"\n')
    cluster = site.submit(more=PARALLEL.format(2) + '\n+Project = "closed"')
    site.serve_until(lambda: "undefined" not in site.reasons(cluster))
    assert 'NEGOTIATOR_PE_JOB_ONLY_EXPR is true: MY.Project =?= "closed"' in "".join(site.reasons(cluster))


def test_owner_capacity_units_are_claimed_and_jobs_that_want_one_run_there(site):
    """One that fits nowhere keeps no other request waiting."""
    wanting = site.submit(user="ann", seconds=60, more="+OCUWanted = true")
    other = site.submit(user="ann", seconds=1)
    units = site.pool.inside("run", "python3", "-c", CREATE.format("(99, 1, 1)")).split()
    with site.serving() as process:
        process.wait_for(lambda: site.is_running(wanting) and site.history(other, "JobStatus") == ["4"])
        process.wait_for(lambda: len({match["job"] for match in site.matches()} & jobs_of(units)) == 2)
    assert f"{units[0]}.-99" not in {match["job"] for match in site.matches()}
    for unit in units:
        site.pool.inside("run", "htcondor", "ocu", "remove", unit)


def jobs_of(units):
    return {f"{unit}.-99" for unit in units}

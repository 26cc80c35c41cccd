"""A real schedd offers the jobs, under the submitter names, that a cycle over the ads of its queue expects."""

import subprocess
import sys

from negotiator.cycle.jobs import submitters
from negotiator.pool import read_pool
from queueing import records

#: A change of each job of a cluster, and whether its schedd then offers it.
CHANGES = {
    "JobPrio 1": True,
    "Managed '\"External\"'": False,
    "Managed '\"ScheddDone\"'": True,
    "JobCoolDownExpiration 4000000000": False,
    "JobCoolDownExpiration 1000000000": True,
    "CurrentHosts 1": False,
    "AccountingGroup '\"physics.tester@example.org\"'": True,
}
#: Fits nowhere, so that the queue stays as it is.
MEMORY = 100_000


def denied(folder):
    """Return the jobs of the requests that got no slot."""
    return {job for each in records(folder, "denial") for job in each["job_ids"]}


def run(site, *arguments):
    command = [sys.executable, "-m", "negotiator", *arguments]
    subprocess.run(command, cwd=site.folder, check=True, capture_output=True)


def test_a_cycle_over_a_queue_admits_the_jobs_that_the_schedd_offers(site):
    cluster = site.submit(len(CHANGES), memory=MEMORY)
    site.submit(more="+WantParallelScheduling = true", memory=MEMORY)
    edits = [
        f"condor_qedit {cluster}.{proc} {change} RequestMemory {MEMORY + proc}"
        for proc, change in enumerate(CHANGES)
    ]
    site.pool.inside("run", "sh", "-ec", "\n".join(edits))
    offered = {f"{cluster}.{proc}" for proc, is_offered in enumerate(CHANGES.values()) if is_offered}
    site.write("accounting:\n  trust_names: true\n")
    with site.serving() as process:
        process.wait_for(lambda: offered <= denied(site.folder / "var" / "audit"))
        process.wait_for_output(" cycle ", process.wait_for_output(" cycle "))
    assert denied(site.folder / "var" / "audit") == offered

    run(site, "fetch", "--bundle", "bundle")
    run(site, "run", "--bundle", "bundle", "--audit-log", "over-files", "pool")
    assert denied(site.folder / "over-files") == offered
    pool = read_pool([site.folder / "pool"])
    names = {ad.string("Name") for ad in pool.submitters.ads}
    assert "physics.tester@example.org@example.org" in names
    assert set(submitters(pool.jobs).tolist()) <= names

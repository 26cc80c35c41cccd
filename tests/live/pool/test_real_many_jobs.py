"""Hundreds of very short jobs of four users on 100 static slots: each runs once, and each match is a claim."""

import os
import re
from collections import Counter
from pathlib import Path

from queueing import records
from served_pool import waited_for

SLOTS = 100
USERS = ("tester", "ann", "bob", "carol")
#: Of each user; NEGOTIATOR_LIVE_JOBS=500 runs 2,000.
JOBS = int(os.environ.get("NEGOTIATOR_LIVE_JOBS", "150"))
#: A claim ends with its first job, if that is not over within the second: almost every job is matched.
SETTINGS = f"""CLAIM_WORKLIFE = 0
SCHEDD_DEBUG =
NUM_CPUS = {SLOTS}
SLOT_TYPE_1 = cpus=1, memory=64
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = {SLOTS}
"""
SUBMIT = f"""executable = /bin/true
transfer_executable = false
should_transfer_files = no
request_memory = 1
request_disk = 1
queue {JOBS}
"""
ACCEPTED = re.compile(r"(slot\d+): Request accepted\.")
#: A claim id that is used up, or that somebody else has; a schedd that runs out of jobs first requests no claim.
REFUSED = re.compile(r".*(?:\(REQUEST_CLAIM\)|[Rr]efus).*")


def waiting(site):
    """Return how many jobs the schedd advertises: a query of its queue would cost it the time to start jobs."""
    return int(site.pool.inside("run", "condor_status", "-schedd", "-af", "TotalJobAds"))


def peak_memory(process):
    """Return the largest memory that a process has had, in KiB."""
    lines = Path("/proc", str(process.pid), "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def test_jobs_of_four_users_each_run_once_on_slots_that_are_matched_once_a_claim(site_of):
    """The startd refuses no claim, so no slot was handed out twice; memory does not grow with cycles."""
    with site_of(SETTINGS) as site:
        clusters = [site.pool.submit(SUBMIT, user) for user in USERS]
        waited_for(lambda: waiting(site) == JOBS * len(USERS), "the ad of the schedd with all jobs")
        with site.serving("--every", "1") as process:
            process.wait_for(lambda: waiting(site) < JOBS * 3)
            early = peak_memory(process.process)
            for remaining in range(JOBS * 2, 0, -JOBS):
                process.wait_for(lambda: waiting(site) < remaining)  # noqa: B023 - called at once
            process.wait_for(lambda: waiting(site) == 0)
            assert peak_memory(process.process) < early * 1.2
            assert "warning" not in process.output()  # the stop may end a cycle, with a warning
        for cluster in clusters:
            assert site.history(cluster, "JobStatus", "NumJobStarts") == ["4 1"] * JOBS
        started = site.pool.log("StartLog")
        matched = Counter(each["slot"].partition("@")[0] for each in site.matches())
        assert Counter(ACCEPTED.findall(started)) <= matched
        assert not REFUSED.findall(started)
        assert matched.total() > JOBS * 2
        outcomes = records(site.folder / "var" / "audit", "outcome")
        assert not any(each["failed"] or each["unknown"] for each in outcomes)

"""Jobs of a real pool run because this negotiator said so, and stay idle with the reason of its policy."""

import os
import subprocess
import sys
import time

import pytest

from queueing import records

PATIENCE = 90.0
#: They run longer than a second, the unit of CLAIM_WORKLIFE: a schedd would use the claim again.
SUBMIT = """executable = /bin/sleep
arguments = 2
log = /dev/null
request_memory = {memory}
request_disk = 1024
+Project = "{project}"
queue {count}
"""
POLICY = """source: htcondor
htcondor:
  collector: {address}
  token: {token}
  encryption: {encryption}
"""
GATE = """NEGOTIATOR_JOB_CONSTRAINT = MY.Project =!= "closed"
"""


@pytest.fixture
def site(running_pool, tmp_path):
    """Write a bundle that serves the real pool; return its functions."""
    pool, address = running_pool
    secure = "use security" in (pool.root / "etc" / "condor" / "condor_config").read_text()
    token = tmp_path / "token"
    if secure:
        token.write_text(pool.inside("run", "condor_token_create", "-identity", "negotiator@example.org"))
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    endpoint = address.primary
    encryption = "REQUIRED" if secure else "OPTIONAL"
    (bundle / "pool.yaml").write_text(POLICY.format(address=endpoint, token=token, encryption=encryption))
    pool.remove_jobs()
    return Site(pool, tmp_path)


class Site:
    """A pool, and the folder of its negotiator."""

    def __init__(self, pool, folder):
        self.pool, self.folder = pool, folder

    def submit(self, count=1, memory=1, project="open"):
        """Submit jobs; return the number of their cluster, once a submitter ad may tell of them."""
        return self.pool.submit(SUBMIT.format(count=count, memory=memory, project=project))

    def conf(self, text):
        (self.folder / "bundle" / "central.conf").write_text(text)

    def left(self, cluster, attribute="ProcId"):
        """Return an attribute of the jobs of a cluster that are in the queue."""
        return self.pool.inside("run", "condor_q", "-all", cluster, "-af", attribute).split("\n")[:-1]

    def serve_until(self, done):
        """Run cycles until a condition holds."""
        command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", "--every", "1"]
        end = time.monotonic() + PATIENCE
        with subprocess.Popen(
            [*command, "--change-bundle"], cwd=self.folder, stderr=subprocess.PIPE, env=os.environ, text=True
        ) as process:
            try:
                while not done():
                    assert process.poll() is None, process.stderr.read()
                    assert time.monotonic() < end, self.left("-all", "LastRejMatchReason")
                    time.sleep(0.5)
            finally:
                process.terminate()
                _, output = process.communicate()
        assert process.returncode == 0, output
        return output

    def matches(self):
        return records(self.folder / "var" / "audit", "match")


def test_submitted_jobs_run_and_complete(site):
    """More jobs than slots: the slots are matched again."""
    cluster = site.submit(6)
    output = site.serve_until(lambda: not site.left(cluster))
    done = site.pool.inside("run", "condor_history", cluster, "-af", "ProcId", "JobStatus")
    assert sorted(done.split("\n")[:-1]) == [f"{number} 4" for number in range(6)]
    assert len(site.matches()) == 6
    assert "error" not in output


def test_a_job_that_a_policy_stops_stays_idle_with_the_reason_and_runs_once_it_is_lifted(site):
    """The user reads the administrator's rule in ``LastRejMatchReason``."""
    site.conf(GATE)
    cluster, other = site.submit(project="closed"), site.submit()
    expected = ['NEGOTIATOR_JOB_CONSTRAINT is not true: MY.Project =!= "closed"']
    site.serve_until(lambda: not site.left(other) and site.left(cluster, "LastRejMatchReason") == expected)
    site.conf("")
    site.serve_until(lambda: not site.left(cluster))


def test_a_job_that_fits_nowhere_learns_which_of_its_conditions_excludes_the_slots(site):
    cluster = site.submit(memory=10_000_000)
    expected = ["the job's Requirements: TARGET.Memory >= RequestMemory"]
    site.serve_until(lambda: site.left(cluster, "LastRejMatchReason") == expected)


def test_condor_status_shows_the_statistics_of_the_cycles_while_this_negotiator_runs(site):
    """The sums of all cycles are those of the audit log, and no ad remains afterwards."""
    names = ("Matches", "NumIdleJobs", "NumSchedulers", "ActiveSubmitterCount", "TotalSlots")
    columns = [f"LastNegotiationCycle{name}{cycle}" for cycle in range(3) for name in names]
    seen = set()

    def served():
        printed = site.pool.inside("run", "condor_status", "-negotiator", "-af", "Name", *columns).split()
        seen.update(tuple(printed[at : at + len(names)]) for at in range(1, len(printed), len(names)))
        return not site.left(cluster) and ("2", "2", "1", "1", "4") in seen

    cluster = site.submit(2)
    site.serve_until(served)
    assert site.pool.inside("run", "condor_status", "-negotiator", "-af", "Name") == ""


def test_no_claim_id_is_written_anywhere(site):
    cluster = site.submit(2)
    output = site.serve_until(lambda: not site.left(cluster))
    texts = [path.read_bytes() for path in (site.folder / "var").rglob("*") if path.is_file()]
    assert not any(b"#1#" in text or b"[Integrity" in text for text in (output.encode(), *texts))

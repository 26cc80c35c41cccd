"""A real pool is observed: its ads and jobs, by anybody who may read them, without claim ids, and without a negotiation."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from negotiator.pool import read_pool
from secret_file import write_secret

SUBMIT = """executable = /bin/sleep
arguments = 60
log = /dev/null
request_memory = {memory}
request_disk = 1024
+GlobalJobId = "somebody-else#1.0#1"
queue 3
"""


def submitted(pool, memory=1):
    (pool.root / "tmp" / "jobs.sub").write_text(SUBMIT.format(memory=memory))
    return pool.inside("user", "condor_submit", "-terse", "/tmp/jobs.sub").split(".")[0]  # noqa: S108


def fetch(pool, address, folder, identity="somebody@example.org", timeout=20):
    """Fetch the pool as a user who may read only; return the exit code, the errors and the snapshot."""
    bundle = folder / "bundle"
    bundle.mkdir(exist_ok=True)
    secure = "use security" in (pool.root / "etc" / "condor" / "condor_config").read_text()
    if secure:
        write_secret(folder / "token", pool.inside("run", "condor_token_create", "-identity", identity))
    settings = f"source: htcondor\nhtcondor:\n  token: {folder / 'token'}\n  timeout: {timeout}\n"
    (bundle / "pool.yaml").write_text(settings)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "negotiator",
            "fetch",
            str(address.primary),
            "--bundle",
            "bundle",
            "--replace",
        ],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
    )
    return done.returncode, done.stderr, read_pool([folder / "pool"])


def schedd_pid(pool):
    """Return the process of the pool's schedd: the one whose log is in the pool's folder."""
    log = Path("pool", "log", "SchedLog")
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            is_schedd = (path / "comm").read_text() == "condor_schedd\n"
            if is_schedd and (path / "root" / log).samefile(pool.root / log):
                return int(path.name)
    raise AssertionError("no schedd")


def test_an_observed_pool_has_all_jobs_and_no_secret(mostly_secure_pool, tmp_path):
    pool, address = mostly_secure_pool
    cluster = submitted(pool)
    code, err, snapshot = fetch(pool, address, tmp_path)
    assert (code, err) == (0, "")
    jobs = [ad for ad in snapshot.jobs.ads if str(ad.integer("ClusterId")) == cluster]
    assert [ad.integer("ProcId") for ad in jobs] == [0, 1, 2]
    assert {ad.string("Owner") for ad in jobs} == {"tester"}
    schedd = snapshot.schedds.ad(0).string("Name")
    assert {ad.string("GlobalJobId").partition("#")[0] for ad in jobs} == {schedd}
    assert len(snapshot.slots) == 4
    texts = [path.read_bytes() for path in (tmp_path / "pool").iterdir()]
    assert not any(b"\nCapability" in text or b"\nClaimId" in text or b"[Integrity" in text for text in texts)


def test_nothing_in_an_observed_pool_changes(mostly_secure_pool, tmp_path):
    """No negotiation begins, and no job is rejected."""
    pool, address = mostly_secure_pool
    cluster = submitted(pool, memory=10_000_000)
    log = pool.root / "pool" / "log" / "SchedLog"
    before = log.read_text().count("Negotiating for owner")
    for _ in range(3):
        fetch(pool, address, tmp_path)
    assert log.read_text().count("Negotiating for owner") == before
    printed = pool.inside("run", "condor_q", "-all", cluster, "-af", "JobStatus", "LastRejMatchTime")
    assert printed == "1 undefined\n" * 3


def test_a_schedd_that_hangs_costs_its_jobs_and_one_timeout(mostly_secure_pool, tmp_path):
    pool, address = mostly_secure_pool
    pid = schedd_pid(pool)
    os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    try:
        code, err, snapshot = fetch(pool, address, tmp_path, timeout=3)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (code, len(snapshot.slots), len(snapshot.jobs)) == (4, 4, 0)
    assert "command QUERY_JOB_ADS: no answer within 3 s" in err
    assert time.monotonic() - begun < 20

"""A folder from which a real pool is served: its bundle, its negotiator as a process, and the jobs of the pool."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

from condor_pool import PoolUnavailableError
from queueing import records
from secret_file import write_secret
from served_pool import copy_key

PATIENCE = 120.0  # seconds until a condition must hold
#: They run longer than a second, the unit of CLAIM_WORKLIFE: a schedd would use the claim again.
SUBMIT = """executable = /bin/sleep
arguments = {seconds}
transfer_executable = false
log = /dev/null
request_memory = {memory}
request_disk = 1024
{more}
queue {count}
"""
POOL = """source: htcondor
htcondor:
  collector: {address}
  token: {token}
  encryption: {encryption}
  timeout: {timeout}
"""
LISTENING = """  listen: 127.0.0.1:0
  uid_domain: example.org
  signing_keys: {keys}
  administrators: [condor@password]
"""


class LiveSite:
    """A pool, and the folder of its negotiator."""

    def __init__(self, pool, address, folder, timeout=20):
        self.pool, self.folder, self.bundle = pool, folder, folder / "bundle"
        secure = "use security" in (pool.root / "etc" / "condor" / "condor_config").read_text()
        self.token = folder / "token"
        if secure:
            self.use_token("negotiator@example.org")
        self.text = POOL.format(
            address=address.primary,
            token=self.token,
            encryption="REQUIRED" if secure else "OPTIONAL",
            timeout=timeout,
        )
        self.bundle.mkdir()
        self.write()

    def use_token(self, identity):
        """Write a token of the pool for an identity."""
        write_secret(self.token, self.pool.inside("run", "condor_token_create", "-identity", identity))

    def write(self, more="", **files):
        """Write a bundle: more of ``pool.yaml``, and files (``central_conf`` is ``central.conf``); no other files remain."""
        for old in self.bundle.iterdir():
            old.unlink()
        (self.bundle / "pool.yaml").write_text(self.text + more)
        for name, text in files.items():
            (self.bundle / name.replace("_", ".")).write_text(text)

    def listening(self):
        """Return more of ``pool.yaml`` of a secure pool: a port for the pool's tools, of which root is an administrator."""
        return LISTENING.format(keys=copy_key(self.pool, self.folder))

    def submit(self, count=1, *, user="tester", memory=1, seconds=2, more=""):
        """Submit jobs; return the number of their cluster."""
        text = SUBMIT.format(count=count, memory=memory, seconds=seconds, more=more)
        return self.pool.submit(text, user)

    def queue(self, cluster, *attributes):
        """Return attributes of the jobs of a cluster that are in the queue, a line each."""
        names = attributes or ("ProcId",)
        return self.pool.inside("run", "condor_q", "-all", cluster, "-af", *names).split("\n")[:-1]

    def history(self, cluster, *attributes):
        """Return attributes of the jobs of a cluster that left the queue, a line each, in order."""
        return sorted(self.pool.inside("run", "condor_history", cluster, "-af", *attributes).split("\n")[:-1])

    def is_back(self, program):
        """True if a daemon runs and answers."""
        try:
            self.pool.process(program)
            self.pool.inside("run", "condor_q", "-all")
        except PoolUnavailableError:
            return False
        return True

    def is_running(self, cluster):
        """True if a job of a cluster runs."""
        return "2" in self.queue(cluster, "JobStatus")

    def running(self, cluster):
        """Return how many jobs of a cluster run."""
        return self.queue(cluster, "JobStatus").count("2")

    def reasons(self, cluster):
        """Return why the jobs of a cluster were rejected last, as their user sees it."""
        return set(self.queue(cluster, "LastRejMatchReason"))

    @contextmanager
    def serving(self, *options):
        """Run ``negotiator serve``, a cycle each half second; end it as a service manager does."""
        with self.started(*options) as process:
            yield process
            process.stop()
        assert process.returncode == 0, process.output()

    @contextmanager
    def started(self, *options, program=("-m", "negotiator")):
        """Run ``negotiator serve``, or another program of Python in its place; kill it in the end if it still runs."""
        process = Negotiator(self, options, program)
        try:
            yield process
        finally:
            process.kill()

    def serve_until(self, done):
        """Run cycles until a condition holds; return what was printed."""
        with self.serving() as process:
            process.wait_for(done)
        return process.output()

    def matches(self):
        """Return the records of matches."""
        return self.records("match")

    def records(self, kind):
        """Return the records of the audit log of a kind."""
        return records(self.folder / "var" / "audit", kind)

    def written(self):
        """Return the contents of all files that the negotiator has written."""
        return [path.read_bytes() for path in (self.folder / "var").rglob("*") if path.is_file()]


class Negotiator:
    """A process of ``negotiator serve``."""

    def __init__(self, site, options, program):
        self.site, self.log = site, site.folder / "serve.log"
        command = [sys.executable, *program, "serve", "--bundle", "bundle", "--every", "0.5"]
        with self.log.open("w") as file:
            self.process = subprocess.Popen(  # noqa: S603 - the program
                [*command, "--change-bundle", *options],
                cwd=site.folder,
                stdout=subprocess.DEVNULL,
                stderr=file,
                env=os.environ,
            )

    @property
    def returncode(self):
        """The exit code; None while it runs."""
        return self.process.poll()

    def output(self):
        """Return what it has printed."""
        return self.log.read_text()

    def wait_for(self, done):
        """Wait until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not done():
            assert self.returncode is None, self.output()
            assert time.monotonic() < end, self.output()[-3000:] + self.site.pool.inside(
                "run", "condor_q", "-all"
            )
            time.sleep(0.2)

    def wait_for_output(self, text, after=0):
        """Wait until it has printed a text, after so many characters; return the number of characters printed."""
        self.wait_for(lambda: text in self.output()[after:])
        return len(self.output())

    def reload(self):
        """Make it read its bundle again; wait until it has."""
        printed = len(self.output())
        self.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: "reload" in self.output()[printed:])

    def stop(self):
        """End it as a service manager does."""
        self.process.terminate()
        self.process.wait(PATIENCE)

    def kill(self):
        """End it as ``kill -9`` does."""
        self.process.kill()
        self.process.wait(PATIENCE)

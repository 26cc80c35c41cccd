"""``negotiator serve`` beside a real pool, with a port for the pool's tools."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

from queueing import records
from secret_file import write_secret

PATIENCE = 60.0
POLICY = """source: htcondor
htcondor:
  collector: {collector}
  listen: 127.0.0.1:0
  uid_domain: example.org
  encryption: {requirement}
  integrity: {requirement}
  token: {token}
  signing_keys: {keys}
  methods: [{methods}]
  administrators: [{administrators}]
  daemons: [{daemons}]
"""


def waited_for(found, what="the condition"):
    """Return what a function returns once that is true."""
    end = time.monotonic() + PATIENCE
    while not (value := found()):
        assert time.monotonic() < end, what
        time.sleep(0.2)
    return value


def copy_key(pool, folder):
    """Copy the signing key of a secure pool, of which the pool's tools make tokens; return its path."""
    keys = folder / "POOL"
    keys.write_bytes((pool.root / "pool" / "passwords.d" / "POOL").read_bytes())
    keys.chmod(0o600)
    return keys


class ServedPool:
    """A pool, its negotiator, and the folder of that."""

    def __init__(self, pool, address, folder):
        self.pool, self.address, self.folder = pool, address, folder
        self.output = []

    def write_bundle(self, **settings):
        """Write the bundle: a secure pool has a token for the negotiator and its signing key."""
        is_secure = "use security" in (self.pool.root / "etc" / "condor" / "condor_config").read_text()
        token, keys = self.folder / "token", self.folder / "POOL"
        if is_secure:
            write_secret(
                token, self.pool.inside("run", "condor_token_create", "-identity", "negotiator@example.org")
            )
            copy_key(self.pool, self.folder)
        values = {
            "collector": self.address.primary,
            "requirement": "REQUIRED" if is_secure else "OPTIONAL",
            "token": token,
            "keys": keys,
            "methods": "FS, IDTOKENS" if is_secure else "CLAIMTOBE",
            "administrators": '"condor@password", "condor@example.org", "root@example.org"',
            "daemons": '"*@*"' if is_secure else '"*"',
            **settings,
        }
        (self.folder / "bundle").mkdir(exist_ok=True)
        (self.folder / "bundle" / "pool.yaml").write_text(POLICY.format(**values))

    @contextmanager
    def serving(self, every="3600"):
        """Run the negotiator until the end of the block; its ad is at the collector from the beginning on."""
        command = [
            sys.executable,
            "-m",
            "negotiator",
            "serve",
            "--bundle",
            "bundle",
            "--change-bundle",
            "--every",
            every,
        ]
        self.output.clear()
        with subprocess.Popen(  # noqa: S603 - this program
            command,
            cwd=self.folder,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=os.environ,
            text=True,
        ) as process:
            reader = threading.Thread(target=lambda: self.output.extend(process.stderr))
            reader.start()
            try:
                waited_for(lambda: process.poll() is not None or self.negotiator_address(), "a Negotiator ad")
                assert process.poll() is None, "".join(self.output)
                yield process
            finally:
                process.terminate()
                process.wait()
                reader.join()

    def negotiator_address(self):
        return self.pool.inside("run", "condor_status", "-negotiator", "-af", "MyAddress").strip()

    def tool(self, *command, who="run", check=True):
        return self.pool.inside(who, *command, check=check)

    def accounts(self, *options):
        """Return the accounts as the negotiator's own answer shows them, by name."""
        text = self.tool("condor_userprio", "-negotiator", "-long", "-modular", *options)
        ads = [
            dict(line.split(" = ", 1) for line in ad.splitlines() if " = " in line)
            for ad in text.split("\n\n")
        ]
        return {ad["Name"].strip('"'): ad for ad in ads if "Name" in ad}

    def requests(self):
        """Return the requests of administrators in the audit log."""
        return records(self.folder / "var" / "audit", "admin")

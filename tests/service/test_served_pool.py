"""What other processes show of the pool that a negotiator serves: the ads that it saves in its state."""

import gzip
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from processes import LongCommand

POOL = Path(__file__).parents[2] / "examples" / "first-pool"
PLUGIN = """
from pathlib import Path
from negotiator.plugin import LivePool, PoolSource, hookimpl

class Pool(LivePool):
    def __init__(self, settings, control):
        pass

    def fetch(self, ads):
        for file in sorted(Path("pool").glob("*.ads")):
            ads.add(file.name, [file.read_text()])

    def deliver(self, decisions):
        return ()

@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="folder", open=Pool)
"""


@pytest.fixture
def site(tmp_path):
    """A bundle whose live pool is a folder of ads."""
    plugins = tmp_path / "bundle" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "folder.py").write_text(PLUGIN)
    (tmp_path / "bundle" / "pool.yaml").write_text("source: folder\nplugins:\n  folders: [plugins]\n")
    shutil.copytree(POOL, tmp_path / "pool")
    return tmp_path


def negotiator(*arguments, cwd):
    """Run a command; return its exit code and what it prints."""
    command = [sys.executable, "-m", "negotiator", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_the_pool_of_the_last_cycle_is_shown_by_http_and_by_commands(site, serving):
    with LongCommand("serve", "--bundle", "bundle", "--every", "0.5", cwd=site) as serve:
        serve.wait_for("cycle number=2")
        command, client = serving("--bundle", "bundle", "--state", "var/state", cwd=site)
        with command, client:
            nodes = client.get("/ws/v1/partition/default/nodes").json()
            assert len(nodes) == 5
            checks = client.get("/ws/v1/scheduler/healthcheck").json()["HealthChecks"]
            assert "Negotiator" in {check["Name"] for check in checks}
            page = client.get("/pool").text
            assert re.search(r"Last cycle: number \d+", page)
            assert "negotiator started" in page
            assert "slots read</dt><dd>33<" in page
            (site / "pool" / "workers.ads").unlink()
            serve.wait_for("slots=9 ")
            for _ in range(100):
                if len(nodes) < 5:
                    break
                serve.wait_for("cycle number=")
                nodes = client.get("/ws/v1/partition/default/nodes").json()
            assert [node["nodeID"] for node in nodes] == ["node1.example.org", "node2.example.org"]
        code, printed = negotiator(
            "usage", "users", "--bundle", "bundle", "--state", "var/state", "--json", cwd=site
        )
        assert code == 0, printed
        assert [entry["userName"] for entry in json.loads(printed)] == ["tester"]
        code, printed = negotiator("queues", "--bundle", "bundle", "--state", "var/state", cwd=site)
        assert code == 0, printed
        assert "vcore" in printed  # the usage


def test_saved_ads_have_no_claim_ids_and_others_cannot_read_them(site):
    secret = "<127.0.0.1:1>#1#2#secret"  # noqa: S105 - made up
    (site / "pool" / "claimed.ads").write_text(f'MyType = "Machine"\nName = "x"\nClaimId = "{secret}"\n')
    assert negotiator("serve", "--bundle", "bundle", "--cycles", "1", cwd=site)[0] == 0
    saved = site / "var" / "state" / "pool.snapshot.gz"
    assert b"secret" not in gzip.decompress(saved.read_bytes())
    assert not saved.stat().st_mode & 0o007


def test_damaged_saved_ads_are_reported_with_their_file(site):
    assert negotiator("serve", "--bundle", "bundle", "--cycles", "1", cwd=site)[0] == 0
    saved = site / "var" / "state" / "pool.snapshot.gz"
    data = saved.read_bytes()
    for damaged in (data[:-20], b"", b"no gzip", gzip.compress(b"negotiator-snapshot 2\n")):
        saved.write_bytes(damaged)
        code, printed = negotiator("usage", "users", "--bundle", "bundle", "--state", "var/state", cwd=site)
        assert code == 4, printed
        assert "pool.snapshot.gz" in printed


CONFIGURATION = """\
bundle: bundle
state: state
audit_log: audit
every: 0.5
web_bind_port: 0
"""


def test_one_file_runs_cycles_and_the_interface_which_ends_with_them(site):
    (site / "negotiator.yaml").write_text(CONFIGURATION)
    with LongCommand("serve", "--config", "negotiator.yaml", cwd=site) as serve:
        address = serve.wait_for(r"web .*serving (\S+)/ws/v1/")[1]
        with httpx.Client(base_url=address, timeout=60) as client:
            for _ in range(100):
                if client.get("/readyz").status_code == 200:
                    break
                assert client.get("/ws/v1/clusters").status_code == 503
                serve.wait_for("cycle number=")
            assert len(client.get("/ws/v1/partition/default/nodes").json()) == 5
            serve.signal(signal.SIGTERM)
            assert serve.end() == 0
            with pytest.raises(httpx.TransportError):
                client.get("/readyz")


def test_the_interface_has_the_processor_after_the_cycles(site):
    (site / "negotiator.yaml").write_text(CONFIGURATION)
    with LongCommand("serve", "--config", "negotiator.yaml", cwd=site) as serve:
        serve.wait_for(r"web .*serving (\S+)/ws/v1/")
        (web,) = [
            int(child)
            for file in Path(f"/proc/{serve.process.pid}/task").glob("*/children")
            for child in file.read_text().split()
        ]
        own = os.getpriority(os.PRIO_PROCESS, serve.process.pid)
        assert os.getpriority(os.PRIO_PROCESS, web) == min(own + 10, 19)
        session = Path(f"/proc/{web}/autogroup")
        if session.exists():
            assert session.read_text().split()[1:] in ([], ["nice", "10"])


def test_an_interface_that_cannot_start_is_reported_and_costs_no_cycle(site):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (site / "negotiator.yaml").write_text(CONFIGURATION.replace(" 0\n", f" {port}\n"))
        with LongCommand("serve", "--config", "negotiator.yaml", cwd=site) as serve:
            serve.wait_for("the HTTP interface ended with exit code 1; it is started again")
            serve.wait_for("cycle number=")
            serve.signal(signal.SIGTERM)
            assert serve.end() == 0

"""``negotiator serve`` with one file, as a process: over the example pool, and with a port for tools."""

import json
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from negotiator.bundle import examine_bundle
from negotiator_live.settings import LivePoolSettings, bound_to
from processes import LongCommand

ROOT = Path(__file__).parents[2]
FILE = """\
bundle: site
pool_driver: files
pool: [pool]
state: state
audit_log: log
every: 0.05
log_level: info
scheduler_acl: john
"""


@pytest.fixture
def site(tmp_path):
    """A folder with the file, a bundle, and the example pool."""
    shutil.copytree(ROOT / "examples" / "first-pool", tmp_path / "pool")
    shutil.copytree(ROOT / "policies" / "limits", tmp_path / "site")
    (tmp_path / "negotiator.yaml").write_text(FILE)
    return tmp_path


def negotiator(folder, *words):
    command = [sys.executable, "-m", "negotiator", *words, "--config", "negotiator.yaml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_one_file_runs_the_service_over_files_and_the_other_commands_find_it(site):
    with LongCommand("serve", "--config", "negotiator.yaml", cwd=site) as service:
        service.wait_for(r" cycle number=\d+ slots=33 jobs=19 matched=5 ")
        service.wait_for(r" cycle number=\d+ .* matched=0 ")
        status = negotiator(site, "status", "--json")
        assert (status.returncode, status.stderr) == (0, "")
        assert json.loads(status.stdout)["health"] == "healthy"
        assert "students" in negotiator(site, "queues").stdout
        assert "the bundle was reloaded" in negotiator(site, "admin", "reload", "--wait", "60").stdout
        service.signal(signal.SIGTERM)
        assert service.end() == 0
    verified = subprocess.run(
        [sys.executable, "-m", "negotiator", "audit", "verify", "log"],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert verified.stdout.startswith("ok: ")


def test_a_pool_of_files_that_cannot_be_read_costs_its_cycle_only(site):
    with LongCommand("serve", "--config", "negotiator.yaml", cwd=site) as service:
        service.wait_for(" cycle number=")
        (site / "pool").rename(site / "away")
        service.wait_for(r"error +no cycle message=.*pool does not exist")
        (site / "away").rename(site / "pool")
        service.wait_for(" cycle number=")
        service.signal(signal.SIGTERM)
        assert service.end() == 0


def test_the_rest_interface_takes_its_address_the_state_and_the_pool_from_the_file(site):
    (site / "web").mkdir()
    (site / "web" / "index.html").write_text("hello")
    with (site / "negotiator.yaml").open("a") as file:
        file.write("web_bind_port: 0\nweb_assets: web\n")
    assert negotiator(site, "serve", "--cycles", "1").returncode == 0
    with LongCommand("serve", "--pages", "--config", "negotiator.yaml", cwd=site) as web:
        url = web.wait_for(r"serving (http://127.0.0.1:\d+)/ws/v1/")[1]
        with urlopen(f"{url}/ws/v1/partitions", timeout=60) as answer:  # noqa: S310 - this host
            assert json.load(answer)[0]["totalNodes"] > 0
        with urlopen(f"{url}/index.html", timeout=60) as answer:  # noqa: S310 - this host
            assert answer.read() == b"hello"
        web.signal(signal.SIGTERM)
        assert web.end() == 0


def test_shadow_mode_needs_a_live_pool(site):
    done = negotiator(site, "serve", "--shadow")
    assert done.returncode == 2
    assert "--shadow observes a live pool" in done.stderr


def test_the_address_of_the_file_replaces_that_of_the_bundle(tmp_path):
    """A collector that nobody serves: the port is open before its ads are fetched."""
    (tmp_path / "site").mkdir(mode=0o755)
    (tmp_path / "site" / "pool.yaml").write_text(
        "source: htcondor\nhtcondor: {collector: '127.0.0.1:1', listen: '127.0.0.1:2', timeout: 1}\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "negotiator.yaml").write_text(
        f"bundle: site\nbind_host: 127.0.0.1\nbind_port: {port}\nevery: 100\n"
    )
    with LongCommand("serve", "--config", "negotiator.yaml", cwd=tmp_path) as service:
        service.wait_for("no cycle")
        socket.create_connection(("127.0.0.1", port), 20).close()
        policy = tmp_path / "site" / "pool.yaml"
        policy.write_text(policy.read_text().replace("timeout: 1", "timeout: 2"))
        service.signal(
            signal.SIGHUP
        )  # other settings of the pool close the port; the cycle that then begins opens it
        service.wait_for("bundle reloaded")
        service.wait_for("no cycle")
        socket.create_connection(("127.0.0.1", port), 20).close()
        service.signal(signal.SIGTERM)
        assert service.end() == 0


@pytest.mark.parametrize("host", ["::1", "0.0.0.0", "cm.example.org"])  # noqa: S104 - nothing listens here
def test_an_address_is_the_one_of_the_pool_whatever_its_form(host):
    settings = bound_to(LivePoolSettings(), host, 9614)
    assert settings.htcondor.listen_endpoint == (host, 9614)


PLUGIN = """
from negotiator.plugin import PoolSource, hookimpl

@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="deaf", open=print)
"""


def test_an_address_for_a_pool_to_which_nobody_connects_is_an_error(tmp_path):
    plugins = tmp_path / "site" / "plugins"
    plugins.mkdir(mode=0o755, parents=True)
    (plugins / "deaf.py").write_text(PLUGIN)
    (tmp_path / "site" / "pool.yaml").write_text("source: deaf\nplugins: {folders: [plugins]}\n")
    (tmp_path / "negotiator.yaml").write_text("bundle: site\nbind_host: 127.0.0.1\nbind_port: 0\n")
    done = negotiator(tmp_path, "serve", "--cycles", "1")
    assert done.returncode == 1
    assert "the source deaf accepts no connections of tools and daemons" in done.stderr


def test_a_key_that_replaces_one_of_the_bundle_is_no_part_of_its_digest(site):
    one, other = (examine_bundle(site / "site", overrides=each) for each in ({}, {"scheduleracl": "john"}))
    assert one.digest == other.digest
    assert [each.bundle.settings["access"].scheduleracl for each in (one, other)] == ["", "john"]


def test_a_list_of_the_service_is_an_error_if_no_policy_reads_it(site):
    found = examine_bundle(site / "site", disable=["access"], overrides={"scheduleracl": "john"})
    assert next(str(each) for each in found.problems if "scheduleracl" in each.message).startswith(
        "the configuration of the service:1:1: error: unknown key 'scheduleracl'"
    )

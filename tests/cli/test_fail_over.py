"""Two ``negotiator serve`` with one state in a real PostgreSQL: one leads, and nothing is handed out twice, whatever happens."""

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest

from negotiator.audit.verify import verify
from negotiator.exit_codes import ExitCode
from processes import LIMIT, LongCommand
from swallowing_proxy import swallowing_proxy

AD = """\
MyType = "Job"
ClusterId = {number}
ProcId = 0
JobStatus = 1
Owner = "tester"
User = "tester@d"
GlobalJobId = "node1#{number}.0#1"
Requirements = true

MyType = "Machine"
Name = "slot{number}@h"
Machine = "h"
State = "Unclaimed"
Cpus = 1
Requirements = true

"""
STANDBY = r"standby: process (\d+) on \S+ leads since"
LEADS = "this negotiator leads from now on"


class Site:
    """A pool that gets a job and a slot again and again, and the central managers that serve it with one state."""

    def __init__(self, folder, postgresql, stack):
        self.folder, self._server, self._stack = folder, postgresql, stack
        self.schema = postgresql.schema()
        self.managers = {}
        self._ads, self._ended = 0, threading.Event()
        self.grow()
        threading.Thread(target=self._grow, daemon=True).start()
        stack.callback(self._ended.set)

    def _grow(self):
        while not self._ended.wait(1.0):
            self.grow()

    def grow(self):
        """Add a job and a slot."""
        self._ads += 1
        beside = self.folder / "new"
        beside.write_text("".join(AD.format(number=number) for number in range(1, self._ads + 1)))
        beside.replace(self.folder / "pool.ads")

    def url(self, host=None):
        """Return the URL of the state."""
        return self._server.url(self.schema, host)

    def start(self, name, host=None):
        """Start a central manager with files of its own."""
        (self.folder / f"{name}.yaml").write_text(
            f"state: {name}\naudit_log: {name}-log\nstate_database: {self.url(host)}\nstate_timeout: 5\n"
            "pool_driver: files\npool: [pool.ads]\nevery: 1\n"
        )
        command = LongCommand("serve", "--config", f"{name}.yaml", "--json", cwd=self.folder)
        self.managers[name] = self._stack.enter_context(command)
        return self.managers[name]

    def command(self, *words):
        """Run another command; return it when it has ended."""
        command = [sys.executable, "-m", "negotiator", *words]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120
        )

    def cut_sessions(self):
        """End the sessions of all managers at the server; wait until one of them leads again."""
        epoch = f"SELECT epoch FROM {self.schema}.leader"  # noqa: S608 - the name of a test
        before = self._server.execute(epoch)
        self._server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'negotiator'"
        )
        end = time.monotonic() + LIMIT
        while self._server.execute(epoch) == before:
            assert time.monotonic() < end, "nobody leads"
            time.sleep(0.05)

    def end(self, *names, number=signal.SIGTERM):
        """End managers by a signal; return their exit codes."""
        for name in names:
            self.managers[name].signal(number)
        return [self.managers[name].end() for name in names]

    def cycles(self):
        """Return what each manager printed of its cycles, in the order of their times."""
        found = [
            (cycle["cycle"][0]["now"], name, cycle.get("match", []))
            for name, manager in self.managers.items()
            for cycle in (
                json.loads(line) for line in manager.lines if line.startswith("{") and line.endswith("}")
            )
        ]
        return sorted(found, key=lambda each: each[0])

    def leaders(self):
        """Return the managers that handed something out, in the order of their times, each once for its cycles in a row."""
        names = [name for _, name, matches in self.cycles() if matches]
        return [name for number, name in enumerate(names) if number == 0 or names[number - 1] != name]

    def check(self):
        """Check that no job and no slot was handed out twice, and that the audit logs are complete."""
        matches = [match for _, _, matches in self.cycles() for match in matches]
        for field in ("job", "slot"):
            handed_out = [match[field] for match in matches]
            assert len(handed_out) == len(set(handed_out)) > 0
        for log in self.folder.glob("*-log"):
            assert verify(log).fault is None


@pytest.fixture
def site(tmp_path, postgresql):
    with ExitStack() as stack:
        yield Site(tmp_path, postgresql, stack)


def matching(manager):
    """Wait until a manager hands something out."""
    manager.wait_for(r'^\{.*"kind": "match"')


@pytest.fixture
def pair(site):
    """Return a manager that leads, and one that is standby."""
    leader = site.start("one")
    matching(leader)
    standby = site.start("two")
    assert int(standby.wait_for(STANDBY)[1]) == leader.process.pid
    return leader, standby


def test_the_second_manager_is_standby_until_the_first_one_ends_and_so_on(site, pair):
    """For monitoring a standby is as good as a healthy one, and commands work beside it. Each continues its own audit log."""
    leader, standby = pair
    status = site.command("status", "--config", "two.yaml", "--json")
    found = json.loads(status.stdout)
    assert (status.returncode, found["health"]) == (ExitCode.DONE, "standby")
    assert f"process {leader.process.pid} on" in found["text"]
    shown = site.command("status", "--config", "two.yaml").stdout
    assert f"Leader      process {leader.process.pid} on" in shown
    assert "reloaded" in site.command("admin", "reload", "--wait", "60", "--config", "two.yaml").stdout
    assert site.command("state", "backup", "copy.gz", "--config", "two.yaml").returncode == 0
    standby.signal(signal.SIGHUP)  # nothing to reload yet
    assert site.end("one") == [0]
    standby.wait_for(LEADS)
    matching(standby)
    again = site.start("one")
    again.wait_for(STANDBY)
    assert site.end("two") == [0]
    again.wait_for(LEADS)
    matching(again)
    assert site.end("one") == [0]
    again.lines = leader.lines + again.lines
    assert sum("standby: process" in line for line in standby.lines) == 1
    assert site.leaders() == ["one", "two", "one"]
    site.check()


def test_a_killed_leader_is_replaced(site, pair):
    standby = pair[1]
    site.end("one", number=signal.SIGKILL)
    standby.wait_for(LEADS)
    matching(standby)
    assert site.end("two") == [0]
    assert site.leaders() == ["one", "two"]
    site.check()


def test_a_stopped_leader_is_replaced_and_hands_out_nothing_when_it_continues(site, pair):
    leader, standby = pair
    leader.signal(signal.SIGSTOP)
    standby.wait_for(LEADS)
    matching(standby)
    leader.signal(signal.SIGCONT)
    leader.wait_for("this negotiator leads no more")
    leader.wait_for(STANDBY)
    matching(standby)
    assert site.end("one", "two") == [0, 0]
    assert site.leaders() == ["one", "two"]
    site.check()


def test_nothing_is_handed_out_twice_when_the_server_ends_their_sessions(site, pair):
    """Whoever is first leads then."""
    for _ in range(5):
        site.cut_sessions()
    assert site.end(*site.managers) == [0, 0]
    assert "leads no more" in "".join(pair[0].lines)
    site.check()


def test_a_leader_behind_a_broken_network_is_replaced_and_returns_as_standby(site, postgresql):
    with swallowing_proxy(postgresql.socket) as proxy:
        leader = site.start("one", proxy.address)
        matching(leader)
        standby = site.start("two")
        standby.wait_for(STANDBY)
        proxy.swallow()
        standby.wait_for(LEADS)
        matching(standby)
        leader.wait_for("this negotiator leads no more")
        proxy.forward()
        leader.wait_for(STANDBY)
        matching(standby)
        assert site.end("one", "two") == [0, 0]
    assert site.leaders() == ["one", "two"]
    site.check()


def test_a_database_that_does_not_answer_at_the_start_is_an_error(site):
    words = (
        "--set",
        "pool_driver=files",
        "--pool",
        "pool.ads",
        "--state-database",
        "postgresql://127.0.0.1:1/d",
    )
    refused = site.command("serve", *words)
    assert refused.returncode == ExitCode.STATE
    assert "cannot open the state" in refused.stderr

"""Two ``negotiator serve`` that share accounts in one PostgreSQL, of which one is killed or stopped: all use is charged, and once."""

import json
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import datetime

import psycopg
import pytest

from processes import LIMIT, LongCommand
from queueing import records
from several_negotiators import job, slot, write_bundle

PARTS = {"north": 3, "south": 2}  # slots that ann uses
KILLS = 5


class Pool:
    """A pool in which ann uses some slots all the time, and its negotiators."""

    def __init__(self, folder, postgresql, stack):
        self.folder, self.server, self._stack, self.running = folder, postgresql, stack, {}
        self.schema = postgresql.schema()
        for name in PARTS:
            write_bundle(folder, name, {"pool.yaml": "order: submitters\naccounting: {trust_names: true}\n"})
            (folder / f"{name}.yaml").write_text(
                f"name: {name}\nbundle: {name}\nstate: {name}-state\naudit_log: {name}-log\n"
                f"state_database: {postgresql.url(self.schema)}\n"
                "state_timeout: 3\npool_driver: files\npool: [pool.ads]\nevery: 0.01\n"
            )
        self.give(0)

    def give(self, jobs):
        """Let the pool have so many jobs of sue, and a free slot of each negotiator."""
        ads = [job(number, "sue") for number in range(1, jobs + 1)]
        for part, used in PARTS.items():
            ads += [slot(number, part, "ann") for number in range(used)]
            ads.append(slot("free", part))
        beside = self.folder / "new"
        beside.write_text("".join(ads))
        beside.replace(self.folder / "pool.ads")

    def start(self, name):
        """Start a negotiator, also again."""
        command = LongCommand("serve", "--config", f"{name}.yaml", "--json", cwd=self.folder)
        self.running[name] = self._stack.enter_context(command)

    def wait_for_cycle(self, name):
        self.running[name].wait_for(r'^\{.*"cycle"')

    def rows(self):
        """Return the shared rows by key, as they are at one moment."""
        found = self.server.execute(f"SELECT key, row FROM {self.schema}.shared_order_rows")  # noqa: S608
        return {key: json.loads(row) for key, row in found}

    def expected(self, rows):
        """Return the usage of ann: each slot from the first cycle of its negotiator to the last one that was charged."""
        return sum(
            used * (rows[f"use:{name}"]["last_update"] - self._begin(name)) for name, used in PARTS.items()
        )

    def _begin(self, name):
        first = records(self.folder / f"{name}-log", "cycle")[0]["time"]
        return int(datetime.fromisoformat(first).timestamp())

    def check(self):
        """Check that all use until now was charged, and once."""
        rows = self.rows()
        charged = rows["account:ann@d"].get("AccumulatedUsage", 0.0)
        assert charged == self.expected(rows)
        return charged

    def userprio(self, name, *words):
        """Run ``negotiator userprio`` on the state of a negotiator, and return its output."""
        command = [sys.executable, "-m", "negotiator", "userprio", "--config", f"{name}.yaml", *words]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT, check=True
        )
        return done.stdout


@pytest.fixture
def pool(tmp_path, postgresql):
    with ExitStack() as stack:
        yield Pool(tmp_path, postgresql, stack)


def test_whichever_is_killed_no_use_is_lost_and_none_is_charged_twice(pool):
    chosen = random.Random(11)  # noqa: S311 - no secret
    for name in PARTS:
        pool.start(name)
        pool.wait_for_cycle(name)
    for _ in range(KILLS):
        time.sleep(chosen.random())
        name = chosen.choice(list(PARTS))
        killed = pool.running[name]
        killed.signal(signal.SIGKILL)
        killed.end()
        pool.check()
        pool.start(name)
        pool.wait_for_cycle(name)
    before = pool.check()
    end = time.monotonic() + LIMIT
    while pool.check() < before + sum(PARTS.values()):
        assert time.monotonic() < end, "use is not charged"
        time.sleep(0.1)
    for name in PARTS:
        words = ("-allusers", "-autoformat", "Name", "ResourcesUsed")
        assert "ann@d 5" in pool.userprio(name, *words)


def test_a_factor_is_set_by_a_negotiator_that_runs_or_by_the_command_itself(pool):
    """While another one has cycles: it holds in all of them."""
    for name in ("north", "south"):
        pool.start(name)
        pool.wait_for_cycle(name)
    pool.running["south"].signal(signal.SIGTERM)
    assert pool.running["south"].end() == 0
    words = ("-allusers", "-autoformat", "Name", "PriorityFactor")
    for name, factor in (("south", "7"), ("north", "9")):  # the first one runs no more
        assert f"was set to {factor}" in pool.userprio(name, "-setfactor", "ann@d", factor)
        pool.wait_for_cycle("north")
        for each in PARTS:
            assert f"ann@d {factor}.0" in pool.userprio(each, *words)
    pool.start("south")
    pool.wait_for_cycle("south")
    assert pool.rows()["account:ann@d"]["PriorityFactor"] == 9.0


def test_one_that_is_stopped_in_its_turn_keeps_nobody_from_going_on(pool):
    """What it decided is not recorded; when it goes on it leads again, and charges the time since its last cycle."""
    pool.start("north")
    pool.wait_for_cycle("north")
    with psycopg.connect(host=str(pool.server.folder), user="negotiator", dbname="postgres") as db:
        db.execute(f"LOCK TABLE {pool.schema}.shared_order_change IN SHARE ROW EXCLUSIVE MODE")
        pool.give(2)
        wait_until(lambda: writer_waits(pool), "nobody writes")
        pool.running["north"].signal(signal.SIGSTOP)
        db.rollback()
    pool.start("south")
    pool.wait_for_cycle("south")
    wait_until(lambda: slots(pool, "south") == ["southfree@h"], "the other one does not go on")
    assert slots(pool, "north") == []
    pool.running["north"].signal(signal.SIGCONT)
    wait_until(lambda: slots(pool, "north") == ["northfree@h"], "the one that was stopped does not go on")
    pool.check()
    pool.userprio("north", "-allusers")
    jobs = [entry["job"] for name in PARTS for entry in entries(pool, name)]
    assert sorted(jobs) == ["1.0", "2.0"]


def writer_waits(pool):
    """True if a negotiator that has the turn waits for the lock of a table."""
    query = (
        "SELECT 1 FROM pg_locks AS wait JOIN pg_locks AS turn USING (pid) WHERE NOT wait.granted"
        " AND wait.relation = '{}.shared_order_change'::regclass AND turn.classid = 1852142179 AND turn.granted"
    )
    return bool(pool.server.execute(query.format(pool.schema)))


def entries(pool, name):
    """Return the matches in the state of a negotiator."""
    rows = pool.server.execute(f'SELECT entry FROM "{pool.schema}:{name}".matches')  # noqa: S608
    return [json.loads(text) for (text,) in rows]


def slots(pool, name):
    return [entry["slot"] for entry in entries(pool, name)]


def wait_until(is_true, otherwise):
    end = time.monotonic() + LIMIT
    while not is_true():
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)

"""Two ``negotiator serve`` with slots each and one PostgreSQL: whenever one is killed, no quota is exceeded, and all of it is used in the end."""

import json
import random
import signal
import time
from contextlib import ExitStack

import pytest

from negotiator.audit.verify import verify
from processes import LIMIT, LongCommand
from several_negotiators import NAMES, job, one_queue, slot, write_bundle

JOBS, SLOTS, MOST, KILLS = 60, 30, 40, 6


class Pool:
    """A pool that gets further jobs, and its negotiators."""

    def __init__(self, folder, postgresql, stack):
        self.folder, self._server, self._stack, self.running = folder, postgresql, stack, {}
        self._schema = postgresql.schema()
        url = postgresql.url(self._schema)
        for name in NAMES:
            write_bundle(folder, name, {"queues.yaml": one_queue(MOST)})
            (folder / f"{name}.yaml").write_text(
                f"name: {name}\nbundle: {name}\nstate: {name}-state\naudit_log: {name}-log\nstate_database: {url}\n"
                "state_timeout: 5\npool_driver: files\npool: [pool.ads]\nevery: 0.01\n"
            )
        self.slots = "".join(slot(n, part) for part in NAMES for n in range(SLOTS))
        self.give(2)

    def give(self, jobs):
        """Let the pool have so many jobs."""
        beside = self.folder / "new"
        beside.write_text("".join(job(number) for number in range(1, jobs + 1)) + self.slots)
        beside.replace(self.folder / "pool.ads")

    def start(self, name):
        """Start a negotiator, also again."""
        command = LongCommand("serve", "--config", f"{name}.yaml", "--json", cwd=self.folder)
        self.running[name] = self._stack.enter_context(command)

    def recorded(self):
        """Return the job and the slot of each match that may have been handed out: it is in the state of its negotiator."""
        names = [name for name in self.running if self._server.execute(self._has_state(name)) == [(True,)]]
        tables = [f'SELECT entry FROM "{self._schema}:{name}".matches' for name in names]  # noqa: S608
        rows = self._server.execute(" UNION ALL ".join(tables)) if tables else ()
        return [(entry["job"], entry["slot"]) for entry in (json.loads(text) for (text,) in rows)]

    def _has_state(self, name):
        return f"SELECT to_regclass('\"{self._schema}:{name}\".matches') IS NOT NULL"

    def check(self):
        """Check all that was ever recorded: no claim of these matches ends."""
        found = self.recorded()
        assert len(found) <= MOST
        for column in (0, 1):
            assert len({each[column] for each in found}) == len(found)
        return len(found)


@pytest.fixture
def pool(tmp_path, postgresql):
    with ExitStack() as stack:
        yield Pool(tmp_path, postgresql, stack)


def test_whichever_is_killed_no_quota_is_exceeded_and_all_of_it_is_used(pool):
    """A match is counted from the moment when it is recorded; whether it was handed out nobody knows after a kill."""
    chosen = random.Random(7)  # noqa: S311 - no secret
    for name in ("north", "south"):
        pool.start(name)
    for number in range(1, KILLS + 1):
        wanted = number * MOST // (KILLS + 2)
        pool.give(wanted)
        end = time.monotonic() + LIMIT
        while pool.check() < wanted:
            assert time.monotonic() < end, "jobs wait although the quota is not used"
            time.sleep(chosen.random() / 10)
        pool.give(wanted + 3)
        time.sleep(chosen.random() / 4)
        name = chosen.choice(("north", "south"))
        killed = pool.running[name]
        killed.signal(signal.SIGKILL)
        killed.end()
        pool.check()
        pool.start(name)
    pool.give(JOBS)
    end = time.monotonic() + LIMIT
    while pool.check() < MOST:
        assert time.monotonic() < end, "a part of the quota is never used"
        time.sleep(0.1)
    for each in pool.running.values():
        each.wait_for(r'^\{.*"cycle"')  # one that was started last may only begin
        each.signal(signal.SIGTERM)
    assert [each.end() for each in pool.running.values()] == [0, 0]
    assert pool.check() == MOST
    assert {slot[:5] for _, slot in pool.recorded()} == {"north", "south"}
    for log in pool.folder.glob("*-log"):
        assert verify(log).fault is None

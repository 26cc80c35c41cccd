"""A pool and a bundle with many queues, and ``negotiator serve`` over them, with cycles back to back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import attrs

from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.large import LargePool

_PATIENCE: Final = 300.0  # seconds until it is ready
_PAUSE: Final = 0.2
_TEAMS: Final = 49  # queues below each department
_POOL: Final = "order: submitters\naccounting: {trust_names: true}\n"
_QUEUES: Final = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits:
          - limit: each user
            users: ["*"]
            maxresources: {vcore: 100}
        queues:
"""
_DEPARTMENT: Final = """\
          - name: {name}
            resources:
              guaranteed: {{vcore: 20, memory: 100Gi}}
              max: {{vcore: 300, memory: 900Gi}}
            queues:
"""
_TEAM: Final = """\
              - name: {name}
                resources:
                  max: {{vcore: 60, memory: 200Gi}}
"""
_PLACEMENT: Final = "    placementrules:\n      - name: provided\n"
_SERVICE: Final = """\
bundle: bundle
state: state
audit_log: audit
pool_driver: files
pool: [slots.ads, submitters.ads, jobs.ads]
every: 0
web_bind_port: 0
log_format: json
"""
_ADS: Final = ("slots.ads", "submitters.ads", "jobs.ads")
_ADDRESS: Final = re.compile(r"serving (\S+)/ws/v1/")


def pool_with_queues(slots: int, jobs: int, queues: int) -> LargePool:
    """Return a pool whose jobs are in ten times fewer classes, and spread over a tree of about so many queues."""
    departments = max(round(queues / (_TEAMS + 1)), 1)
    text, leaves = _QUEUES, []
    for department in range(departments):
        text += _DEPARTMENT.format(name=f"d{department:03}")
        for team in range(_TEAMS):
            text += _TEAM.format(name=f"t{team:02}")
            leaves.append(f"root.d{department:03}.t{team:02}")
    bundle = {"pool.yaml": _POOL, "queues.yaml": text + _PLACEMENT}
    classes = max(jobs // 10, 1)
    # Neighbours in the list are in different departments.
    spread = tuple(leaves[place::_TEAMS][each] for place in range(_TEAMS) for each in range(departments))
    return LargePool("plain", slots, jobs, classes, min(classes, 50), bundle, spread)


@attrs.define(eq=False)
class ServedPool:
    """A running ``negotiator serve``, and when its cycles ended (seconds since the epoch)."""

    process: subprocess.Popen[str]
    ends: list[float] = attrs.field(factory=list)
    address: str = ""
    output: list[str] = attrs.field(factory=list)  # other lines of its log

    def cycles_in(self, seconds: float) -> list[float]:
        """Return the seconds of each cycle that begins and ends in the next so many seconds; of the next one, if that takes longer.

        :raises ProcessFailedError: it ended, or no cycle did.
        """
        first, until = len(self.ends), time.monotonic() + _PATIENCE
        time.sleep(seconds)
        while len(self.ends) < first + 2:
            if self.process.poll() is not None or time.monotonic() > until:
                raise ProcessFailedError(f"no cycle ended: {''.join(self.output)[-500:]}")
            time.sleep(_PAUSE)
        return [after - before for before, after in pairwise(self.ends[first:])]

    def read_log(self) -> None:
        """Read the log to its end."""
        for line in self.process.stderr or ():
            values = json.loads(line) if line.startswith("{") else {}
            if values.get("event") == "cycle":
                self.ends.append(datetime.fromisoformat(values["timestamp"]).timestamp())
            elif found := _ADDRESS.search(values.get("detail", "")):
                self.address = found[1]
            else:
                self.output.append(line)


@contextmanager
def served(pool: LargePool, folder: Path) -> Iterator[ServedPool]:
    """Run ``negotiator serve`` over a pool, with cycles back to back; the pages show its first cycle when the block begins.

    :raises ProcessFailedError: it ended, or is not ready in time.
    """
    pool.write(folder)
    (folder / "negotiator.yaml").write_text(_SERVICE, "utf-8")
    command = [sys.executable, "-m", "negotiator", "serve", "--config", "negotiator.yaml"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - this program
        found = ServedPool(process)
        reader = threading.Thread(target=found.read_log)
        reader.start()
        try:
            _wait_until_ready(found)
            yield found
        finally:
            process.terminate()
            process.wait()
            reader.join()


@contextmanager
def web_alone(folder: Path) -> Iterator[str]:
    """Run ``negotiator serve --pages`` over a pool that was served, without cycles; yield its address.

    :raises ProcessFailedError: it ended.
    """
    options = [
        "--bundle=bundle",
        "--state=state",
        "--set=web_bind_port=0",
        *(f"--pool={name}" for name in _ADS),
    ]
    command = [sys.executable, "-m", "negotiator", "serve", "--pages", *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - this program
        try:
            found = _ADDRESS.search("" if process.stdout is None else process.stdout.readline())
            if found is None:
                raise ProcessFailedError("negotiator serve --pages printed no address")
            yield found[1]
        finally:
            process.terminate()


def _wait_until_ready(found: ServedPool) -> None:
    until = time.monotonic() + _PATIENCE
    while not (found.address and _has_cycles(found.address)):
        if found.process.poll() is not None or time.monotonic() > until:
            raise ProcessFailedError(f"negotiator serve is not ready: {''.join(found.output)[-500:]}")
        time.sleep(_PAUSE)


def _has_cycles(address: str) -> bool:
    with urlopen(f"{address}/metrics", timeout=_PATIENCE) as answer:  # noqa: S310 - our own service
        return b"\nnegotiator_cycles_total" in answer.read()

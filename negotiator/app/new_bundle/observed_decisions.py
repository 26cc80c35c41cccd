"""A first test of somebody's own policies: some jobs, and what the bundle decides about them today."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from negotiator.app.new_bundle.flow_values import flow
from negotiator.app.new_bundle.own_files import OwnFiles
from negotiator.app.new_bundle.sample_jobs import sample_jobs
from negotiator.app.new_bundle.system import PoolSystem
from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.app.policy_tests.file import read_policy_tests
from negotiator.bundle import Bundle
from negotiator.cycle.jobs import job_ids, schedds

_HEAD: Final = """\
# A test of the policies: negotiator test --bundle {folder}
# Its expectations are what the bundle decided when it was made: read them, correct what you expect otherwise, and add tests of what
# must never happen (docs/policy-tests.md).
slots:
{slots}

tests:
  - name: some jobs get what the bundle gave them when it was made
"""
_HOST: Final = re.compile(r'Machine == "([^"]+)"')


def observed_test(system: PoolSystem, own: OwnFiles, bundle: Bundle, folder: Path) -> bytes:
    """Return a file of tests with jobs that touch the rules of a bundle, and the decisions of one cycle about them.

    :param folder: of the bundle, as the file names it.
    """
    jobs = sample_jobs(system, own, bundle)
    hosts = _HOST.findall("\n".join(str(job.attributes.get("Requirements", "")) for job in jobs))
    slots = [f"  - {flow(each)}" for each in _slots(tuple(dict.fromkeys(hosts)), len(jobs))]
    text = _HEAD.format(folder=folder, slots="\n".join(slots))
    groups = {job.owner: list(job.groups) for job in jobs if job.groups}
    if groups:
        text += f"    groups: {flow(groups)}\n"
    text += "    jobs:\n" + "".join(f"      - {flow(job.attributes)}\n" for job in jobs)
    return (text + "    expect:\n" + "".join(_expectations(text, bundle))).encode()


def _slots(hosts: tuple[str, ...], number: int) -> Iterator[Mapping[str, Any]]:
    shape = {"Cpus": 64, "Memory": 65536, "TotalMemory": 65536, "num_proc": 64}
    yield {"repeat": max(number, 4), **shape}
    for host in hosts:
        yield {"Name": f"slot1@{host}", "Machine": host, **shape}


def _expectations(text: str, bundle: Bundle) -> Iterator[str]:
    """Yield a line for each job of the test in a text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "observed_test.yaml"
        file.write_text(text, encoding="utf-8")
        (test,) = read_policy_tests(file).tests
    decided = PolicyTestCycle.of(test, bundle)
    jobs = decided.pool.jobs
    for row, (job, schedd) in enumerate(zip(job_ids(jobs), schedds(jobs).tolist(), strict=True)):
        outcome = decided.outcome(row, job, schedd)
        reason = outcome.reason
        if reason is None:
            expected = {"verdict": "matched" if outcome.slot else "waiting", "queue": outcome.queue}
        else:
            expected = {"verdict": str(reason.verdict), "rule": reason.provenance.rule}
        yield f"      - {{job: {job}, {flow(expected)[1:]}\n"

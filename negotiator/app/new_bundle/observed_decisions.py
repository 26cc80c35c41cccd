"""A first test of somebody's own policies: some jobs, and what the bundle decides about them today."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.app.policy_tests.file import read_policy_tests
from negotiator.bundle import Bundle
from negotiator.cycle.jobs import job_ids, schedds
from negotiator.hooks.starting_bundles import SAMPLE_SLOT_CPUS, SampleJob, yaml_in_line

_USER: Final = "alice"
#: Further ones would make the test too long to read.
MOST_SAMPLE_JOBS: Final = 11
_HEAD: Final = """\
# A test of the policies: negotiator test --bundle {folder}
# Its expectations are what the bundle decided when it was made: read them, correct what you expect otherwise, and add tests of what
# must never happen (docs/policy-tests.md).
slots:
{slots}

tests:
  - name: some jobs get what the bundle gave them when it was made
"""


def observed_test(sample_jobs: Iterable[SampleJob], bundle: Bundle, folder: Path) -> bytes:
    """Return a file of tests with an ordinary job and some sample jobs, and the decisions of one cycle about them.

    :param folder: of the bundle, as the file names it.
    """
    ordinary = SampleJob()
    jobs = tuple(_numbered([ordinary, *sample_jobs]))
    slots = [f"  - {yaml_in_line(each)}" for each in _slots(jobs)]
    text = _HEAD.format(folder=folder, slots="\n".join(slots))
    groups = {str(job.attributes["Owner"]): list(job.groups) for job in jobs if job.groups}
    if groups:
        text += f"    groups: {yaml_in_line(groups)}\n"
    text += "    jobs:\n" + "".join(f"      - {yaml_in_line(job.attributes)}\n" for job in jobs)
    return (text + "    expect:\n" + "".join(_expectations(text, bundle))).encode()


def _numbered(jobs: Iterable[SampleJob]) -> Iterator[SampleJob]:
    """Yield the jobs with an owner and a cluster, and with the requirement of their machine."""
    for cluster, job in enumerate(jobs, 1):
        required = {"Requirements": f'TARGET.Machine == "{job.machine}"'} if job.machine else {}
        attributes = {"Owner": _USER, **job.attributes, **required, "ClusterId": cluster}
        yield attrs.evolve(job, attributes=attributes)


def _slots(jobs: Sequence[SampleJob]) -> Iterator[Mapping[str, Any]]:
    shape = {"Cpus": SAMPLE_SLOT_CPUS, "Memory": 65536, "TotalMemory": 65536}
    yield {"repeat": max(len(jobs), 4), **shape}
    for machine, count in Counter(job.machine for job in jobs if job.machine).items():
        for number in range(1, count + 1):
            yield {"Name": f"slot{number}@{machine}", "Machine": machine, **shape}


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
        yield f"      - {{job: {job}, {yaml_in_line(expected)[1:]}\n"

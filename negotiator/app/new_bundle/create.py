"""Makes a policy bundle to start from, with a first test of somebody's own policies, and copies the example pool.

The test has some jobs, and what the bundle decides about them today.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import attrs

import negotiator
from negotiator.app.check import check_bundle
from negotiator.app.new_bundle.offers import OfferedBundle, complete_answers, function_of
from negotiator.app.new_files import write_new
from negotiator.app.plugins import PluginFunction
from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.app.policy_tests.file import read_policy_tests
from negotiator.bundle import Bundle, BundleCheck
from negotiator.cycle.jobs import job_ids, schedds
from negotiator.errors import InvalidCallError, NotFoundError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.checks.declarations import (
    OBSERVED_TEST,
    checked_sample_job,
    checked_starting_files,
)
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.starting_bundles import (
    SAMPLE_SLOT_CPUS,
    OwnFile,
    SampleJob,
    StartingRequest,
    yaml_in_line,
)
from negotiator.queues import PartitionConfig

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
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


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


@attrs.frozen
class NewBundle:
    """A bundle that was written: its files by name, and what ``negotiator check`` reports about it.

    ``failure`` is that of the plugin at the sample jobs: the bundle has no test then.
    """

    folder: Path
    files: tuple[str, ...]
    check: BundleCheck
    failure: HookFailure | None = None


def create_bundle(
    folder: Path, offered: OfferedBundle, files: Sequence[OwnFile] = (), answers: Mapping[str, str] = _NONE
) -> NewBundle:
    """Write a bundle to start from; the test of sample jobs is added unless the bundle has errors.

    :param offered: which one.
    :param files: those of the administrator; the bundle has them instead of examples.
    :param answers: by the names of the questions; those that are missing have their default.
    :raises InvalidCallError: a file is of another system, or an answer is invalid.
    :raises CommandError: a file of the bundle exists already; nothing is written.
    :raises PluginFailureError: the plugin failed; nothing is written.
    """
    starting = offered.record
    if files and not starting.own_files:
        raise InvalidCallError(f"the starting bundle {starting.name} has no use for a --file; leave it out")
    request = StartingRequest(
        folder=folder, files=tuple(files), answers=complete_answers(starting.questions, answers)
    )
    function = function_of(offered, starting.make)
    made = function.answer(lambda: checked_starting_files(starting.make(request)))
    write_new(folder, made.files)
    written = NewBundle(folder, tuple(sorted(made.files)), check_bundle(CommandTargets(bundle=folder)))
    return written if made.sample_jobs is None else _with_test(written, function, made.sample_jobs)


def _with_test(
    written: NewBundle,
    function: PluginFunction,
    sample_jobs: Callable[[PartitionConfig], Iterable[SampleJob]],
) -> NewBundle:
    """Add the test of sample jobs to a bundle, unless it has errors."""
    bundle, folder = written.check.bundle, written.folder
    if bundle is None:
        return written
    from negotiator.app.new_bundle.create import (  # noqa: PLC0415 - cycles import NumPy
        MOST_SAMPLE_JOBS,
        observed_test,
    )

    jobs = function.answer_or_failure(
        lambda: [checked_sample_job(job) for job in islice(sample_jobs(bundle.partition), MOST_SAMPLE_JOBS)]
    )
    if isinstance(jobs, HookFailure):
        return attrs.evolve(written, failure=jobs)
    write_new(folder, {OBSERVED_TEST: observed_test(jobs, bundle, folder)})
    names = tuple(sorted((*written.files, OBSERVED_TEST)))
    return NewBundle(folder, names, check_bundle(CommandTargets(bundle=folder)))


def create_example_pool(folder: Path) -> tuple[str, ...]:
    """Copy the ads of the example pool into a folder, and return the names of the files.

    :raises CommandError: a file exists already, or cannot be written.
    :raises NotFoundError: the installation is incomplete.
    """
    ads = {
        entry.name: entry.read_bytes() for entry in _example_pool().iterdir() if entry.name.endswith(".ads")
    }
    write_new(folder, ads)
    return tuple(sorted(ads))


def _example_pool() -> Traversable:
    """Return the folder of the example pool: part of the wheel, and beside the package where it runs from its sources."""
    package = files(negotiator)
    sources = Path(str(package)).parent / "examples" / "first-pool"
    for place in (package / "app" / "example_pool", sources):
        if place.is_dir():
            return place
    raise NotFoundError(f"{package}: the example pool is missing; install pool-negotiator again")

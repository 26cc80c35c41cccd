"""Makes a policy bundle to start from, and copies the example pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final

import attrs

import negotiator
from negotiator.app.check import check_bundle
from negotiator.app.new_bundle.offers import OfferedBundle, complete_answers, function_of
from negotiator.app.new_files import write_new
from negotiator.app.plugins import PluginFunction
from negotiator.bundle import BundleCheck
from negotiator.errors import InvalidCallError, NotFoundError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.checks.declarations import (
    OBSERVED_TEST,
    checked_sample_job,
    checked_starting_files,
)
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.starting_bundles import OwnFile, SampleJob, StartingRequest
from negotiator.queues import PartitionConfig

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


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
    from negotiator.app.new_bundle.observed_decisions import (  # noqa: PLC0415 - cycles import NumPy
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

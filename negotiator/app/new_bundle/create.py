"""Makes a policy bundle to start from, and copies the example pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import attrs

import negotiator
from negotiator.app.check import check_bundle
from negotiator.app.new_bundle.own_files import OwnFiles, own_files
from negotiator.app.new_bundle.queue_names import queues_of_names
from negotiator.app.new_bundle.system import PoolSystem, read_own_files
from negotiator.app.new_files import rendered, write_new
from negotiator.bundle import BundleCheck
from negotiator.bundle.folder import QUEUES
from negotiator.errors import NotFoundError
from negotiator.hooks.command_targets import CommandTargets

_TEST: Final = "site_test.yaml"


@attrs.frozen
class NewBundle:
    """A bundle that was written: its files by name, and what ``negotiator check`` reports about it."""

    folder: Path
    files: tuple[str, ...]
    check: BundleCheck


def create_bundle(folder: Path, system: PoolSystem, paths: Sequence[Path] = ()) -> NewBundle:
    """Write a bundle to start from.

    With an administrator's own files the bundle has these instead of examples, unchanged; its test has what the bundle decides about some jobs,
    unless it has errors.

    :param paths: files of that system: HTCondor's configuration; a queues.yaml of YuniKorn; the output of ``qconf -srqs``, ``-sc``, ``-su NAME`` and
        ``-shgrp NAME`` of Grid Engine.
    :raises InvalidCallError: a file is not of that system.
    :raises CommandError: a file cannot be read, or one of the bundle exists already; nothing is written.
    """
    own = own_files(system, read_own_files(paths)) if paths else None
    templates = files(negotiator) / "app" / "new_bundle" / "templates" / system
    made = rendered(
        templates,
        own=own is not None,
        objects="" if own is None else own.objects.completed(own.quota_names),
        settings=system.settings_file if own is None else ", ".join(own.files),
        folder=folder,
    )
    if own is not None:
        made = _with_own(made, system, own)
    write_new(folder, made)
    check = check_bundle(CommandTargets(bundle=folder))
    if own is not None and check.bundle is not None:
        from negotiator.app.new_bundle.observed_decisions import observed_test  # noqa: PLC0415 - cycles import NumPy

        test = {_TEST: observed_test(system, own, check.bundle, folder)}
        write_new(folder, test)
        made |= test
        check = check_bundle(CommandTargets(bundle=folder))
    return NewBundle(folder, tuple(sorted(made)), check)


def _with_own(made: Mapping[str, bytes], system: PoolSystem, own: OwnFiles) -> dict[str, bytes]:
    """Return the files of a bundle with an administrator's own ones instead of examples, and without the tests of these."""
    examples = {_TEST}
    if own.files:  # of Grid Engine there may be objects alone
        examples.add(system.settings_file)
    result = {name: content for name, content in made.items() if name not in examples} | dict(own.files)
    if own.quota_names.queues:
        result[QUEUES] = queues_of_names(own.quota_names.queues)
    return result


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

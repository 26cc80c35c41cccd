"""Load a bundle: check everything in it, report every problem at once, and return all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import attrs

from negotiator.bundle.folder import is_settings_file, read_folder
from negotiator.bundle.loader import BundleLoader
from negotiator.bundle.model import Bundle
from negotiator.bundle.pool_configuration import AskPool
from negotiator.bundle.sections import FileOwners
from negotiator.bundle.text import SourceText, text_entry
from negotiator.errors import BundleError
from negotiator.hooks.guard import Tracer
from negotiator.hooks.manager import HookManager
from negotiator.records import Problem, Severity

#: The place of settings that are only tried, in messages.
TRIED_SETTINGS: Final = "the changed settings"


@attrs.frozen
class BundleCheck:
    """All problems of a folder, and the bundle if none of them is an error.

    ``hooks`` holds the plugins that were loaded, even if others were refused; None if the bundle's list of plugins is
    invalid. ``files`` are the texts that were read, by name; ``file_owners`` the plugins that read files. ``ignored`` has a
    notice for each setting of HTCondor without effect; if there are several, the problems only sum them up.
    ``unset`` has a warning for each setting of an HTCondor-style file that is there, but has no value.
    """

    bundle: Bundle | None
    digest: str
    problems: tuple[Problem, ...]
    hooks: HookManager | None = None
    files: Mapping[str, SourceText] = attrs.field(factory=dict)
    file_owners: FileOwners = attrs.field(factory=FileOwners)
    ignored: tuple[Problem, ...] = ()
    unset: tuple[Problem, ...] = ()

    def reads(self, name: str) -> bool:
        """True if the core or a plugin reads a file of this name, relative to the folder, as settings."""
        return is_settings_file(name) or bool(self.file_owners.owner(name))


def default_bundle() -> Path:
    """Return the folder of the built-in bundle."""
    return Path(__file__).parent / "default"


def load_bundle(
    folder: Path,
    *,
    extra_folders: Sequence[Path] = (),
    disable: Sequence[str] = (),
    entry_points: bool = True,
    tracer: Tracer | None = None,
    extra_plugins: Mapping[str, object] = MappingProxyType({}),
) -> Bundle:
    """Return the bundle in a folder.

    :param extra_folders: folders of plugins, in addition to those that the bundle names.
    :param disable: names of plugins that are not loaded, in addition to those that the bundle names.
    :param entry_points: False leaves out installed plugins.
    :param tracer: called with a line for each hook call.
    :param extra_plugins: further plugins by name, as modules or objects.
    :raises BundleError: the bundle has an error; the exception has every problem.
    """
    examination = examine_bundle(
        folder,
        extra_folders=extra_folders,
        disable=disable,
        entry_points=entry_points,
        tracer=tracer,
        extra_plugins=extra_plugins,
    )
    if examination.bundle is None:
        raise BundleError(examination.problems, folder)
    return examination.bundle


def check_bundle(
    folder: Path,
    *,
    extra_folders: Sequence[Path] = (),
    disable: Sequence[str] = (),
    entry_points: bool = True,
) -> tuple[Problem, ...]:
    """Return all problems of the bundle in a folder, in the order of files and lines."""
    return examine_bundle(
        folder, extra_folders=extra_folders, disable=disable, entry_points=entry_points
    ).problems


def examine_bundle(
    folder: Path,
    *,
    extra_folders: Sequence[Path] = (),
    disable: Sequence[str] = (),
    entry_points: bool = True,
    tracer: Tracer | None = None,
    replaced: Mapping[str, bytes | None] | None = None,
    overrides: Mapping[str, str] = MappingProxyType({}),
    extra_plugins: Mapping[str, object] = MappingProxyType({}),
    trial: Mapping[str, str] = MappingProxyType({}),
    ask_pool: AskPool = AskPool.NO,
) -> BundleCheck:
    """Check a whole folder; problems are returned, not raised.

    :param replaced: contents of files to use instead of those on disk, by name; None for a file to treat as removed.
    :param overrides: texts that replace keys of ``pool.yaml``, by key; they are no part of the digest.
    :param trial: further such texts, which are only tried.
    :param ask_pool: whether the present configuration of the bundle's pool counts.
    """
    contents = read_folder(folder, replaced, installed=folder == default_bundle())
    loading = BundleLoader(
        folder,
        contents,
        list(contents.problems),
        {key: text_entry(key, text) for key, text in overrides.items()}
        | {key: text_entry(key, text, TRIED_SETTINGS) for key, text in trial.items()},
        ask_pool,
    )
    bundle = loading.run(
        extra_folders, disable, entry_points=entry_points, tracer=tracer, extra_plugins=extra_plugins
    )
    problems = loading.all_problems()
    if bundle is None or any(problem.severity is Severity.ERROR for problem in problems):
        bundle = None
    else:
        bundle = attrs.evolve(bundle, problems=problems)
    return BundleCheck(
        bundle,
        contents.digest if bundle is None else bundle.digest,
        problems,
        loading.hooks,
        loading.files,
        loading.file_owners,
        loading.ignored,
        loading.unset,
    )

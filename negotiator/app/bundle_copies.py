"""Copies of a bundle and of folders of plugins, for workers on machines that do not have them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Self, TypeAlias

import attrs

from negotiator.app.recordings import write_files
from negotiator.bundle.folder import read_folder
from negotiator.errors import BundleError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Severity

#: The contents of the files of a folder, by their names in it.
FolderCopy: TypeAlias = tuple[tuple[str, bytes], ...]


@attrs.frozen
class BundleCopies:
    """The contents of the files of a bundle, None without one, and of folders of plugins."""

    bundle: FolderCopy | None
    plugins: tuple[FolderCopy, ...] = attrs.field(repr=False)

    @classmethod
    def of(cls, bundle: FolderCopy | None, plugins: Sequence[Path]) -> Self:
        """Read folders of plugins.

        :raises BundleError: one cannot be read, or another user could have written it.
        """
        return cls(bundle, tuple(map(_copied, plugins)))

    def targets(self, targets: CommandTargets) -> CommandTargets:
        """Return targets with the folders of plugins, written once in this process and removed at its end."""
        return attrs.evolve(targets, plugins_dirs=tuple(Path(_written(each).name) for each in self.plugins))


def _copied(folder: Path) -> FolderCopy:
    found = read_folder(folder)
    if any(each.severity is Severity.ERROR for each in found.problems):
        raise BundleError(found.problems, folder)
    return tuple(found.files.items())


@cache
def _written(files: FolderCopy) -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="negotiator-plugins-")
    write_files(dict(files), Path(folder.name))
    return folder

"""Which bundle cycles are decided under: that of a folder, or that of each recording, perhaps with changes; and copies of it for workers elsewhere."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Self, TypeAlias

import attrs

from negotiator import __version__
from negotiator.app.bundle_cache import BUNDLES
from negotiator.app.bundle_edits import NO_EDITS, BundleEdits, edited
from negotiator.app.recordings import RecordedCycle, load_files, recorded_bundle, write_files
from negotiator.bundle import Bundle
from negotiator.bundle.folder import read_folder
from negotiator.errors import BundleError, CommandError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Severity


@attrs.frozen
class BundleChoice:
    """A bundle that other processes load themselves.

    ``digest`` is that of the folder of the targets when it was chosen, and ``plugins`` those that take part; without a digest the bundle is that of each recording.
    ``copies`` are used instead of the folders, which only the machine of the choice has.
    """

    targets: CommandTargets
    digest: str = ""
    plugins: tuple[str, ...] = ()
    edits: BundleEdits = NO_EDITS
    copies: BundleCopies | None = None

    @classmethod
    def of_folder(cls, targets: CommandTargets, edits: BundleEdits = NO_EDITS) -> BundleChoice:
        """Load the bundle of the targets, and return it as a choice.

        :raises BundleError: it has errors.
        """
        bundle = edited(targets, edits)
        choice = cls(targets, bundle.digest, bundle.hooks.plugin_set, edits)
        BUNDLES.keep(choice, bundle)
        return choice

    @property
    def key(self) -> str:
        """A text that differs for bundles that may decide otherwise."""
        folders = (
            ([], ()) if self.digest else (list(map(str, self.targets.plugins_dirs)), self.targets.disable)
        )
        edits = hashlib.sha256(repr((self.edits, self.targets.scheduler_acl)).encode()).hexdigest()
        return f"{__version__} {self.digest} {self.plugins} {folders} {edits}"

    def portable(self) -> Self:
        """Return the choice with copies of its files, and without what else the targets name.

        :raises BundleError: a folder cannot be read, or the bundle has errors.
        :raises CommandError: it was changed since it was chosen.
        """
        files = tuple(self.bundle().files.items()) if self.digest else None
        copies = BundleCopies.of(files, self.targets.plugins_dirs)
        targets = CommandTargets(disable=self.targets.disable, scheduler_acl=self.targets.scheduler_acl)
        return attrs.evolve(self, targets=targets, copies=copies)

    def bundle(self, recorded: RecordedCycle | None = None) -> Bundle:
        """Return the bundle.

        :raises BundleError: it has errors.
        :raises CommandError: it was changed since it was chosen, or other plugins take part.
        """
        if not self.digest and recorded is not None:
            return recorded_bundle(recorded, self._targets, self.edits)
        bundle = BUNDLES.of(self, self._load)
        if bundle.digest != self.digest:
            raise CommandError(f"{bundle.folder}: the bundle was changed meanwhile: start again")
        if bundle.hooks.plugin_set != self.plugins:
            names = ", ".join(sorted({*bundle.hooks.plugin_set} ^ {*self.plugins}))
            raise CommandError(f"other plugins take part than where the bundle was chosen: {names}")
        return bundle

    @property
    def _targets(self) -> CommandTargets:
        return self.targets if self.copies is None else self.copies.targets(self.targets)

    def _load(self) -> Bundle:
        if self.copies is None or self.copies.bundle is None:
            return edited(self._targets, self.edits)
        return load_files(dict(self.copies.bundle), self._targets, self.edits)


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

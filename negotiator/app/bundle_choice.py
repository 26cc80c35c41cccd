"""Which bundle cycles are decided under: that of a folder, or that of each recording, perhaps with changes."""

from __future__ import annotations

import hashlib

import attrs

from negotiator import __version__
from negotiator.app.bundle_cache import BUNDLES
from negotiator.app.bundle_edits import NO_EDITS, BundleEdits, edited
from negotiator.app.recordings import RecordedCycle, recorded_bundle
from negotiator.bundle import Bundle
from negotiator.errors import CommandError
from negotiator.hooks.command_targets import CommandTargets


@attrs.frozen
class BundleChoice:
    """A bundle that other processes load themselves.

    ``digest`` is that of the folder of the targets when it was chosen, and ``plugins`` those that take part; without a digest the bundle is that of each recording.
    """

    targets: CommandTargets
    digest: str = ""
    plugins: tuple[str, ...] = ()
    edits: BundleEdits = NO_EDITS

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

    def bundle(self, recorded: RecordedCycle | None = None) -> Bundle:
        """Return the bundle.

        :raises BundleError: it has errors.
        :raises CommandError: it was changed since it was chosen.
        """
        if not self.digest and recorded is not None:
            return recorded_bundle(recorded, self.targets, self.edits)
        bundle = BUNDLES.of(self, lambda: edited(self.targets, self.edits))
        if bundle.digest != self.digest:
            raise CommandError(f"{bundle.folder}: the bundle was changed meanwhile: start again")
        return bundle

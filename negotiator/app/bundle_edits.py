"""A bundle with some of its files and settings changed, without a change on disk."""

from __future__ import annotations

from typing import Final

import attrs

from negotiator.app.targets import bundle_folder, examine, loaded
from negotiator.bundle import Bundle
from negotiator.hooks.command_targets import CommandTargets


@attrs.frozen
class BundleEdits:
    """What is changed in a bundle: contents of files by name, and texts of keys of ``pool.yaml``."""

    files: tuple[tuple[str, bytes], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


NO_EDITS: Final = BundleEdits()


def edited(targets: CommandTargets, edits: BundleEdits) -> Bundle:
    """Return the bundle of the targets with changes.

    :raises BundleError: it has errors.
    """
    found = examine(targets, replaced=dict(edits.files), settings=dict(edits.settings))
    return loaded(found, bundle_folder(targets))

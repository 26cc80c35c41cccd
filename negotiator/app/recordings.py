"""Files of recorded cycles, and the bundles in them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from negotiator.app.bundle_cache import BUNDLES
from negotiator.app.bundle_edits import NO_EDITS, BundleEdits, edited
from negotiator.audit.errors import naming
from negotiator.audit.recorded_cycle import RecordedCycle as RecordedCycle
from negotiator.audit.recorded_cycle import RecordingError as RecordingError
from negotiator.bundle import Bundle
from negotiator.bundle.archive import digest_of
from negotiator.errors import NotFoundError
from negotiator.files import check_trusted, open_regular
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.cycle_recorder import SUFFIX, CycleRecorder


def keep_all(folder: Path) -> CycleRecorder:
    """Return what records each cycle in a folder, and removes none."""
    return CycleRecorder(folder, most_bytes=sys.maxsize, most_seconds=float("inf"))


def recorded_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return files of recorded cycles: those that are named, and those of named folders in the order of their times.

    :raises NotFoundError: a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        files = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not files:
            raise NotFoundError(f"{path}: no recorded cycles (*{SUFFIX}) in this folder")
        found += files
    return tuple(found)


def read_trusted(file: Path) -> bytes:
    """Return the content of a recorded cycle. It has the plugins of its bundle, which are run: no other user may have written it.

    :raises AuditError: it cannot be read.
    :raises UntrustedError: another user than root and the caller could have written it.
    """
    with naming(file, "read the recorded cycle"), os.fdopen(open_regular(file), "rb") as opened:
        check_trusted(file, os.fstat(opened.fileno()))
        return opened.read()


def recorded_bundle(
    recorded: RecordedCycle, targets: CommandTargets, edits: BundleEdits = NO_EDITS
) -> Bundle:
    """Return the bundle of a recorded cycle, loaded once: cycles in a row mostly have one and the same.

    It is written into a folder, from which its plugins may read as long as it is in use.

    :param targets: their plugins take part beside those of the bundle.
    :param edits: what is changed in the bundle.
    :raises BundleError: it has errors.
    :raises RecordingError: it has a file outside its folder.
    """
    folders = tuple(each.absolute() for each in targets.plugins_dirs)
    key = digest_of(recorded.files), attrs.evolve(targets, plugins_dirs=folders), edits
    return BUNDLES.of(key, lambda: load_files(recorded.files, targets, edits))


def load_files(files: Mapping[str, bytes], targets: CommandTargets, edits: BundleEdits = NO_EDITS) -> Bundle:
    """Write the files of a bundle into a folder, and load it; the folder is removed with the bundle."""
    folder = Path(tempfile.mkdtemp(prefix="negotiator-bundle-"))
    try:
        write_files(files, folder)
        bundle = edited(attrs.evolve(targets, bundle=folder), edits)
    except BaseException:
        shutil.rmtree(folder)
        raise
    weakref.finalize(bundle, shutil.rmtree, folder, ignore_errors=True)
    return bundle


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder, by their names in it.

    :raises RecordingError: one is outside the folder.
    """
    for file, content in files.items():
        path = folder / file
        if not path.resolve().is_relative_to(folder.resolve()):
            raise RecordingError(f"the recorded bundle has a file outside its folder: {file!r}")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)

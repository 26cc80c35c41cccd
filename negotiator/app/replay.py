"""Use case: decide recorded cycles again, each under its own bundle."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from negotiator.app.targets import load
from negotiator.audit.errors import naming
from negotiator.audit.recorded_cycle import RecordedCycle
from negotiator.audit.recorded_cycle import RecordingError as RecordingError
from negotiator.bundle import Bundle
from negotiator.errors import CommandError, NotFoundError
from negotiator.explain.replay import replay
from negotiator.files import check_trusted, open_regular
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.cycle_recorder import SUFFIX


@attrs.frozen
class ReplayReport:
    """A recorded cycle that was decided again: how many matches it has, and the first difference; empty if there is none."""

    file: Path
    number: int
    now: float
    bundle: str
    matches: int
    difference: str


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


def read_recorded(file: Path) -> RecordedCycle:
    """Return the recorded cycle in a file. It has the plugins of its bundle, which are run: no other user may have written it.

    :raises RecordingError: it is not a recorded cycle, is cut or changed, or is of another version.
    :raises AuditError: it cannot be read.
    :raises UntrustedError: another user than root and the caller could have written it.
    """
    with naming(file, "read the recorded cycle"), os.fdopen(open_regular(file), "rb") as opened:
        check_trusted(file, os.fstat(opened.fileno()))
        content = opened.read()
    try:
        return RecordedCycle.decode(content)
    except RecordingError as error:
        raise RecordingError(f"{file}: {error}") from None


def replay_file(file: Path, targets: CommandTargets) -> ReplayReport:
    """Decide a recorded cycle again, and compare the decisions byte for byte.

    :param targets: their plugins take part beside those of the recorded bundle.
    :raises CommandError: plugins that took part are missing, or have another version.
    """
    recorded = read_recorded(file)
    with _bundle_of(recorded, targets) as bundle:
        missing = sorted(set(recorded.plugins) ^ set(bundle.hooks.plugin_set))
        if missing:
            raise CommandError(
                f"{file}: other plugins take part than in the recorded cycle: {', '.join(missing)}"
            )
        found = replay(recorded, bundle)
    return ReplayReport(
        file=file,
        number=recorded.cycle.number,
        now=recorded.cycle.now,
        bundle=recorded.cycle.digest,
        matches=len(found.result.matches),
        difference=found.difference,
    )


@contextmanager
def _bundle_of(recorded: RecordedCycle, targets: CommandTargets) -> Iterator[Bundle]:
    """Write the files of the recorded bundle into a folder, and load it."""
    with tempfile.TemporaryDirectory(prefix="negotiator-bundle-") as name:
        folder = Path(name)
        for file, content in recorded.files.items():
            path = folder / file
            if not path.resolve().is_relative_to(folder.resolve()):
                raise RecordingError(f"the recorded bundle has a file outside its folder: {file!r}")
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o600)
        yield load(attrs.evolve(targets, bundle=folder))

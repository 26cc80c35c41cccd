"""Keeps recorded cycles in a folder: which ones, and how many bytes and days of them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import attrs

from negotiator.audit.recorded_cycle import RecordedCycle
from negotiator.defaults import ALL_CYCLES, FAILED_CYCLES, RECORD_DAYS, RECORD_MEGABYTES
from negotiator.files import replace_file

SUFFIX: Final = ".cycle"

_MODE: Final = 0o600  # a snapshot has the ads of all users
_FOLDER_MODE: Final = 0o700
_NAME: Final = re.compile(rf"\d{{8}}T\d{{6}}Z-\d{{8,}}{re.escape(SUFFIX)}", re.ASCII)


@attrs.frozen
class CycleRecorder:
    """Writes cycles into a folder, and removes the oldest ones.

    :param which: ``all``, ``failures`` (cycles in which a plugin failed or a time limit was reached), or a number N for every Nth cycle.
    :param most_bytes: of all files together; the newest one is kept in any case.
    :param most_seconds: how old a file may get.
    """

    folder: Path
    which: str = ALL_CYCLES
    most_bytes: int = RECORD_MEGABYTES * 1_000_000
    most_seconds: float = RECORD_DAYS * 86400.0

    def wants(self, number: int, *, failed: bool) -> bool:
        """True if the cycle of this number is to be recorded."""
        if self.which in {ALL_CYCLES, FAILED_CYCLES}:
            return failed or self.which == ALL_CYCLES
        return number % int(self.which) == 0

    def record(self, recorded: RecordedCycle, now: float) -> Path:
        """Write a cycle, remove the oldest ones beyond the limits, and return its file.

        :param now: the time in seconds since the epoch.
        :raises OSError: it cannot be written.
        """
        self.folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        when = datetime.fromtimestamp(recorded.cycle.now, UTC)
        file = self.folder / f"{when:%Y%m%dT%H%M%SZ}-{recorded.cycle.number:08}{SUFFIX}"
        replace_file(file, recorded.encode(), mode=_MODE)
        self._remove_oldest(file, now)
        return file

    def _remove_oldest(self, newest: Path, now: float) -> None:
        files = sorted(file for file in self.folder.iterdir() if _NAME.fullmatch(file.name))
        sizes = {file: file.stat() for file in files}
        total = sum(each.st_size for each in sizes.values())
        for file in files:
            too_old = now - sizes[file].st_mtime > self.most_seconds
            if file == newest or not (too_old or total > self.most_bytes):
                continue
            file.unlink(missing_ok=True)
            total -= sizes[file].st_size

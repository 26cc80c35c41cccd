"""Results of a batch in a file, so that a batch that was stopped goes on: a line of JSON for each recorded cycle."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import attrs

from negotiator import posix
from negotiator.errors import CommandError
from negotiator.files import open_regular

_MODE: Final = 0o600  # results name users
_BEGINNING: Final = b'{"cycle":"'


@attrs.define(eq=False)
class FinishedResults:
    """Results by the digest of the recorded cycle and the key of the task; without a file none are kept.

    A line of the file has ``cycle`` (SHA-256 of the recording), ``task`` and ``result``. A last line that is cut off is ignored:
    its cycle is decided again.
    """

    _file: BinaryIO | None = None
    _results: dict[tuple[str, str], Any] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self._results)

    def has(self, cycle: str, task: str) -> bool:
        """True if the result of a task for a cycle is known."""
        return (cycle, task) in self._results

    def get(self, cycle: str, task: str) -> Any:
        """Return the result of a task for a cycle; raise KeyError if it is not known."""
        return self._results[cycle, task]

    def keep(self, cycle: str, task: str, result: Any) -> None:
        """Write a result to the file; nothing if it is there, or is None (the cycle was refused)."""
        if self._file is None or result is None or self.has(cycle, task):
            return
        self._results[cycle, task] = result
        line = json.dumps({"cycle": cycle, "task": task, "result": result}, separators=(",", ":"))
        self._file.write(line.encode("ascii") + b"\n")
        self._file.flush()


@contextmanager
def finished_results(path: Path | None) -> Iterator[FinishedResults]:
    """Read the results in a file, and keep further ones there; it is made if it does not exist. Without a path none are kept.

    :raises CommandError: the file cannot be read or written, has something else, or is in use.
    """
    if path is None:
        yield FinishedResults()
        return
    try:
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE))
        opened = os.fdopen(open_regular(path, os.O_RDWR), "r+b")
    except OSError as error:
        raise CommandError(
            f"{path}: cannot use this file for finished results: {error.strerror or error}"
        ) from None
    with opened:
        try:
            posix.lock_file(opened.fileno())
        except OSError:
            raise CommandError(f"{path}: another process uses this file for its finished results") from None
        found: dict[tuple[str, str], Any] = {}
        end = 0
        for number, line in enumerate(opened, 1):
            if not line.endswith(b"\n") and _BEGINNING.startswith(line[: len(_BEGINNING)]):
                break  # a write that was interrupted
            cycle, task, result = _parsed(line, path, number)
            found[cycle, task] = result
            end += len(line)
        opened.seek(end)
        opened.truncate()
        yield FinishedResults(opened, found)


def _parsed(line: bytes, path: Path, number: int) -> tuple[str, str, Any]:
    try:
        values = json.loads(line)
        return str(values["cycle"]), str(values["task"]), values["result"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CommandError(
            f"{path}:{number}: not a finished result: name another file, or remove the line"
        ) from None

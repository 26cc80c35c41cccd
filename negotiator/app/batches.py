"""Runs a function over many recorded cycles: on any executor, in the order of the files, and resumed where it was stopped.

The results of a batch are in a file, a line of JSON for each recorded cycle, so that one that was stopped goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, Self, TypeVar

import attrs
import msgspec

from negotiator import posix
from negotiator.app.executors import BatchWorkers
from negotiator.app.recordings import RecordedCycle, read_trusted
from negotiator.app.status import status_of
from negotiator.errors import CommandError, NegotiatorError
from negotiator.exit_codes import ExitCode
from negotiator.files import open_regular
from negotiator.runtime.collector import rare_collections

_MODE: Final = 0o600  # results name users
_BEGINNING: Final = b'{"cycle":"'
R = TypeVar("R")


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


class CycleTask(ABC, Generic[R]):
    """Makes a result of each recorded cycle of a batch. Other processes get a copy of the task, so it is small."""

    @property
    @abstractmethod
    def result(self) -> type[R]:
        """The class of the results: an attrs record of numbers, texts, and records, tuples and mappings of them."""

    @property
    @abstractmethod
    def key(self) -> str:
        """A text that differs for tasks whose results may differ for the same cycle, such as digests of bundles."""

    @abstractmethod
    def portable(self) -> Self:
        """Return the task with the contents of all files that it reads, for workers on other machines.

        :raises NegotiatorError: a file cannot be read.
        """

    @abstractmethod
    def __call__(self, recorded: RecordedCycle) -> R:
        """Return the result of a cycle, which depends on the cycle and the task alone.

        :raises NegotiatorError: the cycle is refused; the batch goes on with the others.
        """


@attrs.frozen
class Refusal:
    """Why a recorded cycle has no result, and the exit code of such an error."""

    text: str
    exit_code: ExitCode


@attrs.frozen
class FileResult(Generic[R]):
    """The result of one file, or why it has none."""

    file: Path
    result: R | None
    refusal: Refusal | None = None


@attrs.frozen
class BatchProgress:
    """How many files of a batch are finished, how many of these were read from earlier results, and how many were refused."""

    done: int
    total: int
    earlier: int
    refused: int


@attrs.frozen
class _Answer:
    """What a worker returns: the digest of the file, and the result as plain values, or the refusal."""

    digest: str = ""
    values: Any = None
    refusal: Refusal | None = None


def over_recorded(
    files: Sequence[Path],
    task: CycleTask[R],
    workers: BatchWorkers,
    finished: FinishedResults | None = None,
    watch: Callable[[BatchProgress], None] = lambda _: None,
) -> Iterator[FileResult[R]]:
    """Yield the result of each file, in the order of the files, which are read here and decided on the executor of the workers.

    Only a few files are held in memory. If the iteration ends early, such as by Ctrl-C, no further cycle is begun, and the results of those
    that were begun are kept.

    :param finished: has results of an earlier call, and keeps those of this one.
    :param watch: called with the progress whenever a file is finished.
    :raises CommandError: a worker ended.
    """
    finished = FinishedResults() if finished is None else finished
    sent = task.portable() if workers.elsewhere else task
    calls = (_begun(file, sent, task.key, workers, finished) for file in files)
    done = earlier = refused = 0
    with closing(workers.results(calls, partial(_keep, task.key, finished))) as answers:
        for file in files:
            answer = _next(answers, file, workers)
            known = finished.has(answer.digest, task.key)
            _keep(task.key, finished, answer)
            done, earlier, refused = done + 1, earlier + known, refused + (answer.refusal is not None)
            watch(BatchProgress(done, len(files), earlier, refused))
            yield FileResult(file, _result(answer, task), answer.refusal)


def _begun(
    file: Path, task: CycleTask[Any], key: str, workers: BatchWorkers, finished: FinishedResults
) -> Future[_Answer]:
    """Return the future answer of a file: that of an earlier call if the file has not changed since."""
    known: Future[_Answer] = Future()
    try:
        content = read_trusted(file)
    except NegotiatorError as error:
        known.set_result(_Answer(refusal=_refusal(error)))
        return known
    digest = hashlib.sha256(content).hexdigest()
    if finished.has(digest, key):
        known.set_result(_Answer(digest, finished.get(digest, key)))
        return known
    return workers.executor.submit(_decided, task, file, digest, content)


def _next(answers: Iterator[_Answer], file: Path, workers: BatchWorkers) -> _Answer:
    try:
        return next(answers)
    except CommandError as error:
        where = (
            f"{file}: " if workers.elsewhere else ""
        )  # of processes, the one that ended may have had another file
        raise CommandError(
            f"{where}{error}; with --resume FILE finished cycles are not decided again"
        ) from None


def _keep(key: str, finished: FinishedResults, answer: _Answer) -> None:
    finished.keep(answer.digest, key, answer.values)


def _result(answer: _Answer, task: CycleTask[R]) -> R | None:
    if answer.refusal is not None:
        return None
    try:
        return msgspec.convert(answer.values, task.result)
    except msgspec.ValidationError as error:
        raise CommandError(
            f"the finished result of the cycle {answer.digest[:12]} is damaged ({error}): remove its line from the file of --resume"
        ) from None


def _decided(task: CycleTask[Any], file: Path, digest: str, content: bytes) -> _Answer:
    """Decide the cycle in the content of a file; this runs on an executor, which may not have the file."""
    with rare_collections():
        try:
            values = msgspec.to_builtins(task(RecordedCycle.decode(content)))
        except NegotiatorError as error:
            return _Answer(refusal=_refusal(error, file))
    return _Answer(digest, values)


def _refusal(error: NegotiatorError, file: Path | None = None) -> Refusal:
    return Refusal(f"{file}: {error}" if file else str(error), status_of(error).exit_code)

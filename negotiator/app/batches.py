"""Runs a function over many recorded cycles: on any executor, in the order of the files, and resumed where it was stopped."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs
import msgspec

from negotiator.app.executors import Workers
from negotiator.app.finished_results import FinishedResults
from negotiator.app.recordings import RecordedCycle, read_trusted
from negotiator.app.status import status_of
from negotiator.errors import CommandError, NegotiatorError
from negotiator.exit_codes import ExitCode
from negotiator.runtime.collector import rare_collections

R = TypeVar("R")


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
    workers: Workers,
    finished: FinishedResults | None = None,
    watch: Callable[[BatchProgress], None] = lambda _: None,
) -> Iterator[FileResult[R]]:
    """Yield the result of each file, in the order of the files; read and decided on the executor of the workers.

    If the iteration ends early, such as by Ctrl-C, no further cycle is begun, and the results of those that were begun are kept.

    :param finished: has results of an earlier call, and keeps those of this one.
    :param watch: called with the progress whenever a file is finished.
    :raises CommandError: a worker process ended.
    """
    finished = FinishedResults() if finished is None else finished
    source = iter(files)
    pending: deque[tuple[Path, Future[_Answer]]] = deque()
    done = earlier = refused = 0
    try:
        while True:
            while len(pending) < workers.ahead and (file := next(source, None)) is not None:
                pending.append((file, _begun(file, task, workers, finished)))
            if not pending:
                return
            file, future = pending[0]
            answer = _answer(future)
            pending.popleft()
            kept = finished.has(answer.digest, task.key)
            finished.keep(answer.digest, task.key, answer.values)
            done, earlier, refused = done + 1, earlier + kept, refused + (answer.refusal is not None)
            watch(BatchProgress(done, len(files), earlier, refused))
            yield FileResult(file, _result(answer, task), answer.refusal)
    finally:
        for _, future in pending:
            future.cancel()
        for _, future in pending:
            if not future.cancelled() and future.exception() is None:
                finished.keep(future.result().digest, task.key, future.result().values)


def _begun(file: Path, task: CycleTask[Any], workers: Workers, finished: FinishedResults) -> Future[_Answer]:
    """Return the future answer of a file: that of an earlier call if the file has not changed since."""
    if len(finished):
        found: Future[_Answer] = Future()
        try:
            digest = _digest(read_trusted(file))
        except NegotiatorError as error:
            found.set_result(_Answer(refusal=_refusal(error)))
            return found
        if finished.has(digest, task.key):
            found.set_result(_Answer(digest, finished.get(digest, task.key)))
            return found
    return workers.executor.submit(_decided, task, file)


def _result(answer: _Answer, task: CycleTask[R]) -> R | None:
    if answer.refusal is not None:
        return None
    try:
        return msgspec.convert(answer.values, task.result)
    except msgspec.ValidationError as error:
        raise CommandError(
            f"the finished result of the cycle {answer.digest[:12]} is damaged ({error}): remove its line from the file of --resume"
        ) from None


def _answer(future: Future[_Answer]) -> _Answer:
    try:
        return future.result()
    except BrokenExecutor:
        raise CommandError(
            "a worker process ended, perhaps for lack of memory: use fewer --workers; with --resume FILE finished cycles are not decided again"
        ) from None


def _decided(task: CycleTask[Any], file: Path) -> _Answer:
    """Read and decide a file; this runs on an executor."""
    try:
        content = read_trusted(file)
    except NegotiatorError as error:
        return _Answer(refusal=_refusal(error))
    with rare_collections():
        try:
            values = msgspec.to_builtins(task(RecordedCycle.decode(content)))
        except NegotiatorError as error:
            return _Answer(refusal=_refusal(error, file))
    return _Answer(_digest(content), values)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _refusal(error: NegotiatorError, file: Path | None = None) -> Refusal:
    return Refusal(f"{file}: {error}" if file else str(error), status_of(error).exit_code)

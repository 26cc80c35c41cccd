"""The object that is registered in place of an isolated plugin, and its worker process: started, asked with a deadline, ended."""

from __future__ import annotations

import contextlib
import inspect
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sized
from types import SimpleNamespace
from typing import Any

import attrs

from negotiator.classad import Table
from negotiator.hooks import policy
from negotiator.hooks.hook import Hook
from negotiator.hooks.isolation.wire import (
    HEADER,
    MAX_ANSWER,
    answer_from_bytes,
    arguments_to_bytes,
    pack,
    record_from_json,
)
from negotiator.hooks.pluggy_adapter import hookimpl
from negotiator.hooks.watched_request import WatchedRequest

MAX_SECONDS = 3600.0  # the longest deadline of a call
MAX_MESSAGE = 2000  # characters of an error that a worker reports
START_SECONDS = 60.0  # to start Python and to import the plugin

# Modules are found where the program finds them, never in the current folder unless the program does.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[3:]; from negotiator.hooks.isolation.worker import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]))"
)
#: The hooks whose arguments and answers can cross the boundary to a worker.
ISOLATED_HOOKS = frozenset(
    {
        "negotiator_access",
        "negotiator_application_groups",
        "negotiator_cycle_ended",
        "negotiator_filter_slots",
        "negotiator_gate_ads",
        "negotiator_gate_attributes",
        "negotiator_job_attributes",
        "negotiator_matches_made",
        "negotiator_policy",
        "negotiator_queues_changed",
        "negotiator_score_slots",
        "negotiator_unused_hooks",
        "negotiator_user_groups",
    }
)


class WorkerError(Exception):
    """The worker of a plugin gave no usable answer: the call has failed."""


@attrs.define(eq=False)
class WorkerProcess:
    """The worker of one plugin. After a missed deadline or a wrong answer it is killed, and the next call starts another.

    :param code: the plugin's code: an object of the program's own types with a method ``load``.
    :param seconds: the deadline of a call.
    """

    code: Any
    seconds: float
    _process: subprocess.Popen[bytes] | None = None
    _requests: int = -1
    _answers: int = -1
    _tables: dict[str, Table] = attrs.field(factory=dict)  # that the worker has
    _policy: Mapping[str, Any] | None = None  # arguments of the hook whose object each worker makes anew

    def start(self) -> dict[str, Any]:
        """Start the worker, load the plugin, and return what the plugin has: ``version`` and ``hooks``.

        :raises WorkerError: the plugin cannot be loaded.
        """
        self.stop()
        theirs, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the program itself
                [sys.executable, "-P", "-c", _PROGRAM, str(theirs), str(answers), *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=(theirs, answers),
                start_new_session=True,  # so that its own processes end with it, and Ctrl-C is not for it
            )
        except OSError as error:
            raise WorkerError(f"its process cannot be started: {error.strerror}") from None
        finally:
            os.close(theirs)
            os.close(answers)
        for descriptor in (self._requests, self._answers):
            os.set_blocking(descriptor, False)
        answer = self._exchange({"code": self.code, "seconds": START_SECONDS}, START_SECONDS)
        if "error" in answer:
            self.stop()
            raise WorkerError(str(answer["error"])[:MAX_MESSAGE])
        return answer

    def call(self, hook: str, arguments: Mapping[str, Any], limit: int) -> Any:
        """Call a hook, and return the records of its answer as JSON values.

        A table that the worker has already is not sent again.

        :param limit: the number of records that are read.
        :raises WorkerError: the plugin raised, or there is no answer within the deadline.
        """
        if self._process is None:
            self.start()
            if self._policy is not None and hook != policy.HOOK:
                self._call(policy.HOOK, self._policy, 0)
        if hook == policy.HOOK:
            self._policy = arguments
        return self._call(hook, arguments, limit)

    def _call(self, hook: str, arguments: Mapping[str, Any], limit: int) -> Any:
        tables = {name: each for name, each in arguments.items() if isinstance(each, Table)}
        new = {name: each for name, each in tables.items() if self._tables.get(name) is not each}
        message = {
            "hook": hook,
            "arguments": {name: each for name, each in arguments.items() if name not in tables},
            "tables": new,
            "cached": list(tables),
            "limit": limit,
            "seconds": self.seconds,
        }
        answer = self._exchange(message, self.seconds)
        self._tables.update(new)
        if "error" not in answer and "records" in answer:
            return answer["records"]
        raise WorkerError(str(answer.get("error", "wrong answer: no records"))[:MAX_MESSAGE])

    def stop(self) -> None:
        """Kill the worker and all processes of its group."""
        process, self._process = self._process, None
        self._tables.clear()
        for descriptor in (self._requests, self._answers):
            if descriptor >= 0:
                os.close(descriptor)
        self._requests = self._answers = -1
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _exchange(self, message: object, seconds: float) -> dict[str, Any]:
        content = pack(arguments_to_bytes(message))
        try:
            return answer_from_bytes(self._transfer(content, seconds))
        except WorkerError:
            self.stop()
            raise
        except (OSError, ValueError) as error:
            self.stop()
            raise WorkerError(f"its worker process gave a wrong answer or ended: {error}") from None
        except BaseException:
            self.stop()  # an answer to this call would be taken for that of the next one
            raise

    def _transfer(self, content: bytes, seconds: float) -> bytes:
        """Send a message and return the answer."""
        end, out, back = time.monotonic() + seconds, memoryview(content), bytearray()
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise WorkerError(f"no answer within {seconds:g} s: its worker process was ended")
            readable, writable, _ = select.select([self._answers], [self._requests] if out else [], [], left)
            if writable:
                out = out[os.write(self._requests, out[:65536]) :]
            if not readable:
                continue
            piece = os.read(self._answers, 1 << 20)
            if not piece:
                raise WorkerError("its worker process ended")
            back += piece
            length = int.from_bytes(back[:HEADER], "big") if len(back) >= HEADER else 0
            if length > MAX_ANSWER or len(back) > HEADER + MAX_ANSWER:
                raise WorkerError(f"its answer has more than {MAX_ANSWER} bytes")
            if len(back) >= HEADER and len(back) >= HEADER + length:
                return bytes(back[HEADER : HEADER + length])


def isolated_plugin(worker: WorkerProcess, hooks: Mapping[str, Hook[..., Any]]) -> tuple[object, str]:
    """Start a worker, and return an object that has the hooks of its plugin, and the plugin's ``__version__``.

    :raises WorkerError: the plugin cannot be loaded, or implements a hook that cannot be isolated.
    """
    found = worker.start()
    try:
        version, implemented = found["version"], dict(found["hooks"])
        arguments = {name: [str(each) for each in given] for name, given in implemented.items()}
    except (KeyError, TypeError, ValueError):
        worker.stop()
        raise WorkerError("its worker process gave a wrong answer") from None
    refused = sorted(implemented.keys() - ISOLATED_HOOKS)
    if refused:
        worker.stop()
        name = refused[0][:100]
        raise WorkerError(f"{name} cannot be called in a worker process (plugins: isolate:)")
    functions = {name: _remote(worker, hooks[name], given) for name, given in arguments.items()}
    return SimpleNamespace(**functions), str(version)


def _remote(worker: WorkerProcess, hook: Hook[..., Any], names: list[str]) -> Callable[..., Any]:
    if "policy" in names:  # it stays in the worker, which needs what it is made of
        names = [each for each in hook.arguments if each in names or each in ("slots", "cycle")]
        names.remove("policy")

    def call(**arguments: Any) -> Any:
        request = arguments.get("request")
        if isinstance(request, WatchedRequest):  # what is read in another process is not known
            arguments["request"] = request.plain()
        batch = arguments.get(hook.batch)
        answer = worker.call(hook.name, arguments, len(batch) if isinstance(batch, Sized) else 0)
        if answer is None:
            return None
        try:
            return [record_from_json(each) for each in answer]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            worker.stop()
            raise WorkerError(f"its worker process gave a wrong answer: {type(error).__name__}") from None

    call.__name__ = hook.name
    kind = inspect.Parameter.KEYWORD_ONLY
    vars(call)["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    # A failure is reported without a line: the plugin's own is part of the message, and this one would mislead.
    call.__module__ = "isolated"
    vars(call)["__wrapped__"] = len
    marked: Callable[..., Any] = hookimpl(call)
    return marked

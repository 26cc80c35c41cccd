"""The object that is registered in place of an isolated plugin: its hooks call the worker."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sized
from types import SimpleNamespace
from typing import Any

from negotiator.hooks.hook import Hook
from negotiator.hooks.isolation.process import WorkerError, WorkerProcess
from negotiator.hooks.isolation.wire import record_from_json
from negotiator.hooks.pluggy_adapter import hookimpl
from negotiator.hooks.watched_request import WatchedRequest

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

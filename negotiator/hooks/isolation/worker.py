"""The program of a worker: loads one plugin and calls its hooks, until the program that started it closes its pipe."""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.hook import MAX_RECORDS
from negotiator.hooks.isolation.wire import (
    HEADER,
    answer_to_bytes,
    arguments_from_bytes,
    pack,
    record_to_json,
)
from negotiator.hooks.pluggy_adapter import import_lazy_names, marked_functions
from negotiator.hooks.plugin_output import running_plugin
from negotiator.hooks.policy import HOOK, PluginPolicy

_BEYOND = (
    5.0  # seconds after the deadline until a worker ends itself, if the program that would end it is gone
)


def main(incoming: int, outgoing: int) -> None:
    """Answer messages until there are no more."""
    worker = _Worker()
    with os.fdopen(incoming, "rb") as messages, os.fdopen(outgoing, "wb", buffering=0) as answers:
        while header := messages.read(HEADER):
            message = arguments_from_bytes(messages.read(int.from_bytes(header, "big")))
            signal.setitimer(signal.ITIMER_REAL, message["seconds"] + _BEYOND)
            answer = worker.answer(message)
            signal.setitimer(signal.ITIMER_REAL, 0)
            rest = memoryview(pack(answer))
            while rest:
                rest = rest[answers.write(rest) or 0 :]


class _Worker:
    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}
        self.tables: dict[str, Any] = {}
        self.policy: PluginPolicy | None = None

    def answer(self, message: dict[str, Any]) -> bytes:
        function: Callable[..., Any] = self.answer
        try:
            if "code" in message:
                return answer_to_bytes(self._load(message["code"]))
            function = self.functions[message["hook"]]
            self.tables.update(message["tables"])
            tables = {name: self.tables[name] for name in message["cached"]}
            with running_plugin(message["hook"]):
                records = _plain(
                    self._call(function, message["hook"], {**message["arguments"], **tables}),
                    message["limit"],
                )
            return answer_to_bytes({"records": records})
        except BaseException as error:  # noqa: BLE001 - whatever the plugin raises is its failure
            line = failed_line(error, function)
            return answer_to_bytes({"error": f"{describe_error(error)}{f' ({line})' if line else ''}"})

    def _call(self, function: Callable[..., Any], hook: str, arguments: dict[str, Any]) -> Any:
        if hook == HOOK:
            self.policy = PluginPolicy(function(**arguments))
            return None
        parameters = _parameters(function)
        if "policy" in parameters:
            arguments["policy"] = None if self.policy is None else self.policy.of(arguments)
        return function(**{name: arguments[name] for name in parameters})

    def _load(self, code: Any) -> dict[str, Any]:
        module = code.load()
        import_lazy_names(module)
        marked = marked_functions(module)
        self.functions = {each.hook: each.function for each in marked}
        return {
            "version": str(getattr(module, "__version__", "")),
            "hooks": {each.hook: _parameters(each.function) for each in marked},
        }


def _parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _plain(records: Any, limit: int) -> Any:
    if records is None:
        return None
    if isinstance(records, str | bytes) or not isinstance(records, Iterable):
        raise TypeError(f"expected an iterable of records, got {type(records).__name__}")
    return [record_to_json(each) for each in islice(records, max(limit, MAX_RECORDS) + 1)]

"""Calls of functions by programs on other machines, which must have the same version and the same plugins."""

from __future__ import annotations

import enum
import pickle
import threading
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, TypeAlias

from negotiator.engines.program_identity import difference, program_identity
from negotiator.hooks.candidates import from_entry_points

#: Caches, and the garbage collector, belong to a process: the calls of a worker with several threads follow each other.
_CALLING = threading.Lock()


class CallOutcome(enum.StrEnum):
    """What became of a call."""

    RETURNED = "returned"
    RAISED = "raised"
    REFUSED = "refused"


#: The outcome with the pickled value or exception; of a refused call, with the identity of the worker. It has built-in
#: types only, which every version of the program can read.
Answer: TypeAlias = tuple[str, Any]


#: Names and values, as ``program_identity`` has them.
Identity: TypeAlias = tuple[tuple[str, str], ...]


@cache
def caller_identity() -> Identity:
    """Return what this process runs: the program with its libraries, and each installed plugin with its distribution and version.

    :raises PluginRefusedError: the entry points cannot be read.
    """
    return *program_identity(), *((f"plugin {each.name}", each.origin) for each in from_entry_points())


def packed(function: Callable[..., Any], args: Collection[Any], kwargs: Mapping[str, Any]) -> bytes:
    """Return a call as bytes for ``answer``. The function is sent by its name, so it belongs to a module."""
    return pickle.dumps((function, args, kwargs), pickle.HIGHEST_PROTOCOL)


def answer(expected: Identity, call: bytes) -> Answer:
    """Carry out a call in this process, or refuse it, unread, if this program differs from that of the caller.

    :param expected: ``caller_identity`` of the caller.
    """
    own = caller_identity()
    if expected != own:
        return CallOutcome.REFUSED.value, own
    function, args, kwargs = pickle.loads(call)  # noqa: S301 - whoever may use a Dask worker may run any code there
    with _CALLING:
        try:
            return CallOutcome.RETURNED.value, pickle.dumps(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - as any executor does
            return CallOutcome.RAISED.value, pickle.dumps(error)


def differences(expected: Identity, found: Identity) -> str:
    """Return in a line how a worker differs from the caller."""
    further = {name for name, _ in found} - {name for name, _ in expected}
    return ", ".join(
        filter(None, (difference(expected, found), *(f"{each} too" for each in sorted(further))))
    )

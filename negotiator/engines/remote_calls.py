"""Calls of functions by programs on other machines, which must have the same version and the same plugins."""

from __future__ import annotations

import enum
import pickle
import threading
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, TypeAlias

from negotiator import __version__
from negotiator.hooks.candidates import from_entry_points

#: Caches, and the garbage collector, belong to a process: the calls of a worker with several threads follow each other.
_CALLING = threading.Lock()


class CallOutcome(enum.StrEnum):
    """What became of a call."""

    RETURNED = "returned"
    RAISED = "raised"
    REFUSED = "refused"


#: The outcome with the pickled value or exception; of a refused call, with the versions of the worker. It has built-in
#: types only, which every version of the program can read.
Answer: TypeAlias = tuple[str, Any]


@cache
def program_versions() -> tuple[str, ...]:
    """Return the version of the program, and each installed plugin with its distribution and version.

    :raises PluginRefusedError: the entry points cannot be read.
    """
    return f"negotiator {__version__}", *(each.origin for each in from_entry_points())


def packed(function: Callable[..., Any], args: Collection[Any], kwargs: Mapping[str, Any]) -> bytes:
    """Return a call as bytes for ``answer``. The function is sent by its name, so it belongs to a module."""
    return pickle.dumps((function, args, kwargs), pickle.HIGHEST_PROTOCOL)


def answer(versions: Collection[str], call: bytes) -> Answer:
    """Carry out a call in this process, or refuse it, unread, if this program differs from that of the caller.

    :param versions: ``program_versions`` of the caller.
    """
    own = program_versions()
    if list(versions) != [*own]:
        return CallOutcome.REFUSED.value, [*own]
    function, args, kwargs = pickle.loads(call)  # noqa: S301 - whoever may use a Dask worker may run any code there
    with _CALLING:
        try:
            return CallOutcome.RETURNED.value, pickle.dumps(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - as any executor does
            return CallOutcome.RAISED.value, pickle.dumps(error)


def differences(expected: Collection[str], found: Collection[str]) -> str:
    """Return in a line how the versions of a worker differ from those of the caller."""
    texts = [f"without {each}" for each in expected if each not in found]
    texts += [f"with {each}" for each in found if each not in expected]
    return ", ".join(texts) or "in another order"

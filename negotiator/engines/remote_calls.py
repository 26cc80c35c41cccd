"""Calls of functions by programs on other machines, which must have the same version, the same plugins, Python and libraries."""

from __future__ import annotations

import enum
import hashlib
import pickle
import platform
import threading
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

import negotiator
from negotiator.hooks.candidates import from_entry_points

#: Libraries whose versions may change the value of an expression, or what is sent.
_LIBRARIES: Final = ("numpy", "pcre2", "attrs")
#: Caches, and the garbage collector, belong to a process: the calls of a worker with several threads follow each other.
_CALLING = threading.Lock()


@cache
def program_identity() -> tuple[tuple[str, str], ...]:
    """Return what this process runs, as names and values; two processes with equal ones give equal answers."""
    return (
        ("negotiator", f"{negotiator.__version__} (sources {_sources()[:12]})"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        *((name, _version(name)) for name in _LIBRARIES),
    )


def difference(expected: tuple[tuple[str, str], ...], found: tuple[tuple[str, str], ...]) -> str:
    """Return in which program or library another process differs, and how; empty if in none."""
    values = dict(found)
    return ", ".join(
        f"{name} {values.get(name, 'missing')} instead of {value}"
        for name, value in expected
        if values.get(name) != value
    )


def _sources() -> str:
    """Return the digest of the sources of the program: a version under development has many."""
    folder = Path(negotiator.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py"), key=lambda each: each.relative_to(folder).as_posix()):
        name = file.relative_to(folder).as_posix()
        content = file.read_bytes()
        digest.update(f"{name}:{len(content)}:".encode())
        digest.update(content)
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


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

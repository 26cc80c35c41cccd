"""Keeps the state of the process as it is while code of a plugin is imported or called: it belongs to everybody.

A plugin that changes the working folder makes relative paths wrong, one that changes the locale the numbers that are read, one that
seeds random numbers all that draw some. What is changed is restored, and the plugin is named.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import gc
import locale
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

from negotiator.records import Problem, Severity, Source

_SIGNALS: Final = tuple(sorted(signal.valid_signals()))
_MOST_NAMES: Final = 5


class _ProcessPart(NamedTuple):
    """A part of the state: its name, its value (None if there is none yet), and what gives it back a value."""

    name: str
    read: Callable[[], Any]
    restore: Callable[[Any], object]


@contextmanager
def unchanged_process(changed: list[str]) -> Iterator[None]:
    """Restore the state of the process at the end of the context, and add the names of what was changed to a list."""
    before = [(part, part.read()) for part in _PARTS]
    modules = sys.modules.keys() | ()
    try:
        yield
    finally:
        for part, value in before:
            now = part.read()
            if now == value or (part.name == _FILTERS and _are_of_libraries(value, now, modules)):
                continue
            if value is None:  # of a module that was imported just now
                part.restore(None)
                continue
            with suppress(Exception):  # such as a working folder that is gone
                part.restore(value)
            if not (part.name in _RANDOM and _is_drawn(value, now)):
                changed.append(f"{part.name}{_names(value, now)}")


def changed_process(plugin: str, origin: str, what: str, changed: Iterable[str]) -> Iterator[Problem]:
    """Warn of a plugin that changed the state of the process, if it did.

    :param what: the part of its code that did, such as ``its import``.
    """
    names = ", ".join(dict.fromkeys(changed))
    if names:
        message = f"plugin {plugin}: {what} changed {names}; that is restored"
        hint = "these belong to the whole process: leave them alone, or set them for a process of your own"
        yield Problem(Severity.WARNING, Source(origin), message, hint)


def _names(before: Any, now: Any) -> str:
    """Return which variables differ, for a part that has names."""
    if not isinstance(before, dict):
        return ""
    names = [
        name for name in sorted(before.keys() | now.keys(), key=str) if before.get(name) != now.get(name)
    ]
    more = ", ..." if len(names) > _MOST_NAMES else ""
    return f" ({', '.join(map(_text, names[:_MOST_NAMES]))}{more})"


def _text(name: object) -> str:
    return signal.Signals(name).name if isinstance(name, signal.Signals) else str(name)


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - as fast as can be
    except OSError:  # it is gone
        return None


def _umask() -> int:
    mask = os.umask(0o077)  # there is no other way to read it
    os.umask(mask)
    return mask


def _handlers() -> dict[Any, Any]:
    """Return the handlers of signals, which only the main thread may change."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {each: _signal.getsignal(each) for each in _SIGNALS}  # without an enum for each


def _restore_handlers(before: dict[Any, Any]) -> None:
    for number, handler in before.items():
        if handler is not None and _signal.getsignal(number) != handler:
            signal.signal(number, handler)


def _restore_environment(before: dict[str, str]) -> None:
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)
    if hasattr(time, "tzset"):  # not on Windows
        time.tzset()


def _of_module(name: str, read: str, *path: str) -> Callable[[], Any]:
    """Return what calls a function of a module, if it is imported."""

    def call() -> Any:
        module: Any = sys.modules.get(name)
        for each in (*path, read):
            module = getattr(module, each, None)
        return None if module is None else module()

    return call


def _restore_random(before: Any) -> None:
    import random  # noqa: PLC0415 - takes long; it is imported already

    if before is None:
        random.seed()
    else:
        random.setstate(before)


def _is_drawn(before: Any, now: Any) -> bool:
    """True if random numbers were drawn and nothing else: perhaps by another thread, which may draw them.

    Both generators are the Mersenne Twister; a draw takes some of the 624 words of its state, then makes the next ones.
    """
    import random  # noqa: PLC0415 - takes long; it is imported already

    (begin, at), (end, to) = map(_words, (before, now))
    generator = random.Random()  # noqa: S311 - to repeat draws
    generator.setstate((3, (*begin, at), None))
    for turn in range(_MOST_TURNS):
        for _ in range((to - at) % len(begin) if turn == 0 else len(begin)):
            generator.getrandbits(32)
        if generator.getstate()[1] == (*end, to):
            return True
    return False


def _words(state: Any) -> tuple[tuple[int, ...], int]:
    """Return the words of a state, of ``random`` or NumPy, and how many of them were drawn."""
    if state[0] == "MT19937":
        return tuple(memoryview(state[1]).cast("I")), state[2]
    return state[1][:-1], state[1][-1]


def _numpy_state() -> Any:
    numpy: Any = sys.modules.get("numpy.random")
    if numpy is None:
        return None
    name, keys, *rest = numpy.get_state()
    return (name, keys.tobytes(), *rest)


def _restore_numpy(before: Any) -> None:
    import numpy as np  # noqa: PLC0415 - it is imported already

    if before is None:
        np.random.seed()  # noqa: NPY002 - the state that all share
        return
    name, keys, *rest = before
    np.random.set_state((name, np.frombuffer(keys, np.uint32), *rest))  # noqa: NPY002 - as above


def _set_timeout(seconds: float | None) -> None:
    sys.modules["socket"].setdefaulttimeout(seconds)


def _timeout() -> tuple[float | None] | None:
    socket: Any = sys.modules.get("socket")
    return None if socket is None else (socket.getdefaulttimeout(),)


def _restore_filters(before: list[Any]) -> None:
    warnings.filters[:] = before  # type: ignore[index]
    mutated: Any = getattr(warnings, "_filters_mutated", None) or getattr(
        warnings, "_filters_mutated_lock_held", None
    )
    if mutated is not None:
        with suppress(RuntimeError):  # a later Python wants its lock held
            mutated()


def _are_of_libraries(before: list[Any], now: list[Any], modules: set[str]) -> bool:
    """True if the further filters are those that libraries have for themselves, such as NumPy, when they are imported."""
    fresh = {name.partition(".")[0] for name in sys.modules.keys() - modules}
    further = [each for each in now if each not in before]
    return all(each in now for each in before) and all(
        each[2].__module__.partition(".")[0] in fresh
        or any(name in str(getattr(each[1], "pattern", "")) for name in fresh)
        for each in further
    )


_FILTERS: Final = "the filters of warnings"
_RANDOM: Final = ("the state of random", "the random state of NumPy")
_MOST_TURNS: Final = 4  # of the 624 words
_PARTS: Final = (
    _ProcessPart("the working folder", _working_folder, os.chdir),
    _ProcessPart("the environment", lambda: dict(os.environ), _restore_environment),
    _ProcessPart(
        "the locale",
        lambda: locale.setlocale(locale.LC_ALL),
        lambda old: locale.setlocale(locale.LC_ALL, old),
    ),
    _ProcessPart("the handlers of signals", _handlers, _restore_handlers),
    _ProcessPart(_FILTERS, lambda: list(warnings.filters), _restore_filters),
    _ProcessPart(_RANDOM[0], _of_module("random", "getstate"), _restore_random),
    _ProcessPart(_RANDOM[1], _numpy_state, _restore_numpy),
    _ProcessPart("sys.path", lambda: list(sys.path), lambda old: sys.path.__setitem__(slice(None), old)),
    _ProcessPart("the umask", _umask, os.umask),
    _ProcessPart("the default timeout of sockets", _timeout, lambda old: _set_timeout(old and old[0])),
    _ProcessPart("sys.stdout", lambda: sys.stdout, lambda old: setattr(sys, "stdout", old)),
    _ProcessPart("sys.stderr", lambda: sys.stderr, lambda old: setattr(sys, "stderr", old)),
    _ProcessPart("sys.excepthook", lambda: sys.excepthook, lambda old: setattr(sys, "excepthook", old)),
    _ProcessPart("the garbage collector", gc.isenabled, lambda old: gc.enable() if old else gc.disable()),
)

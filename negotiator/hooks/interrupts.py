"""Tells Ctrl-C of the user from a KeyboardInterrupt that a plugin raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _InterruptHandler:
    """The handler of SIGINT while the program runs."""

    __slots__ = ("pressed",)

    def __init__(self) -> None:
        self.pressed = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        signal.default_int_handler(number, frame)


@contextmanager
def recording_interrupts() -> Iterator[None]:
    """Record each SIGINT, as long as the context lasts; it raises KeyboardInterrupt as before."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    handler = _InterruptHandler()
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is handler:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def raise_if_interrupted(error: BaseException) -> None:
    """Raise an exception again that ended a plugin's code, if it is the user's Ctrl-C.

    A KeyboardInterrupt without a SIGINT is a failure of the plugin. Where nobody records signals it is the user's.
    """
    # The class itself: isinstance would believe what the exception says.
    if issubclass(type(error), KeyboardInterrupt) and _may_be_pressed():
        raise error


def _may_be_pressed() -> bool:
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, _InterruptHandler):
        return handler.pressed
    return handler is signal.default_int_handler

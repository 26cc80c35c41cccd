"""What is recorded of an exception that a plugin raised: one line of text, and the line of the plugin's own code.

The code of a dropped-in plugin is executed from memory; its source is known for tracebacks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import attrs

from negotiator.hooks.answers import clean
from negotiator.hooks.fields import WrongAnswerError
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.records import Source

MAX_MESSAGE = 300  # characters of an error's text


@attrs.frozen
class SourceCode:
    """The source of one module."""

    file: Path
    content: bytes

    @property
    def is_package(self) -> bool:
        """Whether it may have submodules."""
        return self.file.name == "__init__.py"


def describe_error(error: BaseException) -> str:
    """Return ``ValueError: no such calendar``: one printable line of bounded length, without a traceback."""
    try:
        text = clean(str(error), MAX_MESSAGE)
    except BaseException as raised:  # noqa: BLE001 - the class of the error may be the plugin's as well
        raise_if_interrupted(raised)
        text = "its text can't be read"
    name = "wrong answer" if type(error) is WrongAnswerError else clean(type(error).__name__, MAX_MESSAGE)
    return f"{name}: {text}" if text else name


def failed_line(error: BaseException, function: Callable[..., Any]) -> Source | None:
    """Return the innermost line of a plugin's own code in the traceback of an error.

    A plugin's own code are the modules of the package that ``function`` is defined in: neither the core nor a library
    that the plugin called. A wrong answer is found after the function returned: its line is then the function's first.
    """
    package = _package(getattr(function, "__module__", None))
    innermost = None
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        if _package(traceback.tb_frame.f_globals.get("__name__")) == package:
            innermost = Source(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return innermost or defined_at(function)


def defined_at(function: Any) -> Source | None:
    """Return the first line of a function, below its decorators; None if it is not written in Python."""
    code = getattr(plain_function(function), "__code__", None)
    return None if code is None else Source(code.co_filename, code.co_firstlineno)


def plain_function(function: Any) -> Callable[..., Any]:
    """Return the function below decorators and binding."""
    plain: Callable[..., Any] = inspect.unwrap(getattr(function, "__func__", function))
    return plain


def _package(module: object) -> str:
    return module.split(".", maxsplit=1)[0] if isinstance(module, str) else ""

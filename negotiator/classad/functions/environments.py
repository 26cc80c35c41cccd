"""Functions of the environments and arguments of jobs: envV1ToV2, mergeEnvironment, argsToList, listToArgs.

In version 2, entries are separated by white space, and those that contain white space are in single quotes. In
version 1, arguments have no quotes, and the entries of an environment are separated by ``;`` or by the punctuation
mark that the environment begins with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from negotiator.classad.context import ListValue
from negotiator.classad.functions.registry import element_values, register
from negotiator.classad.functions.results import argument_values, string_list
from negotiator.classad.values import ERROR, MAX_BYTES, UNDEFINED, from_bytes, to_bytes, until_nul, wrap32

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.context import AdScope, ClassAdValue, Environment
    from negotiator.classad.syntax import Expr

_SPACES = b" \t\r\n"
_V1_DELIMITERS = b"!#$%&*+,-/:;<>?@^`|~"
_NEEDS_QUOTES = re.compile(rb"[ \t\r\n']+")
_TOKEN = re.compile(rb"(?:[^ \t\r\n']|'[^']*+(?:''[^']*+)*'(?!'))+")
_QUOTED = re.compile(rb"'([^']*+(?:''[^']*+)*)'(?!')")


def _split_quoted(data: bytes) -> list[bytes] | None:
    """Return the arguments of a version 2 string, None if a quote is not closed."""
    arguments: list[bytes] = []
    at = 0
    while at < len(data):
        if data[at] in _SPACES:
            at += 1
            continue
        token = _TOKEN.match(data, at)
        if token is None or (token.end() < len(data) and data[token.end()] not in _SPACES):
            return None
        arguments.append(_QUOTED.sub(lambda quoted: quoted[1].replace(b"''", b"'"), token[0]))
        at = token.end()
    return arguments


def _join_quoted(arguments: Iterable[bytes]) -> bytes:
    return b" ".join(
        _NEEDS_QUOTES.sub(lambda special: b"'" + special[0].replace(b"'", b"''") + b"'", argument) or b"''"
        for argument in arguments
    )


class _Variables:
    """The variables of an environment, printed in the order of their names."""

    def __init__(self) -> None:
        self._values: dict[bytes, bytes | None] = {}

    def add(self, entry: bytes) -> bool:
        """Add ``name=value`` or a macro ``$$(...)``. Return False if the entry is neither."""
        name, equals, value = entry.partition(b"=")
        if not equals and b"$$" in entry:
            self._values[entry] = None
            return True
        if not equals or not name:
            return False
        self._values[name] = value
        return True

    def text(self) -> str:
        """Return the environment in version 2."""
        entries = ((name, self._values[name]) for name in sorted(self._values))
        return from_bytes(
            _join_quoted(name if value is None else name + b"=" + value for name, value in entries)
        )


@register("mergeEnvironment", 0, None, selective=True, weight=8)
def merge_environment(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``mergeEnvironment(e, ...)``: several environments in version 2 as one. Of equal names the last counts."""
    variables = _Variables()
    for value in args:
        if value is UNDEFINED:
            continue
        if not isinstance(value, str):
            return ERROR
        entries = _split_quoted(until_nul(to_bytes(value)))
        if entries is None or not all(map(variables.add, entries)):
            return ERROR
    return variables.text()


@register("envV1ToV2", 1, 1, weight=8)
def environment_to_v2(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``envV1ToV2(e)``: a version 1 environment as version 2."""
    value = args[0]
    if not isinstance(value, str):
        return UNDEFINED if value is UNDEFINED else ERROR
    data = until_nul(to_bytes(value))
    delimiter = b";"
    if data and data[0] in _V1_DELIMITERS:
        delimiter, data = data[:1], data[1:]
    variables = _Variables()
    for part in re.split(b"[\n" + re.escape(delimiter) + b"]", data):
        entry = part.lstrip(_SPACES)
        if entry and not variables.add(entry):
            return ERROR
    return variables.text()


def _version(value: ClassAdValue) -> int | None:
    version = wrap32(value) if type(value) is int else 0
    return version if version in {1, 2} else None


@register("argsToList", 1, 2, lazy=True)
def arguments_to_list(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``argsToList(arguments[, version])``: the arguments in a job's argument string, as a list."""
    version = _version(argument_values(args[1:], scope)[0]) if len(args) == 2 else 2
    if version is None:
        return ERROR
    text = argument_values(args[:1], scope)[0]
    if not isinstance(text, str):
        return ERROR
    data = until_nul(to_bytes(text))
    arguments = (
        _split_quoted(data) if version == 2 else [part for part in re.split(rb"[ \t\r\n]+", data) if part]
    )
    return ERROR if arguments is None else string_list(arguments, scope)


@register("listToArgs", 1, 2, selective=True)
def list_to_arguments(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``listToArgs(list[, version])``: a job's argument string; error if the version cannot express the arguments."""
    version = _version(args[1]) if len(args) == 2 else 2
    if version is None:
        return ERROR
    inside = args[0]
    if not isinstance(inside, ListValue):
        return ERROR
    arguments: list[bytes] = []
    total = 0
    for element in element_values(inside, env):
        if not isinstance(element, str):
            return ERROR
        arguments.append(until_nul(to_bytes(element)))
        total += len(arguments[-1])
        if total > MAX_BYTES:
            return ERROR
    if version == 2:
        return from_bytes(_join_quoted(arguments))
    if any(byte in argument for argument in arguments for byte in _SPACES):
        return ERROR
    return from_bytes(_join_plain(arguments))


def _join_plain(arguments: list[bytes]) -> bytes:
    """Join with single spaces, without spaces at the start: leading empty arguments are lost, as in HTCondor."""
    output = b" ".join(arguments)
    return output.lstrip(b" ")

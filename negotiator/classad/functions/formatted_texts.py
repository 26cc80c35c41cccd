"""Functions of texts with a format: environments and arguments of jobs, names of users and slots, versions.

In version 2 of environments and arguments, entries are separated by white space, and those that contain white space are
in single quotes. In version 1, arguments have no quotes, and the entries of an environment are separated by ``;`` or by
the punctuation mark that the environment begins with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from negotiator.classad.context import EvaluationFailed, ListValue, value_left
from negotiator.classad.functions.registry import (
    argument_values,
    as_bytes,
    element_values,
    register,
    string_list,
)
from negotiator.classad.values import (
    ERROR,
    MAX_BYTES,
    UNDEFINED,
    Exceptional,
    from_bytes,
    to_bytes,
    until_nul,
    wrap32,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from negotiator.classad.context import AdScope, ClassAdValue, Environment
    from negotiator.classad.functions.registry import ValueFunction
    from negotiator.classad.syntax import Expr

_SPACES = b" \t\r\n"
_V1_DELIMITERS = b"!#$%&*+,-/:;<>?@^`|~"
_NEEDS_QUOTES = re.compile(rb"[ \t\r\n']+")
_TOKEN = re.compile(rb"(?:[^ \t\r\n']|'[^']*+(?:''[^']*+)*'(?!'))+")
_QUOTED = re.compile(rb"'([^']*+(?:''[^']*+)*)'(?!')")
_DIGITS = b"0123456789"


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
    # Leading empty arguments are lost, as in HTCondor.
    return from_bytes(b" ".join(arguments).lstrip(b" "))


@register("splitUserName", 1, 1, lazy=True)
def split_user_name(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``splitUserName(s)``: the parts before and after the first ``@``. Without one, all is the user."""
    return _split(args, scope, alone_first=True)


@register("splitSlotName", 1, 1, lazy=True)
def split_slot_name(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``splitSlotName(s)``: the parts before and after the first ``@``. Without one, all is the machine."""
    return _split(args, scope, alone_first=False)


def _split(args: tuple[Expr, ...], scope: AdScope, *, alone_first: bool) -> ClassAdValue:
    value = argument_values(args, scope)[0]
    if not isinstance(value, str):
        return ERROR
    before, at, after = to_bytes(value).partition(b"@")
    return string_list((before, after) if at or alone_first else (after, before), scope)


@register("userHome", 1, 2, lazy=True)
def user_home(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``userHome(user[, default])``: the default, or undefined.

    The users of this machine are not looked up, as in HTCondor if CLASSAD_ENABLE_USER_HOME is false: a value must not
    depend on where it is computed.
    """
    default = _despite_failure(args[1], scope) if len(args) == 2 else UNDEFINED
    if isinstance(default, str) and default:
        return default
    user = _despite_failure(args[0], scope)
    return UNDEFINED if user is UNDEFINED or isinstance(user, str) else ERROR


def _despite_failure(arg: Expr, scope: AdScope) -> ClassAdValue:
    try:
        return argument_values((arg,), scope)[0]
    except EvaluationFailed as failure:
        return value_left(failure, arg)


@register("userMap", 2, 4)
def user_map(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``userMap(map, user[, preferred[, default]])``: the default, or undefined, since no maps are configured here."""
    if args[0] is ERROR or args[1] is ERROR:
        return ERROR
    return args[3] if len(args) == 4 else UNDEFINED


def _natural_compare(left: bytes, right: bytes) -> int:
    """Compare version-like strings like glibc's ``strverscmp``: negative if ``left`` sorts first, 0 if equal.

    ``versioncmp`` shows the number to users, so its size matters too. It is HTCondor's: a difference of bytes, of the
    numbers of leading zeros, or of the lengths of two runs of digits. Bytes are signed, as on x86.
    """
    first = _first_mismatch(left, right)
    one, other = _signed(left, first), _signed(right, first)
    if one == other:
        return 0
    start = len(left[:first].rstrip(_DIGITS))
    if start == first and not (_is_digit(left, first) and _is_digit(right, first)):
        return one - other
    left_zeros, right_zeros = _leading_zeros(left, start), _leading_zeros(right, start)
    if left_zeros != right_zeros:
        return right_zeros - left_zeros
    if left_zeros > 0:
        return one - other
    left_digits, right_digits = _digits_from(left, start), _digits_from(right, start)
    return left_digits - right_digits if left_digits != right_digits else one - other


def _first_mismatch(left: bytes, right: bytes) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _signed(data: bytes, at: int) -> int:
    byte = data[at] if at < len(data) else 0
    return byte - 256 if byte > 127 else byte


def _is_digit(data: bytes, at: int) -> bool:
    return data[at : at + 1].isdigit()


def _digits_from(data: bytes, start: int) -> int:
    return len(data) - start - len(data[start:].lstrip(_DIGITS))


def _leading_zeros(data: bytes, start: int) -> int:
    zeros = len(data) - start - len(data[start:].lstrip(b"0"))
    # The last zero of "00" is the number, not a leading zero.
    return zeros if zeros == 0 or _is_digit(data, start + zeros) else zeros - 1


def _compared(args: Sequence[ClassAdValue]) -> int | Exceptional:
    if any(value is UNDEFINED for value in args):
        return UNDEFINED
    left, right = (as_bytes(value) for value in args)
    if isinstance(left, Exceptional) or isinstance(right, Exceptional):
        return ERROR
    return _natural_compare(until_nul(left), until_nul(right))


@register("versioncmp", 2, 2)
def version_compare(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``versioncmp(a, b)``: less than, equal to or greater than 0 if ``a`` sorts before, with or after ``b``."""
    return _compared(args)


def _test(of: Callable[[int], bool]) -> ValueFunction:
    def test(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
        order = _compared(args)
        return order if isinstance(order, Exceptional) else of(order)

    return test


register("versionLT", 2, 2)(_test(lambda order: order < 0))
register("versionLE", 2, 2)(_test(lambda order: order <= 0))
register("versionGT", 2, 2)(_test(lambda order: order > 0))
register("versionGE", 2, 2)(_test(lambda order: order >= 0))
register("versionEQ", 2, 2)(_test(lambda order: order == 0))


@register("version_in_range", 3, 3)
def version_in_range(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``version_in_range(v, least, most)``: whether ``least <= v <= most``."""
    version, least, most = args
    if least is UNDEFINED or most is UNDEFINED:
        return UNDEFINED
    above, below = _compared((least, version)), _compared((version, most))
    if isinstance(above, Exceptional) or isinstance(below, Exceptional):
        return ERROR
    return above <= 0 and below <= 0

"""Functions of user and slot names: splitUserName, splitSlotName, userHome, userMap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.context import EvaluationFailed, value_left
from negotiator.classad.functions.registry import register
from negotiator.classad.functions.results import argument_values, string_list
from negotiator.classad.values import ERROR, UNDEFINED, to_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negotiator.classad.context import AdScope, ClassAdValue, Environment
    from negotiator.classad.syntax import Expr


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

"""Read numbers and booleans of HTCondor's configuration: literals of C, else ClassAd expressions of constants.

Source: the HTCondor manual, "Introduction to Configuration"; ``param_integer``, ``param_double`` and ``param_boolean`` of
HTCondor 25.14. Where these give up, so that a daemon does not start, a function here raises ``ValueError``: its message
completes "the value ...". Infinity, which HTCondor reads, and expressions whose value changes are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from negotiator import classad
from negotiator.classad import Expr, ParseError, parse, references
from negotiator.classad.syntax import Call, children, fold

#: HTCondor's integers have 32 bits.
MAX_INTEGER = 2**31 - 1

_SPACE = " \t\n\v\f\r"
_INTEGER = re.compile(r"[-+]?[0-9]+")
_REAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_LONGEST = 400  # digits of a literal: no number of HTCondor has more


def integer_setting(text: str) -> int:
    """Return the value of a setting that is an integer; a real number is truncated.

    :raises ValueError: it is not a number, or has more than 32 bits.
    """
    text = text.strip(_SPACE)
    value = int(text) if _INTEGER.fullmatch(text) and len(text) < _LONGEST else int(constant_number(text))
    if not -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
        raise ValueError("has more than 32 bits")
    return value


def real_setting(text: str) -> float:
    """Return the value of a setting that is a number.

    :raises ValueError: it is not a number, or not finite.
    """
    text = text.strip(_SPACE)
    if _REAL.fullmatch(text):
        value = float(text)
    elif _HEXADECIMAL.fullmatch(text) and len(text) < _LONGEST:
        value = float.fromhex(text)
    else:
        value = float(constant_number(text))
    if not math.isfinite(value):
        raise ValueError("is not finite")
    return value


def boolean_setting(text: str) -> bool:
    """Return the value of a setting that is true or false; a number other than 0 is true.

    :raises ValueError: it is neither.
    """
    text = text.strip(_SPACE)
    literal = _BOOLEANS.get(text.lower())
    return bool(constant_number(text)) if literal is None else literal


def constant_number(text: str) -> int | float:
    """Return the value of an expression that is a number, or a boolean as 0 or 1; all attributes are undefined in it.

    :raises ValueError: it is not a number, or not the same at any time.
    """
    try:
        tree = parse(text)
    except ParseError as error:
        raise ValueError("is not a valid expression") from error
    if changing := min(_changing_calls(tree), default=""):
        raise ValueError(f"calls {changing}")
    value = classad.evaluate(tree)
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value if isinstance(value, float) else int(value)
    reads = references(tree)
    for name in sorted(reads.my | reads.target | reads.unscoped):
        raise ValueError(f"reads the attribute {name}")
    raise ValueError("is not a number")


def _changing_calls(tree: Expr) -> Iterator[str]:
    """Yield the functions that an expression calls and that read the clock, or draw random numbers."""
    from negotiator.classad.functions import FUNCTIONS  # noqa: PLC0415 - a literal needs no functions

    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if isinstance(node, Call):
            function = FUNCTIONS.get(fold(node.name))
            if function is not None and not function.deterministic:
                yield fold(node.name)

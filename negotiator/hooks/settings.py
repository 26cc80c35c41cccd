"""The settings of plugins in a bundle, and those of HTCondor's configuration that a plugin knows by name.

Numbers and booleans of that configuration are literals of C, else ClassAd expressions of constants. Source: the HTCondor manual, "Introduction to
Configuration"; ``param_integer``, ``param_double`` and ``param_boolean`` of HTCondor 25.14. Where these give up, so that a daemon does not start, a
function here raises ``ValueError``: its message completes "the value ...". Infinity, which HTCondor reads, and expressions whose value changes are
refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import attrs

from negotiator import classad
from negotiator.classad import Expr, ParseError, parse, references
from negotiator.classad.syntax import Call, children, fold
from negotiator.hooks.plugin_output import REPORT_SECONDS

#: HTCondor's integers have 32 bits.
MAX_INTEGER = 2**31 - 1
_SPACE = " \t\n\v\f\r"
_INTEGER = re.compile(r"[-+]?[0-9]+")
_REAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_LONGEST = 400  # digits of a literal: no number of HTCondor has more


@attrs.frozen
class PluginSettings:
    """The ``plugins:`` part of ``pool.yaml``: the plugins loaded besides the installed ones, and the order of calls.

    ``folders`` have files of plugins, ``modules`` are importable. ``disable`` are plugins that are not loaded; of the installed ones
    ``only`` those that it names are loaded, all of them if it is None. ``order`` names those that
    are called first. A call that takes longer than ``slow_seconds`` counts as slow; one that still goes on after
    ``report_seconds`` is reported at once. An observer is switched off after
    ``max_failures`` failures or slow calls in a row. ``isolate`` has the seconds that a call of the worker process of a plugin may take.
    """

    folders: tuple[Path, ...] = ()
    modules: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    order: tuple[str, ...] = ()
    slow_seconds: float = 1.0
    report_seconds: float = REPORT_SECONDS
    max_failures: int = 3
    isolate: dict[str, float] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class KnownSetting:
    """A setting of another program's configuration, such as HTCondor's, by which ``negotiator check`` explains it.

    ``name`` may be a pattern (``*`` and ``?`` as in ``fnmatch``; upper and lower case are equal); names take precedence over
    patterns, longer patterns over shorter ones. ``default`` is the value that the other program uses if it is not set: a setting
    with this value is not reported.

    ``plugin`` is the name of the plugin that reads the setting (``the core`` for this program itself). If no plugin does,
    ``reason`` says in one sentence why it has no effect, and ``hint`` what to write instead; ``decides`` is False if it never
    decided which job gets which slot, so that it is reported as a notice, not as a warning.
    """

    name: str
    default: str = ""
    plugin: str = ""
    reason: str = ""
    hint: str = ""
    decides: bool = True

    @property
    def is_pattern(self) -> bool:
        """True if the name stands for several settings."""
        return "*" in self.name or "?" in self.name


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

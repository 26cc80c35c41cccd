"""Prints trees and constants as HTCondor does, whole or as an excerpt.

The text parses to a tree of the same value. It is the same tree except for what HTCondor's spelling loses: the 17th
digit of a real, the 7th digit of the seconds of a relative time, the blank in ``- 5``, and the order and the duplicates
of the attributes of a record (``tree_key`` loses nothing). Only ``Paren`` nodes print parentheses, so a tree built by hand needs them.

Nothing here recurses: chains of thousands of operators are ordinary input. The work for an excerpt depends on its length,
not on the size of the expression.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import attrs

from negotiator.classad.syntax.lexer import RESERVED
from negotiator.classad.syntax.tree import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    ListExpr,
    Literal,
    LiteralValue,
    Paren,
    RecordExpr,
    Subscript,
    Unary,
    fold,
)
from negotiator.classad.values import AbsTime, Exceptional, RelTime, abs_time_text, rel_time_text, to_bytes

_Parts: TypeAlias = Iterator["str | Expr"]

_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_QUOTED_NAMES: Final = RESERVED | {"parent"}
_UNPRINTABLE: Final = re.compile(r"[^ !#-&(-\[\]-~]")
_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
}
_INDENTS: Final[dict[type, int]] = {ListExpr: 6, RecordExpr: 8}
CUT: Final = "..."


def unparse(expr: Expr) -> str:
    """Return the text of an expression in the new syntax, on one line."""
    return _print(expr, _NEW)


def unparse_old(expr: Expr) -> str:
    """Return the text of an expression for the right side of a long-form line.

    That form cannot express a line feed in a string, nor a backslash at the end of a string inside a list.
    """
    return _print(expr, _OLD)


def unparse_exact(expr: Expr) -> str:
    """Return the text of an expression in the new syntax with all 17 digits of reals, so that no real changes."""
    return _print(expr, _EXACT)


def unparse_constant(value: LiteralValue) -> str:
    """Return the text of a constant in the new syntax."""
    return _constant(value, _NEW)


def unparse_indented(expr: Expr) -> str:
    """Return the text of an expression as the function ``unparse`` prints it: lists and records on several lines."""
    return _print(expr, _INDENTED)


@attrs.frozen
class _PrintStyle:
    """The differences between the ways to print."""

    string: Callable[[str], str]
    real: Callable[[float], str]
    operators: Mapping[str, str]
    indented: bool = False


def _print(expr: Expr, style: _PrintStyle) -> str:
    out: list[str] = []
    pending: list[tuple[str | Expr, int]] = [(expr, 0)]
    while pending:
        item, indent = pending.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, Literal):
            out.append(_constant(item.printed, style))
        else:
            inner = indent + _INDENTS.get(type(item), 0)
            parts = [(part, inner) for part in _parts(item, style, indent)]
            parts.reverse()
            pending += parts
    return "".join(out)


def _parts(expr: Expr, style: _PrintStyle, indent: int) -> _Parts:
    """Yield the texts and the operands that make up a node, in order."""
    match expr:
        case Attr():
            yield from _attribute(expr)
        case Binary(op, left, right):
            yield from (left, style.operators.get(op) or f" {op} ", right)
        case Paren(inner):
            yield from ("(", inner, ")")
        case Unary(op, operand):
            yield from (f" {op}", operand)
        case Call(name, args):
            yield f"{_other_name(name)}("
            yield from _separated(args, ",")
            yield ")"
        case Conditional(test, yes, no):
            yield from (test, " ? ", yes, " : ", no)
        case Elvis(value, fallback):
            yield from (value, " ?: ", fallback)
        case Subscript(container, index):
            yield from (container, "[", index, "]")
        case ListExpr(items):
            yield from _indented_list(items, indent) if style.indented else _list(items)
        case RecordExpr(items):
            shown = stored_order(items)
            yield from _indented_record(shown, indent) if style.indented else _record(shown)
        case AdRef(side):
            yield str(side)


def _attribute(expr: Attr) -> _Parts:
    if expr.scope is None:
        yield f".{unparse_name(expr.name)}" if expr.absolute else unparse_name(expr.name)
        return
    yield expr.scope
    # HTCondor writes 1.a, and names without quotes here and in calls; its own parser cannot read either.
    yield " ." if isinstance(expr.scope, Literal) and type(expr.scope.value) is int else "."
    yield _other_name(expr.name)


def _list(items: tuple[Expr, ...]) -> _Parts:
    yield "{ "
    yield from _separated(items, ",")
    yield " }"


def _record(items: Iterable[tuple[str, Expr]]) -> _Parts:
    yield "[ "
    for position, (name, expr) in enumerate(items):
        yield f"; {unparse_name(name)} = " if position else f"{unparse_name(name)} = "
        yield expr
    yield " ]"


def _separated(items: tuple[Expr, ...], separator: str) -> _Parts:
    for position, item in enumerate(items):
        if position:
            yield separator
        yield item


def _indented_list(items: tuple[Expr, ...], indent: int) -> _Parts:
    yield f"\n{' ' * (indent + 3)}{{"
    for position, item in enumerate(items):
        yield f"{',' if position else ''}\n{' ' * (indent + 6)}"
        yield item
    yield f"\n{' ' * (indent + 3)}}}"


def _indented_record(items: Iterable[tuple[str, Expr]], indent: int) -> _Parts:
    yield f"\n{' ' * (indent + 4)}["
    for position, (name, expr) in enumerate(items):
        yield f"{'; ' if position else ''}\n{' ' * (indent + 8)}{unparse_name(name)} = "
        yield expr
    yield f"\n{' ' * (indent + 4)}]"


def stored_order(items: Iterable[tuple[str, Expr]]) -> list[tuple[str, Expr]]:
    """Sort attributes as HTCondor stores them: short names first. Of duplicates the last counts, spelled as the first."""
    distinct: dict[str, tuple[str, Expr]] = {}
    for name, expr in items:
        folded = fold(name)
        distinct[folded] = (distinct[folded][0] if folded in distinct else name, expr)
    return [distinct[folded] for folded in sorted(distinct, key=length_first)]


def length_first(folded: str) -> tuple[int, bytes]:
    """Return the key by which HTCondor sorts the attributes of an ad, given a name in lower case."""
    data = to_bytes(folded)
    return len(data), data


def unparse_name(name: str) -> str:
    """Return the name of an attribute, in quotes where it needs them."""
    if _PLAIN_NAME.match(name) and fold(name) not in _QUOTED_NAMES:
        return name
    return "'" + _escaped(name, "'") + "'"


def _other_name(name: str) -> str:
    """Return the text of a name after a dot or of a function. There ``parent`` needs no quotes."""
    return name if fold(name) == "parent" else unparse_name(name)


def _constant(value: LiteralValue, style: _PrintStyle) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return style.string(value)
        case float():
            return style.real(value)
        case Exceptional():
            return value.value
        case AbsTime():
            return f'absTime("{abs_time_text(value)}")'
        case RelTime():
            return f'relTime("{rel_time_text(value.seconds)}")'


def _new_string(text: str) -> str:
    return '"' + _escaped(text, '"') + '"'


def _old_string(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def _escaped(text: str, quote: str) -> str:
    def escape(match: re.Match[str]) -> str:
        character = match[0]
        if character in "\"'":
            return "\\" + character if character == quote else character
        return _ESCAPES.get(character) or "".join(f"\\{byte:03o}" for byte in to_bytes(character))

    return _UNPRINTABLE.sub(escape, text)


def _real(value: float, spec: str) -> str:
    if value == 0.0:
        return f"{value:.1f}"
    if math.isnan(value):
        return 'real("NaN")'
    if math.isinf(value):
        return 'real("INF")' if value > 0 else 'real("-INF")'
    text = f"{value:{spec}}"
    return text if "." in text or "E" in text else f"{text}.0"


_NEW: Final = _PrintStyle(_new_string, lambda value: _real(value, "1.15E"), {"=?=": " is ", "=!=": " isnt "})
_INDENTED: Final = attrs.evolve(_NEW, indented=True)
_EXACT: Final = attrs.evolve(_NEW, real=lambda value: _real(value, "1.16E"))
_OLD: Final = _PrintStyle(_old_string, lambda value: _real(value, ".16G"), {})


def excerpt(expr: Expr, most: int) -> str:
    """Return an expression in the new syntax on one line of at most ``most`` characters, ending in ``...`` if cut."""
    out: list[str] = []
    length = 0
    pending: list[str | Expr] = [expr]
    while pending and length <= most:
        item = pending.pop()
        if not isinstance(item, str):
            item = _shortened(item, most)
        if isinstance(item, Literal):
            item = unparse(item)
        if isinstance(item, str):
            out.append(item)
            length += len(item)
        else:
            pending += reversed(list(_parts(item, _NEW, 0)))
    return shorten("".join(out), most)


def shorten(text: str, most: int) -> str:
    """Return a text, cut to ``most`` characters including a final ``...`` if it is longer."""
    return text if len(text) <= most else text[: max(most - len(CUT), 0)] + CUT


def _shortened(node: Expr, most: int) -> Expr:
    """Return a node without the parts that cannot appear in the first ``most`` characters."""
    match node:
        case Literal(str(text)) if len(text) > most:
            return Literal(text[: most + 1])
        case Attr(name) if len(name) > most:
            return attrs.evolve(node, name=name[: most + 1])
        case Call(name, args) if len(args) > most:
            return Call(name, args[: most + 1])
        case ListExpr(items) if len(items) > most:
            return ListExpr(items[: most + 1])
        case RecordExpr(entries) if len(entries) > most:
            return RecordExpr(entries[: most + 1])
    return node

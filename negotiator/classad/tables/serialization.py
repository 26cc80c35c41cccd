"""Writes and reads the parts of a serialised table: numbers, texts and arrays, each of one canonical form, and expressions.

All numbers are little-endian. Nothing in the bytes is executed, and no part is larger than the bytes that are left. An
expression is a list of short texts, its tokens, without loss: unlike the printed form they keep the 17th digit of a real,
a sign apart from its literal, and the order and duplicates of a record's attributes. A node comes before its operands; the
first character of a token is the type of its node.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from negotiator.classad.syntax import (
    PRECEDENCE,
    Attr,
    Binary,
    Call,
    ClassAdError,
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
    children,
)
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, RelTime

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER: Final = struct.Struct("<q")
_WIDTHS: Final = tuple(np.dtype(name) for name in ("<u1", "<u2", "<u4", "<i1", "<i2", "<i4", "<i8"))

_ALL_EQUAL: Final = 16
"""Added to the width of an array that has one value only."""

MAX_NESTING: Final = 10_000
"""Maximum nesting that is read; expressions that the parser accepts (``MAX_DEPTH`` of brackets, a dozen levels of operators in each) fits."""

_UNARY: Final = frozenset("-+!~")
_CONSTANTS: Final[dict[str, LiteralValue]] = {"u": UNDEFINED, "e": ERROR, "t": True, "f": False}


class DamagedDataError(ClassAdError):
    """The bytes were not written by this version, or they are damaged."""


class ByteWriter:
    """Writes parts to a sink, such as ``list.append`` or the ``update`` of a hash."""

    __slots__ = ("_sink",)

    def __init__(self, sink: Callable[[bytes], Any]) -> None:
        self._sink = sink

    def number(self, value: int) -> None:
        """Write an integer of 64 bits."""
        self._sink(_NUMBER.pack(value))

    def texts(self, texts: Sequence[str]) -> None:
        """Write texts: the length of each in characters, then all of them as UTF-8."""
        self.integers(np.fromiter(map(len, texts), np.int64, len(texts)))
        data = "".join(texts).encode(
            "utf-8", "surrogatepass"
        )  # surrogates represent bytes that are not UTF-8
        self.number(len(data))
        self._sink(data)

    def layouts(self, values: NDArray[np.int64]) -> None:
        """Write one integer for each row, not shortened: a reader takes the number of rows from their bytes."""
        self._sink(values.astype("<u4").tobytes())

    def integers(self, values: NDArray[Any], count: int | None = None) -> None:
        """Write integers, in the first width that holds them all; ``count`` copies of the value if there is one only.

        The bytes depend on the integers alone, not on their dtype nor on whether ``count`` is used.
        """
        size = len(values) if count is None else count
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        width = next(i for i, dtype in enumerate(_WIDTHS) if _holds(dtype, low, high))
        is_constant = size > 1 and low == high
        self.number(size << 8 | width | (_ALL_EQUAL if is_constant else 0))
        self._sink(values[: 1 if is_constant else size].astype(_WIDTHS[width]).tobytes())


def _holds(dtype: np.dtype[Any], low: int, high: int) -> bool:
    limits = np.iinfo(dtype)
    return limits.min <= low and high <= limits.max


class ByteReader:
    """Reads the bytes of a ``ByteWriter``. All methods raise ``DamagedDataError``."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    @property
    def left(self) -> int:
        """The number of bytes not yet read."""
        return len(self._data) - self._at

    def _take(self, size: int) -> memoryview:
        if not 0 <= size <= self.left:
            raise DamagedDataError("the data end too soon")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self) -> int:
        """Read an integer."""
        value: int = _NUMBER.unpack(self._take(_NUMBER.size))[0]
        return value

    def count(self) -> int:
        """Read the number of parts that follow, each of one byte at least."""
        value = self.number()
        if not 0 <= value <= self.left:
            raise DamagedDataError("invalid number of parts")
        return value

    def texts(self) -> list[str]:
        """Read texts, which have no NUL and no surrogates but those of bytes that are not UTF-8."""
        lengths = self.integers(max_count=self.left)
        data = self._take(self.number())
        if len(lengths) and (int(lengths.min()) < 0 or int(lengths.max()) > len(data)):
            raise DamagedDataError("invalid length of a text")
        ends = np.cumsum(lengths).tolist()
        try:
            joined = str(data, "utf-8", "surrogatepass")
            joined.encode("utf-8", "surrogateescape")
        except UnicodeError:
            raise DamagedDataError("a text is not UTF-8") from None
        if (ends[-1] if ends else 0) != len(joined) or "\0" in joined:
            raise DamagedDataError("invalid text")
        return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def layouts(self, count: int) -> NDArray[np.int64]:
        """Read one integer for each row: shape (count,)."""
        return np.frombuffer(self._take(4 * count), "<u4").astype(np.int64)

    def integers(self, *, max_count: int) -> NDArray[np.int64]:
        """Read integers, at most ``max_count``: shape (N,)."""
        header = self.number()
        count, width = header >> 8, header & 0xFF
        is_constant = bool(width & _ALL_EQUAL)
        width &= ~_ALL_EQUAL
        if not 0 <= count <= max_count or width >= len(_WIDTHS):
            raise DamagedDataError("invalid array")
        dtype = _WIDTHS[width]
        data = self._take((1 if is_constant else count) * dtype.itemsize)
        values = np.frombuffer(data, dtype).astype(np.int64)
        return np.repeat(values, count) if is_constant else values


_Operand: TypeAlias = tuple[Expr, int]
"""An expression that was read, and how deep it is nested."""


def expression_tokens(expr: Expr) -> list[str]:
    """Return the tokens of an expression.

    :raises ValueError: the expression has an ``AdRef``, which no ad can have.
    """
    tokens: list[str] = []
    pending: list[Expr | str] = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            tokens.append(node)
        elif type(node) is Literal:
            tokens.append(_literal(node))
        elif type(node) is RecordExpr:
            tokens.append(f"n{len(node.items)}")
            pending += [part for name, value in reversed(node.items) for part in (value, f"k{name}")]
        else:
            token = _TOKENS.get(type(node))
            if token is None:
                raise ValueError("an ad cannot hold a reference to an ad of the match itself")
            tokens.append(token(node))
            pending += children(node)[::-1]
    return tokens


_TOKENS: Final[dict[type, Callable[[Any], str]]] = {
    Attr: lambda node: f"{'aAmM'[node.absolute + 2 * (node.scope is not None)]}{node.name}",
    Paren: lambda _: "(",
    Unary: lambda node: f"1{node.op}",
    Binary: lambda node: f"2{node.op}",
    Conditional: lambda _: "?",
    Elvis: lambda _: ":",
    Subscript: lambda _: "[",
    Call: lambda node: f"c{len(node.args)},{node.name}",
    ListExpr: lambda node: f"l{len(node.items)}",
}


def _literal(node: Literal) -> str:
    value = node.value
    if isinstance(value, str):
        return f"s{value}"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return f"{'d' if node.relative_time else 'r'}{value.hex()}"
    if isinstance(value, AbsTime):
        return f"T{value.seconds},{value.offset}"
    if isinstance(value, RelTime):
        return f"D{float(value.seconds).hex()}"
    return "e" if value is ERROR else "u"


def expression_of(tokens: list[str]) -> Expr:
    """Return the expression of these tokens.

    :raises DamagedDataError: they are not the tokens of one expression, or it is nested too deep.
    """
    operands: list[_Operand] = []
    names: list[str] = []
    try:
        for token in reversed(tokens):  # so that the operands of a node are read before it
            if token[0] == "k":
                names.append(token[1:])
            else:
                operands.append(_read(token, operands, names))
                if operands[-1][1] > MAX_NESTING:
                    raise DamagedDataError("an expression is nested too deep")
    except (IndexError, ValueError, OverflowError):
        raise DamagedDataError("invalid expression") from None
    if len(operands) != 1 or names:
        raise DamagedDataError("invalid expression")
    return operands[0][0]


def _read(token: str, operands: list[_Operand], names: list[str]) -> _Operand:
    kind, text = token[0], token[1:]
    if kind in _CONSTANTS and not text:
        return Literal(_CONSTANTS[kind]), 0
    if kind == "s":
        return Literal(text), 0
    if kind in "irdTD":
        return Literal(_number(kind, text), relative_time=kind == "d"), 0
    if kind in "aAmM" and not text:
        raise DamagedDataError("an attribute has no name")
    if kind in "aA":
        return Attr(text, None, kind == "A"), 0
    if kind in "mM":
        scope, depth = operands.pop()
        return Attr(text, scope, kind == "M"), depth
    if kind == "2" and text in PRECEDENCE:
        (left, depth), (right, right_depth) = operands.pop(), operands.pop()
        # Chains such as a + b + c lean to the left: they may be thousands of operators long.
        return Binary(text, left, right), max(depth, right_depth + 1)
    return _read_other(kind, text, operands, names)


def _read_other(kind: str, text: str, operands: list[_Operand], names: list[str]) -> _Operand:
    if kind == "c":
        size, _, name = text.partition(",")
        args, depth = _pop(operands, int(size))
        return Call(name, args), depth
    if kind == "l":
        items, depth = _pop(operands, int(text))
        return ListExpr(items), depth
    if kind == "n":
        values, depth = _pop(operands, int(text))
        return RecordExpr(tuple((names.pop(), value) for value in values)), depth
    if kind == "1" and text in _UNARY:
        (operand,), depth = _pop(operands, 1)
        return Unary(text, operand), depth
    if text:
        raise DamagedDataError("invalid expression")
    if kind == "(":
        (inner,), depth = _pop(operands, 1)
        return Paren(inner), depth
    if kind == "?":
        (test, yes, no), depth = _pop(operands, 3)
        return Conditional(test, yes, no), depth
    if kind in ":[":
        (left, depth), (right, right_depth) = operands.pop(), operands.pop()
        node = Elvis(left, right) if kind == ":" else Subscript(left, right)
        return node, max(depth, right_depth + 1)
    raise DamagedDataError("invalid expression")


def _pop(operands: list[_Operand], count: int) -> tuple[tuple[Expr, ...], int]:
    if not 0 <= count <= len(operands):
        raise DamagedDataError("invalid expression")
    taken = [operands.pop() for _ in range(count)]
    return tuple(expr for expr, _ in taken), max((depth for _, depth in taken), default=0) + 1


def _number(kind: str, text: str) -> LiteralValue:
    if kind in "rd":
        return float.fromhex(text)
    if kind == "D":
        return RelTime(float.fromhex(text))
    if kind == "T":
        seconds, _, offset = text.partition(",")
        return AbsTime(_int64(seconds), _int64(offset))
    return _int64(text)


def _int64(text: str) -> int:
    value = int(text) if len(text) <= 20 else 1 << 63
    if not -(1 << 63) <= value < 1 << 63:
        raise DamagedDataError("an integer has more than 64 bits")
    return value

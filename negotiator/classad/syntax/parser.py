"""Builds trees from tokens.

An operator-precedence (shunting-yard) parser with its own stack instead of recursion, so that no text can exhaust
Python's. The depth limit is HTCondor's, 497: a bracket of any kind costs 3 (so 165 parentheses fit); a prefix operator,
each ``?:`` and each branch of a conditional cost 1.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from negotiator.classad.syntax.errors import ParseError
from negotiator.classad.syntax.lexer import BAD, END, LITERAL, NAME, tokenize
from negotiator.classad.syntax.tree import (
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Subscript,
    Unary,
)
from negotiator.classad.values import parse_abs_time, parse_rel_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.values import AbsTime

MAX_TEXT: Final = 1 << 20
MAX_DEPTH: Final = 497
CACHED_TEXT: Final = 2048

PRECEDENCE: Final = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "=?=": 6,
    "=!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    ">>>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_UNARY_PRECEDENCE: Final = 11
_ELVIS_PRECEDENCE: Final = 12
_UNARY_OPERATORS: Final = frozenset("-+!~")

# The kinds of pending entries. Brackets and the middle of a conditional stop reductions.
_BINARY, _UNARY, _ELVIS, _BRANCH = "binary", "unary", "?:", "branch"
_MIDDLE, _PAREN, _CALL, _LIST, _RECORD, _SUBSCRIPT = "?", "(", "call", "{", "[", "subscript"
_COST: Final = {_BINARY: 0, _UNARY: 1, _ELVIS: 1, _BRANCH: 1, _MIDDLE: 1}
_BRACKET_COST: Final = 3
_CLOSING: Final = {
    _PAREN: "')'",
    _CALL: "',' or ')'",
    _LIST: "',' or '}'",
    _RECORD: "';' or ']'",
    _SUBSCRIPT: "']'",
    _MIDDLE: "':'",
}
_CONTINUED: Final = frozenset({(",", _CALL), (";", _CALL), (",", _LIST)})
_CLOSED: Final = frozenset({(")", _PAREN), (")", _CALL), ("}", _LIST), ("]", _RECORD), ("]", _SUBSCRIPT)})
_TIMES: Final[dict[str, Callable[[str], AbsTime | float | None]]] = {
    "abstime": parse_abs_time,
    "reltime": parse_rel_time,
}


class _Pending(NamedTuple):
    kind: str
    precedence: int
    text: str
    base: int  # the number of operands when the bracket was opened
    names: list[str]


_NO_NAMES: Final[list[str]] = []


def parse(text: str) -> Expr:
    """Parse one expression in the new syntax. The text may end with semicolons.

    :raises ParseError: the text is invalid.
    """
    return _parse_new(text) if len(text) <= CACHED_TEXT else _expression(text, old=False)


def parse_old(text: str) -> Expr:
    r"""Parse the text right of the ``=`` of a long-form line (SEMANTICS section 7).

    ``\"`` is the only escape in strings. Text after a complete expression is ignored.

    :raises ParseError: the text is invalid.
    """
    return _parse_old(text) if len(text) <= CACHED_TEXT else _expression(text, old=True)


def parse_record(text: str) -> RecordExpr:
    """Parse an ad in the new syntax, ``[ a = 1; b = 2 ]``, into its names and expressions.

    :raises ParseError: the text is invalid.
    """
    record = _expression(text, old=False, depth=-_BRACKET_COST)
    if not isinstance(record, RecordExpr):
        raise ParseError("expected an ad in square brackets", text, 1, 1)
    return record


@lru_cache(maxsize=1 << 16)
def _parse_new(text: str) -> Expr:
    return _expression(text, old=False)


@lru_cache(maxsize=1 << 16)
def _parse_old(text: str) -> Expr:
    return _expression(text, old=True)


# A fast path: most attributes of an ad are such constants, which both syntaxes spell alike.
_PLAIN: Final = re.compile(r' *(?:(-?(?:0|[1-9][0-9]{0,17}))|"([ !#-\[\]-~]*)")\Z')


def _expression(text: str, *, old: bool, depth: int = 0) -> Expr:
    if len(text) > MAX_TEXT:
        raise ParseError(f"the text has more than {MAX_TEXT} characters", "", 1, 1)
    plain = _PLAIN.match(text)
    if plain is not None:
        return Literal(int(plain[1]) if plain[2] is None else plain[2])
    if "\0" in text:
        raise _error(text, text.index("\0"), "the text contains the character NUL")
    if not text.isascii():
        _check_encodable(text)
    if old and len(text) <= CACHED_TEXT and "&&" in text:
        conjunction = _conjunction(text)
        if conjunction is not None:
            return conjunction
    return _Parser(text, old=old, depth=depth).parse()


def _conjunction(text: str, depth: int = 0) -> Expr | None:
    """Return the tree of conditions joined by ``&&``, each parsed once for all texts; None for any other text.

    Requirements have most of their conditions in common: those that ``condor_submit`` adds, and those of a user's jobs,
    which it puts in parentheses.
    """
    if "\\" in text or "'" in text or "//" in text or "/*" in text or not text.isascii():
        return None
    found: Expr | None = None
    waiting = ""
    for part in text.split("&&"):
        waiting = f"{waiting}&&{part}" if waiting else part
        if waiting.count('"') % 2 or waiting.count("(") != waiting.count(")"):
            continue  # within a string or in parentheses
        condition = _condition(waiting.strip(), depth)
        if condition is None:
            return None
        found = condition if found is None else Binary("&&", found, condition)
        waiting = ""
    return None if waiting else found


@lru_cache(maxsize=1 << 16)
def _condition(text: str, depth: int) -> Expr | None:
    """Return the tree of a text that is one operand of ``&&``; None if it is not, or is followed by other text.

    It is inside of brackets that cost so much ``depth``.
    """
    if not depth and "&&" in text and text[0] == "(" and text[-1] == ")":
        inner = _conjunction(text[1:-1], _BRACKET_COST)
        if inner is not None:
            return Paren(inner)
    parser = _Parser(text, old=True, depth=depth)
    try:
        tree = parser.parse()
    except ParseError:
        return None
    is_operand = isinstance(tree, Paren | Call | Attr | Unary) or (
        isinstance(tree, Binary) and PRECEDENCE[tree.op] > PRECEDENCE["&&"]
    )
    return tree if is_operand and parser.kind() is END else None


def _check_encodable(text: str) -> None:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise _error(text, error.start, "the text contains a character that cannot be encoded") from None


def _error(text: str, offset: int, message: str) -> ParseError:
    line = text.count("\n", 0, offset) + 1
    return ParseError(message, text, line, offset - text.rfind("\n", 0, offset))


class _Parser:
    """One parse. ``operands`` and ``pending`` are the two stacks of the shunting-yard algorithm."""

    __slots__ = ("at", "depth", "old", "operands", "pending", "text", "tokens")

    def __init__(self, text: str, *, old: bool, depth: int) -> None:
        self.text = text
        self.old = old
        self.tokens = tokenize(text, old=old)
        self.at = 0
        self.operands: list[Expr] = []
        self.pending: list[_Pending] = []
        self.depth = depth

    def parse(self) -> Expr:
        operand_next: bool | None = True
        while operand_next is not None:
            operand_next = self.operand() if operand_next else self.operator()
        return self.finish()

    def finish(self) -> Expr:
        """Return the tree after checking that no bracket is open and no text is left (new syntax)."""
        if self.pending:
            raise self.expected(f"an operator or {_CLOSING[self.pending[-1].kind]}")
        if not self.old:
            while self.kind() == ";":
                self.at += 1
            if self.kind() is not END:
                raise self.expected("an operator or the end of the text")
        return self.operands[0]

    def kind(self) -> str:
        return self.tokens[self.at][0]

    # Where an operand is expected

    def operand(self) -> bool:
        """Read the next token where an operand is expected. Return True if an operand is still expected."""
        kind, value, _ = self.tokens[self.at]
        if kind is LITERAL:
            self.at += 1
            self.operands.append(value)
            return False
        if kind is NAME:
            return self.name(value)
        if kind in _UNARY_OPERATORS:
            if self.pending and self.pending[-1].kind is _ELVIS:
                raise self.expected("an operand without an operator before it")
            self.push(_UNARY, _UNARY_PRECEDENCE, kind)
            return True
        if kind == "(":
            self.push(_PAREN)
            return True
        if kind == "{":
            self.push(_LIST)
            return not self.closed_at_once("}")
        if kind == "[":
            return self.record()
        if kind == ".":
            return self.absolute()
        raise self.expected("an operand")

    def name(self, name: str) -> bool:
        self.at += 1
        if self.kind() != "(":
            self.operands.append(Attr(name))
            return False
        self.push(_CALL, text=name)
        return not self.closed_at_once(")")

    def absolute(self) -> bool:
        self.at += 1
        self.operands.append(Attr(self.take_name("a name after '.'"), absolute=True))
        return False

    def record(self) -> bool:
        self.push(_RECORD)
        if self.closed_at_once("]"):
            return False
        self.skip_semicolons()
        self.attribute_name()
        return True

    def attribute_name(self) -> None:
        self.pending[-1].names.append(self.take_name("the name of an attribute"))
        if self.kind() != "=":
            raise self.expected("'='")
        self.at += 1

    def skip_semicolons(self) -> None:
        while self.kind() == ";":
            self.at += 1

    def take_name(self, what: str) -> str:
        if self.kind() is not NAME:
            raise self.expected(what)
        self.at += 1
        name: str = self.tokens[self.at - 1][1]
        return name

    def closed_at_once(self, closing: str) -> bool:
        if self.kind() != closing:
            return False
        self.close()
        return True

    # Where an operator is expected

    def operator(self) -> bool | None:
        """Read the token after an operand. Return True if an operand must follow, None at the end of the expression."""
        kind = self.kind()
        precedence = PRECEDENCE.get(kind)
        if precedence is not None:
            self.reduce(precedence)
            self.push(_BINARY, precedence, kind)
            return True
        if kind == ".":
            self.at += 1
            self.operands.append(Attr(self.take_name("a name after '.'"), self.operands.pop()))
            return False
        if kind == "[":
            self.push(_SUBSCRIPT)
            return True
        if kind == "?:":
            self.push(_ELVIS, _ELVIS_PRECEDENCE)
            return True
        if kind == "?":
            self.reduce(1)
            self.push(_MIDDLE)
            return True
        self.reduce(0)
        return self.separator(kind, self.pending[-1].kind) if self.pending else None

    def separator(self, kind: str, opened: str) -> bool | None:
        """Read a separator or the end of the innermost bracket. Return None if the token does not belong to it."""
        if kind == ":" and opened is _MIDDLE:
            self.depth -= 1
            self.pending.pop()
            self.push(_BRANCH, 0)
            return True
        if (kind, opened) in _CONTINUED:
            self.at += 1
            return True
        if kind == ";" and opened is _RECORD:
            self.skip_semicolons()
            if self.closed_at_once("]"):
                return False
            self.attribute_name()
            return True
        if (kind, opened) in _CLOSED:
            self.close()
            return False
        return None

    # The stacks

    def push(self, kind: str, precedence: int = -1, text: str = "") -> None:
        """Push the entry of an operator or an opening bracket."""
        self.depth += _COST.get(kind, _BRACKET_COST)
        if self.depth > MAX_DEPTH:
            raise self.fail("the expression is nested too deep")
        names: list[str] = [] if kind is _RECORD else _NO_NAMES
        self.pending.append(_Pending(kind, precedence, text, len(self.operands), names))
        self.at += 1

    def reduce(self, precedence: int) -> None:
        """Apply the pending operators of at least this precedence."""
        pending, operands = self.pending, self.operands
        while pending and pending[-1].precedence >= precedence:
            entry = pending.pop()
            right = operands.pop()
            if entry.kind is _BINARY:
                operands[-1] = Binary(entry.text, operands[-1], right)
                continue
            self.depth -= 1
            if entry.kind is _UNARY:
                operands.append(Unary(entry.text, right))
            elif entry.kind is _ELVIS:
                operands[-1] = Elvis(operands[-1], right)
            else:
                yes = operands.pop()
                operands[-1] = Conditional(operands[-1], yes, right)

    def close(self) -> None:
        """Read a closing bracket and replace the operands inside by one."""
        entry = self.pending.pop()
        self.depth -= _BRACKET_COST
        inside = tuple(self.operands[entry.base :])
        del self.operands[entry.base :]
        self.operands.append(self.bracketed(entry, inside))
        self.at += 1

    def bracketed(self, entry: _Pending, inside: tuple[Expr, ...]) -> Expr:
        if entry.kind is _PAREN:
            return Paren(inside[0])
        if entry.kind is _CALL:
            return self.call(entry.text, inside)
        if entry.kind is _LIST:
            return ListExpr(inside)
        if entry.kind is _RECORD:
            return RecordExpr(tuple(zip(entry.names, inside, strict=True)))
        return Subscript(self.operands.pop(), inside[0])

    def call(self, name: str, args: tuple[Expr, ...]) -> Expr:
        """Return a call; for ``absTime`` and ``relTime`` of a constant string, the literal."""
        read = _TIMES.get(name.lower())
        if read is None or len(args) != 1 or not isinstance(args[0], Literal):
            return Call(name, args)
        text = args[0].value
        if not isinstance(text, str):
            return Call(name, args)
        moment = read(text)
        if moment is None:
            raise self.fail(f"invalid text for {name}")
        return Literal(moment, relative_time=isinstance(moment, float))

    # Errors

    def expected(self, what: str) -> ParseError:
        kind, value, offset = self.tokens[self.at]
        if kind is BAD:
            return _error(self.text, offset, str(value))
        found = {END: END, LITERAL: "a constant", NAME: f"the name {str(value)[:40]!r}"}.get(kind, repr(kind))
        return _error(self.text, offset, f"expected {what}, found {found}")

    def fail(self, message: str) -> ParseError:
        return _error(self.text, self.tokens[self.at][2], message)

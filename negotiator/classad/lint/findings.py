"""The findings of lint, and the words of their messages: each has a code for programs and a message for people.

A message shows a part of an expression as its author wrote it. Trees have no positions, so a part is found in the text by
its tokens.
"""

from __future__ import annotations

import enum
from functools import cached_property
from typing import Final

import attrs

from negotiator.classad.lint.value_types import BOOLEAN, NO_VALUE, TIME, PossibleValue, ValueType
from negotiator.classad.syntax import (
    BAD,
    END,
    NAME,
    Expr,
    Literal,
    LiteralValue,
    Token,
    excerpt,
    fold,
    shorten,
    tokenize,
    tree_key,
    unparse,
)
from negotiator.classad.values import ERROR
from negotiator.records import Severity
from negotiator.records.text import printable

MAX_TEXT: Final = 20_000
"""Longest text in which parts are searched, in characters."""

MAX_SHOWN: Final = 60

_ALIASES: Final = {"self": "my", "other": "target"}
"""Spellings that ``bind`` replaces."""

_OUTCOMES: Final = (
    (ValueType.TRUE, "true"),
    (ValueType.FALSE, "false"),
    (ValueType.INTEGER | ValueType.REAL, "a number"),
    (ValueType.STRING, "a string"),
    (ValueType.LIST, "a list"),
    (ValueType.AD, "an ad"),
    (TIME, "a time"),
    (ValueType.UNDEFINED, "undefined"),
    (ValueType.ERROR, "an error"),
)
_KINDS: Final = (
    (BOOLEAN, "a boolean"),
    (ValueType.INTEGER, "an integer"),
    (ValueType.REAL, "a real"),
    (ValueType.STRING, "a string"),
    (ValueType.LIST, "a list"),
    (ValueType.AD, "an ad"),
    (ValueType.ABSTIME, "a moment"),
    (ValueType.RELTIME, "a span of time"),
)


class LintCode(enum.StrEnum):
    """The kind of a finding; ``docs/expressions.md`` has an example of each.

    Codes that end in ``-in-pool``, and ``unknown-attribute`` and those below it, hold for the given ads only.
    All others hold for any ads.
    """

    ALWAYS_TRUE = "always-true"
    ALWAYS_FALSE = "always-false"
    ALWAYS_UNDEFINED = "always-undefined"
    ALWAYS_ERROR = "always-error"
    NEVER_TRUE = "never-true"
    CONSTANT = "constant"
    STRING_NUMBER = "string-number"
    UNDEFINED_COMPARISON = "undefined-comparison"
    WRONG_OPERAND = "wrong-operand"
    NOT_A_CONDITION = "not-a-condition"
    CONSTANT_OPERAND = "constant-operand"
    DUPLICATE_OPERAND = "duplicate-operand"
    QUOTED_CONSTANT = "quoted-constant"
    NUMBER_TOO_LARGE = "number-too-large"
    UNKNOWN_FUNCTION = "unknown-function"
    WRONG_ARGUMENTS = "wrong-arguments"
    BAD_PATTERN = "bad-pattern"
    PATTERN_FROM_AD = "pattern-from-ad"
    MISSPELLED_ATTRIBUTE = "misspelled-attribute"
    NO_OTHER_AD = "no-other-ad"
    TOO_LARGE = "too-large"

    UNKNOWN_ATTRIBUTE = "unknown-attribute"
    OTHER_SIDE = "other-side"
    BOTH_SIDES = "both-sides"
    UNQUOTED_STRING = "unquoted-string"
    CASE_DIFFERS = "case-differs"
    ALWAYS_TRUE_IN_POOL = "always-true-in-pool"
    ALWAYS_FALSE_IN_POOL = "always-false-in-pool"
    ALWAYS_UNDEFINED_IN_POOL = "always-undefined-in-pool"
    ALWAYS_ERROR_IN_POOL = "always-error-in-pool"
    NEVER_TRUE_IN_POOL = "never-true-in-pool"
    STRING_NUMBER_IN_POOL = "string-number-in-pool"
    WRONG_OPERAND_IN_POOL = "wrong-operand-in-pool"
    NOT_A_CONDITION_IN_POOL = "not-a-condition-in-pool"


_NOTICES: Final = frozenset(
    {
        LintCode.CONSTANT,
        LintCode.CONSTANT_OPERAND,
        LintCode.DUPLICATE_OPERAND,
        LintCode.QUOTED_CONSTANT,
        LintCode.PATTERN_FROM_AD,
        LintCode.TOO_LARGE,
        LintCode.BOTH_SIDES,
        LintCode.ALWAYS_TRUE_IN_POOL,
        LintCode.ALWAYS_FALSE_IN_POOL,
    }
)

IN_POOL: Final = {
    code: LintCode(f"{code}-in-pool")
    for code in LintCode
    if f"{code}-in-pool" in {str(each) for each in LintCode}
}
"""From codes that hold for any ads to the same codes for the given ads."""


@attrs.frozen
class Finding:
    """One probable mistake in an expression.

    ``expr`` is the part of the expression that it is about, ``hint`` what to do. A warning is certainly a mistake or has no
    effect; a notice may be intended. ``span`` is the start and end of the part in the text of the expression (characters,
    from 0), None if not known.
    """

    code: LintCode
    expr: Expr = attrs.field(eq=tree_key, repr=unparse)
    message: str
    hint: str = ""
    span: tuple[int, int] | None = None
    severity: Severity = attrs.field()

    @severity.default
    def _severity(self) -> Severity:
        return Severity.NOTICE if self.code in _NOTICES else Severity.WARNING

    def __str__(self) -> str:
        """``warning: message (hint) [code]``, one line."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.severity}: {self.message}{hint} [{self.code}]"


@attrs.frozen
class ExpressionText:
    """The text of an expression, None if it is not known."""

    text: str | None = None

    def span(self, part: Expr) -> tuple[int, int] | None:
        """Return the start and end of the first occurrence of a part (characters, from 0).

        None if the text is not known, or has the part in another form.
        """
        if self.text is None or len(self.text) > MAX_TEXT:
            return None
        expected = [_plain(token) for token in _tokens(unparse(part))]
        count = len(expected)
        for start in range(len(self._tokens) - count + 1):
            if self._plain[start : start + count] == expected and not self._is_piece(start, count):
                end = self._starts[start + count]
                begin = self._starts[start]
                return begin, begin + len(self.text[begin:end].rstrip())
        return None

    def shown(self, part: Expr) -> str:
        """Return a part for a message: as written, shortened, on one line, printable."""
        span = self.span(part)
        if span is None or self.text is None:
            return printable(excerpt(part, MAX_SHOWN)).strip()
        return printable(shorten(" ".join(self.text[slice(*span)].split()), MAX_SHOWN))

    @cached_property
    def _tokens(self) -> list[Token]:
        return _tokens(self.text or "")

    @cached_property
    def _plain(self) -> list[tuple[str, object]]:
        return [_plain(token) for token in self._tokens]

    @cached_property
    def _starts(self) -> list[int]:
        return [*(start for _, _, start in self._tokens), len(self.text or "")]

    def _is_piece(self, start: int, count: int) -> bool:
        """True if a name is only the end of ``MY.name``, or the function of a call."""
        kinds = [kind for kind, _ in self._plain]
        before = kinds[start - 1] if start else ""
        after = kinds[start + count] if start + count < len(kinds) else ""
        return kinds[start] == NAME and (before == "." or (count == 1 and after in {"(", "."}))


def moved(offset: int, text: str, into: str) -> int | None:
    """Return the position in ``into`` of the token at ``offset`` of ``text``.

    ``into`` must begin with the same tokens, up to that one at least; white space and comments between them may differ.
    None if it does not, or if no token begins at the offset.
    """
    own, other = _tokens(text), _tokens(into)
    for (kind, value, start), token in zip(own, other, strict=False):
        if _plain((kind, value, start)) != _plain(token):
            return None
        if start == offset:
            return token[2]
    return None


def _tokens(text: str) -> list[Token]:
    return [token for token in tokenize(text, old=False) if token[0] not in {END, BAD}]


def _plain(token: Token) -> tuple[str, object]:
    kind, value, _ = token
    if kind == NAME:
        return kind, _ALIASES.get(fold(value), fold(value))
    return kind, kind if isinstance(value, str) else value


def outcome(possible: PossibleValue) -> str:
    """Return a phrase for few possible values: ``always false``, ``undefined or an error``."""
    value = possible.value
    if value is not None:
        return f"always {'an error' if value is ERROR else spelled(value)}"
    return _or([word for types, word in _OUTCOMES if possible.may_be(types)])


def kind(possible: PossibleValue) -> str:
    """Return the type of a value, undefined and error aside: ``a string``, ``an integer or a real``."""
    return _or([word for types, word in _KINDS if possible.may_be(types)])


def kinds(possible: PossibleValue) -> ValueType:
    """Return the types that a value can have, undefined and error aside, true and false as one."""
    types = possible.types & ~NO_VALUE
    return types | BOOLEAN if types & BOOLEAN else types


def spelled(value: LiteralValue) -> str:
    """Return a constant as an expression writes it."""
    return ExpressionText().shown(Literal(value))


def _or(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)

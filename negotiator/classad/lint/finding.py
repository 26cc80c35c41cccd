"""The findings of lint: each has a code for programs and a message for people."""

from __future__ import annotations

import enum
from typing import Final

import attrs

from negotiator.classad.syntax import Expr, tree_key, unparse
from negotiator.records import Severity


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

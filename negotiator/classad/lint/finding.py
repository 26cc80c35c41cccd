"""What lint says: findings, each with a code for machines and a sentence for people."""

from __future__ import annotations

import enum
from typing import Final

import attrs

from negotiator.classad.syntax import Expr, tree_key, unparse
from negotiator.records import Severity


class LintCode(enum.StrEnum):
    """What was found; ``docs/expressions.md`` has an example of each.

    Codes that end in ``-in-pool`` hold for the ads that were given, and for no others; so do those of names
    (``unknown-attribute`` and what follows it). All others hold for any ads.
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
"""The codes that there are twice: of any ads, and of those that were given."""


@attrs.frozen
class Finding:
    """One thing that an author of an expression should look at.

    ``expr`` is the part of the expression that it is about, ``hint`` what to do. A warning is certain to be a slip,
    or to make the expression say less than it seems to; a notice may be meant. ``span`` is where the part begins and ends
    in the text of the expression (characters, from 0), None where that is not known.
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

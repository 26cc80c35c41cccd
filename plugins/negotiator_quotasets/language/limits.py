"""Limits of rules: the list of resources after ``to``.

Source: "Resource Quota Sets", grammar, ``RESOURCE``; the messages are the qmaster's.
"""

from __future__ import annotations

from collections.abc import Container

import attrs

from negotiator.plugin import Source, suggest
from negotiator_quotasets.complexes import (
    Complex,
    Complexes,
    ComplexType,
    InvalidValueError,
    normalized,
    parse_value,
)
from negotiator_quotasets.language.formulas import FormulaError, is_formula, read_formula
from negotiator_quotasets.language.lexer import LogicalLine, SyntaxProblemError, quotable
from negotiator_quotasets.language.model import RuleLimit, Term


@attrs.frozen
class KnownObjects:
    """What a set may speak of: complexes, which of them in formulas, and, where they are told, the hosts there are."""

    complexes: Complexes
    numeric_formulas: bool = False
    hosts: Container[str] | None = None


def read_limits(
    line: LogicalLine, known: KnownObjects, last_line: int, *, bare: bool = False
) -> tuple[RuleLimit, ...]:
    """Read a list of limits, or ``NONE``; with ``bare``, a resource may stand without a value.

    :raises SyntaxProblemError: it is no such list, or a limit is not allowed.
    """
    found: dict[str, RuleLimit] = {}
    while True:
        line.peek()
        source, text = line.source(), line.word()
        if not text:
            raise _missing(line, last_line, first=not found)
        if text.upper() == "NONE" and not found and line.peek() != ",":
            return ()
        if "=" not in text and line.next_word().startswith("="):
            message = f"line {source.line} should begin with an attribute name"
            raise SyntaxProblemError(message, line.source(), "write no blanks around =")
        limit = _limit(text, source, known, bare=bare)
        if limit.resource in found:
            message = f'attribute "{limit.resource}" appears more than once'
            raise SyntaxProblemError(message, source, "a rule has one limit for each resource")
        found[limit.resource] = limit
        if not line.take(","):
            return tuple(found.values())


def _limit(text: str, source: Source, known: KnownObjects, *, bare: bool) -> RuleLimit:
    name, equals, value = text.partition("=")
    if text.count("=") > 1 or (not equals and ":" in text):
        name = text  # Grid Engine takes all of it for the name
    elif not equals and not bare:
        raise SyntaxProblemError("resource quota set has no rules", source, f"write {quotable(name)}=VALUE")
    complex_ = known.complexes.find(name)
    if complex_ is None:
        message = f'"resource_quota" references not existing complex attribute "{quotable(name) or "(null)"}"'
        hint = suggest(name[:100], (known_.name for known_ in known.complexes), listed=False)
        raise SyntaxProblemError(message, source, hint)
    if not equals:
        return RuleLimit(complex_.name, "", source=source)
    try:
        return _valued(complex_, value, source, known)
    except InvalidValueError as error:
        raise SyntaxProblemError(str(error), source, error.hint) from None
    except FormulaError as error:
        hint = f"write weights and $num_proc, as in 2+$num_proc*1.5, for {complex_.name}"
        raise SyntaxProblemError(str(error), source, hint) from None


def _valued(complex_: Complex, text: str, source: Source, known: KnownObjects) -> RuleLimit:
    if is_formula(text):
        return RuleLimit(complex_.name, text, _terms(complex_, text, known), source)
    value = parse_value(complex_, text)
    if not text.isprintable() or text.endswith("\\"):
        hint = "leave out what cannot be printed, and a backslash at the end, which would join lines"
        raise InvalidValueError(f'attribute "{complex_.name}" has a character that cannot be kept', hint)
    if complex_.type is ComplexType.HOST and known.hosts is not None and text not in known.hosts:
        raise InvalidValueError(f'can\'t resolve hostname "{quotable(text)}"')
    return RuleLimit(complex_.name, normalized(complex_.type, text), source=source, value=value)


def _terms(complex_: Complex, text: str, known: KnownObjects) -> tuple[Term, ...]:
    if not complex_.type.is_number or complex_.type is ComplexType.BOOL:
        message = (
            f'dynamic limits are only supported for numbers, "{complex_.name}" is of type {complex_.type}'
        )
        raise InvalidValueError(message, "write the value out")
    return read_formula(text, known.complexes, numeric=known.numeric_formulas)


def _missing(line: LogicalLine, last_line: int, *, first: bool) -> SyntaxProblemError:
    """Say what Grid Engine says where a limit is missing: it reads on, beyond the line."""
    source = line.source()
    commas = False
    while line.take(","):
        commas = True
    rest = line.next_word().partition("=")[0] or line.peek()
    if commas and rest not in ("", "}"):
        message = (
            f'unrecognized characters after the attribute values in line {source.line}: "{quotable(rest)}"'
        )
        return SyntaxProblemError(message, source, "a limit is missing before a comma")
    if first and not commas and rest in ("", "}"):
        return no_value(line)
    if rest == "{":
        message = f'unrecognized characters after the attribute values in line {source.line}: "{{"'
        return SyntaxProblemError(message, source, "limits stand without braces")
    message = f'each value in the attribute value list in line {last_line} should end with "}}"'
    return SyntaxProblemError(message, source, "a limit is missing after a comma")


def no_value(line: LogicalLine) -> SyntaxProblemError:
    """Say that a word that wants a value has none."""
    message = (
        f'" " is the only character allowed between the attribute name and the value in line {line.after}'
    )
    return SyntaxProblemError(message, line.source(), "a value is missing")

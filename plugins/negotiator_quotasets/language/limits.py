"""Limits of rules: the list of resources after ``to``.

Source: "Resource Quota Sets", grammar, ``RESOURCE``; the messages are the qmaster's.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

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
from negotiator_quotasets.language.lexer import ContentProblemError, LogicalLine, SyntaxProblemError, quotable
from negotiator_quotasets.language.model import RuleLimit, Term

_DECLARE = "complexes are declared in gridengine.yaml, by hand or with qconf -Mc"


@attrs.frozen
class KnownObjects:
    """The objects that a set may refer to.

    :param numeric_formulas: whether formulas may use all numbers of a host.
    :param hosts: the only hosts that a limit of a HOST complex may name; None for any.
    :param host_names: the spelling of known hosts by their names in lower case: Grid Engine, too, stores a host as its name
        service spells it.
    """

    complexes: Complexes
    numeric_formulas: bool = False
    hosts: Container[str] | None = None
    host_names: Mapping[str, str] = attrs.field(factory=dict)

    def host(self, name: str) -> str:
        """Return a host's name as it is stored; any other word unchanged."""
        return self.host_names.get(name.lower(), name)


def read_limits(
    line: LogicalLine, known: KnownObjects, last_line: int, *, per_host: bool | None, bare: bool = False
) -> tuple[RuleLimit, ...]:
    """Parse a list of limits, or ``NONE``; with ``bare``, limits may lack values.

    :param per_host: whether the rule counts for each host, as a formula needs; None if the rule is not known yet: formulas
        are left as they are.
    :raises SyntaxProblemError: invalid list, or invalid limit.
    """
    limits: dict[str, RuleLimit] = {}
    while True:
        line.peek()
        source, text = line.source(), line.word()
        if not text:
            raise _missing_limit(line, last_line, first=not limits)
        if text.upper() == "NONE" and not limits and line.peek() != ",":
            return ()
        if "=" not in text and line.next_word().startswith("="):
            message = f"line {source.line} should begin with an attribute name"
            raise SyntaxProblemError(message, line.source(), "write no blanks around =")
        limit = _limit(text, source, known, per_host=per_host, bare=bare)
        if limit.resource in limits:
            message = f'attribute "{limit.resource}" appears more than once'
            raise SyntaxProblemError(message, source, "a rule has one limit for each resource")
        limits[limit.resource] = limit
        if not line.take(","):
            return tuple(limits.values())


def _limit(text: str, source: Source, known: KnownObjects, *, per_host: bool | None, bare: bool) -> RuleLimit:
    name, equals, value = text.partition("=")
    if (text.count("=") > 1 and value.startswith("=")) or (not equals and ":" in text):
        name = text  # Grid Engine takes the whole text for the name
    elif "=" in value:
        message = f'values in the attribute value list in line {source.line} should be separated by ","'
        raise SyntaxProblemError(message, source, "a limit has one =")
    complex_ = known.complexes.find(name)
    if complex_ is None:
        message = f'"resource_quota" references not existing complex attribute "{quotable(name) or "(null)"}"'
        similar = suggest(name[:100], (each.name for each in known.complexes), listed=False)
        raise ContentProblemError(message, source, f"{similar} {_DECLARE}".lstrip())
    if not value:
        if bare and not equals:
            return RuleLimit(complex_.name, "", source=source)
        raise ContentProblemError("resource quota set has no rules", source, f"write {complex_.name}=VALUE")
    if is_formula(value):
        if per_host is None:
            return RuleLimit(complex_.name, value, source=source)
        if not per_host:
            message = "dynamic limits are only supported for per host rules"
            raise ContentProblemError(message, source, "name the hosts in braces: hosts {*}")
    try:
        return _valued(complex_, value, source, known)
    except InvalidValueError as error:
        raise ContentProblemError(str(error), source, error.hint) from None
    except FormulaError as error:
        hint = f"write weights and $num_proc, as in 2+$num_proc*1.5, for {complex_.name}"
        raise ContentProblemError(str(error), source, hint) from None


def _valued(complex_: Complex, text: str, source: Source, known: KnownObjects) -> RuleLimit:
    if is_formula(text):
        return RuleLimit(complex_.name, text, _terms(complex_, text, known), source)
    value = parse_value(complex_, text)
    if not text.isprintable() or text.endswith("\\"):
        hint = "leave out what cannot be printed, and a backslash at the end, which would join lines"
        raise InvalidValueError(f'attribute "{complex_.name}" has a character that cannot be stored', hint)
    if complex_.type is ComplexType.HOST:
        text = known.host(text)
        if known.hosts is not None and text not in known.hosts:
            raise InvalidValueError(f'can\'t resolve hostname "{quotable(text)}"')
    return RuleLimit(complex_.name, normalized(complex_.type, text), source=source, value=value)


def _terms(complex_: Complex, text: str, known: KnownObjects) -> tuple[Term, ...]:
    if not complex_.type.is_number or complex_.type is ComplexType.BOOL:
        message = (
            f'dynamic limits are only supported for numbers, "{complex_.name}" is of type {complex_.type}'
        )
        raise InvalidValueError(message, "write the value out")
    return read_formula(text, known.complexes, numeric=known.numeric_formulas)


def _missing_limit(line: LogicalLine, last_line: int, *, first: bool) -> SyntaxProblemError:
    """Return Grid Engine's error for a missing limit; it reads on, beyond the line."""
    source = line.source()
    commas = False
    while line.take(","):
        commas = True
    rest = line.next_word().partition("=")[0] or line.peek()
    if commas and rest not in ("", "}"):
        message = (
            f'unrecognized characters after the attribute values in line {source.line}: "{quotable(rest)}"'
        )
        return SyntaxProblemError(message, source, "missing limit before a comma")
    if first and not commas and rest in ("", "}"):
        return missing_value(line)
    if rest == "{":
        message = f'unrecognized characters after the attribute values in line {source.line}: "{{"'
        return SyntaxProblemError(message, source, "write limits without braces")
    message = f'each value in the attribute value list in line {last_line} should end with "}}"'
    return SyntaxProblemError(message, source, "missing limit after a comma")


def missing_value(line: LogicalLine) -> SyntaxProblemError:
    """Return Grid Engine's error for an attribute without a value."""
    message = (
        f'" " is the only character allowed between the attribute name and the value in line {line.after}'
    )
    return SyntaxProblemError(message, line.source(), "missing value")

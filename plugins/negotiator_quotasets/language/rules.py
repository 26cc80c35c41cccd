"""Rules: ``limit [name NAME] [users LIST] ... to LIMITS``, in one logical line; their filters, limits and names.

Source: "Resource Quota Sets", grammar, ``rule``, ``NOTSCOPE``, ``SCOPE``, ``RESOURCE`` and ``NAME``: filters are in any order, and ``to`` is
last. sge_resource_quota(5) allows exclusions and expansion in each filter; a set's name may have dots too, as sites' names of queues have.
The messages are the qmaster's, which checks any object's name as those of sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from types import MappingProxyType

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
from negotiator_quotasets.language.lexer import ContentProblemError, LogicalLine, SyntaxProblemError, quotable
from negotiator_quotasets.language.model import (
    SCOPES,
    FormulaError,
    NameFilter,
    QuotaRule,
    RuleLimit,
    Term,
    is_formula,
    read_formula,
)

_RULE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)
_SET_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]*", re.ASCII)
_MAX_LENGTH = 512
_TOO_LONG = f"string is longer than {_MAX_LENGTH}, this is not allowed for objectnames"
_KEYWORDS = ("none", "all", "template")
#: Characters that names may not have, in the order in which Grid Engine looks for them.
_CHARACTER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        " ": "Space",
        "/": "Slash",
        ":": "Colon",
        "'": "Quote",
        '"': "Double quote",
        "\\": "Backslash",
        "[": "Brackets",
        "]": "Brackets",
        "{": "Braces",
        "}": "Braces",
        "|": "Pipe",
        "(": "Parenthesis",
        ")": "Parenthesis",
        "@": "At",
        "%": "Percent",
        ",": "Comma",
    }
)
HINT = "a name has a letter first, then letters, digits, _ and -; that of a set may have dots too"
_DECLARE = "complexes are declared in gridengine.yaml, by hand or with qconf -Mc"
# In no name of a user, host, queue, project or environment. A quote inside one is (o'neil), quotes around one are a mistake.
_INVALID = re.compile(r"^[\"']|[\"']$|[;`()<>|&=\\$]")
_SINGULAR = {"users": "user", "projects": "project", "pes": "pe", "queues": "queue", "hosts": "host"}
_WORDS = ("name", *SCOPES, "to")
_GLUED = re.compile(r"([a-z]+)[^a-zA-Z0-9_-]")
_NAME = re.compile(r"[^ \t}]+")


def set_name_problem(name: str) -> str:
    """Return the problem of a set's name; empty if it is valid."""
    if len(name) > _MAX_LENGTH:
        return _TOO_LONG
    for character in _CHARACTER_NAMES:
        if character in name:
            return f"{_CHARACTER_NAMES[character]} ('{character}') not allowed in objectname"
    if name.startswith("."):
        return "Dot ('.') not allowed as first character of objectname"
    if name.lower() in _KEYWORDS:
        return f'Keyword ("{name.upper()}") not allowed as objectname'
    return _name_problem("resource quota set name", name, _SET_NAME)


def rule_name_problem(name: str) -> str:
    """Return the problem of a rule's name; empty if it is valid. A number is invalid: rules are addressed by numbers too."""
    return _name_problem("resource quota rule name", name, _RULE_NAME)


def _name_problem(what: str, name: str, pattern: re.Pattern[str]) -> str:
    if len(name) > _MAX_LENGTH:
        return _TOO_LONG
    return "" if pattern.fullmatch(name) else f'{what} "{quotable(name)}" is not valid'


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


def read_filter(scope: str, line: LogicalLine, spelled: Callable[[str], str] = str) -> NameFilter:
    """Parse the list of one filter; blanks around names are ignored.

    :param spelled: returns a name as it is stored.
    :raises SyntaxProblemError: invalid list, or invalid name.
    """
    expanded = line.take("{")
    names: dict[str, None] = {}
    excluded: dict[str, None] = {}
    while True:
        entry = _entry(scope, line)
        (excluded if entry.startswith("!") else names)[spelled(entry.removeprefix("!"))] = None
        if not line.take(","):
            break
    closed = not expanded or (line.take("}") and line.is_at_blank())
    if not closed or line.peek() in ("{", "}", ","):
        raise _invalid_list(line)
    return NameFilter(tuple(names), tuple(excluded), expanded)


def _entry(scope: str, line: LogicalLine) -> str:
    line.peek()
    at = line.at
    entry = line.word()
    if not entry:
        raise _missing_entry(line)
    name = entry.removeprefix("!")
    bare = name.removeprefix("@")  # empty for a lone @, which Grid Engine takes for a group without members
    invalid = _INVALID.search(bare.removesuffix("$")) or not bare.isprintable()  # Samba's machines end in $
    if not name or name.startswith(("!", "@@")) or invalid:
        message = f"resource quota set contains invalid {_SINGULAR[scope]} filter"
        hint = f'"{quotable(entry)}" is invalid: write NAME, @GROUP or a wildcard, with ! before it to exclude it'
        raise SyntaxProblemError(message, line.source(at), hint)
    return entry


def _missing_entry(line: LogicalLine) -> SyntaxProblemError:
    if line.peek() != ",":
        return _invalid_list(line)
    source = line.source()
    while line.take(","):
        pass
    rest = quotable(line.next_word())
    message = f'unrecognized characters after the attribute values in line {source.line}: "{rest}"'
    return SyntaxProblemError(message, source, "missing entry between two commas")


def _invalid_list(line: LogicalLine) -> SyntaxProblemError:
    hint = "write a list as A,B, or as {A,B} for a separate counter for each"
    return SyntaxProblemError("no valid expanded list", line.source(), hint)


def read_rule(line: LogicalLine, known: KnownObjects, last_line: int, source: Source) -> QuotaRule:
    """Parse a rule after its ``limit``, up to the end of the line or of the set, or to the next ``limit``.

    :raises SyntaxProblemError: invalid rule.
    """
    if not line.peek():
        raise missing_value(line)
    name, limits = "", None
    filters: dict[str, NameFilter] = {}
    while line.peek() not in ("", "}") and not (limits is not None and line.next_word() == "limit"):
        at = line.source()
        word = keyword(line, _WORDS)
        if word in filters or (word == "name" and name) or (word == "to" and limits is not None):
            raise SyntaxProblemError(
                f'attribute "{word}" appears more than once', at, "write each of them once"
            )
        if limits is not None:
            message = f'attribute "{word}" is after the limits'
            raise SyntaxProblemError(message, at, "write the filters before to")
        if not line.peek():
            raise missing_value(line)
        if word == "to":
            hosts = filters.get("hosts")
            per_host = hosts is not None and hosts.expanded
            limits = read_limits(line, known, last_line, per_host=per_host)
        elif word == "name":
            name = read_name(line)
        else:
            filters[word] = read_filter(word, line, known.host if word == "hosts" else str)
    if limits is None:
        raise SyntaxProblemError(
            'required attribute "to" is missing', source, "a rule ends with: to RESOURCE=VALUE"
        )
    return QuotaRule(name=name, limits=limits, source=source, **filters)


def keyword(line: LogicalLine, words: tuple[str, ...]) -> str:
    """Consume the next word, which must be one of ``words``.

    :raises SyntaxProblemError: missing or unknown word.
    """
    source, word = line.source(), line.word()
    name = word.partition("=")[0]
    if not name:
        message = f"line {source.line} should begin with an attribute name"
        raise SyntaxProblemError(
            message, source, f"write one of: {', '.join(words)}", fatal=line.peek() == "{"
        )
    if word in words:
        return word
    glued = _GLUED.match(word)
    if glued and glued[1] in words:
        text = '" " is the only character allowed between the attribute name and the value in line'
        raise SyntaxProblemError(f"{text} {source.line}", source, f"write a blank after {glued[1]}")
    raise SyntaxProblemError(
        f'unknown attribute name "{quotable(name)}"', source, f"write one of: {', '.join(words)}"
    )


def read_name(line: LogicalLine) -> str:
    """Parse the name of a rule.

    :raises SyntaxProblemError: invalid name.
    """
    source, name = line.source(), line.word(_NAME)
    problem = rule_name_problem(name)
    if problem:
        raise SyntaxProblemError(problem, source, HINT)
    return name

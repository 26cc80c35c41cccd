"""Build the typed settings that plugins declare from nodes, and collect every problem.

The type of a field selects the method that reads its node. No method raises: it adds a problem and returns ``INVALID``,
so that the rest of the file is checked too.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args, get_origin

import attrs

from negotiator import classad
from negotiator.bundle import scalars
from negotiator.bundle.hints import choice_hint, quoted_names, syntax_hint
from negotiator.bundle.schema import (
    ClassSchema,
    is_dict,
    is_enum,
    is_expression,
    is_list,
    is_union,
    union_members,
)
from negotiator.bundle.text import (
    BadNode,
    ListNode,
    LocatedText,
    MapEntry,
    MapNode,
    Node,
    ScalarNode,
    Style,
    describe,
    is_empty,
    is_unset,
    problem,
    shown,
)
from negotiator.bundle.yaml_reader import YamlDialect
from negotiator.classad import Expr, ParseError, parse
from negotiator.hooks.declarations import Expression, RankExpression
from negotiator.hooks.failures import describe_error
from negotiator.hooks.settings import boolean_setting, integer_setting, real_setting
from negotiator.records import Problem, ScalarText, Severity, Source
from negotiator.records.text import suggest

MAX_INTEGER = 2**63 - 1
_READ_SETTING: Final[Mapping[type, Callable[[str], Any]]] = {
    bool: boolean_setting,
    int: integer_setting,
    float: real_setting,
}
_NOT_AS_WRITTEN = frozenset({"a boolean", "a number of base 8"})


class Invalid(enum.Enum):
    """The value in place of settings that could not be built."""

    INVALID = "invalid"


INVALID: Final = Invalid.INVALID

#: Resolves the text of a ``Path`` field: the path, or a message and a hint.
PathRule = Callable[[str], "Path | tuple[str, str]"]
#: Makes a problem from a message.
Refuse = Callable[[str], Problem]


class ObjectBuilder:
    """Builds objects from nodes; errors are added to ``problems``.

    A ``tolerant`` builder leaves out invalid values and builds the rest, so that the rest can be checked too.

    :param dialect: in a file of YuniKorn, a plain scalar at the place of a text is that text, and one at the place of a boolean may be
        ``yes``, ``on`` and the like; otherwise both are refused.
    """

    def __init__(
        self, path_rule: PathRule, *, tolerant: bool = False, dialect: YamlDialect = YamlDialect.OWN
    ) -> None:
        self.problems: list[Problem] = []
        self._path_rule = path_rule
        self._tolerant = tolerant
        self._is_yunikorn = dialect is YamlDialect.YUNIKORN
        self._schemas: dict[type, ClassSchema] = {}

    def value(self, node: Node, wanted: Any) -> Any:
        """Return the value of type ``wanted`` that a node holds, or INVALID."""
        if isinstance(node, BadNode):
            return INVALID
        if is_expression(wanted):
            return self._expression(node, wanted)
        if wanted is ScalarText:
            return self._scalar_text(node)
        if is_list(wanted):
            return self._items(node, wanted)
        if is_dict(wanted):
            return self._dict(node, wanted)
        if is_union(wanted):
            return self._union(node, wanted)
        return self._object(node, wanted) if attrs.has(wanted) else self._scalar(node, wanted)

    def build(
        self,
        schema: type,
        entries: Mapping[str, MapEntry],
        source: Source,
        refuse: Refuse,
        *,
        files: Mapping[str, str] = MappingProxyType({}),
        knobs: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        """Return an instance of an attrs class, or INVALID.

        :param entries: the values by key.
        :param source: the place of the object.
        :param refuse: makes a problem of the whole object from a message.
        :param files: the texts of the plugin's files, for a class with the field ``files``.
        :param knobs: the values, or INVALID, of the knobs that it owns by patterns, for a class with the field ``knobs``.
        """
        values: dict[str, Any] = {}
        class_schema = self._schema(schema)
        for name, key in class_schema.keys.items():
            if name in entries and not _has_default(entries[name].value, key.field.type):
                values[name] = self.value(entries[name].value, key.field.type)
            elif key.required:
                self.problems.append(refuse(f"the key {shown(name)} is missing"))
                values[name] = INVALID
        if self._tolerant:
            values = {
                name: value
                for name, value in values.items()
                if value is not INVALID or class_schema.keys[name].required
            }
        if _any_invalid((*values.values(), *knobs.values())):
            return INVALID
        values |= dict.fromkeys(class_schema.source, source) | dict.fromkeys(class_schema.files, files)
        values |= dict.fromkeys(class_schema.knobs, MappingProxyType(dict(sorted(knobs.items()))))
        if class_schema.sources:
            values |= dict.fromkeys(class_schema.sources, MappingProxyType(dict(_sources(entries))))
        try:
            return schema(**values)
        except Exception as error:  # noqa: BLE001 - validators of a plugin's class may raise anything
            own = list(_refused_values(class_schema, entries, values))
            self.problems += own or [refuse(describe_error(error))]
            return INVALID

    def _object(self, node: Node, wanted: Any) -> Any:
        keys = self._schema(wanted).keys
        if not isinstance(node, MapNode):
            return self._refuse(node, "a mapping", f"its keys: {', '.join(keys)}")
        for name, entry in node.entries.items():
            if name not in keys:
                message = (
                    f"{node.label}: unknown key {shown(name)}" if node.label else f"unknown key {shown(name)}"
                )
                self.problems.append(node.file.error(entry.at, message, suggest(name, keys)))
        built = self.build(wanted, node.entries, node.file.place(node.at), partial(problem, node))
        return built if self._tolerant or node.entries.keys() <= keys.keys() else INVALID

    def _schema(self, schema: type) -> ClassSchema:
        # Cached no longer than this object: each load of a bundle brings new classes of dropped-in plugins.
        if schema not in self._schemas:
            self._schemas[schema] = ClassSchema.of(schema)
        return self._schemas[schema]

    def _items(self, node: Node, wanted: Any) -> Any:
        if not isinstance(node, ListNode):
            hint = (
                "write [] for an empty list, or leave the key out"
                if is_empty(node)
                else "begin each item with -"
            )
            return self._refuse(node, "a list", hint)
        each = get_args(wanted)[0]
        values = [self.value(item, each) for item in node.items]
        if self._tolerant:
            values = [value for value in values if value is not INVALID]
        return INVALID if _any_invalid(values) else get_origin(wanted)(values)

    def _dict(self, node: Node, wanted: Any) -> Any:
        if not isinstance(node, MapNode):
            return self._refuse(node, "a mapping", "write {} for an empty mapping, or leave the key out")
        each = get_args(wanted)[1]
        values = {name: self.value(entry.value, each) for name, entry in node.entries.items()}
        if self._tolerant:
            return MappingProxyType({name: value for name, value in values.items() if value is not INVALID})
        return INVALID if _any_invalid(values.values()) else MappingProxyType(values)

    def _union(self, node: Node, wanted: Any) -> Any:
        """Read ``X | None``; ``X | ScalarText``; or ``Enum | Expression``, where a text without a member is an expression."""
        members = union_members(wanted)
        if len(members) < len(get_args(wanted)) and _is_none(node, members):
            return None
        if len(members) == 1:
            return self.value(node, members[0])
        if ScalarText in members:
            text = isinstance(node, ScalarNode)
            return self.value(node, next(each for each in members if (each is ScalarText) is text))
        choice = next(member for member in members if is_enum(member))
        if isinstance(node, ScalarNode) and node.value.text in {member.value for member in choice}:
            return choice(node.value.text)
        return self._expression(node)

    def _scalar(self, node: Node, wanted: Any) -> Any:
        if not isinstance(node, ScalarNode):
            return self._refuse(node, _expected(wanted))
        text = node.value.text
        if self._is_yunikorn and wanted is bool:
            return scalars.YAML_V3_BOOLEANS[text] if text in scalars.YAML_V3_BOOLEANS else self._bool(node)
        if node.style is Style.PLAIN and (found := scalars.ambiguous(text)):
            self.problems.append(problem(node, f"YAML reads {shown(text)} as {found.meaning}", found.hint))
            return INVALID
        if is_enum(wanted):
            return self._enum(node, wanted)
        if node.style is Style.KNOB and wanted in _READ_SETTING:
            return self._setting(node, wanted)
        if wanted is bool:
            return self._bool(node)
        if wanted is int:
            return self._int(node)
        if wanted is float:
            return self._float(node)
        return self._text(node, wanted)

    def _scalar_text(self, node: Node) -> Any:
        """Return a scalar as it is written; the plugin interprets it."""
        if not isinstance(node, ScalarNode):
            return self._refuse(node, "a text or a number")
        text, plain = node.value.text, node.style is Style.PLAIN
        # A text that YAML 1.1 reads as a number or a date is accepted here; `on` and `010` would change their meaning.
        found = scalars.ambiguous(text) if plain and not self._is_yunikorn else None
        if found and found.meaning in _NOT_AS_WRITTEN:
            self.problems.append(problem(node, f"YAML reads {shown(text)} as {found.meaning}", found.hint))
            return INVALID
        if plain and text in scalars.NULL:
            return self._refuse(node, "a text or a number", "quote it, if it is a text" if text else "")
        return ScalarText(text, node.file.place(node.at), not plain)

    def _text(self, node: ScalarNode, wanted: Any) -> Any:
        text = node.value.text
        if node.style is Style.PLAIN and (kind := scalars.kind(text)) is not scalars.ScalarKind.TEXT:
            message = f"expected {_expected(wanted)}, got {kind.value}"
            self.problems.append(problem(node, message, "quote it" if text else ""))
            return INVALID
        if wanted is str:
            return text
        found = self._path_rule(text)
        if isinstance(found, Path):
            return found
        self.problems.append(problem(node, *found))
        return INVALID

    def _enum(self, node: ScalarNode, wanted: type[enum.Enum]) -> Any:
        members = {str(member.value): member for member in wanted}
        text = node.value.text
        if text in members:
            return members[text]
        return self._refuse(node, f"one of {', '.join(members)}", choice_hint(text, members))

    def _setting(self, node: ScalarNode, wanted: type) -> Any:
        """Read a value of an HTCondor-style file, which may be an expression."""
        try:
            return _READ_SETTING[wanted](node.value.text)
        except ValueError as error:
            what = "true or false" if wanted is bool else "a number, or an expression of numbers"
            hint = f"the value {error}: write {what}{_expanded(node.value, '; ')}"
            return self._refuse(node, _expected(wanted), hint)

    def _bool(self, node: ScalarNode) -> Any:
        text = node.value.text
        if node.style is Style.QUOTED or text not in scalars.TRUE | scalars.FALSE:
            return self._refuse(
                node, "true or false", "remove the quotes" if node.style is Style.QUOTED else ""
            )
        return text in scalars.TRUE

    def _int(self, node: ScalarNode) -> Any:
        text = node.value.text
        if node.style is Style.QUOTED or not scalars.is_integer(text):
            return self._refuse(node, "a whole number", _unquoted(node))
        if len(text) > len(str(MAX_INTEGER)) + 1 or abs(int(text)) > MAX_INTEGER:
            return self._refuse(node, "a whole number of 64 bits")
        return int(text)

    def _float(self, node: ScalarNode) -> Any:
        text = node.value.text
        if node.style is Style.QUOTED or not scalars.is_real(text):
            return self._refuse(node, "a number", _unquoted(node))
        value = float(text)
        return value if math.isfinite(value) else self._refuse(node, "a finite number")

    def _expression(self, node: Node, wanted: type[Expression] = Expression) -> Any:
        if not isinstance(node, ScalarNode) or is_empty(node):
            return self._refuse(node, "a ClassAd expression", _list_hint(node))
        value = node.value.stripped()
        try:
            tree = parse(value.text)
        except ParseError as error:
            at = value.index(value.offset(error.line, error.column))
            message = f"{node.label}: {error.message}" if node.label else error.message
            hint = syntax_hint(value.text, value.offset(error.line, error.column)) or _expanded(value)
            self.problems.append(value.file.error(at, message, hint))
            return INVALID
        self._check_calls(node.label, tree, value, may_fail=wanted is RankExpression)
        for index, name in quoted_names(value.text):
            message = f"'{name}' is the attribute {name}, not a text"
            hint = f'write "{name}" for the text, or {name} for the attribute'
            self.problems.append(value.file.problem(Severity.WARNING, value.index(index), message, hint))
        return wanted(tree=tree, text=value.text, source=value.source)

    def _check_calls(self, label: str, tree: Expr, value: LocatedText, *, may_fail: bool) -> None:
        """Refuse a call that can only give an error: a gate with a typo in it would admit every ad.

        If the expression may fail, it is a warning.
        """
        severity = Severity.WARNING if may_fail else Severity.ERROR
        for name, message in classad.wrong_calls(tree):
            hit = re.search(rf"(?<![\w.]){re.escape(name)}\s*\(", value.text)
            at = value.index(hit.start() if hit else 0)
            hint = suggest(name, classad.function_names(), listed=False)
            text = f"{label}: {message}" if label else message
            self.problems.append(value.file.problem(severity, at, text, hint))

    def _refuse(self, node: Node, expected: str, hint: str = "") -> Invalid:
        if isinstance(node, ScalarNode) and node.style is Style.KNOB and expected[:6] in {"a list", "a mapp"}:
            hint = "set it in pool.yaml: an HTCondor-style file has no lists and mappings"
        self.problems.append(problem(node, f"expected {expected}, got {describe(node)}", hint))
        return INVALID


def _refused_values(
    schema: ClassSchema, entries: Mapping[str, MapEntry], values: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield a problem for each value outside the bounds of its field, at its place.

    Only validators of attrs itself are tried: those of a plugin may need the whole object.
    """
    for name, key in schema.keys.items():
        check = key.field.validator
        if check is None or name not in values or name not in entries:
            continue
        if type(check).__module__ == attrs.validators.gt.__module__:
            try:
                check(None, key.field, values[name])
            except ValueError as error:
                yield problem(entries[name].value, str(error).removeprefix(f"'{key.field.name}' "))


def _sources(entries: Mapping[str, MapEntry]) -> Iterator[tuple[str, Source]]:
    """Yield the path of each value, relative to its object, and its place."""
    waiting: list[tuple[str, int, Node]] = [(key, entry.at, entry.value) for key, entry in entries.items()]
    while waiting:
        path, at, node = waiting.pop()
        yield path, node.file.place(at)
        if isinstance(node, MapNode):
            waiting += ((f"{path}.{key}", entry.at, entry.value) for key, entry in node.entries.items())
        elif isinstance(node, ListNode):
            waiting += ((f"{path}[{number}]", item.at, item) for number, item in enumerate(node.items))


def _any_invalid(values: Iterable[Any]) -> bool:
    return any(value is INVALID for value in values)


def _has_default(node: Node, wanted: Any) -> bool:
    """True for ``NAME =`` in an HTCondor-style file, unless the setting may be None: as in HTCondor its default counts."""
    may_be_none = is_union(wanted) and len(union_members(wanted)) < len(get_args(wanted))
    return is_unset(node) and not may_be_none


def _is_none(node: Node, members: list[Any]) -> bool:
    """True if a node means None. As an expression, ``null`` is the name of an attribute: only an empty text is None.

    White space in quotes is not None as a text that is interpreted later: a blank list of users is invalid, not missing.
    """
    if not isinstance(node, ScalarNode):
        return False
    if is_empty(node):
        return ScalarText not in members or not node.value.text
    return (
        node.style is Style.PLAIN and node.value.text in scalars.NULL and not any(map(is_expression, members))
    )


def _expected(wanted: Any) -> str:
    if is_enum(wanted):
        return f"one of {', '.join(str(member.value) for member in wanted)}"
    return {bool: "true or false", int: "a whole number", float: "a number", Path: "a file name"}.get(
        wanted, "a text"
    )


def _unquoted(node: ScalarNode) -> str:
    return "remove the quotes" if node.style is Style.QUOTED and scalars.is_real(node.value.text) else ""


def _list_hint(node: Node) -> str:
    return "quote it, so that YAML does not read its brackets" if isinstance(node, ListNode | MapNode) else ""


def _expanded(value: LocatedText, before: str = "") -> str:
    return f"{before}after replacing macros: {value.text[:400]}" if value.replaced else ""

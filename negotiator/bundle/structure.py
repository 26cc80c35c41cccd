"""Makes the typed objects that plugins declare out of nodes, and says all that is wrong with them at once.

A cattrs converter dispatches on the type of a field; its hooks take nodes. A hook never raises: it notes the problem
and gives ``INVALID``, so that the rest of the file is still looked at.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args, get_origin

import attrs
import cattrs

from negotiator.bundle import scalars
from negotiator.bundle.nodes import (
    BadNode,
    ListNode,
    MapEntry,
    MapNode,
    Node,
    ScalarNode,
    Style,
    describe,
    is_empty,
    problem,
    shown,
)
from negotiator.bundle.schema import ClassSchema, is_dict, is_enum, is_list, is_union, union_members
from negotiator.bundle.text import Located
from negotiator.classad import Expr, ParseError, function_names, parse, wrong_calls
from negotiator.hooks.guard import describe_error
from negotiator.hooks.records import Expression
from negotiator.records import Problem, ScalarText, Source
from negotiator.records.text import suggest

MAX_INTEGER = 2**63 - 1
_NOT_AS_WRITTEN = frozenset({"a boolean", "a number of base 8"})


class Invalid(enum.Enum):
    """The one value that stands for what could not be made."""

    INVALID = "invalid"


INVALID: Final = Invalid.INVALID

#: What a field of type Path holds: the path that a text means; or what is wrong with it, and a hint.
PathRule = Callable[[str], "Path | tuple[str, str]"]
#: Makes a problem of a message.
Refuse = Callable[[str], Problem]


class Structurer:
    """Makes objects of nodes; ``problems`` is what was found wrong so far.

    One that is ``tolerant`` leaves out what is wrong and makes the rest, so that the rest can be checked as well.
    """

    def __init__(self, path_rule: PathRule, *, tolerant: bool = False) -> None:
        self.problems: list[Problem] = []
        self._path_rule = path_rule
        self._tolerant = tolerant
        self._shapes: dict[type, ClassSchema] = {}
        self._converter = cattrs.Converter()
        hook = self._converter.register_structure_hook_func
        hook(attrs.has, self._object)
        hook(is_list, self._items)
        hook(is_dict, self._dict)
        self._converter.register_structure_hook_factory(is_union, self._for_union)
        for scalar in (str, int, float, bool, Path, enum.Enum):
            self._converter.register_structure_hook(scalar, self._scalar)
        self._converter.register_structure_hook(Expression, self._expression)
        self._converter.register_structure_hook(ScalarText, self._written)

    def structure(self, node: Node, wanted: Any) -> Any:
        """The value of type ``wanted`` that a node holds, or INVALID."""
        return INVALID if isinstance(node, BadNode) else self._converter.structure(node, wanted)

    def build(
        self,
        schema: type,
        entries: Mapping[str, MapEntry],
        source: Source,
        refuse: Refuse,
        files: Mapping[str, str] = MappingProxyType({}),
    ) -> Any:
        """An instance of an attrs class, or INVALID; ``refuse`` makes a problem of the whole from its message.

        ``files`` are the texts of the plugin's files, for a class that wants them.
        """
        values: dict[str, Any] = {}
        shape = self._shape(schema)
        for name, key in shape.keys.items():
            if name in entries:
                values[name] = self.structure(entries[name].value, key.field.type)
            elif key.required:
                self.problems.append(refuse(f"the key {shown(name)} is missing"))
                values[name] = INVALID
        if self._tolerant:
            values = {
                name: value
                for name, value in values.items()
                if value is not INVALID or shape.keys[name].required
            }
        if _any_invalid(values.values()):
            return INVALID
        values |= dict.fromkeys(shape.places, source) | dict.fromkeys(shape.files, files)
        try:
            return schema(**values)
        except Exception as error:  # noqa: BLE001 - validators of a plugin's class may raise anything
            self.problems.append(refuse(describe_error(error)))
            return INVALID

    def _object(self, node: Node, wanted: Any) -> Any:
        keys = self._shape(wanted).keys
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

    def _shape(self, schema: type) -> ClassSchema:
        # Kept no longer than this object: plugins bring their classes anew each time a bundle is loaded.
        if schema not in self._shapes:
            self._shapes[schema] = ClassSchema.of(schema)
        return self._shapes[schema]

    def _items(self, node: Node, wanted: Any) -> Any:
        if not isinstance(node, ListNode):
            hint = (
                "write [] or leave the key out, where there is nothing to list"
                if is_empty(node)
                else "begin with -"
            )
            return self._refuse(node, "a list", hint)
        each = get_args(wanted)[0]
        values = [self.structure(item, each) for item in node.items]
        if self._tolerant:
            values = [value for value in values if value is not INVALID]
        return INVALID if _any_invalid(values) else get_origin(wanted)(values)

    def _dict(self, node: Node, wanted: Any) -> Any:
        if not isinstance(node, MapNode):
            return self._refuse(
                node, "a mapping", "write {} or leave the key out, where there is nothing in it"
            )
        each = get_args(wanted)[1]
        values = {name: self.structure(entry.value, each) for name, entry in node.entries.items()}
        if self._tolerant:
            return {name: value for name, value in values.items() if value is not INVALID}
        return INVALID if _any_invalid(values.values()) else values

    def _for_union(self, wanted: Any) -> Callable[[Node, Any], Any]:
        members = union_members(wanted)
        return partial(self._union, members, optional=len(members) < len(get_args(wanted)))

    def _union(self, members: list[Any], node: Node, _: Any, *, optional: bool) -> Any:
        """``X | None``; and ``Enum | Expression``, where a text that is no member is an expression."""
        if optional and _says_nothing(node, members):
            return None
        if len(members) == 1:
            return self.structure(node, members[0])
        choice = next(member for member in members if is_enum(member))
        if isinstance(node, ScalarNode) and node.value.text in {member.value for member in choice}:
            return choice(node.value.text)
        return self._expression(node, Expression)

    def _scalar(self, node: Node, wanted: Any) -> Any:
        if not isinstance(node, ScalarNode):
            return self._refuse(node, _expected(wanted))
        text = node.value.text
        if node.style is Style.PLAIN and (found := scalars.surprise(text)):
            self.problems.append(problem(node, f"YAML reads {shown(text)} as {found.meaning}", found.hint))
            return INVALID
        if is_enum(wanted):
            return self._enum(node, wanted)
        if wanted is bool:
            return self._bool(node)
        if wanted is int:
            return self._int(node)
        if wanted is float:
            return self._float(node)
        return self._text(node, wanted)

    def _written(self, node: Node, _: Any) -> Any:
        """A scalar as it is written: what it may mean is the reader's business."""
        if not isinstance(node, ScalarNode):
            return self._refuse(node, "a text or a number")
        text, plain = node.value.text, node.style is Style.PLAIN
        # What YAML 1.1 takes for a number or a date is a text here all the same; but `on` and `010` are not what they say.
        if plain and (found := scalars.surprise(text)) and found.meaning in _NOT_AS_WRITTEN:
            self.problems.append(problem(node, f"YAML reads {shown(text)} as {found.meaning}", found.hint))
            return INVALID
        if plain and text in scalars.NULL:
            return self._refuse(node, "a text or a number")
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
        return self._refuse(node, f"one of {', '.join(members)}", suggest(text, members) if text else "")

    def _bool(self, node: ScalarNode) -> Any:
        text = node.value.text.capitalize() if node.style is Style.KNOB else node.value.text
        if node.style is Style.QUOTED or text not in scalars.TRUE | scalars.FALSE:
            return self._refuse(
                node, "true or false", "leave out the quotes" if node.style is Style.QUOTED else ""
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
        return value if math.isfinite(value) else self._refuse(node, "a number that is not infinite")

    def _expression(self, node: Node, _: Any) -> Any:
        if not isinstance(node, ScalarNode) or is_empty(node):
            return self._refuse(node, "a ClassAd expression", _list_hint(node))
        value = node.value.stripped()
        try:
            tree = parse(value.text)
        except ParseError as error:
            at = value.index(value.offset(error.line, error.column))
            message = f"{node.label}: {error.message}" if node.label else error.message
            self.problems.append(value.file.error(at, message, _reads(value)))
            return INVALID
        self._calls(node.label, tree, value)
        return Expression(tree=tree, text=value.text, source=value.source)

    def _calls(self, label: str, tree: Expr, value: Located) -> None:
        """A call that can only give an error is refused: a gate with a slip in it would let everything pass."""
        for name, message in wrong_calls(tree):
            hit = re.search(rf"(?<![\w.]){re.escape(name)}\s*\(", value.text)
            at = value.index(hit.start() if hit else 0)
            hint = suggest(name, function_names(), listed=False)
            self.problems.append(value.file.error(at, f"{label}: {message}" if label else message, hint))

    def _refuse(self, node: Node, expected: str, hint: str = "") -> Invalid:
        if isinstance(node, ScalarNode) and node.style is Style.KNOB and expected[:6] in {"a list", "a mapp"}:
            hint = "it can't be set in an HTCondor-style file: write it in pool.yaml"
        self.problems.append(problem(node, f"expected {expected}, got {describe(node)}", hint))
        return INVALID


def _any_invalid(values: Iterable[Any]) -> bool:
    return any(value is INVALID for value in values)


def _says_nothing(node: Node, members: list[Any]) -> bool:
    """An expression is taken as it is written, so that only an empty one says nothing: ``null`` is an attribute."""
    if is_empty(node):
        return True
    plain = isinstance(node, ScalarNode) and node.style is Style.PLAIN and node.value.text in scalars.NULL
    return plain and Expression not in members


def _expected(wanted: Any) -> str:
    if is_enum(wanted):
        return f"one of {', '.join(str(member.value) for member in wanted)}"
    return {bool: "true or false", int: "a whole number", float: "a number", Path: "the name of a file"}.get(
        wanted, "a text"
    )


def _unquoted(node: ScalarNode) -> str:
    return "leave out the quotes" if node.style is Style.QUOTED and scalars.is_real(node.value.text) else ""


def _list_hint(node: Node) -> str:
    return "quote it, so that YAML does not read its brackets" if isinstance(node, ListNode | MapNode) else ""


def _reads(value: Located) -> str:
    return f"with its macros replaced it reads: {value.text[:400]}" if value.replaced else ""

"""``ClassAd`` and ``ExprTree``, with the names and the behaviour of HTCondor's ``classad2``.

The two refer to each other: the attributes of an ad are expressions, and the value of an expression may be an ad. This
module has HTCondor's name, since scripts tell the versions of the bindings apart by ``'classad2' in str(type(ad))``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, MutableMapping
from datetime import UTC, datetime
from typing import Any, Final, Self

from negotiator.classad.bindings.flattening import flatten
from negotiator.classad.bindings.inspection import external_references, internal_references, same_tree
from negotiator.classad.bindings.python_objects import (
    ClassAdException,
    ClassAdValueError,
    ExpressionHolder,
    Value,
    check_name,
    note_failure,
    note_message,
    to_expression,
)
from negotiator.classad.context import AdValue, ClassAdValue, Environment, ListValue, item_expression
from negotiator.classad.scalar import Ad, evaluate_part
from negotiator.classad.syntax import (
    AttributeMap,
    Expr,
    ListExpr,
    Literal,
    ParseError,
    RecordExpr,
    excerpt,
    first_record,
    fold,
    json_text,
    length_first,
    parse,
    unparse,
    unparse_exact,
    unparse_indented,
    unparse_name,
    unparse_old,
)
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, RelTime

_SHOWN: Final = 200
"""Characters of an expression that a message shows."""


def current_environment() -> Environment:
    """Return the inputs of an evaluation besides ads: the clock, the local zone, new random numbers."""
    now = time.time()
    return Environment(now, random.getrandbits(62), time.localtime(now).tm_gmtoff)


def expression_of(source: str | Expr | ExprTree) -> Expr:
    """Return the expression of an object of the Python interface, or of a text in the new syntax.

    :raises ClassAdException: the text is invalid.
    """
    if isinstance(source, ExprTree):
        return source.to_expression()
    if not isinstance(source, str):
        return source
    try:
        return parse(source)
    except ParseError as error:
        raise _unparsable(error) from None


def _unparsable(error: ParseError) -> ClassAdException:
    note_message(str(error))
    return ClassAdException(f"Unable to parse string into a ClassAd: {error}")


class ExprTree(ExpressionHolder):
    """An expression of the ClassAd language. It belongs to no ad: ``eval`` is given the ads.

    Two are equal if they are the same tree with the same spelling. They have no hash.
    """

    def __init__(self, expr: object = None) -> None:
        """Make an expression.

        :param expr: its text in the new syntax, another expression, or None for undefined. Of other objects the ``str``.
        :raises ClassAdException: the text is invalid.
        """
        if expr is None:
            self._expr: Expr = Literal(UNDEFINED)
        elif isinstance(expr, ExpressionHolder):
            self._expr = expr.to_expression()
        else:
            self._expr = expression_of(str(expr))

    @classmethod
    def from_expression(cls, expr: Expr) -> Self:
        """Return the object of an expression of ``negotiator.classad.parse``."""
        made = cls.__new__(cls)
        made._expr = expr  # noqa: SLF001 - its own class
        return made

    def to_expression(self) -> Expr:
        """Return the expression as the other functions of ``negotiator.classad`` take it."""
        return self._expr

    def eval(self, scope: ClassAd | None = None, target: ClassAd | None = None) -> Any:
        """Return the value as a Python object.

        :param scope: the ad in which names are looked up; without it they are undefined, and ``target`` is ignored.
        :param target: the ad that ``TARGET.`` refers to.
        :raises ClassAdException: the evaluation is given up.
        """
        return to_python(self._value(scope, target))

    def simplify(self, scope: ClassAd | None = None, target: ClassAd | None = None) -> ExprTree:
        """Return the value as an expression; parameters and errors as for ``eval``."""
        return ExprTree.from_expression(item_expression(self._value(scope, target)))

    def _value(self, scope: ClassAd | None, target: ClassAd | None) -> ClassAdValue:
        my, other = _ad_of(scope, "scope"), _ad_of(target, "target")
        if scope is None or target is scope:
            other = None
        env = current_environment()
        value = evaluate_part(self._expr, my, other, env)
        if value is None or value is ERROR:
            note_failure(self._expr, my, other, env)
        if value is None:
            raise ClassAdException(f"failed to evaluate expression {excerpt(self._expr, _SHOWN)}")
        return value

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and same_tree(self._expr, other._expr)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return unparse_indented(self._expr)

    def __repr__(self) -> str:
        return unparse(self._expr)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (unparse_exact(self._expr),)


class ClassAd(MutableMapping[str, Any], ExpressionHolder):
    """An ad: a mapping of attribute names, in which ASCII letters have no case, to Python objects.

    Reading an attribute converts constants, lists and ads; anything else is an ``ExprTree``, which ``eval`` evaluates.
    Names come in HTCondor's order: short ones first, then by letter. Writing to an attribute keeps its first spelling.
    """

    def __init__(self, input: str | dict[str, Any] | None = None) -> None:  # noqa: A002 - HTCondor's name
        """Make an ad.

        :param input: None for an empty ad, a text in the new syntax (of which only the first ad counts), or a dict.
        :raises ClassAdException: the text is invalid, or an ad cannot hold one of the objects.
        :raises TypeError: it is something else, or the name of an attribute is not a string.
        """
        self._attributes: dict[str, tuple[str, Expr]] = {}
        self._names: tuple[str, ...] | None = None
        self._ad: Ad | None = None
        if isinstance(input, str):
            try:
                self._add(first_record(input).items)
            except ParseError as error:
                raise _unparsable(error) from None
        elif isinstance(input, dict):
            self._add((check_name(name), to_expression(value)) for name, value in input.items() if name != "")
        elif input is not None:
            raise TypeError("input must be None, str, or dict")

    @classmethod
    def from_ad(cls, ad: AttributeMap) -> Self:
        """Return a ``ClassAd`` with the attributes of an immutable ad, such as one of a table's."""
        return cls.from_items(ad.items())

    @classmethod
    def from_items(cls, items: Iterable[tuple[str, Expr]]) -> Self:
        """Return a ``ClassAd`` with these attributes: their names and expressions."""
        made = cls()
        made._add(items)
        return made

    def to_ad(self) -> Ad:
        """Return the immutable ad of these attributes, as tables and the rest of the program take it."""
        if self._ad is None:
            self._ad = Ad(self._attributes.values())
        return self._ad

    def to_expression(self) -> Expr:
        """Return the ad as an expression."""
        return RecordExpr(tuple(self._attributes.values()))

    def _add(self, items: Iterable[tuple[str, Expr]]) -> None:
        for name, expr in items:
            key = fold(name)
            known = self._attributes.get(key)
            self._attributes[key] = (name if known is None else known[0], expr)
        self._names = self._ad = None

    def _find(self, name: object) -> Expr:
        found = self._attributes.get(fold(check_name(name)))
        if found is None:
            raise KeyError(name)
        return found[1]

    def update_from(self, ad: ClassAd) -> None:
        """Add the attributes of another ad like ``update``, without a conversion to Python objects and back."""
        self._add(ad._attributes.values())

    # Evaluation.

    def lookup(self, attr: str) -> ExprTree:
        """Return the expression of an attribute, also if it is a constant.

        :raises KeyError: the ad has no such attribute.
        """
        return ExprTree.from_expression(self._find(attr))

    def eval(self, attr: str) -> Any:
        """Return the value of an attribute in this ad as a Python object.

        :raises KeyError: the ad has no such attribute.
        :raises ClassAdException: the evaluation is given up.
        """
        return self.lookup(attr).eval(self)

    def flatten(self, expr: ExprTree) -> Any:
        """Return what this ad alone makes of an expression: a Python object, or an ``ExprTree`` of what is left.

        :raises ClassAdValueError: an attribute refers to itself, or a limit is reached.
        """
        found = flatten(_tree_of(expr), self.to_ad(), current_environment())
        return ExprTree.from_expression(found) if isinstance(found, Expr) else to_python(found)

    def externalRefs(self, expr: ExprTree) -> list[str]:  # noqa: N802
        """Return the sorted names that an expression refers to and this ad lacks; ``[""]`` if there are none.

        :raises ClassAdValueError: the names cannot be determined.
        """
        return external_references(_tree_of(expr), self.to_ad(), current_environment())

    def internalRefs(self, expr: ExprTree) -> list[str]:  # noqa: N802
        """Return the sorted names that an expression refers to and this ad has; ``[""]`` if there are none.

        :raises ClassAdValueError: the names cannot be determined.
        """
        return internal_references(_tree_of(expr), self.to_ad(), current_environment())

    def matches(self, ad: ClassAd) -> bool:
        """True if the ``Requirements`` of another ad are true (or a number other than 0) with this one as its target."""
        if not isinstance(ad, ClassAd):
            raise TypeError("ad must be a ClassAd")
        try:
            requirements = ad.lookup("requirements")
        except KeyError:
            return False
        value = requirements.eval(scope=ad, target=self)
        return isinstance(value, bool | int | float) and not isinstance(value, Value) and bool(value)

    def symmetricMatch(self, ad: ClassAd) -> bool:  # noqa: N802
        """True if both ads match each other."""
        return self.matches(ad) and ad.matches(self)

    # Printing.

    def printOld(self) -> str:  # noqa: N802
        """Return the ad in long form, one attribute a line."""
        lines = [f"{unparse_name(name)} = {unparse_old(expr)}" for name, expr in self._in_order()]
        return "\n".join([*lines, ""]) if lines else "\n"

    formatOld = printOld  # noqa: N815

    def printJson(self) -> str:  # noqa: N802
        """Return the ad in JSON."""
        return json_text(self.to_expression())

    formatJson = printJson  # noqa: N815

    def __str__(self) -> str:
        return unparse_indented(self.to_expression())

    def __repr__(self) -> str:
        return unparse(self.to_expression())

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (unparse_exact(self.to_expression()),)

    # The mapping.

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return same_tree(self.to_expression(), other.to_expression())

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._attributes)

    def __contains__(self, name: object) -> bool:
        return fold(check_name(name)) in self._attributes

    def __getitem__(self, name: str) -> Any:
        return _attribute_to_python(self._find(name))

    def __setitem__(self, name: str, value: object) -> None:
        expr = to_expression(value) if check_name(name) else None
        if expr is None:
            raise ClassAdException("Insert(key, v) failed: the name of an attribute is empty")
        key = fold(name)
        known = self._attributes.get(key)
        self._attributes[key] = (name if known is None else known[0], expr)
        self._ad = None
        if known is None:
            self._names = None

    def __delitem__(self, name: str) -> None:
        if self._attributes.pop(fold(check_name(name)), None) is None:
            raise KeyError(name)
        self._names = self._ad = None

    def clear(self) -> None:
        """Remove all attributes."""
        self._attributes = {}
        self._names = self._ad = None

    def __iter__(self) -> Iterator[str]:
        # As in HTCondor the names are those when the loop begins, so that it may change the ad.
        return iter([name for name, _ in self._in_order()])

    def _in_order(self) -> list[tuple[str, Expr]]:
        if self._names is None:
            self._names = tuple(sorted(self._attributes, key=length_first))
        return [self._attributes[name] for name in self._names]


def _ad_of(ad: object, what: str) -> Ad | None:
    if ad is None:
        return None
    if not isinstance(ad, ClassAd):
        raise TypeError(f"{what} must be a ClassAd")
    return ad.to_ad()


def _tree_of(expr: object) -> Expr:
    if not isinstance(expr, ExprTree):
        raise TypeError("expr must be an ExprTree")
    return expr.to_expression()


def to_python(value: ClassAdValue) -> Any:
    """Return the Python object for a value: a ``datetime`` in UTC for an absolute time, the seconds of a relative one."""
    match value:
        case AdValue():
            return ClassAd.from_ad(value.ad)
        case ListValue():
            return _list_to_python(value.items)
        case AbsTime():
            return _moment(value)
        case RelTime():
            return value.seconds
    if value is UNDEFINED or value is ERROR:
        return Value.Undefined if value is UNDEFINED else Value.Error
    return value


def _attribute_to_python(expr: Expr) -> Any:
    """Return the Python object for an expression that is not evaluated: an ``ExprTree`` unless it is its own value."""
    match expr:
        case Literal():
            return to_python(expr.value)
        case RecordExpr():
            return ClassAd.from_ad(AttributeMap(expr.items))
        case ListExpr():
            return _list_to_python(expr.items)
        case _:
            return ExprTree.from_expression(expr)


def _list_to_python(items: tuple[Expr, ...]) -> list[Any]:
    try:
        return [_attribute_to_python(item) for item in items]
    except RecursionError:
        raise ClassAdException("lists are nested too deep for Python") from None


def _moment(value: AbsTime) -> datetime:
    try:
        return datetime.fromtimestamp(value.seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise ClassAdValueError(f"the time {value.seconds} is out of the range of datetime") from None

"""ClassAds: attributes with their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.scalar.evaluation import evaluate
from negotiator.classad.syntax import AttributeMap, Literal, parse_record
from negotiator.classad.values import UNDEFINED

if TYPE_CHECKING:
    from negotiator.classad.context import ClassAdValue, Environment


class Ad(AttributeMap):
    """An ad: an immutable, ordered mapping of attribute names to expressions, which it can evaluate.

    See ``AttributeMap`` for the mapping. ``string``, ``integer``, ``real`` and ``boolean`` evaluate in this ad alone.
    """

    __slots__ = ()

    def evaluate(self, name: str, target: Ad | None = None, env: Environment | None = None) -> ClassAdValue:
        """Return the value of an attribute, matched with ``target`` if given; UNDEFINED if it is missing."""
        expr = self.get(name)
        if expr is None:
            return UNDEFINED
        if isinstance(expr, Literal):
            return expr.value
        return evaluate(expr, self, target, env)

    def string(self, name: str, default: str | None = None) -> str | None:
        """Return the value of an attribute if it is a string, otherwise ``default``."""
        value = self.evaluate(name)
        return value if isinstance(value, str) else default

    def integer(self, name: str, default: int | None = None) -> int | None:
        """Return the value of an attribute if it is an integer, otherwise ``default``."""
        value = self.evaluate(name)
        return value if type(value) is int else default

    def real(self, name: str, default: float | None = None) -> float | None:
        """Return the value of an attribute as a float if it is a real or an integer, otherwise ``default``."""
        value = self.evaluate(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return default
        return float(value)

    def boolean(self, name: str, default: bool | None = None) -> bool | None:  # noqa: FBT001
        """Return the value of an attribute if it is a boolean, otherwise ``default``."""
        value = self.evaluate(name)
        return value if isinstance(value, bool) else default


def parse_ad(text: str) -> Ad:
    """Parse an ad in the new syntax, ``[ a = 1; b = 2 ]``.

    :raises ParseError: the text is invalid.
    """
    return Ad(parse_record(text).items)

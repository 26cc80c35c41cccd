"""The text of values: complete, and as short excerpts."""

from __future__ import annotations

from typing import Final

from negotiator.classad.context.scope import AdValue, ClassAdValue, ListValue
from negotiator.classad.syntax import ListExpr, RecordExpr, excerpt, shorten, unparse, unparse_constant

MAX_ATTRIBUTES: Final = 8


def unparse_value(value: ClassAdValue) -> str:
    """Return the text of a value in the new syntax."""
    if isinstance(value, ListValue):
        return unparse(ListExpr(value.items))
    if isinstance(value, AdValue):
        return unparse(RecordExpr(tuple(value.ad.items())))
    return unparse_constant(value)


def excerpt_value(value: ClassAdValue, most: int) -> str:
    """Return the text of a value in at most ``most`` characters, like ``excerpt``; of a large ad only its size."""
    if isinstance(value, AdValue):
        if len(value.ad) > MAX_ATTRIBUTES:
            return f"an ad of {len(value.ad)} attributes"
        return excerpt(RecordExpr(tuple(value.ad.items())), most)
    if isinstance(value, ListValue):
        return excerpt(ListExpr(value.items), most)
    return shorten(unparse_value(value[: most + 1] if isinstance(value, str) else value), most)

"""Ads as they are sent: ``name = expression`` texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

#: Goes before an attribute that is a secret.
SECRET_MARKER: Final = "ZKM"  # noqa: S105 - the marker, not a secret

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*", re.ASCII)
_QUOTE: Final = re.compile(r'(?<!\\)"')  # a backslash is special before a quote only
_NUMBER: Final = re.compile(r"[+-]?\d{1,300}(?:\.\d{0,300})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?\d{1,18}", re.ASCII)


def quoted(text: str) -> str:
    """Return a text as a string literal in the syntax of the wire, in which only quotes are escaped."""
    return '"' + text.replace('"', '\\"') + '"'


def is_attribute_name(name: str) -> bool:
    """True if a name can be sent."""
    return _NAME.fullmatch(name) is not None


class WireAd(Mapping[str, str]):
    """One ad: the text of an expression for each name, in any case. Its ``repr`` shows no values: they may be secrets."""

    __slots__ = ("_expressions",)

    def __init__(self, expressions: Mapping[str, str]) -> None:
        self._expressions = {name.lower(): (name, text) for name, text in expressions.items()}

    def __getitem__(self, name: str) -> str:
        return self._expressions[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._expressions.values())

    def __len__(self) -> int:
        return len(self._expressions)

    def __repr__(self) -> str:
        return f"<WireAd of {len(self)} attributes>"

    def string(self, name: str) -> str:
        """Return the value of a string literal; "" if missing or something else."""
        text = self.get(name, "")
        if len(text) < 2 or text[0] != '"' or text[-1] != '"' or _QUOTE.search(inner := text[1:-1]):
            return ""
        return inner.replace('\\"', '"')

    def integer(self, name: str) -> int | None:
        """Return the value of an integer literal; None if missing or something else."""
        text = self.get(name, "")
        return int(text) if _INTEGER.fullmatch(text) else None

    def number(self, name: str) -> float | None:
        """Return the value of a literal that is an integer or a real; None if missing or something else."""
        text = self.get(name, "")
        return float(text) if _NUMBER.fullmatch(text) else None

    def boolean(self, name: str) -> bool:
        """Return True if the attribute is ``true``."""
        return self.get(name, "").lower() == "true"

    def text(self) -> str:
        """Return the ad in long form: a line for each attribute, without a blank line at the end."""
        lines = (f"{name} = {text}" for name, text in self._expressions.values())
        return "".join(f"{line.translate(_BREAKS)}\n" for line in lines)


_BREAKS: Final = {ord("\n"): " ", ord("\r"): " "}

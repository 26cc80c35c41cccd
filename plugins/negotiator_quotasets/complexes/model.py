"""Complexes: the attributes that limits and requests are about, with the columns of ``qconf -sc``.

Source: complex(5).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator

import attrs

#: The complex that counts slots: each job takes as many of it as it has slots.
SLOTS = "slots"


class ComplexType(enum.StrEnum):
    """The type of a complex's values."""

    INT = "INT"
    DOUBLE = "DOUBLE"
    MEMORY = "MEMORY"
    TIME = "TIME"
    BOOL = "BOOL"
    STRING = "STRING"
    CSTRING = "CSTRING"  # compared without case
    RESTRING = "RESTRING"  # a request is an expression of patterns
    HOST = "HOST"

    @property
    def is_number(self) -> bool:
        """True if values are numbers, which can be added up and ordered."""
        return self in _NUMBERS


_NUMBERS = frozenset(
    (ComplexType.INT, ComplexType.DOUBLE, ComplexType.MEMORY, ComplexType.TIME, ComplexType.BOOL)
)


class Relation(enum.StrEnum):
    """How a request is compared with a limit or an offered value: ``request relation value``."""

    LE = "<="
    GE = ">="
    EQ = "=="
    NE = "!="
    LT = "<"
    GT = ">"
    EXCL = "EXCL"


class Requestable(enum.StrEnum):
    """Whether a job may request a complex, or must (FORCED)."""

    NO = "NO"
    YES = "YES"
    FORCED = "FORCED"


class Consumable(enum.StrEnum):
    """Whether running jobs use a complex up: never, once per slot, or once per job."""

    NO = "NO"
    YES = "YES"
    JOB = "JOB"


@attrs.frozen
class Complex:
    """One complex; ``default`` is the amount that a job consumes without a request."""

    name: str
    shortcut: str
    type: ComplexType
    relation: Relation
    requestable: Requestable = Requestable.YES
    consumable: Consumable = Consumable.NO
    default: str = "0"

    @property
    def is_consumable(self) -> bool:
        """True if running jobs use it up."""
        return self.consumable is not Consumable.NO


class Complexes:
    """Complexes in their order, found by name or shortcut, case-sensitively.

    :raises ValueError: two complexes share a name or shortcut.
    """

    def __init__(self, complexes: Iterable[Complex] = ()) -> None:
        self._all = tuple(complexes)
        self._by_name: dict[str, Complex] = {}
        for complex_ in self._all:
            for name in dict.fromkeys((complex_.name, complex_.shortcut)):
                other = self._by_name.setdefault(name, complex_)
                if other is not complex_:
                    raise ValueError(
                        f'complexes "{other.name}" and "{complex_.name}" are both called "{name}"'
                    )

    def find(self, name: str) -> Complex | None:
        """Return the complex of this name or shortcut."""
        return self._by_name.get(name)

    def __iter__(self) -> Iterator[Complex]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __repr__(self) -> str:
        return f"Complexes({', '.join(complex_.name for complex_ in self._all)})"

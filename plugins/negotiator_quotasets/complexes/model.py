"""Complexes: the attributes that limits and requests are about, with the columns of ``qconf -sc``; and those of a fresh installation of Grid Engine 8.1.9.

Source: complex(5).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator

import attrs

#: The complex that counts slots: each job takes as many of it as it has slots.
SLOTS = "slots"
# The columns of ``qconf -sc``: name, shortcut, type, relation, requestable, consumable, default.
_STANDARD = """
arch              a          RESTRING  ==  YES  NO   NONE
calendar          c          RESTRING  ==  YES  NO   NONE
cpu               cpu        DOUBLE    >=  YES  NO   0
display_win_gui   dwg        BOOL      ==  YES  NO   0
h_core            h_core     MEMORY    <=  YES  NO   0
h_cpu             h_cpu      TIME      <=  YES  NO   0:0:0
h_data            h_data     MEMORY    <=  YES  NO   0
h_fsize           h_fsize    MEMORY    <=  YES  NO   0
h_rss             h_rss      MEMORY    <=  YES  NO   0
h_rt              h_rt       TIME      <=  YES  NO   0:0:0
h_stack           h_stack    MEMORY    <=  YES  NO   0
h_vmem            h_vmem     MEMORY    <=  YES  NO   0
hostname          h          HOST      ==  YES  NO   NONE
load_avg          la         DOUBLE    >=  NO   NO   0
load_long         ll         DOUBLE    >=  NO   NO   0
load_medium       lm         DOUBLE    >=  NO   NO   0
load_short        ls         DOUBLE    >=  NO   NO   0
m_core            core       INT       <=  YES  NO   0
m_socket          socket     INT       <=  YES  NO   0
m_thread          thread     INT       <=  YES  NO   0
m_topology        topo       RESTRING  ==  YES  NO   NONE
m_topology_inuse  utopo      RESTRING  ==  YES  NO   NONE
mem_free          mf         MEMORY    <=  YES  NO   0
mem_total         mt         MEMORY    <=  YES  NO   0
mem_used          mu         MEMORY    >=  YES  NO   0
min_cpu_interval  mci        TIME      <=  NO   NO   0:0:0
np_load_avg       nla        DOUBLE    >=  NO   NO   0
np_load_long      nll        DOUBLE    >=  NO   NO   0
np_load_medium    nlm        DOUBLE    >=  NO   NO   0
np_load_short     nls        DOUBLE    >=  NO   NO   0
num_proc          p          INT       ==  YES  NO   0
qname             q          RESTRING  ==  YES  NO   NONE
rerun             re         BOOL      ==  NO   NO   0
s_core            s_core     MEMORY    <=  YES  NO   0
s_cpu             s_cpu      TIME      <=  YES  NO   0:0:0
s_data            s_data     MEMORY    <=  YES  NO   0
s_fsize           s_fsize    MEMORY    <=  YES  NO   0
s_rss             s_rss      MEMORY    <=  YES  NO   0
s_rt              s_rt       TIME      <=  YES  NO   0:0:0
s_stack           s_stack    MEMORY    <=  YES  NO   0
s_vmem            s_vmem     MEMORY    <=  YES  NO   0
seq_no            seq        INT       ==  NO   NO   0
slots             s          INT       <=  YES  YES  1
swap_free         sf         MEMORY    <=  YES  NO   0
swap_rate         sr         MEMORY    >=  YES  NO   0
swap_rsvd         srsv       MEMORY    >=  YES  NO   0
swap_total        st         MEMORY    <=  YES  NO   0
swap_used         su         MEMORY    >=  YES  NO   0
tmpdir            tmp        RESTRING  ==  NO   NO   NONE
virtual_free      vf         MEMORY    <=  YES  NO   0
virtual_total     vt         MEMORY    <=  YES  NO   0
virtual_used      vu         MEMORY    >=  YES  NO   0
"""


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


def _parse_line(line: str) -> Complex:
    name, shortcut, type_, relation, requestable, consumable, default = line.split()
    return Complex(
        name,
        shortcut,
        ComplexType(type_),
        Relation(relation),
        Requestable(requestable),
        Consumable(consumable),
        default,
    )


STANDARD = Complexes(map(_parse_line, _STANDARD.strip().splitlines()))

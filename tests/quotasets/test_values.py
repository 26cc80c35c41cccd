"""Values of complexes: parsed exactly, printed as qquota prints them, compared by the complex's relation."""

from fractions import Fraction

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from negotiator_quotasets.complexes import (
    STANDARD,
    Complex,
    Complexes,
    ComplexType,
    Consumable,
    InvalidValueError,
    Relation,
    format_amount,
    normalized,
    parse_number,
    parse_value,
    satisfies,
)
from negotiator_quotasets.complexes.values import InvalidNumberError

INT, DOUBLE, MEMORY, TIME, BOOL = (
    ComplexType.INT,
    ComplexType.DOUBLE,
    ComplexType.MEMORY,
    ComplexType.TIME,
    ComplexType.BOOL,
)

READ = [
    (INT, "0", 0),
    (INT, "005", 5),
    (INT, "-3", -3),
    (INT, "2m", 2_000_000),
    (INT, "5K", 5120),
    (INT, "99999999999999999999", 99999999999999999999),
    (DOUBLE, ".5", Fraction(1, 2)),
    (DOUBLE, "5.", 5),
    (DOUBLE, "1e3", 1000),
    (DOUBLE, "0.1", Fraction(1, 10)),
    (DOUBLE, "010.5", Fraction(21, 2)),
    (MEMORY, "5g", 5 * 10**9),
    (MEMORY, "5G", 5 * 2**30),
    (MEMORY, "100k", 100_000),
    (MEMORY, "100K", 102_400),
    (MEMORY, "1t", 10**12),
    (MEMORY, "1T", 2**40),
    (MEMORY, "1.5g", 1_500_000_000),
    (MEMORY, "0x400", 1024),
    (MEMORY, "010", 8),
    (TIME, "90", 90),
    (TIME, "1:30:00", 5400),
    (TIME, "0:90:0", 5400),
    (TIME, ":30:", 1800),
    (TIME, "1::", 3600),
    (TIME, "1:00:90", 3690),
    (TIME, "0:08:09", 489),
    (TIME, "1.5", Fraction(3, 2)),
    (BOOL, "TRUE", 1),
    (BOOL, "1", 1),
    (BOOL, "false", 0),
]

NO_NUMBERS = [
    *(
        (INT, text)
        for text in ("", "+5", "1.5", "1e3", "0x10", "010", "NONE", "5x", "5 ", "5\n", "٣", "5kk", "k")
    ),
    *(
        (DOUBLE, text)
        for text in ("abc", "1e", "nan", "inf", "1e999999", "1e309", ".", "1,5", "010", "9" * 401)
    ),
    *((MEMORY, text) for text in ("5gb", "5 g", "g", "0xg", "1_000")),
    *((TIME, text) for text in ("1:30", "1:2:3:4", "1h", "1:-2:3")),
    *((BOOL, text) for text in ("maybe", "2", "yes", "")),
    (ComplexType.STRING, "5"),
]


@pytest.mark.parametrize(("type_", "text", "expected"), READ)
def test_a_number_is_parsed_exactly(type_, text, expected):
    """Multipliers, clocks, hexadecimal and octal constants as in sge_types(1)."""
    assert parse_number(type_, text) == expected


@pytest.mark.parametrize(("type_", "text"), NO_NUMBERS)
def test_an_invalid_number_is_refused(type_, text):
    """Other notations, digits of other scripts, and overlong numbers."""
    with pytest.raises(InvalidNumberError):
        parse_number(type_, text)


REFUSED = [
    ("slots", "5x", 'attribute "slots" is not a integer value'),
    ("slots", "-1", 'attribute "slots" is consumable but has a negative value'),
    ("slots", "Infinity", 'attribute "slots" is not a value that can be set to infinity'),
    ("virtual_free", "5 INFINITY", 'attribute "virtual_free" is not a memory value'),
    ("slots", "", 'denied: missing value for request "slots"'),
    ("mem_free", "5gb", 'attribute "mem_free" is not a memory value'),
    ("h_rt", "1h", 'attribute "h_rt" is not a time value'),
    ("load_avg", "abc", 'attribute "load_avg" is not a double value'),
    ("rerun", "maybe", 'attribute "rerun" is not a boolean value'),
]


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_an_invalid_value_has_grid_engine_s_message(name, text, message):
    """It names the complex; a hint says what to write."""
    with pytest.raises(InvalidValueError) as caught:
        parse_value(STANDARD.find(name), text)
    assert str(caught.value) == message
    assert caught.value.hint


def test_only_consumables_may_not_be_negative():
    """Others may be, such as a sequence number."""
    assert parse_value(STANDARD.find("seq_no"), "-1") == -1


def test_a_complex_of_words_takes_any_word():
    assert parse_value(STANDARD.find("arch"), "lx24-amd64") is None


SHOWN = [
    (INT, 4, "4"),
    (INT, Fraction(3, 2), "1"),
    (DOUBLE, Fraction(3, 10), "0.300000"),
    (DOUBLE, 4, "4.000000"),
    (MEMORY, 0, "0.000"),
    (MEMORY, 1023, "1023.000"),
    (MEMORY, 1024, "1.000K"),
    (MEMORY, 10**9, "953.674M"),
    (MEMORY, 2 * 10**9, "1.863G"),
    (MEMORY, 20 * 10**9, "18.626G"),
    (MEMORY, 2**40 - 1, "1024.000G"),
    (MEMORY, 2**40, "1.000T"),
    (MEMORY, 2**50, "1024.000T"),
    (TIME, 0, "00:00:00"),
    (TIME, 1800, "00:30:00"),
    (TIME, 360_000, "100:00:00"),
    (BOOL, 1, "true"),
    (BOOL, 0, "false"),
]


@pytest.mark.parametrize(("type_", "amount", "expected"), SHOWN)
def test_amounts_are_printed_as_by_qquota(type_, amount, expected):
    """Memory has three decimals and binary units, times are clocks, doubles have six decimals."""
    assert format_amount(type_, Fraction(amount)) == expected


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        (TIME, "1:30:00", "5400"),
        (TIME, "1.5", "2"),
        (TIME, "2.5", "2"),
        (TIME, "1::", "3600"),
        (MEMORY, "5g", "5g"),
        (INT, "005", "005"),
        (BOOL, "TRUE", "TRUE"),
    ],
)
def test_only_times_are_normalized(type_, text, expected):
    """To whole seconds, halves to even."""
    assert normalized(type_, text) == expected


@given(st.fractions(min_value=0, max_value=10**15))
@example(Fraction(1, 2))
def test_a_double_is_printed_as_the_nearest_number(amount):
    """No other number with six decimals is nearer."""
    assert abs(Fraction(format_amount(DOUBLE, amount)) - amount) <= Fraction(1, 2 * 10**6)


def kind(type_, relation):
    return Complex("x", "x", type_, relation)


COMPARED = [
    (INT, "<=", "5", "5", True),
    (INT, "<=", "6", "5", False),
    (INT, ">=", "1", "5", False),
    (INT, ">=", "9", "5", True),
    (INT, "==", "4", "4", True),
    (INT, "==", "8", "4", False),
    (INT, "!=", "8", "4", True),
    (INT, "<", "4", "4", False),
    (INT, ">", "5", "4", True),
    (BOOL, "EXCL", "0", "0", True),
    (BOOL, "EXCL", "1", "0", False),
    (BOOL, "==", "true", "1", True),
    (MEMORY, "<=", "512M", "1G", True),
    (MEMORY, "<=", "1G", "1g", False),
    (TIME, "<=", "1:0:0", "3600", True),
    (ComplexType.STRING, "==", "lx24-amd64", "lx*", False),
    (ComplexType.STRING, "==", "lx*", "lx*", True),
    (ComplexType.STRING, "==", "LX", "lx", False),
    (ComplexType.STRING, "!=", "a", "b", True),
    (ComplexType.STRING, "!=", "a", "a", False),
    (ComplexType.CSTRING, "==", "ABC", "abc", True),
    (ComplexType.RESTRING, "==", "n*", "north", True),
    (ComplexType.RESTRING, "==", "south", "north", False),
    (ComplexType.RESTRING, "==", "a|north", "north", True),
    (ComplexType.RESTRING, "==", "!(a|north)", "north", False),
    (ComplexType.RESTRING, "==", "n*&!*h", "north", False),
    (ComplexType.RESTRING, "==", "[!m]orth", "north", True),
    (ComplexType.HOST, "==", "Durin", "durin.example.com", True),
    (ComplexType.HOST, "==", "durin.example.org", "durin.example.com", False),
    (ComplexType.HOST, "==", "du*", "durin", True),
    (ComplexType.HOST, "==", "lxa", "durin", False),
]


@pytest.mark.parametrize(("type_", "relation", "requested", "limit", "expected"), COMPARED)
def test_a_request_is_compared_by_the_relation_of_the_complex(type_, relation, requested, limit, expected):
    """The request is on the left of the relation; only requests may be patterns."""
    assert satisfies(kind(type_, Relation(relation)), requested, limit) is expected


@pytest.mark.parametrize("expression", ["", "a|", "(a", "a)", "()", "a" * 1001, "(" * 100 + "a" + ")" * 100])
def test_an_invalid_expression_is_refused(expression):
    """A user's broken request neither passes nor takes unbounded time."""
    with pytest.raises(InvalidValueError):
        satisfies(kind(ComplexType.RESTRING, Relation.EQ), expression, "north")


def test_complexes_are_found_by_name_and_shortcut():
    """Case-sensitively; they keep their order."""
    assert STANDARD.find("s") is STANDARD.find("slots")
    assert STANDARD.find("S") is None
    assert "vf" in STANDARD
    assert [complex_.name for complex_ in STANDARD][:2] == ["arch", "calendar"]
    assert STANDARD.find("slots").consumable is Consumable.YES


def test_an_ambiguous_name_or_shortcut_is_refused():
    slots = STANDARD.find("slots")
    with pytest.raises(ValueError, match='"slots" and "s2" are both called "s"'):
        Complexes([slots, attrs.evolve(slots, name="s2")])


@pytest.mark.parametrize("name", ["h_rt", "h_vmem", "num_proc", "load_avg", "rerun"])
def test_infinity_is_above_every_number_of_a_complex_that_is_not_consumed(name):
    """In any case, as complex(5) has it: of a TIME, a MEMORY, an INT, a DOUBLE and a BOOL."""
    infinite = parse_value(STANDARD.find(name), "Infinity")
    assert infinite == parse_value(STANDARD.find(name), "INFINITY")
    assert infinite > parse_number(TIME, "9" * 396 + ":0:0")
    assert infinite > parse_number(DOUBLE, "9" * 395 + "e308")


def test_a_limit_of_infinity_admits_every_request_and_is_stored_as_written():
    """A request of infinity fits no other limit."""
    h_rt = STANDARD.find("h_rt")
    assert satisfies(h_rt, "1000000:0:0", "INFINITY")
    assert satisfies(h_rt, "infinity", "INFINITY")
    assert not satisfies(h_rt, "INFINITY", "3600")
    assert normalized(TIME, "Infinity") == "Infinity"

"""Amounts of resources: read exactly, written so that they are read again, compared resource by resource."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.queues.quantities import (
    LARGEST,
    QuantityError,
    added,
    compared,
    exceeding,
    fits,
    format_quantity,
    is_zero,
    parse_quantity,
    smaller,
)

RESOURCES = st.sampled_from(["vcore", "memory", "cpu", "nvidia.com/gpu"])
AMOUNTS = st.dictionaries(RESOURCES, st.integers(0, 5))

READ = [
    ("memory", "10", 10),
    ("memory", "2Gi", 2 * 1024**3),
    ("memory", "250G", 250 * 10**9),
    ("memory", " 1 0\t G ", 10 * 10**9),
    ("memory", "000000000000000000000000000000000000000000001", 1),
    ("memory", str(LARGEST), LARGEST),
    ("vcore", "1", 1000),
    ("vcore", "100m", 100),
    ("vcore", "1k", 1_000_000),
    ("cpu", "1", 1),
]

REFUSED = [
    ("memory", "", "resource_syntax"),
    ("memory", "-1", "resource_syntax"),
    ("memory", "1.5G", "resource_syntax"),
    ("memory", "1\N{NO-BREAK SPACE}G", "resource_syntax"),
    ("memory", "\N{ARABIC-INDIC DIGIT ONE}", "resource_syntax"),
    ("memory", "100m", "resource_suffix"),
    ("cpu", "100m", "resource_suffix"),
    ("memory", "1GiB", "resource_syntax"),
    ("vcore", "1KM", "resource_suffix"),
    ("memory", str(LARGEST + 1), "resource_overflow"),
    ("vcore", str(LARGEST // 1000 + 1), "resource_overflow"),
    ("memory", "8Ei", "resource_overflow"),
    ("memory", "9" * 5000, "resource_overflow"),
    ("memory", f"{LARGEST + 1}m", "resource_overflow"),
]


@pytest.mark.parametrize(("resource", "text", "amount"), READ)
def test_amounts_are_read_in_the_unit_of_their_resource(resource, text, amount):
    """Of vcore that is a thousandth, of all else one; white space counts for nothing."""
    assert parse_quantity(resource, text) == amount


@pytest.mark.parametrize(("resource", "text", "code"), REFUSED)
def test_what_is_no_amount_is_refused(resource, text, code):
    """With a word for machines, and a hint, and never with the whole of a long text."""
    with pytest.raises(QuantityError) as raised:
        parse_quantity(resource, text)
    assert raised.value.code == code
    assert raised.value.hint
    assert len(str(raised.value)) < 200


@given(RESOURCES, st.integers(0, LARGEST))
def test_what_is_written_is_read_again(resource, amount):
    """No amount is rounded when it is shown."""
    assert parse_quantity(resource, format_quantity(resource, amount)) == amount


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_the_smaller_of_two_limits_allows_what_both_allow(amounts, one, other):
    """And a resource that a limit does not name it does not limit."""
    assert fits(amounts, smaller(one, other)) == (fits(amounts, one) and fits(amounts, other))


@given(AMOUNTS, AMOUNTS)
def test_what_exceeds_a_limit_is_named(amounts, limit):
    """Each resource of which there is too much, and no other; with both amounts, for people."""
    names = exceeding(amounts, limit)
    assert all(amounts[name] > limit[name] for name in names)
    assert fits({name: amount for name, amount in amounts.items() if name not in names}, limit)
    assert fits(amounts, limit) == (not names)
    assert compared(names, amounts, limit).count(" > ") == len(names)


@given(AMOUNTS, AMOUNTS)
def test_a_sum_has_the_resources_of_both(one, other):
    """What only one names counts as it is."""
    total = added(one, other)
    assert set(total) == {*one, *other}
    assert sum(total.values()) == sum(one.values()) + sum(other.values())
    assert is_zero(total) == (is_zero(one) and is_zero(other))

"""Amounts of resources: parsed exactly, printed without loss, compared resource by resource."""

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
    """Thousandths for vcore, otherwise units; white space is ignored."""
    assert parse_quantity(resource, text) == amount


@pytest.mark.parametrize(("resource", "text", "code"), REFUSED)
def test_an_invalid_amount_is_refused(resource, text, code):
    """With a code and a hint, and long texts are cut."""
    with pytest.raises(QuantityError) as raised:
        parse_quantity(resource, text)
    assert raised.value.code == code
    assert raised.value.hint
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize(
    ("resource", "text", "same"),
    [
        ("memory", "0.5G", "500M"),
        ("memory", "1.5Gi", "1536Mi"),
        ("memory", "512MB", "512M"),
        ("memory", "2.5GiB", "2560Mi"),
        ("memory", "2g", "2G"),
        ("memory", "4K", "4k"),
        ("vcore", "0.5", "500m"),
        ("vcore", "1.25", "1250m"),
    ],
)
def test_an_amount_in_the_form_of_another_system_has_the_same_amount_as_hint(resource, text, same):
    """Fractions, lower-case units and bytes."""
    with pytest.raises(QuantityError) as caught:
        parse_quantity(resource, text)
    assert caught.value.hint == f"write {same}"


@pytest.mark.parametrize("text", ["0.3", "0.0G", "1.2.3G", "-0.5G", "9999999999.5E", "2.5m", "x", ""])
def test_an_amount_without_an_exact_form_has_the_general_hint(text):
    """Nothing is rounded."""
    with pytest.raises(QuantityError) as caught:
        parse_quantity("memory", text)
    assert caught.value.hint.startswith("write a non-negative whole number")


@given(RESOURCES, st.integers(0, LARGEST))
def test_a_printed_amount_is_read_back_unchanged(resource, amount):
    """Printing does not round."""
    assert parse_quantity(resource, format_quantity(resource, amount)) == amount


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_the_smaller_of_two_limits_allows_what_both_allow(amounts, one, other):
    """A limit does not restrict a resource that it does not name."""
    assert fits(amounts, smaller(one, other)) == (fits(amounts, one) and fits(amounts, other))


@given(AMOUNTS, AMOUNTS)
def test_resources_that_exceed_a_limit_are_named(amounts, limit):
    """With both amounts in readable form; others are not named."""
    names = exceeding(amounts, limit)
    assert all(amounts[name] > limit[name] for name in names)
    assert fits({name: amount for name, amount in amounts.items() if name not in names}, limit)
    assert fits(amounts, limit) == (not names)
    assert compared(names, amounts, limit).count(" > ") == len(names)


@given(AMOUNTS, AMOUNTS)
def test_a_sum_has_the_resources_of_both(one, other):
    """A resource of only one of them keeps its amount."""
    total = added(one, other)
    assert set(total) == {*one, *other}
    assert sum(total.values()) == sum(one.values()) + sum(other.values())
    assert is_zero(total) == (is_zero(one) and is_zero(other))

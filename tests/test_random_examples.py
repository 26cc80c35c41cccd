"""How many random examples tests draw."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.fixture
def drawn(pytestconfig):
    found = []
    yield found
    assert len(found) == 200 * pytestconfig.getoption("examples") // 100


@settings(max_examples=200, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers())
def test_a_test_draws_the_share_of_its_examples_that_the_option_says(drawn, number):
    drawn.append(number)

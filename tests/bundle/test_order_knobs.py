"""Settings of an order that the bundle does not choose: they have no effect, and a check says so."""

import pytest

from negotiator.bundle import check_bundle


@pytest.fixture
def problems(bare):
    """Return a function that checks a bundle with these files and all installed plugins."""

    def checked(order, knobs):
        bare.write("pool.yaml", order)
        bare.write("a.conf", knobs)
        return [str(each) for each in check_bundle(bare.path)]

    return checked


KNOBS = "GROUP_NAMES = a\nGROUP_QUOTA_a = 3\n"


def test_settings_of_another_order_have_no_effect(problems):
    (problem,) = problems("order: names", KNOBS)
    expected = "a.conf:1:1: warning: GROUP_NAMES, GROUP_QUOTA_a have no effect: the order is names"
    assert problem == f"{expected} (write order: submitters into pool.yaml)"
    assert problems("order: submitters", KNOBS) == problems("", KNOBS) == []


def test_many_settings_are_summed_up(problems):
    knobs = KNOBS + "GROUP_ACCEPT_SURPLUS = true\nPRIORITY_HALFLIFE = 5\n"
    (problem,) = problems("order: names", knobs)
    assert "GROUP_NAMES, GROUP_QUOTA_a, GROUP_ACCEPT_SURPLUS and 1 others have no effect" in problem


def test_the_defaults_of_htcondor_ask_for_nothing(problems):
    assert problems("", "PRIORITY_HALFLIFE = 86400\nGROUP_NAMES =\nGROUP_ACCEPT_SURPLUS = False\n") == []

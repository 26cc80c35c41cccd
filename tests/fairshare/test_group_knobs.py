"""Reading the settings of accounting groups from knobs."""

import pytest

from fair_share import problems_of, settings_of
from negotiator.plugin import parse
from negotiator_fairshare.groups.settings import ConfiguredGroup, GroupSettings
from pools import write_bundle


def read(**knobs):
    return settings_of(knobs).groups.settings


def problems(**knobs):
    return "\n".join(problems_of(knobs))


def warnings(**knobs):
    return [line.partition(": warning: ")[2].partition(" (")[0] for line in problems_of(knobs)]


def test_without_knobs_the_defaults_are_those_of_condor():
    assert read() == GroupSettings()


def test_each_knob_sets_its_field():
    found = read(
        GROUP_NAMES="a, b a.x",
        GROUP_QUOTA_a="4 * 2",
        GROUP_QUOTA_DYNAMIC_B="0.25",
        **{"group_quota_a.x": "1.5", "GROUP_ACCEPT_SURPLUS_a.x": "false"},
        GROUP_ACCEPT_SURPLUS="true",
        GROUP_AUTOREGROUP_b="True",
        GROUP_SORT_EXPR="GroupQuota",
        GROUP_QUOTA_MAX_ALLOCATION_ROUNDS="5",
        GROUP_QUOTA_ROUND_ROBIN_RATE="2",
        NEGOTIATOR_STRICT_ENFORCE_QUOTA="false",
        NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION="False",
        NEGOTIATOR_USE_SLOT_WEIGHTS="false",
        NEGOTIATOR_USE_WEIGHTED_DEMAND="false",
        NEGOTIATOR_CONSIDER_PREEMPTION="false",
    )
    assert found == GroupSettings(
        groups=(
            ConfiguredGroup("a", 8.0, static=True, accept_surplus=True),
            ConfiguredGroup("b", 0.25, accept_surplus=True, autoregroup=True),
            ConfiguredGroup("a.x", 1.5, static=True),
        ),
        accept_surplus=True,
        sort_expression=parse("GroupQuota"),
        max_rounds=5,
        round_robin_rate=2.0,
        strict=False,
        oversubscription=False,
        slot_weights=False,
        weighted_demand=False,
        consider_preemption=False,
    )


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"GROUP_NAMES": "a, <none>"}, "condor_config:1:1: error: <none> is the name of the root group"),
        ({"GROUP_NAMES": "a..b"}, "invalid group name a..b: a level has no name"),
        ({"GROUP_NAMES": ".".join("a" * 101)}, "has more than 100 levels"),
        (
            {"GROUP_NAMES": "a", "GROUP_QUOTA_a": "-1"},
            "condor_config:2:17: error: GROUP_QUOTA_a must be a number from 0",
        ),
        ({"GROUP_NAMES": "a", "GROUP_QUOTA_a": "many"}, "GROUP_QUOTA_a must be a number"),
        ({"GROUP_NAMES": "a", "GROUP_QUOTA_a": 'real("inf")'}, "GROUP_QUOTA_a must be a number"),
        (
            {"GROUP_NAMES": "a", "GROUP_QUOTA_DYNAMIC_a": "1.5"},
            "GROUP_QUOTA_DYNAMIC_a must be a number from 0 to 1",
        ),
        ({"GROUP_ACCEPT_SURPLUS": "maybe"}, "expected true or false, got"),
        (
            {"GROUP_NAMES": "a", "GROUP_AUTOREGROUP_a": "5 +"},
            "GROUP_AUTOREGROUP_a must be true or false: 5 +",
        ),
        (
            {"GROUP_NAMES": "a", "GROUP_PRIO_FACTOR_a": "0"},
            "condor_config:2:23: error: GROUP_PRIO_FACTOR_a must be a positive number",
        ),
        ({"GROUP_SORT_EXPR": "1 +"}, "condor_config:1:"),
        (
            {"GROUP_QUOTA_MAX_ALLOCATION_ROUNDS": "0"},
            "condor_config:1:1: error: GROUP_QUOTA_MAX_ALLOCATION_ROUNDS must be at least 1",
        ),
        (
            {"GROUP_QUOTA_ROUND_ROBIN_RATE": "0"},
            "condor_config:1:1: error: GROUP_QUOTA_ROUND_ROBIN_RATE must be at least 1",
        ),
        (
            {"GROUP_NAMES": "a", "GROUP_QUOTA_a": "1e9", "GROUP_QUOTA_ROUND_ROBIN_RATE": "1"},
            "condor_config:3:1: error: 1 a turn takes 1e+09 turns to fill the largest quota",
        ),
    ],
)
def test_invalid_knobs_are_refused_with_their_place(knobs, message):
    assert message in problems(**knobs)


def test_all_invalid_knobs_are_reported_at_once():
    assert problems(GROUP_NAMES="a", GROUP_QUOTA_a="x", GROUP_AUTOREGROUP_a="y +").count("error:") == 2


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"GROUP_NAMES": "a"}, "group a has no quota: 0 is used"),
        ({"GROUP_NAMES": "a, A", "GROUP_QUOTA_a": "1"}, "group A is listed twice, first as a"),
        ({"GROUP_NAMES": "a.b", "GROUP_QUOTA_a.b": "1"}, "group a.b is ignored: a is not listed"),
        ({"GROUP_QUOTA_DYNAMIC_a": "1"}, "no effect: group a is not listed"),
        ({"GROUP_PRIO_FACTOR_a": "1"}, "no effect: group a is not listed"),
        (
            {"GROUP_NAMES": "a b", "GROUP_QUOTA_DYNAMIC_a": "1", "GROUP_QUOTA_DYNAMIC_b": "0.5"},
            "dynamic quotas of a, b are divided by their sum, 1.5",
        ),
    ],
)
def test_what_condor_ignores_or_rescales_is_warned_of(knobs, message):
    assert warnings(**knobs) == [message]


def test_of_two_quotas_of_a_group_the_static_one_counts():
    knobs = {"GROUP_NAMES": "a", "GROUP_QUOTA_a": "4", "group_quota_dynamic_a": "0.5"}
    assert read(**knobs).groups == (ConfiguredGroup("a", 4.0, static=True),)
    assert problems_of(knobs) == [
        (
            "condor_config:3:25: warning: GROUP_QUOTA_DYNAMIC_a has no effect: GROUP_QUOTA_a takes precedence "
            "(remove one of the two)"
        )
    ]
    empty = {"GROUP_NAMES": "a", "GROUP_QUOTA_a": "", "GROUP_QUOTA_DYNAMIC_a": "0.5"}
    assert read(**empty).groups == (ConfiguredGroup("a", 0.5),)


def test_old_names_of_rounds_count_where_the_new_ones_are_empty():
    """As in condor_negotiator 25.14, which takes the default of a new name that is not set."""
    old = {"HFS_MAX_ALLOCATION_ROUNDS": "1", "HFS_ROUND_ROBIN_RATE": "2.0 * 2"}
    assert (read(**old).max_rounds, read(**old).round_robin_rate) == (3, 1e100)
    assert [line for line in warnings(**old) if "HFS" in line] == [
        f"{name} has no effect: condor_negotiator reads it only where {new} is empty"
        for name, new in (
            ("HFS_MAX_ALLOCATION_ROUNDS", "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS"),
            ("HFS_ROUND_ROBIN_RATE", "GROUP_QUOTA_ROUND_ROBIN_RATE"),
        )
    ]
    empty = {"GROUP_QUOTA_MAX_ALLOCATION_ROUNDS": "", "GROUP_QUOTA_ROUND_ROBIN_RATE": ""}
    assert (read(**empty).max_rounds, read(**empty).round_robin_rate) == (3, 1e100)
    both = read(**old, **empty)
    assert (both.max_rounds, both.round_robin_rate) == (1, 4.0)
    assert problems_of(old | empty) == []
    assert "HFS_ROUND_ROBIN_RATE must be at least 1" in problems(**empty, HFS_ROUND_ROBIN_RATE="0.5")


def test_the_sort_expression_must_not_be_empty():
    assert problems(GROUP_NAMES="a", GROUP_QUOTA_a="1", GROUP_SORT_EXPR="") == (
        "condor_config:3:1: error: GROUP_SORT_EXPR must be an expression (remove the line)"
    )


def test_settings_of_an_ignored_group_have_no_effect():
    knobs = {"GROUP_NAMES": "a, b.x", "GROUP_AUTOREGROUP_b.x": "true", "GROUP_ACCEPT_SURPLUS_b.x": "true"}
    found = read(**knobs)
    assert [group.name for group in found.groups] == ["a"]
    assert not found.any_autoregroups
    assert not found.any_accepts_surplus


def test_a_group_may_have_the_name_of_a_family_of_knobs():
    assert warnings(GROUP_NAMES="dynamic_a", GROUP_QUOTA_DYNAMIC_a="3") == []


def test_the_factor_of_a_group_is_that_of_its_submitters_and_of_the_group_itself():
    knobs = {"GROUP_NAMES": "Phys, phys.x", "GROUP_QUOTA_phys": "1", "group_quota_phys.X": "1"}
    found = settings_of(knobs | {"GROUP_PRIO_FACTOR_phys": "7"}).accounts
    factors = [found.factor_of(name) for name in ("phys.ann@d", "Phys", "phys.x.sue@d", "tim@d")]
    assert factors == [7.0, 7.0, 1000.0, 1000.0]


def test_a_knob_of_a_group_may_be_in_the_main_file_too(tmp_path):
    bundle = write_bundle(tmp_path / "b", "order: submitters\nGROUP_NAMES: a\nGROUP_QUOTA_a: 3\n")
    (group,) = bundle.settings["fairshare"].groups.settings.groups
    assert group == ConfiguredGroup("a", 3.0, static=True)


def test_a_misspelled_knob_of_all_groups_gets_a_hint():
    """It looks like the knob of a group that is not listed."""
    found = problems(GROUP_QUOTA_ROUND_ROBIN_RATES="1")
    assert "group ROUND_ROBIN_RATES is not listed (did you mean GROUP_QUOTA_ROUND_ROBIN_RATE?)" in found

"""Reading the settings of accounting groups from knobs."""

import pytest

from negotiator.plugin import BundleError, Source, parse
from negotiator_fairshare.groups.knobs import read_group_settings
from negotiator_fairshare.groups.settings import ConfiguredGroup, GroupSettings
from negotiator_fairshare.knobs import KnobReader


def read(**knobs):
    return read_group_settings(KnobReader(knobs))


def problems(**knobs):
    reader = KnobReader(knobs, lambda name: Source("condor_config", list(knobs).index(name) + 1))
    with pytest.raises(BundleError) as raised:
        read_group_settings(reader)
    return str(raised.value)


def warnings(**knobs):
    reader = KnobReader(knobs)
    read_group_settings(reader)
    return [problem.message for problem in reader.problems]


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
        NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION="0",
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
        ({"GROUP_NAMES": "a, <none>"}, "condor_config:1: error: <none> is the name of the root group"),
        ({"GROUP_NAMES": "a..b"}, "invalid group name a..b: a level has no name"),
        ({"GROUP_NAMES": ".".join("a" * 101)}, "has more than 100 levels"),
        (
            {"GROUP_NAMES": "a", "GROUP_QUOTA_a": "-1"},
            "condor_config:2: error: GROUP_QUOTA_a must be a number from 0",
        ),
        ({"GROUP_NAMES": "a", "GROUP_QUOTA_a": "many"}, "GROUP_QUOTA_a must be a number"),
        ({"GROUP_NAMES": "a", "GROUP_QUOTA_a": 'real("inf")'}, "GROUP_QUOTA_a must be a number"),
        (
            {"GROUP_NAMES": "a", "GROUP_QUOTA_DYNAMIC_a": "1.5"},
            "GROUP_QUOTA_DYNAMIC_a must be a number from 0 to 1",
        ),
        (
            {"GROUP_NAMES": "a", "GROUP_QUOTA_a": "1", "group_quota_dynamic_a": "0.5"},
            "condor_config:3: error: group a has GROUP_QUOTA_a too (remove one of them)",
        ),
        ({"GROUP_ACCEPT_SURPLUS": "maybe"}, "GROUP_ACCEPT_SURPLUS must be true or false: maybe"),
        ({"GROUP_SORT_EXPR": "1 +"}, "GROUP_SORT_EXPR is not an expression"),
        (
            {"GROUP_QUOTA_MAX_ALLOCATION_ROUNDS": "0"},
            "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS must be a number from 1",
        ),
        (
            {"GROUP_QUOTA_ROUND_ROBIN_RATE": "0"},
            "GROUP_QUOTA_ROUND_ROBIN_RATE must be a number of at least 1",
        ),
        (
            {"GROUP_NAMES": "a", "GROUP_QUOTA_a": "1e9", "GROUP_QUOTA_ROUND_ROBIN_RATE": "1"},
            "condor_config:3: error: 1 a turn takes 1e+09 turns to fill the largest quota",
        ),
    ],
)
def test_invalid_knobs_are_refused_with_their_place(knobs, message):
    assert message in problems(**knobs)


def test_all_invalid_knobs_are_reported_at_once():
    assert problems(GROUP_NAMES="a", GROUP_QUOTA_a="x", GROUP_AUTOREGROUP="y").count("error:") == 2


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"GROUP_NAMES": "a"}, "group a has no quota: 0 is used"),
        ({"GROUP_NAMES": "a, A", "GROUP_QUOTA_a": "1"}, "group A is listed twice, first as a"),
        ({"GROUP_NAMES": "a.b", "GROUP_QUOTA_a.b": "1"}, "group a.b is ignored: a is not listed"),
        ({"GROUP_QUOTA_DYNAMIC_a": "1"}, "no effect: group a is not listed"),
        (
            {"GROUP_NAMES": "a b", "GROUP_QUOTA_DYNAMIC_a": "1", "GROUP_QUOTA_DYNAMIC_b": "0.5"},
            "dynamic quotas of a, b are divided by their sum, 1.5",
        ),
    ],
)
def test_what_condor_ignores_or_rescales_is_warned_of(knobs, message):
    assert warnings(**knobs) == [message]


def test_settings_of_an_ignored_group_have_no_effect():
    knobs = {"GROUP_NAMES": "a, b.x", "GROUP_AUTOREGROUP_b.x": "true", "GROUP_ACCEPT_SURPLUS_b.x": "true"}
    found = read(**knobs)
    assert [group.name for group in found.groups] == ["a"]
    assert not found.any_autoregroups
    assert not found.any_accepts_surplus


def test_a_group_may_have_the_name_of_a_family_of_knobs():
    assert warnings(GROUP_NAMES="dynamic_a", GROUP_QUOTA_DYNAMIC_a="3") == []

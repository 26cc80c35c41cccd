"""Settings whose names a plugin does not know beforehand: it owns them by patterns."""

import pytest

GROUPS = """
from negotiator.plugin import ScalarText

@attrs.frozen
class Groups:
    GROUP_SIZE_TOTAL: int = 0
    knobs: Mapping[str, ScalarText] = attrs.field(factory=dict)


def check(settings):
    for name, knob in settings.knobs.items():
        if not knob.text.isdigit():
            yield Problem(Severity.ERROR, knob.source, f"{name} is not a number: {knob.text}")


@hookimpl
def negotiator_section():
    return Section(schema=Groups, check=check, knobs=("GROUP_SIZE_*",))
"""


@pytest.fixture
def grouped(bare):
    """Return a bundle with a plugin that owns ``GROUP_SIZE_*``."""
    bare.plugin("groups", GROUPS)
    bare.write("pool.yaml", "")
    return bare


def texts(folder, plugin="groups"):
    return {name: knob.text for name, knob in folder.settings(plugin).knobs.items()}


def test_a_plugin_gets_the_settings_that_match_its_patterns(grouped):
    """Macros are replaced, and upper and lower case are equal; a prefix of the subsystem is left out."""
    assert (
        grouped.conf("N = 4\nGROUP_SIZE_b = $(N)2\ngroup_size_A.x = 7\nNEGOTIATOR.Group_Size_c = 1\n") == []
    )
    assert texts(grouped) == {"GROUP_SIZE_b": "42", "group_size_A.x": "7", "Group_Size_c": "1"}


def test_a_key_of_the_class_goes_before_the_patterns(grouped):
    assert grouped.conf("GROUP_SIZE_TOTAL = 9\nGROUP_SIZE_a = 1\n") == []
    assert grouped.settings("groups").GROUP_SIZE_TOTAL == 9
    assert texts(grouped) == {"GROUP_SIZE_a": "1"}


def test_the_last_definition_counts_and_an_empty_one_unsets(grouped):
    grouped.conf("GROUP_SIZE_a = 1\ngroup_size_a = 2\nGROUP_SIZE_b = 3\nGROUP_SIZE_b =\n")
    assert texts(grouped) == {"group_size_a": "2"}


def test_each_setting_has_its_place(grouped):
    grouped.write("pool.yaml", "GROUP_SIZE_y: many")
    assert grouped.conf("\nGROUP_SIZE_b = few\n") == [
        "pool.yaml:1:15: error: GROUP_SIZE_y is not a number: many",
        "a.conf:2:16: error: GROUP_SIZE_b is not a number: few",
    ]


@pytest.mark.parametrize("value", ["[1]", "{a: 1}", ""])
def test_a_setting_in_the_main_file_is_a_text_or_a_number(grouped, value):
    (problem,) = grouped.yaml(f"GROUP_SIZE_a: {value}")
    assert "pool.yaml:1:" in problem
    assert "expected a text or a number" in problem


def test_a_setting_is_in_one_file_only_and_once(grouped):
    grouped.write("a.conf", "group_size_A = 1\n")
    grouped.write("pool.yaml", "GROUP_SIZE_a: 1\nGroup_Size_A: 2\n")
    problems = grouped.problems()
    assert "pool.yaml:2:1: error: 'Group_Size_A' is 'GROUP_SIZE_a' again" in "".join(problems)
    assert "neither takes precedence" in "".join(problems)


def test_of_several_patterns_the_longest_decides(grouped):
    other = GROUPS.replace("GROUP_SIZE_*", "*_licence").replace("GROUP_SIZE_TOTAL", "OTHER")
    grouped.plugin("other", other)
    assert grouped.conf("GROUP_SIZE_of_LICENCE = 1\nMATLAB_LICENCE = 2\n") == []
    assert texts(grouped) == {"GROUP_SIZE_of_LICENCE": "1"}
    assert texts(grouped, "other") == {"MATLAB_LICENCE": "2"}


def test_a_pattern_belongs_to_one_plugin(grouped):
    grouped.plugin("other", GROUPS.replace("GROUP_SIZE_TOTAL", "OTHER"))
    (problem,) = grouped.problems()
    assert "the knobs GROUP_SIZE_* of plugin other already belong to plugin groups" in problem


@pytest.mark.parametrize(
    "patterns", ['["GROUP_*"]', '("*",)', '("A B*",)', "(5,)", '("",)', '("GROUP_[a-z]",)']
)
def test_invalid_patterns_are_refused(bare, patterns):
    bare.plugin("groups", GROUPS.replace('("GROUP_SIZE_*",)', patterns))
    (problem, *_) = bare.yaml("")
    assert "of a Section" in problem


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("knobs: Mapping[str, ScalarText]", "names: dict[str, int]", "Groups needs a field `knobs:"),
        ('knobs=("GROUP_SIZE_*",)', "", "Groups has a field `knobs: Mapping[str, ScalarText]`, but"),
    ],
)
def test_a_section_has_both_patterns_and_the_field_for_them(bare, old, new, message):
    bare.plugin("groups", GROUPS.replace(old, new))
    assert message in bare.yaml("")[0]

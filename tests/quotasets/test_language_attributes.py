"""Single attributes of sets, as in the files of qconf -Aattr."""

import pytest

from negotiator_quotasets.complexes import STANDARD
from negotiator_quotasets.language import ParsedAttributes, parse_attributes


def read(text, **options):
    found = parse_attributes(text, "file.txt", STANDARD, **options)
    assert found.problems == ()
    return found


@pytest.mark.parametrize(
    "text",
    [
        "limit slots=20,vf=1g\n",
        "limit to slots=20, vf=1g",
        "limit users bob to slots=20,vf=1g # more\n",
        "limit name x users {a,b} hosts !c to \\\n  slots=20,vf=1g\r\n",
    ],
)
def test_limits_are_parsed_with_and_without_to(text):
    """The specification omits ``to``, Grid Engine requires it; filters before it are ignored."""
    assert [str(limit) for limit in read(text).limits] == ["slots=20", "virtual_free=1g"]


def test_a_file_may_have_several_attributes():
    """A missing one is None."""
    assert read('enabled true\ndescription "abc"\n') == ParsedAttributes(enabled=True, description='"abc"')
    assert read("name other\n") == ParsedAttributes(name="other")
    assert read("limit NONE").limits == ()


def test_resources_to_be_deleted_need_no_value():
    """In all other changes, a limit without a value is refused."""
    (limit,) = read("limit slots\n", bare=True).limits
    assert (limit.resource, limit.text) == ("slots", "")
    assert (
        parse_attributes("limit slots", "f", STANDARD).problems[0].message
        == "resource quota set has no rules"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo bar\n", 'unknown attribute name "foo"'),
        ("to slots=5\n", 'unknown attribute name "to"'),
        ("", 'error reading file: "file.txt"'),
        ("# nothing\n", 'error reading file: "file.txt"'),
        ("enabled maybe", 'error parsing value "maybe"'),
        ("limit nosuch=1", '"resource_quota" references not existing complex attribute "nosuch"'),
        ("limit slots=-1", 'attribute "slots" is consumable but has a negative value'),
        ("enabled true\nenabled false", 'attribute "enabled" appears more than once'),
        ("limit users {a to slots=1", "no valid expanded list"),
    ],
)
def test_an_invalid_file_is_refused_with_one_message(text, message):
    found = parse_attributes(text, "file.txt", STANDARD)
    assert found == ParsedAttributes(problems=found.problems)
    assert [problem.message for problem in found.problems] == [message]

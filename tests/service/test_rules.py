"""Placement rules in the shape of YuniKorn's REST interface."""

import pytest

from negotiator.queues.config import FilterEntry, RuleEntry
from negotiator.records import ScalarText, Source
from negotiator.service.yunikorn.queues import placement_rules

NOWHERE = Source("queues.yaml")


def text(value):
    return ScalarText(value, NOWHERE)


@pytest.mark.parametrize(
    ("users", "shown"),
    [
        (("ann.lee@example.org",), {"userList": ["ann.lee@example.org"]}),
        (("ann", "b*"), {"userList": ["ann", "b*"]}),
        (("ann|bob",), {"userExp": "ann|bob"}),
    ],
)
def test_a_single_entry_is_an_expression_if_the_rule_takes_it_for_one(users, shown):
    entry = FilterEntry(type=text("deny"), users=tuple(map(text, users)))
    first, *_ = placement_rules((RuleEntry(text("user"), filter=entry),))
    assert first["filter"] == {"type": "deny", **shown}


def test_a_parent_that_is_a_path_is_shown_as_a_fixed_rule():
    first, *_ = placement_rules(
        (RuleEntry(text("tag"), create=True, value=text("namespace"), parent=text("root.a")),)
    )
    assert first == {
        "name": "tag",
        "parameters": {"create": "true", "tagName": "namespace"},
        "parentRule": {"name": "fixed", "parameters": {"queue": "root.a", "create": "false"}},
    }

"""Checks of rules when they are read: targets where no application can be placed, and invalid filters."""

import re

import pytest

from negotiator.placement.filters import make_filter
from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import FilterEntry
from negotiator.records import ScalarText
from yunikorn_pool import read

QUEUES = [
    {
        "name": "root",
        "queues": [
            {"name": "Leaf"},
            {"name": "marked", "parent": True},
            {"name": "full", "queues": [{"name": "child"}]},
        ],
    }
]


def fixed(value, *, create=False, **keys):
    return {"name": "fixed", "value": value, "create": create, **keys}


def below(rule, **keys):
    return {"name": "user", "parent": rule, **keys}


TARGETS = [
    (fixed("root.leaf"), None),
    (fixed("LEAF"), None),
    (fixed("full.child"), None),
    (fixed("child", parent=fixed("full")), None),
    (fixed("marked"), "rule_target_not_leaf"),
    (fixed("full", create=True), "rule_target_not_leaf"),
    (fixed("root"), "rule_target_not_leaf"),
    (fixed("gone"), "rule_target_missing"),
    (fixed("gone", create=True), None),
    (fixed("full.gone.x"), "rule_target_missing"),
    (fixed("full.gone.x", create=True), None),
    (fixed("leaf.x"), "rule_target_below_leaf"),
    (fixed("leaf.x", create=True), "rule_target_below_leaf"),
    (below(fixed("full")), None),
    (below(fixed("marked")), None),
    (below(fixed("leaf")), "rule_target_not_leaf"),
    (below(fixed("gone", create=True)), "rule_target_missing"),
    (below(fixed("gone"), create=True), None),
    (below({"name": "tag", "value": "x", "parent": fixed("leaf")}), "rule_target_not_leaf"),
    (below({"name": "provided"}), None),
    (fixed("x", parent={"name": "user"}), None),
    (fixed("root.leaf", parent=fixed("full")), "rule_fixed_nested_qualified"),
    (fixed("rootbeer", parent=fixed("full"), create=True), None),
]


@pytest.mark.parametrize(("rule", "code"), TARGETS)
def test_constant_targets_are_checked(rule, code):
    """With the configured queues; only a rule with ``create`` may name a missing queue."""
    assert read({"queues": QUEUES, "placementrules": [rule]}).codes == ({code} if code else set())


@pytest.mark.parametrize(("rule", "code"), [(rule, code) for rule, code in TARGETS if code])
def test_rules_may_be_read_without_the_check_of_targets(rule, code):
    """Other problems of the rule are still reported."""
    expected = {code} if code == "rule_fixed_nested_qualified" else set()
    assert read({"queues": QUEUES, "placementrules": [rule]}, static=False).codes == expected


def filter_of(**lists):
    findings = Findings()
    entry = FilterEntry(**{key: tuple(ScalarText(name) for name in names) for key, names in lists.items()})
    return make_filter(entry, findings), findings.problems


def test_expressions_have_no_look_around_as_in_yunikorn():
    """Such expressions are refused when the bundle is loaded, and match nobody."""
    for expression in ("(?=a)b", r"(a)\1", "[a", "a{99999}"):
        made, (problem,) = filter_of(users=[expression])
        assert problem.code == "rule_filter_users"
        assert re.search("is not a valid regular expression: .+", problem.message)
        assert not made.applies("ab", ())


def test_no_expression_is_slow():
    """Not even one that needs exponential time by backtracking."""
    made, problems = filter_of(groups=["^(a+)+$"])
    assert problems == []
    assert not made.applies("sue", ["a" * 30_000 + "!"])


def test_entries_of_a_list_that_never_match_are_reported():
    """As a warning, since YuniKorn accepts such lists."""
    made, (problem,) = filter_of(users=["sue", "b.*"])
    assert made.applies("sue", ())
    assert not made.applies("bob", ())
    assert problem.code == ""
    assert problem.hint == "a regular expression must be the only entry of its list"


@pytest.mark.parametrize("name", ["\0", "a\nb", "\u200b"])
def test_a_tag_that_is_not_a_valid_attribute_name_is_refused(name):
    """It would be looked up in every cycle, and could fail there."""
    assert read({"queues": QUEUES, "placementrules": [{"name": "tag", "value": name}]}).codes == {
        "rule_tag_name"
    }

"""Checks of rules when they are read: targets where no application can be placed, and invalid filters."""

import re

import pytest

from negotiator.placement.filters import listed, make_filter
from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import FilterEntry
from negotiator.records import ScalarText, Severity
from yunikorn_pool import document, read

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


LONG = 200 * "x"
#: Rules with an invalid text, and the message.
INVALID = [
    ({"name": f"!{LONG}"}, f"!{LONG}", "invalid rule name {!r}"),
    ({"name": LONG}, LONG, "unknown placement rule {}"),
    (fixed(f"!{LONG}"), f"!{LONG}", "rule fixed: invalid queue name {!r}"),
    ({"name": "user", "filter": {"type": LONG}}, LONG, "unknown filter type {!r}"),
    (
        {"name": "user", "filter": {"users": ["sue", f"!{LONG}"]}},
        f"!{LONG}",
        "invalid user name {!r}, so it never matches",
    ),
    (
        {"name": "user", "filter": {"users": [f"({LONG}"]}},
        f"({LONG}",
        "{!r} is not a valid regular expression",
    ),
    (
        {"name": "user", "filter": {"users": [f"{LONG}$"]}},
        f"{LONG}$",
        "the single entry {} is a regular expression",
    ),
]


@pytest.mark.parametrize(("rule", "text", "message"), INVALID)
def test_a_problem_shows_80_characters_of_an_invalid_text_and_its_line(rule, text, message):
    config = {"queues": QUEUES, "placementrules": [{"name": "provided"}, rule]}
    (problem,) = read(config).problems
    shown, _, rest = message.format(text[:80]).partition(text[:80])
    assert problem.message.startswith(f"{shown}{text[:80]}{rest}")
    assert text in document(config).splitlines()[problem.source.line - 1]


def test_a_problem_shows_80_characters_of_an_invalid_tag_name():
    """A tag is the name of an attribute, and has no invisible characters."""
    rule = {"name": "tag", "value": f"\u200b{LONG}"}
    (problem,) = read({"queues": QUEUES, "placementrules": [rule]}).problems
    assert problem.message == f"rule tag: invalid tag name {rule['value'][:80]!r}"


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


@pytest.mark.parametrize(
    ("length", "hint"),
    [
        (1, r"write ^a\$$ for that user alone"),
        (199, rf"write ^{'a' * 199}\$$ for that user alone"),
        (200, "write the escaped name between ^ and $ for that user alone"),
    ],
)
def test_the_hint_at_a_name_that_is_an_expression_is_an_expression_for_the_whole_name(length, hint):
    _, (problem,) = filter_of(users=["a" * length + "$"])
    assert problem.hint == hint


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


def texts_of(entry):
    return [each.text for each in listed(entry)]


def test_names_of_a_filter_may_be_one_text_with_commas():
    """The older document writes them so; a comma inside brackets belongs to a regular expression."""
    assert texts_of(ScalarText("a,b")) == ["a", "b"]
    assert texts_of(ScalarText(" a, b ,")) == ["a", "b"]
    assert texts_of(ScalarText("company.*")) == ["company.*"]
    assert texts_of(ScalarText("^a{1,2}[,x](b,c)$")) == ["^a{1,2}[,x](b,c)$"]
    assert texts_of(ScalarText("a.*,b")) == ["a.*", "b"]
    assert texts_of((ScalarText("a,b"),)) == ["a,b"]


def test_the_name_of_a_user_with_a_dollar_as_the_only_entry_is_a_regular_expression():
    """As in YuniKorn; the hint of the warning is the expression of that name."""
    made, (problem,) = filter_of(users=["pc$"])
    assert made.applies("homepc", ())
    assert not made.applies("pc$", ())
    assert problem.severity is Severity.WARNING
    expression = problem.hint.split()[1]
    alone, problems = filter_of(users=[expression])
    assert problems == []
    assert [alone.applies(name, ()) for name in ("pc$", "homepc$", "pc", "pc$x")] == [
        True,
        False,
        False,
        False,
    ]
    assert filter_of(users=["pc$", "other"])[1] == []
    assert filter_of(groups=["pc$"])[1] == []


def test_a_parent_rule_may_be_a_text():
    """A path from the root on is that queue; any other text is the name of a rule."""
    targets = [
        ("root.marked", None),
        ("root", None),
        ("provided", None),
        ("root.leaf", "rule_target_not_leaf"),
        (
            "root.gone",
            None,
        ),  # as with a rule in its place: it is created, or missing when the rule is applied
        ("marked", "rule_unknown"),
        ("fixed", "rule_fixed_value_missing"),
    ]
    for text, code in targets:
        codes = read(
            {"queues": QUEUES, "placementrules": [{"name": "user", "create": True, "parent": text}]}
        ).codes
        assert codes == ({code} if code else set()), text


def test_a_full_path_below_a_parent_text_is_refused():
    """Like below a parent rule; only the root is no parent."""
    below_text = fixed("root.marked.x", create=True, parent="root.full")
    assert read({"queues": QUEUES, "placementrules": [below_text]}).codes == {"rule_fixed_nested_qualified"}
    below_root = fixed("root.marked.x", create=True, parent="root")
    assert read({"queues": QUEUES, "placementrules": [below_root]}).codes == set()


def test_a_path_from_the_root_in_any_case_has_no_parent_rule():
    problems = read({"queues": QUEUES, "placementrules": [fixed("ROOT.Leaf", parent=fixed("full"))]}).problems
    assert [problem.code for problem in problems] == ["rule_fixed_nested_qualified"]


def test_a_problem_of_a_rule_or_a_filter_is_at_its_place():
    """A rule without a value at its beginning, an unknown type of a filter at the type."""
    rules = [{"create": True, "name": "tag"}, {"name": "user", "filter": {"users": ["sue"], "type": "x"}}]
    config = {"queues": QUEUES, "placementrules": rules}
    places = [problem.source for problem in read(config).problems]
    lines = document(config).splitlines()
    assert [lines[place.line - 1][place.column - 1 :] for place in places] == ["create: true", "x"]

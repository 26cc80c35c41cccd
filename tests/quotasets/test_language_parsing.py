"""The parser of resource quota sets: sets, and problems with their messages and places."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.records import Source
from negotiator_quotasets.complexes import STANDARD
from negotiator_quotasets.language import NameFilter, parse_sets
from negotiator_quotasets.language.model import Term


def read(text, **options):
    parsed = parse_sets(text, "quotas.rqs", STANDARD, **options)
    assert parsed.problems == ()
    return parsed.sets


def refused(text, **options):
    parsed = parse_sets(text, "quotas.rqs", STANDARD, **options)
    assert parsed.sets == () or parsed.problems
    return [problem.message for problem in parsed.problems]


def rule(words):
    """The rule with this text, in a set of its own."""
    (set_,) = read(f"{{\nname r\nlimit {words}\n}}\n")
    (found,) = set_.rules
    return found


def rule_problem(words, **options):
    (message,) = refused(f"{{\nname r\nlimit {words}\n}}\n", **options)
    return message


def test_a_set_has_its_attributes_and_rules():
    """Name, description, enabled and rules, each with its place."""
    (set_,) = read(
        '{\n  name  a-b_1\n  description "x \\"y\\" # z"\n  enabled false\n  limit name n to s=5,vf=1g\n}\n'
    )
    assert (set_.name, set_.description, set_.enabled) == ("a-b_1", '"x \\"y\\" # z"', False)
    assert [str(limit) for limit in set_.rules[0].limits] == ["slots=5", "virtual_free=1g"]
    assert set_.rules[0].name == "n"
    assert set_.rules[0].source == Source("quotas.rqs", 5, 3)
    assert set_.rules[0].limits[1].source == Source("quotas.rqs", 5, 23)


@pytest.mark.parametrize(
    "text",
    [
        "{ name r limit users a,b to slots=1 }",
        "{name r\nlimit users a, b to slots=1}",
        "{\r\nname r\r\nlimit users a ,b to slots=1\r\n}\r\n",
        "# first\n{ # open\nname\tr # it\nlimit users a,\\\n   b to \\\nslots=1 # end\n} # close\n\n",
        "{ name r description NONE enabled 1 limit users b,a,b to slots=1 }".replace("b,a,b", "a,b,a"),
        "{ name r enabled TrUe limit to slots=1 }".replace("to", "users a,b to"),
    ],
)
def test_white_space_and_comments_are_ignored(text):
    """A set is the same on one line or several, with CRLF, comments or continued lines."""
    (set_,) = read(text)
    assert (set_.name, set_.description, set_.enabled) == ("r", "NONE", True)
    assert set_.rules[0].users == NameFilter(("a", "b"))


def test_the_order_of_filters_is_free():
    """Each filter may be anywhere before the limits."""
    found = rule("hosts {*} queues q pes !pe projects * users {@staff,!bob} name n to slots=1")
    assert list(found.filters()) == [
        ("users", NameFilter(("@staff",), ("bob",), expanded=True)),
        ("projects", NameFilter(("*",))),
        ("pes", NameFilter((), ("pe",))),
        ("queues", NameFilter(("q",))),
        ("hosts", NameFilter(("*",), expanded=True)),
    ]


def test_keywords_may_be_names():
    """After the keyword of a filter comes its list, whatever the names."""
    assert rule("users to,users projects limit to slots=1").users == NameFilter(("to", "users"))


def test_a_rule_may_have_no_limit():
    """``to NONE`` ends the search in its set."""
    assert rule("users a to NONE").limits == ()


def test_a_time_is_stored_in_seconds_and_compared_as_written():
    """The text is rounded as Grid Engine rounds it, the value is not."""
    (limit,) = rule("to h_rt=1.5").limits
    assert (limit.text, limit.value) == ("2", Fraction(3, 2))


def test_formulas_are_parsed_into_terms():
    """Weights and weighted values, each with its sign."""
    (limit,) = rule("hosts {*} to slots=10-$num_proc*1.5+.5").limits
    assert limit.text == "10-$num_proc*1.5+.5"
    assert limit.terms == (Term(Fraction(10)), Term(Fraction(-3, 2), "num_proc"), Term(Fraction(1, 2)))


def test_other_numbers_of_a_host_need_the_switch():
    """The specification's first step allows num_proc only; a bundle may allow others."""
    words = "hosts {*} to virtual_free=$mem_total*0.5"
    assert rule_problem(words) == '"dynamical_limit" may use "$num_proc" only, not "$mem_total"'
    (set_,) = read(f"{{ name r limit {words} }}", numeric_formulas=True)
    assert set_.rules[0].limits[0].terms == (Term(Fraction(1, 2), "mem_total"),)


RULES = [
    ("users a slots=5", 'unknown attribute name "slots"'),
    ("users a", 'required attribute "to" is missing'),
    ("USERS a to slots=5", 'unknown attribute name "USERS"'),
    (
        "users=a to slots=5",
        '" " is the only character allowed between the attribute name and the value in line 3',
    ),
    ("users a to", '" " is the only character allowed between the attribute name and the value in line 4'),
    ("to slots = 5", "line 3 should begin with an attribute name"),
    ("hosts a hosts b to slots=5", 'attribute "hosts" appears more than once'),
    ("to slots=5 to slots=6", 'attribute "to" appears more than once'),
    ("to slots=5 users a", 'attribute "users" is after the limits'),
    ("to slots=5,s=6", 'attribute "slots" appears more than once'),
    ("to nosuch=5", '"resource_quota" references not existing complex attribute "nosuch"'),
    ("to =5", '"resource_quota" references not existing complex attribute "(null)"'),
    ("to slots", "resource quota set has no rules"),
    ("to qname=", "resource quota set has no rules"),
    ("to slots=a=b", 'values in the attribute value list in line 3 should be separated by ","'),
    ("to slots=5,,vf=1g", 'unrecognized characters after the attribute values in line 3: "vf"'),
    ("to slots=5,", 'each value in the attribute value list in line 5 should end with "}"'),
    ("users a,,b to slots=5", 'unrecognized characters after the attribute values in line 3: "b"'),
    ("users {} to slots=5", "no valid expanded list"),
    ("users {a to slots=5", "no valid expanded list"),
    ("users a,b} to slots=5", "no valid expanded list"),
    ("users a,{b} to slots=5", "no valid expanded list"),
    ("users {{a}} to slots=5", "no valid expanded list"),
    ("users {a},b to slots=5", "no valid expanded list"),
    ("users !{a} to slots=5", "resource quota set contains invalid user filter"),
    ("users !!a to slots=5", "resource quota set contains invalid user filter"),
    ("users @@x to slots=5", "resource quota set contains invalid user filter"),
    ("users 'a' to slots=5", "resource quota set contains invalid user filter"),
    ("users {a}b to slots=5", "no valid expanded list"),
    ("queues a;b to slots=5", "resource quota set contains invalid queue filter"),
    ("users a\0b to slots=5", "resource quota set contains invalid user filter"),
    ("name 1 to slots=5", 'resource quota rule name "1" is not valid'),
    ("name a.b to slots=5", 'resource quota rule name "a.b" is not valid'),
    ("to slots=$num_proc", "dynamic limits are only supported for per host rules"),
    ("to arch=$nosuch*x", "dynamic limits are only supported for per host rules"),
    ("to slots=$num_proc,nosuch=1", "dynamic limits are only supported for per host rules"),
    ("to nosuch=1,slots=$num_proc", '"resource_quota" references not existing complex attribute "nosuch"'),
    ("hosts * to slots=$num_proc", "dynamic limits are only supported for per host rules"),
    (
        "hosts {*} to slots=$num_proc*",
        '"dynamical_limit" uses "" as weighting factor (only numbers are allowed)',
    ),
    ("hosts {*} to slots=-$num_proc", '"dynamical_limit" begins or ends with a sign'),
    ("hosts {*} to slots=$num_proc*2*3", '"dynamical_limit" may not use multiple weighting factors'),
    ("hosts {*} to slots=$p", '"dynamical_limit" references not existing complex attribute "p"'),
    (
        "hosts {*} to arch=$num_proc",
        'dynamic limits are only supported for numbers, "arch" is of type RESTRING',
    ),
    ("to arch=a\\ ", 'attribute "arch" has a character that cannot be stored'),
]


@pytest.mark.parametrize(("words", "message"), RULES)
def test_an_invalid_rule_is_refused_in_grid_engine_s_words(words, message):
    """Each mistake in a rule has its own message, reported once."""
    assert rule_problem(words) == message


BODY = "\nlimit to slots=1\n}\n"
SETS = [
    ("name r" + BODY, 'each value in the attribute value list in line 1 should begin with "{"'),
    ("{\nname r\nlimit to slots=1\n", 'each value in the attribute value list in line 4 should end with "}"'),
    ("{\nname r" + BODY + "}\n", 'each value in the attribute value list in line 5 should begin with "{"'),
    ("{\n}\n", "resource quota set has no name"),
    ("{" + BODY, "resource quota set has no name"),
    ("{\nname r\n}\n", "resource quota set has no rules"),
    ("{\nname r\n{\nname s" + BODY, "line 3 should begin with an attribute name"),
    (
        "{\nname\nenabled true" + BODY,
        '" " is the only character allowed between the attribute name and the value in line 3',
    ),
    ("{\nname r\nfoo bar" + BODY, 'unknown attribute name "foo"'),
    ("{\nname r\nenabled maybe" + BODY, 'error parsing value "maybe"'),
    ("{\nname r\nenabled 1\nenabled 1" + BODY, 'attribute "enabled" appears more than once'),
    ('{\nname r\ndescription "abc' + BODY, "the description has a quote that is not closed"),
    ("{\nname r\ndescription a\x1b[0m" + BODY, "the description has a character that cannot be stored"),
    ("{\nlimit to slots=1\nname r\n}\n", 'unknown attribute name "name"'),
    ("{\nname a b" + BODY, "Space (' ') not allowed in objectname"),
    ("{\nname a/b" + BODY, "Slash ('/') not allowed in objectname"),
    # As in Grid Engine, one character is looked for after the other, wherever they are.
    ("{\nname a]b[" + BODY, "Brackets ('[') not allowed in objectname"),
    ("{\nname a{b[" + BODY, "Brackets ('[') not allowed in objectname"),
    ("{\nname a(b{" + BODY, "Braces ('{') not allowed in objectname"),
    ("{\nname a@b)" + BODY, "Parenthesis (')') not allowed in objectname"),
    ("{\nname a,b|" + BODY, "Pipe ('|') not allowed in objectname"),
    ('{\nname a\\b"' + BODY, "Double quote ('\"') not allowed in objectname"),
    (
        "{\nname " + "a" * 500 + "[" + "a" * 20 + BODY,
        "string is longer than 512, this is not allowed for objectnames",
    ),
    ("{\nname Template" + BODY, 'Keyword ("TEMPLATE") not allowed as objectname'),
    ("{\nname 1a" + BODY, 'resource quota set name "1a" is not valid'),
    ("{\nname " + "a" * 513 + BODY, "string is longer than 512, this is not allowed for objectnames"),
    (
        ("{\nname r" + BODY) * 2,
        'Resource quota replacement request contains rqs name "r" multiple times',
    ),
    (
        "{\nname r\nlimit name x to slots=1\nlimit name x to slots=2\n}",
        'resource quota rule name "x" appears more than once in its set',
    ),
]


@pytest.mark.parametrize(("text", "message"), SETS)
def test_an_invalid_set_is_refused_in_grid_engine_s_words(text, message):
    """Each mistake in a set has its own message, reported once."""
    assert refused(text) == [message]


def test_names_of_rules_differ_by_case():
    """``x`` and ``X`` are two names."""
    (set_,) = read("{\nname r\nlimit name x to slots=1\nlimit name X to slots=2\n}")
    assert [set_.label(0), set_.label(1)] == ["r/x", "r/X"]


def test_every_problem_is_reported_with_its_place():
    """An invalid line does not hide the next one; a place is a line and a column of the file."""
    text = "{\nname r\nlimit users a to nosuch=1\nlimit to slots=\\\n  -1\nlimit to slots=3\n}\n{ name s limit to x=1 }\n"
    problems = parse_sets(text, "f", STANDARD).problems
    assert [(problem.source.line, problem.source.column) for problem in problems] == [
        (3, 18),
        (4, 10),
        (8, 19),
    ]


def test_a_place_in_a_continued_line_has_the_number_of_its_own_line():
    (problem,) = parse_sets("{\nname r\nlimit users a \\\n    to nosuch=1\n}\n", "f", STANDARD).problems
    assert problem.source == Source("f", 4, 8)


def test_only_known_hosts_are_accepted():
    """A limit of a host name is checked if the hosts are known."""
    assert rule_problem("to hostname=nosuch", hosts={"durin"}) == 'can\'t resolve hostname "nosuch"'
    assert read("{ name r limit to hostname=durin }", hosts={"durin"})
    assert read("{ name r limit to hostname=nosuch }")


def test_an_empty_text_is_refused_if_a_set_is_required():
    """A file of a bundle may be empty, a file to add may not."""
    assert read("# nothing\n") == ()
    assert refused("# nothing\n", required=True) == ["error reading in file"]


def test_the_number_of_problems_is_bounded():
    """At a hundred, however many lines are invalid."""
    assert len(refused("{\nname r\n" + "limit users a\n" * 1000 + "}")) == 100
    assert len(refused("{ name r limit to slots=1 }\n" * 1000)) == 100


@given(st.text(alphabet='{},!@#*"\\=$ \t\r\nab1\0é', max_size=60) | st.text(max_size=60))
def test_any_text_gives_sets_or_problems(text):
    """And each problem has a place in the text."""
    for whole in (
        text,
        f"{{\nname r\nlimit users {text}\n}}",
        f"{{\nname r\ndescription {text}\nlimit to slots=1 }}",
    ):
        for problem in parse_sets(whole, "f", STANDARD).problems:
            assert 1 <= problem.source.line <= whole.count("\n") + 1
            assert problem.source.column >= 1
            assert "\0" not in str(problem)

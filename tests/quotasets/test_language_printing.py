"""The normal form of resource quota sets, which is parsed back to the same sets."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator_quotasets.complexes import STANDARD
from negotiator_quotasets.language import (
    NameFilter,
    QuotaRule,
    RuleLimit,
    RuleSet,
    format_set,
    format_sets,
    parse_sets,
)
from negotiator_quotasets.language.model import Term

NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,30}", fullmatch=True).filter(
    lambda name: name.lower() not in ("all", "none", "template")
)
ENTRIES = st.from_regex(r"@?[a-z0-9é*?.\[\]-]{1,90}", fullmatch=True)
FILTERS = st.builds(
    NameFilter,
    st.lists(ENTRIES, max_size=12, unique=True).map(tuple),
    st.lists(ENTRIES, max_size=12, unique=True).map(tuple),
    st.booleans(),
).filter(lambda filter_: filter_.names or filter_.excluded)
LIMITS = st.lists(
    st.sampled_from(
        [
            RuleLimit("slots", "5"),
            RuleLimit("virtual_free", "1.5g"),
            RuleLimit("h_rt", "3600"),
            RuleLimit("arch", "lx24-*|sol" + "-long" * 15),
            RuleLimit("load_avg", "1e3"),
        ]
    ),
    unique_by=lambda limit: limit.resource,
).map(tuple)
RULES = st.builds(
    QuotaRule,
    name=st.just("") | NAMES,
    users=st.none() | FILTERS,
    projects=st.none() | FILTERS,
    pes=st.none() | FILTERS,
    queues=st.none() | FILTERS,
    hosts=st.none() | FILTERS,
    limits=LIMITS,
)
DESCRIPTIONS = (
    st.sampled_from(["NONE", "none", '""', "limit", "two  words"])
    | st.from_regex(r'"[a-z #,\t{é]{0,200}"', fullmatch=True)
    | st.from_regex(r"[a-z]([a-z ,]{0,200}[a-z])?", fullmatch=True).map(lambda text: f"my {text}")
)
SETS = st.lists(
    st.builds(
        RuleSet,
        NAMES,
        st.lists(RULES, min_size=1, max_size=4, unique_by=lambda rule: rule.name or id(rule)).map(tuple),
        DESCRIPTIONS,
        st.booleans(),
    ),
    max_size=3,
    unique_by=lambda set_: set_.name,
).map(tuple)


@given(SETS)
def test_printed_sets_are_parsed_back(sets):
    """To equal sets, which print the same text."""
    parsed = parse_sets(format_sets(sets), "f", STANDARD)
    assert parsed.problems == ()
    assert parsed.sets == sets
    assert format_sets(parsed.sets) == format_sets(sets)


@given(SETS)
def test_lines_have_eighty_bytes_where_they_can_be_broken(sets):
    """A line is longer only if it is one word."""
    for line in format_sets(sets).encode().split(b"\n"):
        words = line.removesuffix(b" \\").lstrip(b" ")
        assert len(line) <= 80 or not (words.count(b",", 0, 70) and line.startswith(b"   limit"))


def test_a_set_is_printed_in_its_normal_form():
    """Aligned attributes, filters in the order of the grammar, exclusions after inclusions."""
    rules = (
        QuotaRule(
            "n",
            users=NameFilter(("a", "b"), ("c",)),
            hosts=NameFilter(("*",), (), expanded=True),
            limits=(RuleLimit("slots", "5"),),
        ),
        QuotaRule(hosts=NameFilter((), ("x",))),
    )
    assert format_set(RuleSet("r", rules, '"x"', enabled=False)) == (
        "{\n"
        "   name         r\n"
        '   description  "x"\n'
        "   enabled      FALSE\n"
        "   limit        name n users a,b,!c hosts {*} to slots=5\n"
        "   limit        hosts !x to NONE\n"
        "}\n"
    )


def test_a_long_rule_is_broken_after_a_comma_or_at_a_blank():
    """The pieces end in a backslash, and leave room for it in 80 columns."""
    users = NameFilter(tuple(f"user{number:03}" for number in range(20)))
    set_ = RuleSet(
        "r", (QuotaRule(users=users, hosts=NameFilter(("h" * 36,)), limits=(RuleLimit("slots", "5"),)),)
    )
    assert format_set(set_).splitlines()[4:-1] == [
        "   limit        users user000,user001,user002,user003,user004,user005,user006, \\",
        "   user007,user008,user009,user010,user011,user012,user013,user014,user015, \\",
        f"   user016,user017,user018,user019 hosts {'h' * 36} \\",
        "   to slots=5",
    ]


def test_a_line_of_eighty_bytes_is_not_broken_and_one_of_eighty_one_is():
    for length, lines in ((80, 1), (81, 2)):
        name = "u" * (length - len("   limit        users  to slots=5"))
        set_ = RuleSet("r", (QuotaRule(users=NameFilter((name,)), limits=(RuleLimit("slots", "5"),)),))
        assert len(format_set(set_).splitlines()) == 5 + lines


def test_a_line_is_broken_before_a_long_name():
    """As in Grid Engine."""
    text = format_set(RuleSet("a" * 512, (QuotaRule(limits=(RuleLimit("slots", "5"),)),)))
    assert text.splitlines()[1:3] == ["   name         \\", f"   {'a' * 512}"]


def test_formulas_are_printed_as_written():
    """And parsed back to the same terms."""
    limit = RuleLimit("slots", "1+$num_proc*2", (Term(Fraction(1)), Term(Fraction(2), "num_proc")))
    sets = (RuleSet("r", (QuotaRule(hosts=NameFilter(("*",), expanded=True), limits=(limit,)),)),)
    assert parse_sets(format_sets(sets), "f", STANDARD).sets == sets


@pytest.mark.parametrize(
    "text",
    [
        " ".join(["word"] * 60),
        ",".join(["word"] * 60),
        ", ".join(["word"] * 60),
        (" " * 20).join(["word"] * 20),
        f"{'x' * 70}  \t  {'y' * 90} z",
    ],
)
def test_a_long_description_keeps_all_blanks(text):
    """It is broken over lines, and parsed back unchanged."""
    sets = (RuleSet("r", (QuotaRule(limits=(RuleLimit("slots", "5"),)),), f'"{text}"'),)
    assert parse_sets(format_sets(sets), "f", STANDARD).sets == sets

"""The findings of lint are proved: no expression, ad or pool contradicts them."""

import itertools

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from calls import ANYTHING as ARGUMENTS
from expressions import ads, expressions
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Ad,
    Environment,
    Table,
    bind,
    evaluate,
    is_true,
    parse,
    parse_ad,
    unparse,
)
from negotiator.classad.context import BINARY, UNARY, AdValue, ListValue
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.lint import LintCode, lint
from negotiator.classad.lint.findings import ExpressionText
from negotiator.classad.lint.typed_expression import KnownAds, LintPool, NoFacts, read
from negotiator.classad.lint.value_types import ANY, PossibleValue, ValueType, binary, exactly, type_of, unary
from negotiator.classad.syntax import Attr, Call, Literal
from negotiator.classad.values import AbsTime, RelTime

ENV = Environment(now=1_700_000_000.0)
ELSEWHERE = Environment(now=5.0, seed=7, zone_offset=7200)
NUMBERS = [
    0,
    1,
    -1,
    7,
    64,
    2**63 - 1,
    -(2**63),
    0.0,
    -0.0,
    2.5,
    -1.0,
    1e308,
    -1e308,
    float("nan"),
    float("-inf"),
]
VALUES = [
    *(UNDEFINED, ERROR, True, False, *NUMBERS, "", "a", "A", "10"),
    *(evaluate(parse("{1, A}")), evaluate(parse("[A = 1]")), AbsTime(5), AbsTime(9, 60), RelTime(60.0), RelTime(-1.0)),
]  # fmt: skip
TEXTS = [
    *("undefined", "error", "true", "7", "-2", "2.5", '""', '"a"', '"1,b"', '"["', "{}", "{1, 2.5}", '{"a"}', "[x = 1]"),
    *("A", "[]", "relTime(60)", "absTime(5)", 'absTime("2020-01-01T12:00:00Z")'),
]  # fmt: skip
TRUE, FALSE = (
    {LintCode.ALWAYS_TRUE, LintCode.ALWAYS_TRUE_IN_POOL},
    {LintCode.ALWAYS_FALSE, LintCode.ALWAYS_FALSE_IN_POOL},
)
CLAIMS = {
    **dict.fromkeys(TRUE, is_true),
    **dict.fromkeys(FALSE, lambda value: isinstance(value, int | float) and not is_true(value)),
    **dict.fromkeys(
        (LintCode.ALWAYS_UNDEFINED, LintCode.ALWAYS_UNDEFINED_IN_POOL), lambda value: value is UNDEFINED
    ),
    **dict.fromkeys(
        (LintCode.ALWAYS_ERROR, LintCode.ALWAYS_ERROR_IN_POOL),
        lambda value: value is not UNDEFINED and not isinstance(value, int | float),
    ),
    **dict.fromkeys((LintCode.NEVER_TRUE, LintCode.NEVER_TRUE_IN_POOL), lambda value: not is_true(value)),
    **dict.fromkeys((LintCode.UNDEFINED_COMPARISON,), lambda value: value in (UNDEFINED, ERROR)),
    **dict.fromkeys(
        (LintCode.NOT_A_CONDITION, LintCode.NOT_A_CONDITION_IN_POOL),
        lambda value: not isinstance(value, int | float),
    ),
    **dict.fromkeys(
        (
            LintCode.STRING_NUMBER,
            LintCode.STRING_NUMBER_IN_POOL,
            LintCode.WRONG_OPERAND,
            LintCode.WRONG_OPERAND_IN_POOL,
        ),
        lambda value: value in (UNDEFINED, ERROR) or isinstance(value, bool),
    ),
    LintCode.UNKNOWN_FUNCTION: lambda value: value is ERROR,
    LintCode.WRONG_ARGUMENTS: lambda value: value is ERROR,
}


def allows(possible, value):
    """True if a value is one of the possible ones."""
    if possible.value is not None and not isinstance(value, ListValue | AdValue):
        return Literal(possible.value) == Literal(value)
    return possible.may_be(type_of(value))


def was_given_up(expr, my, target):
    """True if the evaluation is aborted, so that not even isError has a value."""
    return evaluate(Call("isError", (expr,)), my, target, ENV) not in (True, False)


def wider(value):
    """Return possible values that include this one: it alone, any of its type, anything."""
    return [
        exactly(value),
        PossibleValue(type_of(value)),
        PossibleValue(type_of(value) | ValueType.UNDEFINED),
        PossibleValue(ANY),
    ]


def test_results_of_operators_are_among_the_possible_ones():
    """For every operator and all pairs of values, with each operand known exactly, by its type, or not at all."""
    for op, (left, right) in itertools.product(BINARY, itertools.product(VALUES, VALUES)):
        value = BINARY[op](left, right)
        for one, other in itertools.product(wider(left), wider(right)):
            assert allows(binary(op, one, other), value), (op, left, right, one, other)
    for op, operand in itertools.product(UNARY, VALUES):
        for one in wider(operand):
            assert allows(unary(op, one), UNARY[op](operand)), (op, operand, one)


def check_call(name, arguments):
    """Check the result of a call, with its arguments as constants and as attributes of an ad."""
    constant = Call(name, tuple(map(parse, arguments)))
    my = Ad([(f"a{place}", argument) for place, argument in enumerate(constant.args)])
    for call in (constant, Call(name, tuple(map(Attr, my)))):
        possible = read(call, NoFacts(), ExpressionText()).value_of(call)
        if not was_given_up(call, my, None):
            for env in (ENV, ELSEWHERE):
                assert allows(possible, evaluate(call, my, None, env)), unparse(call)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_results_of_functions_are_among_the_possible_ones(name):
    """With up to two arguments, all types with all others."""
    for count in range(3):
        for arguments in itertools.product(TEXTS, repeat=count):
            check_call(name, arguments)


@settings(max_examples=150)
@given(st.sampled_from(sorted(FUNCTIONS)), st.lists(ARGUMENTS, min_size=3, max_size=4))
def test_results_of_functions_of_more_arguments_are_among_the_possible_ones(name, arguments):
    """Also with odd arguments."""
    check_call(name, arguments)


@settings(max_examples=250)
@given(expressions(), ads("OnlyMine"), ads("OnlyOther"))
def test_the_value_of_every_part_is_among_the_possible_ones(text, mine, other):
    """In any two ads, and alone in any ad."""
    expr, my, target = bind(parse(text)), parse_ad(mine), parse_ad(other)
    for alone in (False, True):
        reading = read(expr, NoFacts(alone), ExpressionText())
        for node in reading.nodes:
            beside = None if alone else target
            if not was_given_up(node, my, beside):
                assert allows(reading.value_of(node), evaluate(node, my, beside, ENV)), unparse(node)


@settings(max_examples=150)
@given(
    expressions(),
    st.lists(ads("OnlyMine"), min_size=1, max_size=3),
    st.lists(ads("OnlyOther"), min_size=1, max_size=3),
    st.booleans(),
)
def test_the_value_of_every_part_in_a_pool_is_among_the_possible_ones(text, mine, others, bound):
    """For all pairs; for any other ad if that side is not known."""
    expr = bind(parse(text)) if bound else parse(text)
    my, target = [parse_ad(ad) for ad in mine], [parse_ad(ad) for ad in others]
    slots, jobs = KnownAds(Table.from_ads(my), "slot"), KnownAds(Table.from_ads(target), "job")
    assume("unresolved" not in text and "InEachContext" not in text and "countMatches" not in text)
    for pool in (
        LintPool(slots, jobs),
        LintPool(slots, None),
        LintPool(None, jobs),
        LintPool(slots, None, alone=True),
    ):
        reading = read(expr, pool, ExpressionText())
        pairs = [(ad, None) for ad in my] if pool.alone else itertools.product(my, target)
        for ad, other in pairs:
            for node in reading.nodes:
                if id(node) not in reading.elsewhere and not was_given_up(node, ad, other):
                    assert allows(reading.value_of(node), evaluate(node, ad, other, ENV)), unparse(node)


@settings(max_examples=250)
@given(
    expressions(),
    st.lists(ads("OnlyMine"), min_size=1, max_size=3),
    st.lists(ads("OnlyOther"), min_size=1, max_size=3),
    st.sampled_from(["text", "my", "both", "alone"]),
)
@example("MY.A == undefined", ["[A = 1]"], ["[]"], "text")
@example("MY.A > TARGET.A", ["[A = 1]", "[A = 2]"], ["[A = 5]"], "both")
@example('A =?= "x" && B', ["[A = 1]", "[A = 2; B = 5]"], ["[B = 5]"], "alone")
def test_every_finding_holds(text, mine, others, known):
    """Every part has the value that lint reports, for the ads that were given or for any."""
    expr = bind(parse(text))
    my, target = [parse_ad(ad) for ad in mine], [parse_ad(ad) for ad in others]
    given_ads = {} if known == "text" else {"my": Table.from_ads(my)}
    if known == "both":
        given_ads["target"] = Table.from_ads(target)
    found = lint(expr, alone=known == "alone", env=ENV, text=text, **given_ads)
    pairs = [(ad, None) for ad in my] if known == "alone" else list(itertools.product(my, target))
    for finding in found:
        for ad, other in pairs:
            if not was_given_up(finding.expr, ad, other) and finding.code in CLAIMS:
                value = evaluate(finding.expr, ad, other, ENV)
                assert CLAIMS[finding.code](value), str(finding)

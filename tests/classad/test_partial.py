"""Partial evaluation: a folded expression has the same value as the given one in every match it was folded for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import (
    Ad,
    Environment,
    Side,
    Table,
    evaluate,
    parse,
    parse_ad,
    unparse,
    unparse_value,
)
from negotiator.classad.columnar.partial import CommonAttributes, GivenAd, UnknownAd, fold_constants
from negotiator.classad.context import AdValue, ListValue
from negotiator.classad.syntax import ListExpr, Literal, tree_key

ENV = Environment(now=1_700_000_000.0, seed=3)

CLOCK = ["time()", "CurrentTime", "time() - A", "formatTime(A)", "absTime(0)", "random(1)", "dayTime()"]
CHOICES = [
    "{0} && {1}", "{0} || {1}", "true && {0}", "{0} && true", "false || {0}", "{0} || false", "{0} || true", "{0} && false",
    "{0} ? {1} : {2}", "ifThenElse({0}, {1}, {2})", "{0} ?: ({1})", "true ? {0} : {1}", '"a" && {0}', '"a" ? {0} : {1}',
    "!{0}", "{0} =?= {1}", "{0} == {1}", "error || {0}", "undefined && {0}", "ifThenElse({0}, {1})", "nosuch({0})",
]  # fmt: skip


def _choice(inner):
    part = inner.map("({})".format)
    return st.builds(str.format, st.sampled_from(CHOICES), part, part, part)


texts = st.one_of(
    expressions(),
    _choice(expressions(max_leaves=4) | st.sampled_from(CLOCK)),
    _choice(_choice(expressions(max_leaves=3) | st.sampled_from(CLOCK))),
)


def _canonical(value):
    """Return a value with its type; lists and ads as text, which folding must not change."""
    text = unparse_value(value) if isinstance(value, ListValue | AdValue) else repr(value)
    return f"{type(value).__name__} {text}"


def _same(expr, folded, my, target):
    assert _canonical(evaluate(folded, my, target, ENV)) == _canonical(evaluate(expr, my, target, ENV)), (
        unparse(folded)
    )


@settings(deadline=None)
@given(texts, ads("OnlyMine"), st.lists(ads("OnlyOther"), min_size=1, max_size=4))
def test_an_ads_own_expression_keeps_its_value_in_every_row(text, own, others):
    """Folding in the ad and what the rows have in common changes no value, no error and no type."""
    expr, my, rows = parse(text), parse_ad(own), [parse_ad(other) for other in others]
    common = CommonAttributes(Table.from_ads(rows))
    folded = fold_constants(expr, GivenAd(my, common, ENV), common, ENV)
    for row in rows:
        _same(expr, folded.expr, my, row)


@settings(deadline=None)
@given(texts, ads("OnlyOther"), st.lists(ads("OnlyMine"), min_size=1, max_size=4))
def test_an_expression_of_the_rows_keeps_its_value_in_every_row(text, other, own):
    """Likewise for an expression of the rows, matched with a known ad."""
    expr, target, rows = parse(text), parse_ad(other), [parse_ad(ad) for ad in own]
    common = CommonAttributes(Table.from_ads(rows))
    folded = fold_constants(expr, common, GivenAd(target, common, ENV), ENV)
    for row in rows:
        _same(expr, folded.expr, row, target)


@settings(deadline=None)
@given(texts, ads("OnlyMine"), ads("OnlyOther"))
def test_nothing_is_assumed_of_an_unknown_ad(text, own, other):
    """If only one ad is known, or none, the value is right whatever the other ad is."""
    expr, my, target = parse(text), parse_ad(own), parse_ad(other)
    for folded in (
        fold_constants(expr, GivenAd(my, UnknownAd(), ENV), UnknownAd(), ENV),
        fold_constants(expr, UnknownAd(), GivenAd(target, UnknownAd(), ENV), ENV),
        fold_constants(expr, UnknownAd(), UnknownAd(), ENV),
    ):
        _same(expr, folded.expr, my, target)


@settings(deadline=None)
@given(texts, ads("OnlyMine"), ads("OnlyOther"))
def test_an_expression_can_be_written_for_the_other_ad(text, own, other):
    """If it no longer reads its own ad, it has the same value as an expression of the other ad."""
    expr, my, target = parse(text), parse_ad(own), parse_ad(other)
    known = GivenAd(my, UnknownAd(), ENV)
    _same(expr, fold_constants(expr, known, UnknownAd(), ENV, canonical=Side.MY).expr, my, target)
    folded = fold_constants(expr, known, UnknownAd(), ENV, canonical=Side.TARGET)
    if not folded.reads_my and not isinstance(folded.expr, ListExpr):
        expected = _canonical(evaluate(expr, my, target, ENV))
        assert _canonical(evaluate(folded.expr, target, my, ENV)) == expected


def _constants(ad):
    """Return an ad without expressions, which could read the other ad."""
    return Ad([(name, expr) for name, expr in ad.items() if isinstance(expr, Literal)])


@settings(deadline=None)
@given(texts, ads("OnlyMine"), ads("OnlyMine"), ads("OnlyOther"), ads("OnlyOther"))
def test_an_expression_that_no_longer_reads_an_ad_does_not_depend_on_it(text, own, instead, other, another):
    """If ``reads_my`` or ``reads_target`` is false, another ad in its place changes nothing."""
    expr, my, target = parse(text), parse_ad(own), parse_ad(other)
    folded = fold_constants(expr, GivenAd(my, UnknownAd(), ENV), UnknownAd(), ENV)
    if not folded.reads_my:
        value = _canonical(evaluate(folded.expr, my, _constants(target), ENV))
        assert _canonical(evaluate(folded.expr, parse_ad(instead), _constants(target), ENV)) == value
    if not folded.reads_target:
        value = _canonical(evaluate(folded.expr, _constants(my), target, ENV))
        assert _canonical(evaluate(folded.expr, _constants(my), parse_ad(another), ENV)) == value


MY = parse_ad(
    '[Ask = 2; AskReal = 2.0; Yes = true; Text = "x"; Made = Ask * 1024; Deep = Made + Ask; Back = TARGET.Memory; Loop = Loop + 1;'
    ' Way = Round; Round = Way; Chance = random(5); Now = time(); L = { Ask, 1 }; Fails = 1 / 0; Zero = -0.0; U = undefined]'
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TARGET.Memory >= MY.Ask", "TARGET.Memory >= 2"),
        ("TARGET.Memory >= Made", "TARGET.Memory >= 2048"),
        ("TARGET.Memory >= AskReal", "TARGET.Memory >= 2.0"),
        ("TARGET.Memory =?= Yes", "TARGET.Memory =?= true"),
        ("TARGET.Memory =?= Zero", "TARGET.Memory =?= -0.0"),
        ("TARGET.Memory >= Deep * 2", "TARGET.Memory >= 4100"),
        ("TARGET.Memory >= MY.Nothing", "TARGET.Memory >= undefined"),
        ("TARGET.Memory >= Fails", "TARGET.Memory >= error"),
        ("TARGET.Memory >= Back", "TARGET.Memory >= MY.Back"),
        ("TARGET.Memory >= Loop", "TARGET.Memory >= MY.Loop"),
        ("TARGET.Memory >= Way", "TARGET.Memory >= MY.Way"),
        ("TARGET.Memory >= Chance", "TARGET.Memory >= MY.Chance"),
        ("Memory >= 1", "TARGET.Memory >= 1"),
        ("Yes && TARGET.A == 1", "TARGET.A == 1"),
        ("Yes && TARGET.A", "true && TARGET.A"),
        ("TARGET.A == 1 && Yes", "TARGET.A == 1"),
        ("TARGET.A || Yes", "TARGET.A || true"),
        ("Yes || TARGET.A", "true"),
        ("Ask || TARGET.A", "true"),
        ("!Yes && TARGET.A", "false"),
        ("Fails && TARGET.A", "error"),
        ("U && TARGET.A", "undefined && TARGET.A"),
        ("Text && TARGET.A", '"x" && TARGET.A'),
        ("Yes ? TARGET.A : TARGET.B", "TARGET.A"),
        ("U ? TARGET.A : TARGET.B", "undefined"),
        ("ifThenElse(Ask > 5, TARGET.A, TARGET.B + Ask)", "TARGET.B + 2"),
        ("U ?: TARGET.A", "TARGET.A"),
        ("Text ?: TARGET.A", '"x"'),
        ("strcat(Text, Ask)", '"x2"'),
        ("member(Ask, { 1, 2 })", "true"),
        ('split("a b")[Ask - 1]', '"b"'),
        ("member(TARGET.A, { Ask, 2 })", "member(TARGET.A,{ Ask,2 })"),
        ("L[0] + Ask", "MY.L[0] + 2"),
        ("countMatches(Ask, TARGET.L) + Ask", "countMatches(Ask,TARGET.L) + Ask"),
        ("countMatches(Ask > 1, TARGET.L) + Ask", "countMatches(Ask > 1,TARGET.L) + 2"),
        ("eval(Text) + Ask", "eval(Text) + 2"),
        ("time() + Ask", "time() + 2"),
        ("(Ask) + 1", "3"),
        ("nosuch(TARGET.A)", "error"),
        ("MY.TARGET.A + Ask", "MY.TARGET.A + 2"),
    ],
)
def test_what_is_folded(text, expected):
    """Constants are folded in if that cannot change a value; everything else stays as written."""
    folded = fold_constants(parse(text), GivenAd(MY, UnknownAd(), ENV), UnknownAd(), ENV).expr
    assert unparse(folded) == unparse(parse(expected))


PREDEFINED_NAMES = [
    "CurrentTime > 5", "MY.CurrentTime > 5", "TARGET.CurrentTime > 5", "isUndefined(parent)", "MY.parent =?= undefined",
    "LEFT.Ask", "MY.LEFT.Ask", "TARGET.RIGHT.Memory", ".Ask", "isUndefined(.RIGHT)", "symmetricMatch", "MY.leftRankValue",
    "self.Ask", "other.Memory", "TARGET.other.Ask", "MY.TARGET.MY.Memory", "isClassAd(MY)", "isUndefined(toplevel)",
]  # fmt: skip
FAILING = [
    'isError("x" ? random(0) : 1)',
    'isError("x" && random(0))',
    "isError(ifThenElse(Text, random(0), 1))",
]


@pytest.mark.parametrize("text", PREDEFINED_NAMES + FAILING)
def test_special_names_and_failing_evaluations_are_not_folded(text):
    """Names that no ad defines may have a meaning; and a failure ends more than the part it occurs in."""
    target = parse_ad("[Memory = 7; Requirements = Memory > 5; Rank = 3]")
    expr = parse(text)
    for known in (
        GivenAd(MY, UnknownAd(), ENV),
        GivenAd(MY, CommonAttributes(Table.from_ads([target])), ENV),
    ):
        _same(
            expr,
            fold_constants(expr, known, CommonAttributes(Table.from_ads([target])), ENV).expr,
            MY,
            target,
        )


def test_what_all_rows_have_in_common_is_known():
    """An attribute that no row has, or all have with one value, is folded in; one that some have is not."""
    table = Table.from_ads(
        [parse_ad('[OS = "L"; Cpus = 1; GPUs = 1]'), parse_ad('[OS = "L"; Cpus = 2; Rank = A]')]
    )
    rows = CommonAttributes(table)
    job = GivenAd(parse_ad("[Cpus = 7; GPUs = 8]"), rows, ENV)
    for text, expected in {
        'OS == "L"': "true",
        "MY.Nope": "undefined",
        "Cpus": "MY.Cpus",
        "GPUs": "GPUs",
        "MY.GPUs + TARGET.GPUs": "MY.GPUs + 8",
        "Nope =?= undefined": "true",
    }.items():
        assert unparse(fold_constants(parse(text), rows, job, ENV).expr) == unparse(parse(expected))


def test_the_canonical_form_of_equal_conditions_is_the_same():
    """Constants are on the right of comparisons, and scopes are the ads themselves, so that cache entries are shared."""
    texts = ["TARGET.Memory >= MY.Ask", "Ask <= TARGET.Memory", "Memory >= Ask", "2 <= target.memory"]
    known = GivenAd(MY, UnknownAd(), ENV)
    folded = {
        tree_key(fold_constants(parse(text), known, UnknownAd(), ENV, canonical=Side.MY).expr)
        for text in texts
    }
    assert len(folded) == 1
    as_rows = fold_constants(parse(texts[0]), known, UnknownAd(), ENV, canonical=Side.TARGET).expr
    assert unparse(as_rows) == "MY.Memory >= 2"


@pytest.mark.parametrize("text", ["Ask" + " + Ask" * 5000, "!" * 150 + "(" * 60 + "Ask" + ")" * 60])
def test_deep_expressions_are_not_folded(text):
    """Folding ends without an error at any depth, also along a chain of very many attributes."""
    fold_constants(parse(text), GivenAd(MY, UnknownAd(), ENV), UnknownAd(), ENV)
    ad = Ad([(f"X{n}", parse(f"X{n + 1} + 1")) for n in range(3000)])
    assert fold_constants(parse("X0"), GivenAd(ad, UnknownAd(), ENV), UnknownAd(), ENV).reads_my


def test_very_long_strings_are_not_folded_in():
    """The text of a folded expression is a key of the cache."""
    ad = parse_ad(f'[S = "{"x" * 6000}"; T = strcat(S, S)]')
    known = GivenAd(ad, UnknownAd(), ENV)
    assert unparse(fold_constants(parse("TARGET.A == T"), known, UnknownAd(), ENV).expr).endswith("T")

"""The look-up of names (SEMANTICS section 4), also in central expressions."""

import pytest

from golden import OURS
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Ad,
    Environment,
    Side,
    evaluate,
    parse,
    parse_ad,
    unparse_value,
)
from negotiator.classad.syntax import AdRef, Attr, Binary, Call, Literal

MATCH = """
A => 1
TARGET.A => 100
MY.A => 1
OnlyT => 1000
MY.OnlyT => undefined
TARGET.OnlyM => undefined
RefT => 1001
TARGET.RefM => 11
TARGET.RefBoth => 110
TARGET.UsesMy => 100
TARGET.UsesTarget => 1
TARGET.UsesUnscoped => 100
MY.TARGET.A => 100
TARGET.TARGET.A => 1
other.A => 100
self.A => 1
.A => undefined
.RIGHT.A => 100
LEFT.A => 1
lCtx.target.A => 100
rCtx.target.A => 1
rCtx.ad.A => 100
Circ => undefined
Circ1 => undefined
CircX => undefined
SelfRef => undefined
TARGET.CircX => undefined
NestA.fromOuter => 2
NestA.fromMy => 2
TARGET.NestA.fromOuter => 200
TARGET.NestA.fromTarget => 1
NestA.up => 2
NestA["X"] => 5
[q = A].q => 1
[A = 7; q = A].q => 7
[q = OnlyT].q => undefined
[A = 7; q = MY.A].q => 7
[A = 7; q = parent.A].q => 1
[q = TARGET.A].q => 100
ListA[2] => 2
TARGET.ListA[2] => 101
TARGET.ListAds.r => { 100,200 }
sum(TARGET.ListA) => 103
eval("TARGET.A") => 100
TARGET.EvalStr => 100
eval("A +") => error
eval(undefined) => error
unparse(RefT) => "OnlyT + 1"
unparse(MY.RefT) => ""
unparse(nosuch) => ""
unparse(1) => error
unresolved(RefT) => "OnlyT"
unresolved(RefT, "^only") => true
unresolved(RefT, "^x") => false
unresolved(A) => ""
unresolved(1) => error
evalInEachContext(MY.Pred,TARGET.ListAds) => { false,true }
countMatches(MY.Pred,TARGET.ListAds) => 1
evalInEachContext(q,TARGET.ListAds) => undefined
countMatches(q,TARGET.ListAds) => 0
evalInEachContext(q+0,TARGET.ListAds) => { 1,2 }
LEFT.A + B => 3
evalInEachContext(OnlyT + 0, MY.ListAds) => { 1000,1000 }
evalInEachContext(OnlyM + 0, TARGET.ListAds) => { 10,10 }
evalInEachContext(OnlyT + 0, {[a = 1]}) => { 1000 }
[n = evalInEachContext(OnlyT + 0, {[a = 1]})].n => { undefined }
countMatches(OnlyM > 1, TARGET.ListAds) => 2
evalInEachContext(1, undefined) => undefined
evalInEachContext(1, 1) => error
evalInEachContext(q, { [q=1], 2, undefined }) => { 1,error,undefined }
unresolved(nosuch) is undefined && A is undefined => true
unresolved(A) is "" && A is 1 => true
CurrentTime > 0 => true
currenttime - time() => 0
ifThenElse(A == 1, B, nosuch.x.y) => 2
ifThenElse(undefined, 1, 2) => undefined
ifThenElse("x", 1, 2) => error
ifThenElse(1, 2) => error
noSuchFunction(1) => error
debug(A + 1) => 2
"""
ALONE = """
.A => 1
TARGET.A => undefined
other.A => undefined
MY.A => 1
self.A => 1
root.A => 1
toplevel.A => 1
parent => undefined
parent.A => undefined
LEFT => undefined
NestA.up => 2
NestA.fromTarget => undefined
RefT => undefined
[q = .A].q => 1
evalInEachContext(q,ListAds) => { 1,2 }
evalInEachContext(q,{[q=1],[q=2]}) => { 1,2 }
"""
NOWHERE = """
A => undefined
MY => undefined
MY.A => undefined
TARGET.A => undefined
CurrentTime => undefined
parent => undefined
.A => error
[a = 1; b = a].b => 1
[a = 1; b = [c = a]].b.c => 1
[a = self.b; b = 2].a => 2
{1, 2}[0] => 1
"""
NOON = Environment(now=1_700_000_000.0)
MINE, OTHER = OURS.ad("@syn_my"), OURS.ad("@syn_target")


def cases(table):
    return [line.rsplit(" => ", 1) for line in table.strip().splitlines()]


def shown(text, my=None, target=None):
    return unparse_value(evaluate(parse(text), my, target, NOON))


@pytest.mark.parametrize(("text", "value"), cases(MATCH))
def test_names_in_a_match(text, value):
    """My ad is LEFT and the other one RIGHT; an attribute is evaluated in the ad that has it."""
    assert shown(text, MINE, OTHER) == value


@pytest.mark.parametrize(("text", "value"), cases(ALONE))
def test_names_in_a_single_ad(text, value):
    """Without another ad, TARGET is undefined and MY is the ad, which is also the root."""
    assert shown(text, MINE) == value


@pytest.mark.parametrize(("text", "value"), cases(NOWHERE))
def test_names_without_an_ad(text, value):
    """Every name is undefined, and an absolute one makes the evaluation fail."""
    assert shown(text) == value


@pytest.mark.parametrize("spelled", ["MEMORY", "memory", "Memory"])
def test_names_have_no_case(spelled):
    """Attributes, scopes and functions are looked up without case."""
    ad = parse_ad("[Memory = 5]")
    assert evaluate(parse(spelled), ad) == 5
    assert evaluate(parse(f"my.{spelled}"), ad) == 5
    assert evaluate(parse(f"IFTHENELSE(TRUE, {spelled}, 1)"), ad) == 5


def test_an_undefined_attribute_does_not_fall_through_to_the_other_ad():
    """Only an absent name is looked up in the other ad, not an undefined one."""
    other = parse_ad("[X = 1; Y = 1]")
    assert evaluate(parse("X"), parse_ad("[X = undefined]"), other) is UNDEFINED
    assert evaluate(parse("Y"), parse_ad("[X = undefined]"), other) == 1


def test_the_circular_reference_itself_is_undefined():
    """The innermost reference of a circle is undefined, so the expression around it can have a value."""
    ad = parse_ad("[A = B + 1; B = A ?: 5; N = [x = N.x ?: 4]]")
    assert evaluate(parse("A"), ad) == 6
    assert evaluate(parse("B"), ad) == 5
    assert evaluate(parse("N.x"), ad) == 4


def test_a_circle_through_both_ads():
    """If the ads refer to each other's attribute, the circle ends at the attribute evaluated first."""
    mine, other = parse_ad("[Q = TARGET.Q ?: 3]"), parse_ad("[Q = TARGET.Q ?: 1]")
    assert evaluate(parse("Q"), mine, other) == 1
    assert evaluate(parse("TARGET.Q"), mine, other) == 3


def test_a_repeated_reference_is_not_circular():
    """An attribute that has been evaluated may be evaluated again."""
    assert evaluate(parse("A + A + B"), parse_ad("[A = B; B = C + C; C = 1]")) == 6


HIJACKER = parse_ad(
    '[MY = [Secret = "mine"; Cpus = 8]; Cpus = 2; TARGET = [Memory = 999999; Secret = "fake"]; other = TARGET;'
    " RIGHT = TARGET; LEFT = TARGET; Memory = 1]"
)
HONEST = parse_ad('[Memory = 64; Secret = "theirs"; Reads = TARGET.Memory]')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("MY.Secret", "mine"),
        ("MY.Cpus", 8),
        ("self.Memory", 1),
        ("MY.Memory", 1),
        ("TARGET.Memory", 999999),
        ("TARGET.Secret", "fake"),
    ],
)
def test_an_ad_may_have_attributes_called_my_and_target(text, value):
    """In the expressions of ads such an attribute hides the ad, as in HTCondor."""
    assert evaluate(parse(text), HIJACKER, HONEST) == value


@pytest.mark.parametrize(("side", "memory"), [(Side.MY, 1), (Side.TARGET, 64)])
def test_a_central_expression_refers_to_the_ads_themselves(side, memory):
    """Attributes called MY and TARGET do not hide the ads from a central expression."""
    assert evaluate(Attr("Memory", AdRef(side)), HIJACKER, HONEST) == memory


@pytest.mark.parametrize("side", list(Side))
def test_a_central_expression_for_the_other_ad(side):
    """MY is the ad for which a central expression is evaluated."""
    here, there = (HONEST, HIJACKER) if side is Side.TARGET else (HIJACKER, HONEST)
    assert evaluate(Attr("Memory", AdRef(side)), here, there) == 1


def test_the_other_ad_of_a_central_expression_is_undefined_alone():
    """In a single ad TARGET is undefined, even if the ad has an attribute of that name."""
    assert evaluate(AdRef(Side.TARGET), HIJACKER) is UNDEFINED
    assert evaluate(Attr("Memory", AdRef(Side.TARGET)), HIJACKER) is UNDEFINED
    assert evaluate(Attr("Memory", AdRef(Side.MY)), HIJACKER) == 1


def test_a_central_expression_in_a_branch_or_an_argument():
    """Functions evaluate their arguments in the scope of the expression."""
    memory = Attr("Memory", AdRef(Side.TARGET))
    wrapped = Call("ifThenElse", (Literal(True), Call("strcat", (memory,)), Literal(ERROR)))
    assert evaluate(wrapped, HIJACKER, HONEST) == "64"


def test_a_central_expression_as_an_attribute_of_the_other_ad():
    """In an attribute of the other ad, MY is that ad."""
    policy = Binary(
        "+", Attr("Memory", AdRef(Side.MY)), Binary("*", Literal(1000), Attr("Memory", AdRef(Side.TARGET)))
    )
    there = HONEST.with_items([("Policy", policy)])
    assert evaluate(parse("TARGET.Policy"), parse_ad("[Memory = 1]"), there) == 64 + 1000
    assert evaluate(Attr("Policy"), there, parse_ad("[Memory = 1]")) == 64 + 1000


def test_a_record_has_one_scope():
    """The attributes of a record have the same values whether reached from inside or outside."""
    ad = parse_ad("[B = 1; N = [x = B; y = [z = x + B]]]")
    assert evaluate(parse("N.y.z"), ad) == 2
    assert evaluate(parse("[B = 5; w = N.y.z].w"), ad) == 2


def test_the_match_ad_as_a_whole():
    """Used as an ad, the scopes around a match have HTCondor's attributes."""
    value = evaluate(parse("root"), Ad(), Ad())
    assert set(value.ad.names()) >= {"LEFT", "RIGHT", "lCtx", "rCtx", "symmetricMatch", "leftRankValue"}
    pair = (
        parse_ad("[Requirements = TARGET.X == 1; X = 2]"),
        parse_ad("[Requirements = TARGET.X == 2; X = 1]"),
    )
    assert evaluate(parse("symmetricMatch"), *pair) is True
    assert evaluate(parse("symmetricMatch"), pair[1], parse_ad("[Requirements = true; X = 7]")) is False

"""Evaluations that fail, and what HTCondor does then, for one ad and by columns.

A failed evaluation has no value, not even error: ``isError(random(0))`` fails too. A few functions and operators go on
after a failure. The values are those of HTCondor's library, which is asked where it is installed.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calls import cases, needs_htcondor, words
from expressions import FAILING
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Ad,
    Allowance,
    Environment,
    Payers,
    Side,
    Table,
    evaluate,
    evaluate_table,
    parse,
    parse_ad,
    unparse_value,
)
from oracle import Oracle, available

NOON = Environment(now=1_700_000_000.0)
AD = """[
    A = 1; B = -1; S = "a,b"; L = {1, 2}; Fails = absTime(A, B); One = {1, random(0)}; Late = {1, 2, absTime(A, B)};
    C = [x = {1}; y = [z = 1; up = A]; f = random(0)]; Text = {"a", random(0)}; R = relTime("1:30");
    T = {T.x}; U = {[x = 1], U.x}; V = {W.x}; W = {V.x, [x = 2]}; X = {X[0].x}; Y = {Y.x is undefined}; Z = {(Z.x)};
    P = {[a = 1; b = P.a], [a = 2]}; Q = {[x = Q.x], [x = 1]}; D = {sum(D.x)}
]"""

NOT_AN_ERROR_VALUE = """
isError(absTime(A, B)) => error
isError(absTime(A, B)) || true => error
absTime(A, B) is error => error
isError(Fails) => error
isUndefined(random(0)) => error
isError(join({absTime(A, B)})) => error
isError(L[absTime(A, B)]) => error
true || absTime(A, B) => true
error ?: absTime(A, B) => error
false && isError(Fails) => false
isError(min({1, random(0)})) => error
isError(ifThenElse(random(0), 1, 2)) => error
isError(strcat("a", random(0))) => error
isError(member(1, {random(0), 1})) => error
"""

SWALLOWED = """
{random(0)}[0] => error
isError({random(0)}[0]) => true
isError(C["f"]) => true
isError(stringListsIntersect("a", random(0))) => true
isError(userHome(random(0))) => true
userHome("a", random(0)) => undefined
isError(regexpMember("a", {random(0)})) => true
isError(evalInEachContext(1, random(0))) => true
evalInEachContext(1, Fails.x) => undefined
countMatches(1, Fails.x) => 0
isError(evalInEachContext(random(0), {[]})[0]) => true
"""

NOT_REACHED = """
member(1, Late) => true
member(3, Late) => error
member(1, One) => true
identicalMember(1, One) => true
anyCompare("==", One, 1) => true
anyCompare("==", One, 2) => error
allCompare("==", One, 2) => false
regexpMember("a", Text) => true
isError(regexpMember("b", Text)) => true
quantize(5, {10, random(0)}) => 10
quantize(15, {10, random(0)}) => error
isError(min({"a", random(0)})) => true
isError(sum({"a", random(0)})) => true
isError(listToArgs({1, random(0)})) => true
isError(mergeEnvironment(1, random(0))) => true
isError(argsToList(random(0), 3)) => true
isError(listToArgs(random(0), 3)) => true
isError(formatTime("a", random(0))) => true
anyCompare(undefined, random(0), 1) => undefined
isError(anyCompare("=", random(0), 1)) => true
allCompare("<", undefined, random(0)) => undefined
strcat("a", undefined, random(0)) => undefined
isError(strcat(error, random(0))) => true
isError(join(error, random(0))) => true
join(undefined, random(0)) => error
join("", "a", random(0)) => error
"""

CIRCULAR_PROJECTIONS = """
T[0] => undefined
isError(T[0]) => false
T.x => error
isError(T.x) => error
U[1] => undefined
U[0].x => 1
V[0] => undefined
W[0] => undefined
W[1].x => 2
X[0] => undefined
X.x.x => { undefined }
join(X.x) => undefined
Y[0] => error
join(Y) => "false"
Z[0] => error
D[0] => error
size(T[0]) => undefined
T[0] ?: 7 => 7
P.b => { { 1,2 },-1 }
Q.x => { { undefined,1 },1 }
{Fails.x}[0] => undefined
{(Fails.x)}[0] => error
{Fails}[0] => error
"""

SELF_CONTAINED = """
split(S) is {"a", "b"} => false
split(S) =!= {"a", "b"} => true
{"a", "b"} is split(S) => false
split(S) is split(S) => error
split(S) is splitUserName("a@b") => error
L is L => error
L is split(S) => false
argsToList("a") is L => false
evalInEachContext(1, {[]}) isnt {1} => true
evalInEachContext(1, {[]}) is split(S) => error
P.a is {1, 2} => error
C["x"] is {1} => false
C["x"] is split(S) => error
C.x is {1} => error
C["y"] is C => false
C["y"] isnt C.y => true
C["y"] is C["y"] => error
splitTime(0) is C => error
splitTime(0) is C["y"] => false
(A == 1 ? split(S) : L) is L => false
{split(S)}[0] is L => false
C["y"].z => undefined
C["y"]["z"] => 1
C["y"]["up"] => undefined
C["x"][0] => 1
size(C["y"]) => 2
C.y.up => 1
split(S) is "a,b" => false
"""

RELATIVE_TIMES = """
R => 90.0
isReal(R) => true
unparse(R) => "relTime(\\"01:30\\")"
string({relTime("1.5"), relTime("1d2h3m4.25s")}) => "{ relTime(\\"1.5\\"),relTime(\\"1+02:03:4.25\\") }"
string({relTime("-90"), relTime("59.99999"), relTime("2147483648")}) => "{ relTime(\\"-01:30\\"),relTime(\\"60\\"),relTime(\\"-24855+-3:-14:-8\\") }"
string([q = relTime("")]) => "[ q = relTime(\\"00\\") ]"
string(relTime(1.5)) => "01"
string(-relTime(90.5)) => "-01:30"
{[a = relTime(1.5)]}.a[0] => 1.0
string({[a = relTime(90.5)]}.a) => "{ relTime(\\"01:30\\") }"
isReal(evalInEachContext(relTime(5), {[]})[0]) => true
"""

TABLES = [
    NOT_AN_ERROR_VALUE,
    SWALLOWED,
    NOT_REACHED,
    CIRCULAR_PROJECTIONS,
    SELF_CONTAINED,
    RELATIVE_TIMES,
]
CASES = [case for table in TABLES for case in cases(table)]


@pytest.mark.parametrize(("text", "value"), CASES)
def test_value(text, value):
    """The value is HTCondor's, for one ad, and by columns among rows of other values, on both sides of a match."""
    expected = value if value in {"error", "undefined"} else unparse_value(evaluate(parse(value)))
    ad = parse_ad(AD)
    assert unparse_value(evaluate(parse(text), ad, env=NOON)) == expected
    rows = [parse_ad("[A = 1]"), ad, parse_ad("[B = 2; S = 5]"), ad]
    alone = evaluate_table(parse(text), Table.from_ads(rows), env=NOON)
    assert [unparse_value(alone.value(row)) for row in (1, 3)] == [expected] * 2
    matched = evaluate_table(parse(text), Table.from_ads(rows), ad, side=Side.TARGET, env=NOON)
    assert [unparse_value(matched.value(row)) for row in range(4)] == [expected] * 4


@needs_htcondor
def test_every_value_is_the_one_of_htcondor():
    """The tables above agree with HTCondor's library."""
    oracle = Oracle()
    try:
        answers = oracle.ask_all([AD], [[text, 0, None] for text, _ in CASES])
    finally:
        oracle.close()
    assert available()
    assert answers is not None
    ours = [words(evaluate(parse(text), parse_ad(AD), env=NOON)) for text, _ in CASES]
    assert [(text, answer) for (text, _), answer in zip(CASES, answers, strict=True)] == [
        (text, own) for (text, _), own in zip(CASES, ours, strict=True)
    ]


def test_a_failing_argument_is_evaluated_once():
    """Nested calls that look at their last argument first do not evaluate a failing one twice at each level."""
    ad = parse_ad(
        "[" + "; ".join(f"X{at} = join(join(join(X{at + 1})))" for at in range(60)) + "; X60 = random(0)]"
    )
    assert evaluate(parse("isError(X0)"), ad, env=NOON) is ERROR


STRICT = [
    "isError({})",
    "isUndefined({})",
    "({}) is error",
    "!({})",
    "({}) + 1",
    "size({})",
    "int({})",
    "({})",
    "debug({})",
]


@given(
    st.sampled_from(FAILING),
    st.lists(st.sampled_from(STRICT), min_size=1, max_size=4),
    st.sampled_from(["TARGET.B", "B", "MY.A"]),
)
def test_nothing_above_a_failure_has_a_value(failing, around, name):
    """Whatever tests or converts the failed part, the whole is an error in the rows where it fails, and only there."""
    text = failing
    for shape in around:
        text = shape.format(text)
    expr = parse(f"{name} == 0 || ({text})")
    row, other = parse_ad("[A = 1; B = 1]"), parse_ad("[A = 1; B = 0]")
    column = evaluate_table(expr, Table.from_ads([row, other]), parse_ad("[A = 1; B = 1]"), env=NOON)
    found = evaluate(expr, row, parse_ad("[A = 1; B = 1]"), NOON)
    assert found is ERROR or failing.startswith("{")
    assert repr(column.value(0)) == repr(found)
    assert column.value(1) is (True if name == "B" else column.value(1))
    assert found is not UNDEFINED


def steps_of_chain(references, last):
    """Return the steps that a chain of references costs, for each reference that is evaluated."""
    chain = [(f"C{number}", parse(f"C{number + 1} + 1")) for number in range(references)]
    owner = Allowance(1_000_000)
    env = Environment(payers=Payers(rows=lambda _ad: owner, other=owner))
    evaluate(parse("C0"), Ad([*chain, (f"C{references}", parse(last))]), None, env)
    return (1_000_000 - owner.steps) / min(references, 199)


def test_a_chain_of_references_that_fails_costs_the_way_back_too():
    """At the limit of levels, or where its last one fails: unwinding takes time as well."""
    fits = steps_of_chain(190, "1 + 1")
    for failing in (steps_of_chain(390, "1 + 1"), steps_of_chain(190, "random(0)")):
        assert 1.6 * fits < failing < 2 * fits

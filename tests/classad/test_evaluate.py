"""Scalar evaluation: what it is like on hostile input, its limits, and that it agrees with HTCondor's library."""

import struct
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calls import words
from expressions import ads, expressions
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    ClassAd,
    Environment,
    ParseError,
    Side,
    evaluate,
    is_true,
    parse,
    parse_ad,
    unparse_value,
)
from negotiator.classad.context import BINARY, ListValue
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.functions.registry import elements, register
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Subscript,
    Unary,
)
from negotiator.classad.values import AbsTime, RelTime
from oracle import Oracle, available, real_text
from signatures import NOT_ASKED, every_name

LEVELS = 400


@pytest.mark.parametrize("value", [True, 1, -1, 0.5, float("nan"), float("-inf")])
def test_values_that_let_ads_match(value):
    """True, any number but zero, and NaN."""
    assert is_true(value)


@pytest.mark.parametrize(
    "value", [False, 0, 0.0, -0.0, UNDEFINED, ERROR, "true", "", RelTime(1.0), AbsTime(1)]
)
def test_values_that_do_not_let_ads_match(value):
    """Nothing else does, not even the text true."""
    assert not is_true(value)


@pytest.mark.parametrize("text", ["{true}", "[]", "[a = true]"])
def test_lists_and_ads_do_not_let_ads_match(text):
    """A list or an ad as Requirements is no match."""
    assert not is_true(evaluate(parse(text)))


# -- limits ----------------------------------------------------------------------------------------------------------


def chain(op, count, left):
    """The tree of ``left op 1 op 1 ...``, put together without recursion."""
    tree = left
    for _ in range(count):
        tree = Binary(op, tree, Literal(1))
    return tree


@pytest.mark.parametrize("op", ["+", "*", "&&", "||", "==", "|", "=?="])
def test_a_chain_of_as_many_operators_as_htcondor_allows(op):
    """400 operators have a value, one more has not; a reference needs a level of its own."""
    ad = parse_ad("[One = Two; Two = 1]")
    assert evaluate(chain(op, LEVELS, Literal(0))) is not ERROR
    assert evaluate(chain(op, LEVELS + 1, Literal(0))) is ERROR
    assert evaluate(chain(op, LEVELS - 2, Attr("One")), ad) is not ERROR
    assert evaluate(chain(op, LEVELS - 1, Attr("One")), ad) is ERROR


def test_an_element_of_a_list_is_a_level_below_its_subscript():
    """A subscript takes two levels, and a reference in the list a third."""
    ad = parse_ad("[A = 1]")
    for item, needed in ((Literal(1), 2), (Attr("A"), 3)):
        subscript = Subscript(ListExpr((item,)), Literal(0))
        assert evaluate(chain("+", LEVELS - needed, subscript), ad) == LEVELS - needed + 1
        assert evaluate(chain("+", LEVELS - needed + 1, subscript), ad) is ERROR


@pytest.mark.parametrize("op", ["+", "&&", "||", "<"])
def test_a_chain_of_thousands_of_operators_is_an_error(op):
    """Neither the interpreter's stack nor ours is at risk."""
    assert evaluate(chain(op, 100_000, Attr("x")), ClassAd()) is ERROR


def test_what_is_too_deep_does_no_harm_where_it_is_not_reached():
    """Levels are counted where the evaluation goes, not where the tree is."""
    deep = chain("+", 5000, Literal(1))
    assert evaluate(Binary("||", Literal(True), deep)) is True
    assert evaluate(Conditional(Literal(False), deep, Literal(7))) == 7
    assert evaluate(Conditional(Literal(True), deep, Literal(7))) is ERROR


@pytest.mark.parametrize(
    ("shape", "deepest"),
    [
        ("{}", 399),
        ("{} + 0", 199),
        ("({})", 199),
        ("int({})", 399),
        ("MY.{}", 398),
        ("ifThenElse(true, {}, 0)", 399),
        ("[b = {}].b", 199),
        ("{{{}}}[0]", 133),
        ("{{1}}[{} - 1]", 133),
    ],
)
def test_attributes_that_refer_to_attributes(shape, deepest):
    """The length of the longest chain of references that HTCondor follows."""

    def first(length):
        items = [(f"a{i}", parse(shape.format(f"a{i + 1}"))) for i in range(length)]
        return evaluate(Attr("a0"), ClassAd([*items, (f"a{length}", Literal(1))]))

    assert first(deepest) == 1
    assert first(deepest + 1) is ERROR


NESTED = {
    "parentheses": Paren,
    "negations": lambda tree: Unary("!", tree),
    "minus": lambda tree: Unary("-", tree),
    "calls": lambda tree: Call("int", (tree,)),
    "unknown calls": lambda tree: Call("nosuch", (tree,)),
    "lists": lambda tree: ListExpr((tree,)),
    "records": lambda tree: RecordExpr((("a", tree),)),
    "scopes": lambda tree: Attr("a", tree),
    "sums": lambda tree: Call("sum", (ListExpr((tree,)),)),
    "branches": lambda tree: Conditional(Literal(True), tree, Literal(0)),
    "arguments": lambda tree: Call("ifThenElse", (Literal(True), tree, Literal(0))),
    "contexts": lambda tree: Call("countMatches", (tree, ListExpr((RecordExpr(()),)))),
    "right operands": lambda tree: Binary("+", Literal(1), tree),
}


@pytest.mark.parametrize("wrap", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("depth", [50, 399, 5000])
def test_deep_trees_have_a_value(wrap, depth):
    """Nothing raises, however deep a tree is nested."""
    tree = Attr("x")
    for _ in range(depth):
        tree = wrap(tree)
    for target in (None, ClassAd([("x", Literal(1))])):
        evaluate(tree, ClassAd([("x", Attr("y"))]), target)


def test_a_reference_is_found_beneath_what_nothing_counts():
    """Calls are no level in HTCondor: however many there are, the value is that of the innermost."""
    tree = Attr("x")
    for _ in range(300):
        tree = Call("int", (tree,))
    assert evaluate(tree, ClassAd([("x", Literal(4.5))])) == 4


@pytest.mark.parametrize("count", [18, 60])
def test_work_that_doubles_with_each_attribute_ends(count):
    """The number of steps is bounded, as in HTCondor: 2**18 are few enough, 2**60 are an error."""
    items = [(f"a{i}", parse(f"a{i + 1} + a{i + 1}")) for i in range(count)]
    value = evaluate(Attr("a0"), ClassAd([*items, (f"a{count}", Literal(1))]))
    assert value == 2**18 if count == 18 else value is ERROR


CRASHERS = {
    "sum(L)": "[L = {sum(L)}]",
    "X": '[X = MY["X"]]',
    "MY.X": "[X = countMatches(X, L); L = {[a = 1]}]",
    "countMatches(P, L)": "[P = countMatches(P + 0, L); L = {[a = 1]}]",
    "evalInEachContext(q + 0, L)": "[q = sum(evalInEachContext(q + 0, L)); L = {[a = 1], [a = 2]}]",
}


@pytest.mark.parametrize(("text", "ad"), CRASHERS.items())
def test_recursion_that_crashes_htcondor_is_an_error(text, ad):
    """HTCondor begins a new evaluation inside another here, without end, and overflows its stack."""
    assert evaluate(parse(text), parse_ad(ad)) is ERROR


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('[a = (a ?: 5) + 1]["a"]', 7),
        ("[a = (a ?: 5) + 1].a", 6),
        ("[L = {L[0]}; x = L[0] is error].x", True),
        ('[X = eval("X") ?: 2].X', 2),
        ("[Z = A ?: 7; A = isUndefined(Z) ? countMatches(A + 0, {[b = 1]}) : 5; r = Z].r", 1),
    ],
)
def test_a_new_evaluation_inside_another_does_not_know_what_is_being_evaluated(text, value):
    """Where HTCondor begins afresh, a name that is being evaluated outside is no circle yet."""
    assert evaluate(parse(text), ClassAd()) == value


def test_a_failed_evaluation_is_an_error_as_a_whole():
    """What HTCondor gives up cannot be caught inside the expression, but for an element of a list."""
    for text in ("random(0) ?: 1", "isError(random(0))", "undefined && random(0)", '"a" ? 1 : random(0)'):
        assert evaluate(parse(text)) is ERROR
    assert evaluate(parse("isError({random(0)}[0])")) is True
    assert evaluate(parse("undefined ? random(0) : 1")) is UNDEFINED
    assert evaluate(parse("false && random(0)")) is False


def test_evaluating_leaves_the_ads_as_they_were():
    """After an error in the middle of references the next evaluation is a fresh one."""
    ad = parse_ad("[A = B; B = {random(0)}[0] ?: A; C = B]")
    assert evaluate(parse("C"), ad) is ERROR
    assert [evaluate(parse(name), ad) for name in ("A", "B", "C")] == [ERROR] * 3


# -- lists, functions, environment -----------------------------------------------------------------------------------


def test_the_elements_of_a_list_can_be_evaluated_later():
    """A returned list keeps its expressions and where they stand."""
    value = evaluate(parse("{A, A + 1, {A}}"), parse_ad("[A = 1]"))
    assert isinstance(value, ListValue)
    first, second, third = elements(value, Environment())
    assert (first, second) == (1, 2)
    assert elements(third, Environment()) == [1]


def test_functions_of_another_family_are_called_with_values_or_with_expressions():
    """The two ways a function can be registered, and that the arity is seen to before the call."""

    @register("testStrict", 1, 2)
    def strict(args, env):
        return f"{list(args)} {env.now}"

    @register("testLazy", 1, 1, lazy=True)
    def lazy(args, scope, env):
        return unparse_value(scope.state.evaluate_argument(args[0])) + str(env.now)

    try:
        env = Environment(now=5.0)
        assert evaluate(parse("TestStrict(1 + 1)"), env=env) == "[2] 5.0"
        assert (
            evaluate(parse("testStrict(A, 2)"), parse_ad("[A = undefined]"), env=env) == "[UNDEFINED, 2] 5.0"
        )
        assert evaluate(parse("testLAZY(A + 1)"), parse_ad("[A = 1]"), env=env) == "25.0"
        for text in ("testStrict()", "testStrict(1, 2, 3)", "testLazy()", "testNone(1)"):
            assert evaluate(parse(text)) is ERROR
        with pytest.raises(ValueError, match="twice"):
            register("TESTSTRICT", 0, 0)(strict)
    finally:
        del FUNCTIONS["teststrict"], FUNCTIONS["testlazy"]


def test_every_function_of_htcondor_is_there():
    """SEMANTICS section 6 counts 94 names."""
    assert len(FUNCTIONS) >= 94


def test_time_and_chance_come_from_the_environment():
    """A cycle can be replayed: same clock and seed, same values."""
    tree = parse("strcat(time(), CurrentTime, random(1000000), random())")
    ad = ClassAd()
    first, second = (evaluate(tree, ad, env=Environment(now=12.5, seed=3)) for _ in range(2))
    assert first == second
    assert first.startswith("1212")
    assert evaluate(tree, ad, env=Environment(now=12.5, seed=4)) != first


def test_the_interpreter_can_still_report_its_own_recursion():
    """Deep evaluations make room for themselves, but not without bound."""
    evaluate(chain("+", 399, Literal(1)))
    assert sys.getrecursionlimit() <= 20_000


# -- the oracle ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def oracle():
    if not available():
        pytest.skip("HTCondor's Python package is not installed")
    process = Oracle()
    yield process
    process.close()


@settings(
    max_examples=max(300, settings().max_examples), deadline=None, suppress_health_check=list(HealthCheck)
)
@given(expressions(), ads("OnlyMine"), st.none() | ads("OnlyOther"))
def test_random_expressions_have_the_value_that_htcondor_computes(oracle, text, my, target):
    """Kind and value, reals to the bit, in a single ad or a match, with circles, lists, records and calls."""
    expected = oracle.ask(text, my, target)
    if expected[0] == "crash":
        return
    try:
        tree, sides = parse(text), [parse_ad(ad) for ad in (my, target) if ad is not None]
        got = words(evaluate(tree, *sides))
    except ParseError:
        got = ["parse", ""]
    assert got == expected


def test_every_function_is_asked_for():
    """Of all functions but those of clocks and chance there are random calls."""
    assert every_name() == FUNCTIONS.keys() - NOT_ASKED


def test_real_texts_tell_reals_apart():
    """The comparison with the oracle would see a difference in the last bit."""
    next_up = struct.unpack(">d", struct.pack(">q", struct.unpack(">q", struct.pack(">d", 0.1))[0] + 1))[0]
    assert real_text(0.1) != real_text(next_up)
    assert real_text(0.0) != real_text(-0.0)


# -- anything at all -------------------------------------------------------------------------------------------------

constants = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(-3, 9)
    | st.floats()
    | st.text(max_size=5)
    | st.text(st.characters(categories=["Cs", "Cc", "Nd"]), max_size=3)
    | st.sampled_from(
        ["a,b", "1.5e3", "slot1@h", "%", "(", "i", "2000-01-01T00:00:00", "A + 1", "<", "+1:02:03"]
    )
    | st.sampled_from(
        [UNDEFINED, ERROR, RelTime(1e300), RelTime(float("nan")), AbsTime(2**63 - 1), AbsTime(-(2**63))]
    )
)
names = st.sampled_from(["A", "B", "my", "target", "parent", "root", "LEFT", "é", ""])


def grown(children):
    few = st.lists(children, max_size=4).map(tuple)
    return st.one_of(
        st.builds(Attr, names, st.none() | children, st.booleans()),
        st.builds(Binary, st.sampled_from(sorted(BINARY)), children, children),
        st.builds(Unary, st.sampled_from("+-!~"), children),
        st.builds(Conditional, children, children, children),
        st.builds(Elvis, children, children),
        st.builds(Subscript, children, children),
        st.builds(Paren, children),
        st.builds(ListExpr, few),
        st.builds(RecordExpr, st.lists(st.tuples(names, children), max_size=3).map(tuple)),
        st.builds(Call, st.sampled_from(sorted(FUNCTIONS)), few),
        st.builds(Call, st.sampled_from(sorted(FUNCTIONS)), few),
    )


trees = st.recursive(
    st.builds(Literal, constants) | st.builds(Attr, names) | st.builds(AdRef, st.sampled_from(Side)),
    grown,
    max_leaves=10,
)


@settings(
    deadline=None, max_examples=max(500, settings().max_examples), suppress_health_check=list(HealthCheck)
)
@given(
    trees, st.none() | st.builds(lambda a, b: ClassAd([("A", a), ("B", b)]), trees, trees), st.none() | trees
)
def test_any_tree_has_a_value_in_any_ads(tree, my, other):
    """Nothing raises, whatever a tree, an ad or a string is made of."""
    target = None if other is None else ClassAd([("B", other), ("target", other)])
    evaluate(tree, my, target, Environment(now=1e9))


arguments = st.lists(st.builds(Literal, constants) | st.builds(ListExpr, st.tuples(trees)), max_size=4).map(
    tuple
)


@settings(
    deadline=None, max_examples=max(1000, settings().max_examples), suppress_health_check=list(HealthCheck)
)
@given(st.sampled_from(sorted(FUNCTIONS)), arguments)
def test_any_call_has_a_value(name, args):
    """No function raises, whatever its arguments."""
    evaluate(Call(name, args), ClassAd([("A", Literal(1))]))

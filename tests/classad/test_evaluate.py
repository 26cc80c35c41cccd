"""Scalar evaluation: its limits, hostile input, and agreement with HTCondor's library."""

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
    Ad,
    Environment,
    ParseError,
    Side,
    Table,
    evaluate,
    evaluate_table,
    is_true,
    parse,
    parse_ad,
    unparse_value,
)
from negotiator.classad.context import BINARY, ListValue
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.functions.registry import element_values, register
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
from signatures import NOT_COMPARED, every_name

LEVELS = 400


@pytest.mark.parametrize("value", [True, 1, -1, 0.5, float("nan"), float("-inf")])
def test_values_that_allow_a_match(value):
    """True, any number other than zero, and NaN allow a match."""
    assert is_true(value)


@pytest.mark.parametrize(
    "value", [False, 0, 0.0, -0.0, UNDEFINED, ERROR, "true", "", RelTime(1.0), AbsTime(1)]
)
def test_values_that_prevent_a_match(value):
    """Other values prevent a match, even the text true."""
    assert not is_true(value)


@pytest.mark.parametrize("text", ["{true}", "[]", "[a = true]"])
def test_lists_and_ads_prevent_a_match(text):
    """A list or an ad as Requirements prevents a match."""
    assert not is_true(evaluate(parse(text)))


# -- limits ----------------------------------------------------------------------------------------------------------


def chain(op, count, left):
    """Return the tree of ``left op 1 op 1 ...``, built without recursion."""
    tree = left
    for _ in range(count):
        tree = Binary(op, tree, Literal(1))
    return tree


@pytest.mark.parametrize("op", ["+", "*", "&&", "||", "==", "|", "=?="])
def test_the_longest_chain_of_operators(op):
    """A chain of 400 operators has a value, a longer one is an error; a reference needs a level too."""
    ad = parse_ad("[One = Two; Two = 1]")
    assert evaluate(chain(op, LEVELS, Literal(0))) is not ERROR
    assert evaluate(chain(op, LEVELS + 1, Literal(0))) is ERROR
    assert evaluate(chain(op, LEVELS - 2, Attr("One")), ad) is not ERROR
    assert evaluate(chain(op, LEVELS - 1, Attr("One")), ad) is ERROR


def test_levels_of_a_subscript():
    """A subscript takes two levels, and a reference in the list a third."""
    ad = parse_ad("[A = 1]")
    for item, needed in ((Literal(1), 2), (Attr("A"), 3)):
        subscript = Subscript(ListExpr((item,)), Literal(0))
        assert evaluate(chain("+", LEVELS - needed, subscript), ad) == LEVELS - needed + 1
        assert evaluate(chain("+", LEVELS - needed + 1, subscript), ad) is ERROR


@pytest.mark.parametrize("op", ["+", "&&", "||", "<"])
def test_a_chain_of_thousands_of_operators_is_an_error(op):
    """A chain of thousands of operators is an error and does not exhaust Python's stack."""
    assert evaluate(chain(op, 100_000, Attr("x")), Ad()) is ERROR


def test_only_evaluated_levels_count():
    """A part that is too deep is harmless if it is not evaluated."""
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
def test_the_longest_chain_of_references(shape, deepest):
    """The longest chain of references with a value is that of HTCondor."""

    def first(length):
        items = [(f"a{i}", parse(shape.format(f"a{i + 1}"))) for i in range(length)]
        return evaluate(Attr("a0"), Ad([*items, (f"a{length}", Literal(1))]))

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
    """A tree has a value however deep it is."""
    tree = Attr("x")
    for _ in range(depth):
        tree = wrap(tree)
    for target in (None, Ad([("x", Literal(1))])):
        evaluate(tree, Ad([("x", Attr("y"))]), target)


def test_calls_take_no_levels():
    """Calls take no levels, as in HTCondor: any number of nested calls has the value of the innermost."""
    tree = Attr("x")
    for _ in range(300):
        tree = Call("int", (tree,))
    assert evaluate(tree, Ad([("x", Literal(4.5))])) == 4


@pytest.mark.parametrize("count", [18, 60])
def test_work_that_doubles_with_each_attribute_ends(count):
    """The steps are limited as in HTCondor: 2**18 are allowed, 2**60 are an error."""
    items = [(f"a{i}", parse(f"a{i + 1} + a{i + 1}")) for i in range(count)]
    value = evaluate(Attr("a0"), Ad([*items, (f"a{count}", Literal(1))]))
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
    """Endless nested evaluations, which overflow HTCondor's stack, are an error."""
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
def test_circular_references_in_nested_evaluations(text, value):
    """In a nested evaluation, a name that is being evaluated around it is not circular yet."""
    assert evaluate(parse(text), Ad()) == value


def test_a_failed_evaluation_is_an_error_as_a_whole():
    """An expression cannot catch that its evaluation is given up, except in an element of a list."""
    for text in ("random(0) ?: 1", "isError(random(0))", "undefined && random(0)", '"a" ? 1 : random(0)'):
        assert evaluate(parse(text)) is ERROR
    assert evaluate(parse("isError({random(0)}[0])")) is True
    assert evaluate(parse("undefined ? random(0) : 1")) is UNDEFINED
    assert evaluate(parse("false && random(0)")) is False


def test_evaluation_does_not_change_the_ads():
    """After an error in the middle of references, the next evaluation is not affected."""
    ad = parse_ad("[A = B; B = {random(0)}[0] ?: A; C = B]")
    assert evaluate(parse("C"), ad) is ERROR
    assert [evaluate(parse(name), ad) for name in ("A", "B", "C")] == [ERROR] * 3


# -- lists, functions, environment -----------------------------------------------------------------------------------


def test_the_elements_of_a_list_can_be_evaluated_later():
    """A returned list has its expressions and its scope."""
    value = evaluate(parse("{A, A + 1, {A}}"), parse_ad("[A = 1]"))
    assert isinstance(value, ListValue)
    first, second, third = element_values(value, Environment())
    assert (first, second) == (1, 2)
    assert list(element_values(third, Environment())) == [1]


def test_registered_functions():
    """Functions are registered with values or with expressions as arguments; the arity is checked before the call."""

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


def test_every_function_of_htcondor_exists():
    """All 94 functions of SEMANTICS section 6 are registered."""
    assert len(FUNCTIONS) >= 94


def test_time_and_random_numbers_come_from_the_environment():
    """Equal clocks and seeds give equal values, so that a cycle can be replayed."""
    tree = parse("strcat(time(), CurrentTime, random(1000000), random())")
    ad = Ad()
    first, second = (evaluate(tree, ad, env=Environment(now=12.5, seed=3)) for _ in range(2))
    assert first == second
    assert first.startswith("1212")
    assert evaluate(tree, ad, env=Environment(now=12.5, seed=4)) != first


def test_pythons_recursion_limit_still_works():
    """The recursion limit is raised for deep evaluations, but endless recursion in Python still ends."""
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
def test_random_expressions_agree_with_htcondor(oracle, text, my, target):
    """Kind and value agree, reals to the bit, in one ad or a match, with circles, lists, records and calls."""
    expected = oracle.ask(text, my, target)
    if expected[0] == "crash":
        return
    try:
        tree, sides = parse(text), [parse_ad(ad) for ad in (my, target) if ad is not None]
        got = words(evaluate(tree, *sides))
    except ParseError:
        got = ["parse", ""]
    assert got == expected


def test_random_calls_cover_all_functions():
    """The random calls cover all functions except those of clocks and random numbers."""
    assert every_name() == FUNCTIONS.keys() - NOT_COMPARED


def test_real_texts_distinguish_reals():
    """The comparison with HTCondor detects a difference in the last bit of a real."""
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
@given(trees, st.none() | st.builds(lambda a, b: Ad([("A", a), ("B", b)]), trees, trees), st.none() | trees)
def test_any_tree_has_a_value_in_any_ads(tree, my, other):
    """Evaluation does not raise, whatever trees, ads and strings contain."""
    target = None if other is None else Ad([("B", other), ("target", other)])
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
    evaluate(Call(name, args), Ad([("A", Literal(1))]))


@pytest.mark.parametrize(
    "text",
    [
        "{day} - {before}",
        "({day} - {before}) && true",
        "({day} - {before}) ? true : false",
        "relTime(1)",
        "{day}",
    ],
)
def test_requirements_that_are_a_time_match_nothing(text):
    """As HTCondor's daemons decide; ``matches`` of its Python library says that a span other than 0 matches."""
    moments = {"day": 'absTime("2020-01-02T00:00:00Z")', "before": 'absTime("2020-01-01T00:00:00Z")'}
    expr = parse(text.format(**moments))
    assert not is_true(evaluate(expr))
    assert evaluate_table(expr, Table.from_ads([Ad(), Ad()])).is_true().tolist() == [False, False]

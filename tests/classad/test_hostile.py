"""Hostile input has a value or is an error, alike by the scalar evaluator and by columns."""

import pytest

from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Ad,
    Allowance,
    Environment,
    ParseError,
    Side,
    Table,
    evaluate,
    evaluate_table,
    parse,
    parse_ad,
    parse_old,
    unparse_value,
)
from negotiator.classad.context import AdValue, ListValue
from negotiator.classad.functions import FUNCTIONS, regex
from negotiator.classad.functions.regex import MAX_SUBJECT
from negotiator.classad.syntax import Attr, Binary, Call, ListExpr, Literal, RecordExpr, Subscript, Unary
from negotiator.classad.values import AbsTime, RelTime

ENV = Environment(now=1e9)
MEGABYTE = 1_000_000


def shown(value):
    """Return a value with its type, so that NaN equals itself."""
    if isinstance(value, ListValue) and all(isinstance(item, Literal) for item in value.items):
        return list(map(repr, value.items))  # they may be long
    return type(value).__name__, unparse_value(value) if isinstance(value, ListValue | AdValue) else repr(
        value
    )


def both_ways(expr, my, target=None):
    """Return the value by the scalar evaluator after checking that tables have the same value, on either side."""
    value = evaluate(expr, my, target, ENV)
    assert type(value).__module__ in {
        "builtins",
        "negotiator.classad.values",
        "negotiator.classad.context.scope",
    }
    others = [
        Ad(),
        Ad([("A", Literal(1)), ("Z", Literal("a"))]),
        Ad([("Z", Literal(UNDEFINED))]),
    ]
    rows = [(Table.from_ads([others[0], my, *others[1:]]), target, Side.MY)]
    rows += [] if target is None else [(Table.from_ads([others[0], target, *others[1:]]), my, Side.TARGET)]
    for table, other, side in rows:
        column = evaluate_table(expr, table, other, side=side, env=ENV)
        assert shown(column.value(1)) == shown(value)
    return value


def nested(wrap, depth, tree):
    """Return a tree wrapped many times, built without recursion."""
    for _ in range(depth):
        tree = wrap(tree)
    return tree


# -- text ------------------------------------------------------------------------------------------------------------

SHAPES = {
    "parentheses": ("(", "A", ")"),
    "negations": ("!", "A", ""),
    "signs": ("- ", "A", ""),
    "complements": ("~", "A", ""),
    "calls": ("int(", "A", ")"),
    "unknown calls": ("f(", "A", ")"),
    "lists": ("{", "A", "}"),
    "records": ("[A = ", "A", "]"),
    "sums": ("", "A", " + A"),
    "right operands": ("A + (", "A", ")"),
    "alternatives": ("", "A", " || A"),
    "conditions": ("", "A", " ? 1 : A"),
    "branches": ("A ? ", "A", " : 1"),
    "defaults": ("", "A", " ?: A"),
    "subscripts": ("", "A", "[0]"),
    "subscripts inside": ("A[", "A", "]"),
    "selections": ("", "A", ".A"),
    "selections of records": ("[A = ", "A", "].A"),
    "texts": ("eval(", '"A"', ")"),
    "sums of lists": ("sum({", "A", "})"),
    "contexts": ("countMatches(", "A", ", {[A = 1]})"),
    "only opened": ("(", "", ""),
    "only opened lists": ("{", "", ""),
    "only opened records": ("[A = ", "", ""),
    "only opened calls": ("int(", "", ""),
    "comments": ("/*", "A", "*/"),
    "strings": ('"a" ', '"b"', ""),
}


@pytest.mark.parametrize("count", [100, 400, 20_000])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_text_of_any_depth(shape, count):
    """Deep text is a parse error or has a value, in both syntaxes and as an ad."""
    before, middle, after = shape
    text = before * count + middle + after * count
    ad = Ad([("A", Literal(1)), ("Z", Literal("z"))])
    for parser in (parse, parse_old):
        try:
            tree = parser(text)
        except ParseError:
            continue
        both_ways(tree, ad, ad)
    try:
        made = parse_ad(f"[A = 1; B = {text}]")
    except ParseError:
        return
    both_ways(Attr("B"), made)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9" * MEGABYTE, 0),
        ("-" + "9" * MEGABYTE, 0),
        ("1e999999", float("inf")),
        ("-1e999999", float("-inf")),
        ("1e-999999", 0.0),
        ("1e" + "9" * MEGABYTE, float("inf")),
        ("0." + "0" * MEGABYTE + "1", 0.0),
        ("9" * MEGABYTE + ".5", float("inf")),
        (f'size("{"a" * MEGABYTE}")', MEGABYTE),
        (f'size("{"é" * 400_000}")', 800_000),
        ("a" * MEGABYTE, UNDEFINED),
        ("sum({" + ",".join(["1"] * 100_000) + "})", 100_000),
        ("size({" + ",".join(["{}"] * 60_000) + "})", 60_000),
    ],
)
def test_huge_literals(text, value):
    """A long number has HTCondor's value, a long string or list its length."""
    assert shown(both_ways(parse(text), Ad())) == shown(value)


WRAPPED = {
    "negation": lambda tree: Unary("!", tree),
    "call": lambda tree: Call("strcat", (tree, Literal("a"))),
    "list": lambda tree: ListExpr((tree,)),
    "record": lambda tree: RecordExpr((("a", tree),)),
    "element": lambda tree: Subscript(ListExpr((tree,)), Literal(0)),
    "selection": lambda tree: Attr("a", RecordExpr((("a", tree),))),
    "operand": lambda tree: Binary("+", tree, Attr("x")),
    "alternative": lambda tree: Binary("||", Attr("x"), tree),
    "contexts": lambda tree: Call("evalInEachContext", (tree, ListExpr((RecordExpr(()),)))),
    "members": lambda tree: Call("member", (Literal(1), ListExpr((tree, Attr("x"))))),
}


@pytest.mark.parametrize("depth", [30, 200, 2000])
@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
def test_trees_of_any_depth(wrap, depth):
    """Trees deeper than any text parses to have a value as an attribute."""
    ad = Ad([("x", Literal(1)), ("deep", nested(wrap, depth, Attr("x")))])
    both_ways(Attr("deep"), ad)


def test_long_circles():
    """A circle through thousands of attributes is an error, one through a few is undefined."""
    for count, value in ((10, UNDEFINED), (1000, ERROR)):
        ad = Ad([(f"a{at}", Attr(f"a{(at + 1) % count}")) for at in range(count)])
        assert both_ways(Attr("a0"), ad, ad) is value


def test_doubling_attributes_are_an_error_in_each_row():
    """Attributes that double the work are an error in each row, however they are reached."""
    doubling = [(f"a{at}", parse(f"a{at + 1} + a{at + 1}")) for at in range(60)]
    ad = Ad([*doubling, ("a60", Literal(1))])
    for text in ("a0", "MY.a0", "strcat(a0)", "TARGET.a0", "countMatches(a0 > 1, {[b = 1]})"):
        both_ways(parse(text), ad, ad)
    assert evaluate(parse("a0"), ad) is ERROR


# -- functions -------------------------------------------------------------------------------------------------------

SMALL = {
    "empty": "",
    "NUL": "\0",
    "NUL inside": "a\0b",
    "lone surrogate": "\ud800",
    "no UTF-8": "\udc80\udcff",
    "cut UTF-8": "\udcc3",
    "pattern": "(a*)*[bc]",
    "no pattern": "([",
    "quotes": "'\"\\",
    "percents": "%999999999d%",
    "separators": ",;=@ \t\n",
    "number": "1e999999",
    "hexadecimal": "0x1p99999",
    "time": "99999999999:99:99",
    "date": "9999-99-99T99:99:99+99:99",
    "text of itself": 'eval("Z")',
    "least": -(2**63),
    "greatest": 2**63 - 1,
    "minus one": -1,
    "zero": 0,
    "infinity": float("inf"),
    "less infinity": float("-inf"),
    "not a number": float("nan"),
    "less zero": -0.0,
    "far moment": AbsTime(2**63 - 1, 2**31 - 1),
    "past moment": AbsTime(-(2**63), -(2**31)),
    "long span": RelTime(1e300),
    "no span": RelTime(float("nan")),
    "undefined": UNDEFINED,
    "error": ERROR,
    "true": True,
}
LARGE = {
    "items": "a=1, " * (MEGABYTE // 5),
    "digits": "1" * MEGABYTE,
    "bytes": "\udcff" * MEGABYTE,
    "quotes and templates": "'\\0%c' " * (MEGABYTE // 7),
}
COMPOUND = {
    "numbers": ListExpr(tuple(Literal(number) for number in range(5000))),
    "long texts": ListExpr(tuple([Literal("a" * MEGABYTE)] * 5)),
    "patterns": ListExpr(tuple([Literal("(a*)*[bc]")] * 200)),
    "subjects": ListExpr(tuple(Literal("a" * 40 + str(number)) for number in range(200))),
    "deep list": nested(lambda tree: ListExpr((tree,)), 5000, Literal(1)),
    "deep record": nested(lambda tree: RecordExpr((("a", tree),)), 5000, Literal(1)),
    "records": ListExpr(tuple([RecordExpr((("A", Literal(1)),))] * 1000)),
    "wide record": RecordExpr(tuple((f"a{number}", Literal(number)) for number in range(2000))),
    "itself": Attr("Z"),
    "deep": nested(lambda tree: Unary("-", tree), 5000, Literal(1)),
    "nothing": Attr("nosuch"),
}
FILLED = (Literal("a" * 40), ListExpr((Literal("a" * 40), Literal("b"))))


def calls(name):
    """Return calls of a function with ``Z`` at each position, with few arguments and with many."""
    function = FUNCTIONS[name]
    most = 4 if function.max_args is None else min(function.max_args, 4)
    for count in sorted({max(function.min_args, 1), most}):
        for place in range(min(count, most)):
            for filled in FILLED:
                yield Call(name, tuple(Attr("Z") if at == place else filled for at in range(count)))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_of_each_small_value(name):
    """Each function gives the same values by columns and by rows, for each value at each position."""
    ads = [Ad([("Z", Literal(value))]) for value in SMALL.values()]
    table = Table.from_ads([*ads, Ad()])
    for call in calls(name):
        values = [evaluate(call, ad, None, ENV) for ad in table.ads]
        column = evaluate_table(call, table, env=ENV)
        if FUNCTIONS[name].draws:
            continue
        for what, row, value in zip([*SMALL, "absent"], range(len(values)), values, strict=True):
            assert shown(column.value(row)) == shown(value), (what, call)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_of_a_megabyte(name):
    """Each function of a megabyte at each position has a value or is an error, alike by columns."""
    for value in LARGE.values():
        ad = Ad([("Z", Literal(value))])
        plain = [call for call in calls(name) if FILLED[1] not in call.args]
        for call in plain[:1]:
            both_ways(call, ad)
        for call in plain[1:]:
            evaluate(call, ad, None, ENV)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_of_lists_and_records(name):
    """Each function handles deep and long lists, long strings in them, and circles, at each position."""
    for value in COMPOUND.values():
        ad = Ad([("Z", value)])
        for call in calls(name):
            evaluate(call, ad, ad, ENV)


# -- patterns --------------------------------------------------------------------------------------------------------

CATASTROPHIC = [
    "(a+)+$",
    "(a|a)*[bc]",
    "a*a*[bc]",
    "(a*)*[bc]",
    "(?:a*a*[bc])?x|b",
    r"(\w+\s?)*[!]",
    "^(a?){20}a{20}[xy]",
]
WITH_PATTERNS = [
    "regexp(P, S)",
    'regexp(P, S, "ims")',
    "regexpMember(P, {S, S, S})",
    'regexpMember(P, {"b", S}, "i")',
    r'regexps(P, S, "\\0")',
    'replace(P, S, "x")',
    'replaceall(P, S, "x")',
    "stringList_regexpMember(P, S)",
    'stringList_regexpMember(P, strcat(S, ",", S), ",", "i")',
    "unresolved(R, P)",
    "isError(regexp(P, S)) || regexp(P, S)",
]


@pytest.mark.parametrize("length", [20, 40, 1000, MAX_SUBJECT, MEGABYTE])
@pytest.mark.parametrize("pattern", CATASTROPHIC)
def test_exponential_patterns(pattern, length):
    """An exponential pattern has a value or is an error, also by columns."""
    both_ways(parse("regexp(P, S)"), Ad([("P", Literal(pattern)), ("S", Literal("a" * length + " c"))]))


@pytest.mark.parametrize("text", WITH_PATTERNS)
def test_functions_of_exponential_patterns(text):
    """Every function with a pattern ends, also if it tries the pattern many times."""
    for length in (40, 1000):
        subject = Literal("a" * length + " c")
        ad = Ad([("P", Literal("(a*)*[bc]d")), ("S", subject), ("R", Attr("a" * length))])
        both_ways(parse(text), ad)


def test_many_exponential_patterns_share_a_budget(monkeypatch):
    """The work of patterns is charged to the evaluation, and to all rows together."""
    tried = []

    class Counted:
        def __init__(self, pattern):
            self.pattern = pattern

        def search(self, *args):
            tried.append(args)
            return self.pattern.search(*args)

        def match(self, *args):
            tried.append(args)
            return self.pattern.match(*args)

    compiled = regex._compiled
    monkeypatch.setattr(regex, "_compiled", lambda *args: Counted(compiled(*args)))
    subjects = ["a" * 40 + str(number) for number in range(2000)]
    many = Ad([("L", ListExpr(tuple(map(Literal, subjects))))])
    assert evaluate(parse('regexpMember("(a+)+$", L)'), many) is ERROR
    assert len(tried) < 500
    tried.clear()
    table = Table.from_ads([Ad([("S", Literal(subject))]) for subject in subjects])
    column = evaluate_table(parse('regexp("(a+)+$", S)'), table)
    assert all(column.value(row) is ERROR for row in range(len(table)))
    assert len(tried) < 500


SLOW = 'size(regexps("(a|aa)+$", strcat("' + "a" * 30 + '", "{}"), "x"))'


@pytest.mark.parametrize("before", [True, False])
def test_an_attribute_that_is_slow_in_the_ads_of_one_owner_is_read_in_all_others(before):
    """Each owner has steps of their own for an attribute; those of no ad are taken from it."""
    slow = [parse_ad(f'[Owner = "mallory"; JobPrio = {SLOW.format(f"{n}!")}]') for n in range(300)]
    others = [parse_ad('[Owner = "zoe"; JobPrio = size(Owner) + 4]'), parse_ad("[JobPrio = 1 + 2]")]
    table = Table.from_ads([*others, *slow] if before else [*slow, *others])
    values = table.numbers("JobPrio", default=-1.0)
    assert (values[:2] if before else values[-2:]).tolist() == [7.0, 3.0]
    rest = values[2:] if before else values[:-2]
    assert (rest == -1).sum() > 200  # error, after some were evaluated


def test_the_text_of_an_attribute_costs_steps_for_each_letter():
    ad = parse_ad("[R = [" + "; ".join(f"A{n} = TARGET.Memory + {n}" for n in range(300)) + "]]")
    allowance = Allowance(1_000_000)
    text = evaluate(parse("unparse(R)"), ad, None, ENV, allowance)
    assert 1_000_000 - allowance.steps > 2 * len(text)

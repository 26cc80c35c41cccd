"""The parser agrees with HTCondor's on the golden corpus and on real ads and expressions."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import ERROR, UNDEFINED, ParseError, parse, parse_ad, parse_old
from negotiator.classad.syntax import (
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
    tree_key,
)
from negotiator.classad.values import AbsTime

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "conformance" / "classad"
SHARED = Path(os.environ.get("NEGOTIATOR_SHARED", ROOT.parent / "shared"))

A, B, C, D, E = (Attr(name) for name in "abcde")


def parses(text, *, old=False):
    try:
        parse_old(text) if old else parse(text)
    except ParseError:
        return False
    return True


@pytest.mark.parametrize("file", sorted(path.name for path in GOLDEN.glob("*.jsonl.gz")))
def test_golden(file):
    """Every line of the golden corpus parses or fails to parse as in HTCondor."""
    with gzip.open(GOLDEN / file, "rt", encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream]
    if file.startswith("requirements_match"):
        lines = []  # whole ads: see test_golden_ads
    wrong = [
        (line["id"], line["expr"][:100])
        for line in lines
        if parses(line["expr"], old=line.get("syntax") == "old") != (line["type"] != "parse_error")
    ]
    assert wrong == []


def test_golden_ads():
    """Every ad of the corpus parses, including those of the match lines."""
    ads = json.loads((GOLDEN / "ads.json").read_text(encoding="utf-8"))
    texts = list(ads.values())
    with gzip.open(GOLDEN / "requirements_match.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in map(json.loads, stream):
            texts += [side for side in (line["my"], line["target"]) if not side.startswith("@")]
    assert len(texts) > 100
    assert sum(len(parse_ad(text)) for text in texts) > 1000


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("(a - b)", Paren(Binary("-", A, B))),
        ("a || b && c | d ^ e & a", "a || (b && (c | (d ^ (e & a))))"),
        ("a & b == c < d << e + a", "a & (b == (c < (d << (e + a))))"),
        ("a is b", Binary("=?=", A, B)),
        ("a ISNT b", Binary("=!=", A, B)),
        ("-a.b[c]", Unary("-", Subscript(Attr("b", A), C))),
        ("!a ?: b", Unary("!", Elvis(A, B))),
        ("a ?: b ?: c.d", Elvis(A, Elvis(B, Attr("d", C)))),
        ("a + b ? : c", Binary("+", A, Elvis(B, C))),
        ("a ?: b + c", Binary("+", Elvis(A, B), C)),
        ("a ? b : c ? d : e", Conditional(A, B, Conditional(C, D, E))),
        ("a ? b ? c : d : e", Conditional(A, Conditional(B, C, D), E)),
        ("a || b ? c : d || e", Conditional(Binary("||", A, B), C, Binary("||", D, E))),
        (".a.b", Attr("b", Attr("a", absolute=True))),
        ("MY.a", Attr("a", Attr("MY"))),
        ("'a b'.'is'", Attr("is", Attr("a b"))),
        ("f(a, b; c)", Call("f", (A, B, C))),
        ("{ a, { } }", ListExpr((A, ListExpr(())))),
        ("[;b = 1;; B = a;]", RecordExpr((("b", Literal(1)), ("B", A)))),
        ("a /* b */ + // c\n d;", Binary("+", A, D)),
        ("1 -1", Binary("-", Literal(1), Literal(1))),
        ("1 - -1", Binary("-", Literal(1), Literal(-1))),
        ("(a)-1", Binary("-", Paren(A), Literal(1))),
        ("a ?: -1", Elvis(A, Literal(-1))),
        ("- 1", Unary("-", Literal(1))),
    ],
)
def test_tree(text, tree):
    """Precedence and associativity are those of SEMANTICS section 2."""
    if isinstance(tree, str):
        tree = without_parens(parse(tree))
    assert parse(text) == tree


def without_parens(tree):
    match tree:
        case Paren(inner):
            return without_parens(inner)
        case Binary(op, left, right):
            return Binary(op, without_parens(left), without_parens(right))
    return tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TRUE", True),
        ("undefined", UNDEFINED),
        ("Error", ERROR),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 0),
        ("-9223372036854775808", -(2**63)),
        ("-007", -7),
        ("-00", 0),
        ("-0x1F", 0),
        ("0x1F.8", 31.5),
        ("-0X1F.8", -31.5),
        ("-0x0.0", -0.0),
        ("0x1.8e3", float.fromhex("0x1.8e3")),
        ("0x1F.8e+3", float.fromhex("0x1F.8e")),
        ("08.5", 8.5),
        ("-08e1", -80.0),
        ("..5", 0.0),
        ("9" * 10_000, 0),
        (".5", 0.5),
        ("007.5", 7.5),
        ("1e400", float("inf")),
        ("-0.0", -0.0),
        (r'"\a\b\f\n\r\t\v\\\"\'\?\q\101\1018"', "\a\b\f\n\r\t\v\\\"'?qAA8"),
        (r'"\400"', " 0"),
        (r'"\303\251"', "é"),
        (r'"\377"', "\udcff"),
        ('"a" "b"\n"c"', "abc"),
        (r'"\1" "01"', "A"),
        ('absTime("1970-01-02T00:00:00+01:00")', AbsTime(82_800, 3600)),
    ],
)
def test_literal(text, value):
    """Constants have HTCondor's value and kind."""
    assert parse(text) == Literal(value)


def test_a_relative_time_is_a_real_that_prints_as_a_time():
    """HTCondor evaluates the literal to a real. Reals written otherwise differ from it, also as keys."""
    literal = parse('relTime("1:00")')
    assert literal == Literal(60.0, relative_time=True)
    assert literal != Literal(60.0)
    assert tree_key(literal) != tree_key(Literal(60.0))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\nb"', r"a\nb"),
        (r'"say \"hi\""', 'say "hi"'),
        ('"C:\\dir\\"', "C:\\dir\\"),
        ('"x" "y"', "x"),
        ("5 5", 5),
        ("5 // c", 5),
        ("5 'unclosed", 5),
        ("1K", 1),
    ],
)
def test_old_syntax(text, value):
    """A long-form line has one escape, and text after a complete expression is ignored."""
    assert parse_old(text) == Literal(value)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "expected an operand, found end of text"),
        ("a +\n b )", 2, 4, "expected an operator or the end of the text, found ')'"),
        ("f(a b)", 1, 5, "expected an operator or ',' or ')', found the name 'b'"),
        ("a ? b", 1, 6, "expected an operator or ':', found end of text"),
        ("[a = 1; 2]", 1, 9, "expected the name of an attribute, found a constant"),
        ("a ?: !b", 1, 6, "expected an operand without an operator before it, found '!'"),
        ("a.1", 1, 2, "expected an operator or the end of the text, found a constant"),
        ('a == "b', 1, 6, "a quote is not closed"),
        ("a // comment", 1, 3, "a comment must end before the text does"),
        ("007", 1, 1, "an integer must be decimal, without leading zeros"),
        ("-08", 1, 1, "an integer must be decimal, without leading zeros"),
        ("a == -019", 1, 6, "an integer must be decimal, without leading zeros"),
        ("0x1F", 1, 1, "an integer must be decimal, without leading zeros"),
        ("-0x", 1, 1, "an integer must be decimal, without leading zeros"),
        ("0x1F.8e", 1, 1, "digits must follow the exponent sign"),
        ("0x1F.", 1, 1, "a digit must follow the decimal point"),
        ("1.", 1, 1, "a digit must follow the decimal point"),
        (r'"a\0"', 1, 1, "a string cannot hold the character NUL"),
        ("a\0", 1, 2, "the text contains the character NUL"),
        ('"\ud800"', 1, 2, "the text contains a character that cannot be encoded"),
        ('absTime("junk")', 1, 15, "invalid text for absTime"),
    ],
)
def test_error(text, line, column, message):
    """An error has what was expected, what was found, and the position."""
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, message)


@pytest.mark.parametrize(
    ("opening", "closing", "deepest"),
    [
        ("(", ")", 165),
        ("{", "}", 165),
        ("f(", ")", 165),
        ("!", "", 497),
        ("a ?: ", "", 497),
        ("a?b:", "", 497),
    ],
)
def test_depth(opening, closing, deepest):
    """The nesting limit is HTCondor's."""
    for parser in (parse, parse_old):
        assert parser(opening * deepest + "a" + closing * deepest)
        with pytest.raises(ParseError, match="nested too deep"):
            parser(opening * (deepest + 1) + "a" + closing * (deepest + 1))


def test_ad_depth():
    """The brackets of an ad itself do not count as nesting."""
    assert len(parse_ad(f"[x = {'(' * 165}1{')' * 165}]")) == 1


@pytest.mark.parametrize("text", ["a" + "&& a" * 50_000, "a" + ".b" * 50_000, "{" + "1," * 50_000 + "1}"])
def test_long(text):
    """Long text is not nested text."""
    assert parse(text)


@pytest.mark.parametrize(
    "text", ["(" * 500_000, "!" * 1_000_000, "a?" * 100_000, '"' * 99_999, "a " * 130_000, "[a=" * 100_000]
)
def test_hostile(text):
    """Text meant to exhaust the parser is an error."""
    with pytest.raises(ParseError):
        parse(text)


def test_too_long():
    """Text beyond a mebibyte or the limit of tokens is refused."""
    with pytest.raises(ParseError, match="more than 1048576 characters"):
        parse(" " * (1 << 20) + "1")
    with pytest.raises(ParseError, match="more than 250000 tokens"):
        parse("a" + "+a" * 130_000)


def test_shared():
    """Equal texts share one tree, since a pool repeats its lines a hundred thousand times."""
    assert parse_old("START && (a)") is parse_old("START && " + "(a)")


@given(st.text(alphabet="ab01 .,;:?!()[]{}<>=&|+-*/\"'\\\n\x00é_eE", max_size=40))
def test_any_text(text):
    """Any text gives a tree or a ParseError with a position inside the text."""
    lines = text.split("\n")
    for error in filter(None, (error_of(parser, text) for parser in (parse, parse_old, parse_ad))):
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1


def error_of(parser, text):
    try:
        parser(text)
    except ParseError as error:
        return error
    return None


def test_ad():
    """Only a record is an ad."""
    assert parse_ad("[ b = 1; A = b ]").names() == ("b", "A")
    with pytest.raises(ParseError, match="expected an ad"):
        parse_ad("{ 1 }")


@pytest.mark.data
def test_pool_ads():
    """Every line of the ads of a real pool parses."""
    folder = SHARED / "condor" / "ads"
    if not folder.is_dir():
        pytest.skip("the folder of a pool's ads is not there")
    count = 0
    for path in sorted(folder.glob("*.ads")):
        for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            name, equals, text = line.partition(" = ")
            if equals and not line.startswith("#"):
                parse_old(text)
                parse(text) if "\\" not in text else None
                count += bool(name)
    assert count > 1000


@pytest.mark.data
def test_production_expressions():
    """Policy expressions of production sites parse, except those that need the value of a macro."""
    path = SHARED / "data" / "exprs" / "expressions.jsonl"
    if not path.is_file():
        pytest.skip("the folder of real inputs is not there")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wanted = [line for line in lines if not line["needs_macros"]]
    wrong = {line["id"] for line in wanted if not parses(line["expr"])}
    assert len(wanted) > 100
    assert wrong == {"o0071", "o0079", "o0088", "o0161", "o0173"}  # HTCondor refuses these too


FRAGMENTS = st.one_of(
    st.sampled_from(
        ["a", "(a == 1)", '("x" == b)', "f(a, (b))", "!a", "-1", "true", '"&&"', "(a || b)", "a || b"]
    ),
    st.sampled_from(
        ["a ? b : c", "a ?: b", "(", ")", '"', "\\", "'", "//", "/* x", "=", "a = b", "", " ", "5"]
    ),
    st.sampled_from(['")"', '"("', "é", "a[0]", "{a, b}"]),
)


CONDITIONS = st.lists(FRAGMENTS, min_size=1, max_size=3).map(" ".join)
JOINED = st.lists(CONDITIONS, min_size=2, max_size=3).map(" && ".join).map("({})".format)


@given(st.lists(CONDITIONS | JOINED | JOINED.map("({} && a)".format), min_size=2, max_size=4))
def test_conditions_parsed_one_by_one_are_those_of_the_whole_text(parts):
    """Also where `&&` is in a string or in parentheses, and where text follows; longer texts are parsed as a whole."""
    text = " && ".join(parts)
    outcomes = []
    for blanks in (0, 3000):
        try:
            outcomes.append(parse_old(" " * blanks + text))
        except ParseError as error:
            outcomes.append((error.message, error.line, error.column - blanks))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(("inner", "parses_"), [(164, True), (165, False)])
def test_conditions_in_parentheses_may_be_nested_as_deep_as_any(inner, parses_):
    """The depth of the parentheses around several conditions counts for each of them."""
    deep = "(" * inner + "a" + ")" * inner
    assert parses(f"(b && {deep}) && c", old=True) is parses_

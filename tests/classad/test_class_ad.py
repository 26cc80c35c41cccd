"""The Python interface of ClassAds, beyond what is compared with HTCondor's own: errors, limits, exactness."""

import copy
import datetime as dt
import itertools
import os
import pickle

import pytest

from negotiator import classad
from negotiator.classad import ClassAd, ClassAdException, ExprTree, Parser, Value, parse, parse_ad
from negotiator.errors import NegotiatorError


def test_an_ad_reads_as_python_objects():
    ad = ClassAd(
        '[a = 1; B = "x"; c = {1, [d = 2], a + 1}; e = undefined; t = absTime("2020-01-01T01:00:00+01:00")]'
    )
    assert (ad["A"], ad["b"], ad["e"]) == (1, "x", Value.Undefined)
    assert ad["c"] == [1, ClassAd({"d": 2}), ExprTree("a + 1")]
    assert ad["t"] == dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    assert ad.eval("c")[2].eval(ad) == 2


def test_names_keep_their_first_spelling_and_have_the_order_of_htcondor():
    ad = ClassAd({"zz": 1, "Bb": 2, "aa": 3, "long": 4, "x": 5})
    ad["BB"] = 6
    assert list(ad) == ["x", "aa", "Bb", "zz", "long"]
    assert (ad["bb"], len(ad)) == (6, 5)


def test_an_ad_is_as_it_was_after_a_pickle():
    ad = ClassAd(
        '[a = 0.1; b = 30092671179554816.0; c = relTime("1:00"); d = "\\377\\n"; e = [f = {x, 1}]; \'x y\' = 3]'
    )
    for other in (pickle.loads(pickle.dumps(ad)), copy.deepcopy(ad), copy.copy(ad)):  # noqa: S301
        assert other == ad
        assert other is not ad
    expr = ad.lookup("e")
    assert pickle.loads(pickle.dumps(expr)) == expr  # noqa: S301


def test_a_copy_of_a_nested_ad_does_not_change_the_outer_one():
    ad = ClassAd("[n = [a = 1]]")
    ad["n"]["a"] = 2
    assert ad["n"]["a"] == 1


def test_changes_reach_the_next_evaluation():
    ad, expr = ClassAd({"a": 1}), ExprTree("a + 1")
    assert expr.eval(ad) == 2
    ad["a"] = 5
    assert expr.eval(ad) == 6
    del ad["a"]
    assert expr.eval(ad) is Value.Undefined


def test_ads_of_the_other_interface_are_taken_and_given():
    ad = ClassAd.from_ad(parse_ad("[b = 1; a = b]"))
    assert list(ad) == ["a", "b"]
    assert ad.to_ad().integer("a") == 1
    assert ExprTree.from_expression(parse("b + 1")).eval(ad) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ClassAd("[a = ]"), ClassAdException, r"expected an operand, found ']' at line 1, column 6"),
        (lambda: ClassAd(5), TypeError, "input must be None, str, or dict"),
        (lambda: ClassAd({"a": {1: 2}}), TypeError, "ClassAd keys are strings"),
        (lambda: ClassAd({"a": [object()]}), ClassAdException, "type object"),
        (lambda: ClassAd({"a": 2**63}), ClassAdException, "does not fit 64 bits"),
        (lambda: ClassAd({"a": "\ud800"}), ValueError, "a character without bytes, at offset 0"),
        (lambda: ClassAd({"a\0": 1}), ValueError, "embedded null character"),
        (lambda: ClassAd({"a": itertools.count()}), ClassAdException, "more than 250000 elements"),
        (lambda: ClassAd()["a"], KeyError, "a"),
        (lambda: ExprTree("1; b = 2"), ClassAdException, "at line 1"),
        (lambda: ExprTree("a").eval({}), TypeError, "scope must be a ClassAd"),
        (lambda: ExprTree("a").eval(ClassAd(), 1), TypeError, "target must be a ClassAd"),
        (
            lambda: ExprTree("random(0)").eval(),
            ClassAdException,
            r"failed to evaluate expression random\(0\)",
        ),
        (lambda: ClassAd().flatten("a"), TypeError, "expr must be an ExprTree"),
        (lambda: ClassAd("[x = x]").flatten(ExprTree("x")), ValueError, "refers to itself"),
        (lambda: ClassAd("[x = 1]").externalRefs(ExprTree("x.y")), ValueError, "something that is not an ad"),
        (lambda: ClassAd().matches({}), TypeError, "ad must be a ClassAd"),
        (lambda: classad.quote(5), TypeError, "must be str or None"),
        (lambda: classad.unquote("5"), ValueError, "not a string value"),
        (lambda: classad.parseOne("[a = ] [b = 1]"), ValueError, r"found ']' at line 1, column 6"),
    ],
)
def test_an_error_says_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message) as raised:
        call()
    assert isinstance(raised.value, NegotiatorError | KeyError | TypeError)


def test_values_that_contain_themselves_are_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(ClassAdException, match="nested more than 100 deep"):
        ClassAd({"a": endless})


def test_hostile_ads_end_in_an_exception_or_a_value():
    doubling = "; ".join(f"a{n} = a{n + 1} + a{n + 1}" for n in range(60))
    ad = ClassAd(f"[{doubling}]")
    for method in (ad.flatten, ad.externalRefs, ad.internalRefs):
        with pytest.raises(ValueError, match=r"steps|walk|itself"):
            method(ExprTree("a0"))
    with pytest.raises(ClassAdException, match="nested too deep"):
        ClassAd("[a = " + "{" * 100_000)
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        classad.parseOne('{"a": ' + "[" * 100_000, Parser.JSON)
    deep = ClassAd()
    for _ in range(5000):
        deep["a"] = deep
    assert len(repr(deep)) > 5000
    chain = ExprTree(" && ".join(["x"] * 5000))
    assert ClassAd({"y": 1}).flatten(chain) == chain
    assert ClassAd().externalRefs(chain) == ["x"]


def test_a_time_with_a_zone_is_the_same_moment():
    """HTCondor takes the numbers of the clock for those of UTC."""
    noon = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert ClassAd({"a": noon})["a"] == noon


def test_flattening_loses_nothing():
    """HTCondor forgets a constant beside an operand of another operator, and may look a name up in a nested ad."""
    ad = ClassAd("[foo = 2; m = [n = [k = 1]; foo = 7]]")
    assert repr(ad.flatten(ExprTree("1 + x + y * 3"))) == "1 + x + 3 * y"
    assert repr(ad.flatten(ExprTree("true && x | 2"))) == "2 | x"
    assert repr(ad.flatten(ExprTree("m.n + foo"))) == "2 + m.n"


def test_references_keep_commas():
    assert ClassAd().externalRefs(ExprTree("'a,b' + regexp(c, d).e")) == ["a,b", "regexp(c,d).e"]


def test_empty_ads_and_lists_of_ads_are_read():
    """HTCondor takes what follows an empty ad for long form, and only the first ad of a list."""
    assert list(classad.parseAds("[] [a = 1]")) == [ClassAd(), ClassAd({"a": 1})]
    assert list(classad.parseAds("{[a = 1], [a = 2]}", Parser.New)) == [ClassAd({"a": 1}), ClassAd({"a": 2})]
    assert len(list(classad.parseAds('[{"a": 1}, {"a": 2}]', Parser.JSON))) == 2


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\nb = x + 1",
        "[a = 1; b = x + 1]",
        '{"a": 1, "b": "/Expr(x + 1)/"}',
        '[{"a": 1, "b": "\\/Expr(x + 1)\\/"}]',
        '<?xml version="1.0"?><classads><c><a n="a"><i>1</i></a><a n="b"><e>x + 1</e></a></c></classads>',
    ],
)
def test_the_format_of_a_file_is_found(text):
    assert classad.parseOne(text, Parser.FileAuto) == ClassAd("[a = 1; b = x + 1]")
    assert classad.parseOne(ClassAd("[a = 1; b = x + 1]").printJson(), Parser.JSON)["a"] == 1


@pytest.mark.parametrize("text", ["a = 1\n\nb = 2\n", '[a = 1]\n[b = "]"]', "[a = 1] [b = 2]"])
def test_the_ads_of_a_file_are_read_one_after_the_other(tmp_path, text):
    path = tmp_path / "ads"
    path.write_text(text, encoding="utf-8")
    with path.open(encoding="utf-8") as file:
        assert list(classad.parseNext(file)) == ["a"]
        assert list(classad.parseNext(file)) == ["b"]
        assert not classad.parseNext(file)
    with path.open(encoding="utf-8") as file:
        assert [list(ad) for ad in classad.parseAds(file)] == [["a"], ["b"]]
    assert [list(ad) for ad in classad.parseAds(text.splitlines(keepends=True))] == [["a"], ["b"]]


def test_the_ads_of_a_pipe_are_read_if_the_format_is_given():
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
        file.write("[a = 1] [b = 2]")
    with open(reading, encoding="utf-8") as file:  # noqa: PTH123
        with pytest.raises(ClassAdException, match="specify a parser"):
            classad.parseNext(file)
        assert [list(classad.parseNext(file, Parser.New)) for _ in range(2)] == [["a"], ["b"]]


def test_the_last_error_is_that_of_the_last_text_or_value():
    ExprTree('7 == "7"').eval()
    assert classad.lastError() == "strings can only be compared to strings"
    ExprTree("1 + nosuch(2)").eval()
    assert classad.lastError() == "unknown function nosuch"
    with pytest.raises(ClassAdException):
        ExprTree("1 +")
    assert classad.lastError() == "expected an operand, found end of text at line 1, column 4"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("0 || x", "false || x"),
        ("x || 0.0", "false || x"),
        ("(1 - 1) || x || 0", "false || x"),
        ("0 || (0 || x)", "false || (false || x)"),
        ("5 || x", "true"),
        ("2 && x", "x"),
        ('(y > 1) ? split("a b") : x', "(y > 1) ?: x"),
        ('1 + (x ? splitSlotName("a@b") : y)', "1 + (x ?: y)"),
        ('x ? (y ? split("a") : 1) : 2', "x ? (y ?: 1) : 2"),
        ('true || "a"', "error"),
        ("true || error", "true"),
        ('0 && split("a")', "error"),
    ],
)
def test_flattening_as_htcondor(text, left):
    """Constants beside ``||`` become booleans, and a branch that no constant can stand for is left out."""
    found = ClassAd("[q = 1]").flatten(ExprTree(text))
    assert (Value.Error if left == "error" else ExprTree(left)) == (
        found if isinstance(found, ExprTree | Value) else ExprTree(str(found).lower())
    )


def test_a_first_branch_only_may_be_left_out():
    with pytest.raises(ValueError, match="returns a list"):
        ClassAd().flatten(ExprTree('x ? 1 : split("a b")'))


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("0.1", "0.1000000000000001", True),
        ("1.0", "1.0000000000000002", True),
        ("1e-300", "0.0", True),
        ("2.3e-16", "0.0", False),
        ("5.0", "5.0000000000000009", False),
        ("1e400", "1e400", False),
        ("1", "1.0", False),
    ],
)
def test_reals_are_equal_within_the_epsilon_of_a_double(one, other, equal):
    """Whatever their size, so that an ad is equal to what was read from its text if its reals are small."""
    assert (ClassAd(f"[q = {one}]") == ClassAd(f"[q = {other}]")) is equal


@pytest.mark.parametrize(
    ("text", "names"),
    [("r", ["w"]), ("s", ["w"]), ("[b = q; B = x]", ["x"]), ("[b = q; c = r]", ["q", "w"]), ("{r}", ["w"])],
)
def test_of_a_name_that_a_record_defines_twice_the_last_one_is_an_external_reference(text, names):
    ad = ClassAd("[r = [a = q; A = w]; s = r; U = unresolved(r)]")
    assert sorted(ad.externalRefs(ExprTree(text))) == names
    assert ad.eval("U") == "w"

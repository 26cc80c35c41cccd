"""The Python interface side by side with HTCondor's ``classad2``: random ads and expressions, the same answers."""

import atexit
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import classad_interface
from calls import needs_htcondor
from expressions import ads, expressions
from negotiator import classad
from oracle import Oracle, available

pytestmark = needs_htcondor
_htcondor = Oracle()
atexit.register(_htcondor.close)

if not available():
    pytest.skip("the htcondor package is not installed", allow_module_level=True)


def agrees(name, *arguments, differences=()):
    """Fail unless both modules answer alike; ``differences`` are names of answers that may differ."""
    theirs = _htcondor.call(name, *arguments)
    if theirs is None:  # it crashed
        return
    ours = json.loads(json.dumps(getattr(classad_interface, name)(classad, *arguments)))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for each in differences:
            ours.pop(each, None)
            theirs.pop(each, None)
    assert ours == theirs


def known_differences(*texts):
    """Return the answers that are known to differ for some texts: see docs/classads.md."""
    whole = "\n".join(texts)
    found = set()
    # A function that returns a list, or a nested ad that is selected from: HTCondor's flatten is wrong.
    if re.search(r"split|argsToList|evalInEachContext|Nested|MY|self|L\.", whole, re.IGNORECASE):
        found.add("flatten")
    # HTCondor does not look a name up in the ad if it is selected from an ad in the expression itself.
    if re.search(r"\[A = ", texts[-1]):
        found |= {"flatten", "externalRefs", "internalRefs"}
    # A list that selects from itself: an exception for HTCondor, an error here.
    if re.search(r"\bL\.q", whole):
        found |= {
            "simplify",
            "eval",
            "eval(my)",
            "eval(my, my)",
            "eval(my, target)",
            "eval(target=)",
            *(f"{name}.eval" for name in re.findall(r"(\w+) = ", whole)),
        }
    # HTCondor makes Python objects of an ad's attributes to merge it: a relative time becomes a real.
    if re.search("time", whole, re.IGNORECASE):
        found.add("parseOne")
    if re.search(r"E[+-]", whole):  # HTCondor's pickles have 16 digits of a real, ours 17
        found |= {"pickle", "deepcopy"}
    return found


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(ads("OnlyMine"), ads("OnlyOther"), expressions())
def test_every_method_answers_alike(my, target, text):
    agrees("interface", my, target, text, differences=known_differences(my, target, text))


PLAIN = st.recursive(
    st.sampled_from(
        ["A", "B", "nosuch", "other", "1", "2.5", '"x"', "true", "undefined", "error", "TARGET.A", "MY.A"]
    ),
    lambda part: st.one_of(
        st.builds(
            "({} {} {})".format, part, st.sampled_from(["+", "*", "&&", "||", "-", "<", "&", "=?="]), part
        ),
        st.builds("({} {op} {} {op} {})".format, part, part, part, op=st.sampled_from(["+", "*", "|", "^"])),
        st.builds("({} ? {} : {})".format, part, part, part),
        st.builds("({} ?: {})".format, part, part),
        st.builds("!{}".format, part),
        st.builds("strcat({}, {})".format, part, part),
        st.builds("{{{}, {}}}".format, part, part),
        st.builds("[q = {}; r = q]".format, part),
    ),
    max_leaves=8,
)


@given(st.fixed_dictionaries({}, optional={"A": PLAIN, "B": PLAIN}), PLAIN)
def test_flattening_answers_alike(attributes, text):
    ad = "[" + "; ".join(f"{name} = {value}" for name, value in attributes.items()) + "]"
    theirs = _htcondor.call("interface", ad, "[]", text)
    if theirs is not None:
        ours = json.loads(json.dumps(classad_interface.interface(classad, ad, "[]", text)))
        for name in ("externalRefs", "internalRefs", "flatten"):
            assert ours[name] == theirs[name]


CONDITIONS = st.recursive(
    st.sampled_from(
        ["x", "y", "A", "B", "0", "1", "0.0", "2", "true", "false", "undefined", "error", '"s"', "nosuch > 1"]
    ),
    lambda part: st.one_of(
        st.builds("({} || {})".format, part, part),
        st.builds("({} || {} || {})".format, part, part, part),
        st.builds("({} && {})".format, part, part),
        st.builds('({} ? split("a b") : {})'.format, st.sampled_from(["x", "(y > 1)", "(x || 0)"]), part),
        st.builds("!{}".format, part),
    ),
    max_leaves=6,
)


@given(st.fixed_dictionaries({}, optional={"A": CONDITIONS, "B": CONDITIONS}), CONDITIONS)
def test_flattening_conditions_answers_alike(attributes, text):
    """Constants beside ``||``, values that are no conditions, and first branches that no constant can stand for."""
    test_flattening_answers_alike.hypothesis.inner_test(attributes, text)


RECORD_ITEMS = st.lists(
    st.tuples(
        st.sampled_from("abA"), st.sampled_from(["1", "a", "b", "x", "TARGET.y", "[c = b; c = z]", "{a, w}"])
    ),
    min_size=1,
    max_size=4,
)


@given(st.fixed_dictionaries({}, optional={"a": st.just("1"), "z": st.just("x")}), RECORD_ITEMS)
def test_external_references_of_records_answer_alike(attributes, items):
    """Also of records that define a name twice."""
    ad = "[" + "; ".join(f"{name} = {value}" for name, value in attributes.items()) + "]"
    text = "[" + "; ".join(f"{name} = {value}" for name, value in items) + "]"
    theirs = _htcondor.call("interface", ad, "[]", text)
    if theirs is not None:
        ours = json.loads(json.dumps(classad_interface.interface(classad, ad, "[]", text)))
        assert ours["externalRefs"] == theirs["externalRefs"]


@given(expressions(max_leaves=4), expressions(max_leaves=4))
def test_equality_answers_alike(one, other):
    agrees("equality", one, other)
    agrees("equality", one, one.swapcase())


LINES = st.sampled_from(
    [
        "a = 1",
        "A = 2",
        "b = x + 1",
        "",
        " ",
        "# c",
        'c = "q\\"x"',
        "d = TARGET.a",
        "  e=  1.5 ",
        "f",
        "g =",
        "h = )",
        "i j = 1",
    ]
)
RECORDS = st.sampled_from(
    [
        "[a = 1]",
        "[b = {1, [c = 2]}; ]",
        '[d = "]"]',
        "// c\n",
        "/* [ */",
        "\n",
        " ",
        "[e = ]",
        "[f = 1",
        "x",
        "[g = 'h i']",
    ]
)


@given(st.lists(LINES, max_size=7).map("\n".join))
def test_long_form_is_parsed_alike(text):
    agrees("parsed", text, "Old")
    agrees("parsed", text, "Auto")


@given(st.lists(RECORDS, max_size=5).map(" ".join))
def test_the_new_syntax_is_parsed_alike(text):
    agrees("parsed", text, "New")


@given(st.text(st.sampled_from("aB\"\\'\n\t1é{[ "), max_size=8))
def test_strings_are_quoted_alike(text):
    agrees("quoted", text)


PYTHON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
        st.sampled_from(["none", "date", "naive", "bytes", "set", "range", "bytearray"]).map(
            lambda name: ["constant", name]
        ),
        st.sampled_from(["[a = 1]", "[b = a; c = [d = b]]"]).map(lambda text: ["ad", text]),
        st.sampled_from(["1", "a + 1", "{1, b}", "(2)", "[x = 1]"]).map(lambda text: ["expression", text]),
        st.sampled_from(["Error", "Undefined"]).map(lambda name: ["value", name]),
    ),
    lambda inside: st.one_of(
        st.lists(inside, max_size=3).map(lambda items: ["list", *items]),
        st.dictionaries(st.sampled_from(["a", "B", "is", "x y"]), inside, max_size=3),
    ),
    max_leaves=5,
)
KEYS = st.sampled_from(["a", "A", "bb", "BB", "parent", "x y", "é", "", "z1"])
STEPS = st.one_of(
    st.tuples(st.just("__setitem__"), KEYS, PYTHON),
    st.tuples(
        st.just("__setitem__"),
        KEYS,
        st.sampled_from(["complex", "object", "timedelta"]).map(lambda n: ["constant", n]),
    ),
    st.tuples(st.sampled_from(["__delitem__", "__getitem__", "lookup", "eval", "get", "__contains__"]), KEYS),
    st.tuples(st.just("__getitem__"), st.integers()),
    st.tuples(st.sampled_from(["pop", "setdefault"]), KEYS, PYTHON),
    st.tuples(st.sampled_from(["popitem", "clear"])),
    st.tuples(st.just("update"), st.dictionaries(KEYS.filter(bool), PYTHON, max_size=3)),
)


@given(st.lists(STEPS, max_size=6))
def test_the_mapping_answers_alike(steps):
    agrees("changed", steps)


def test_all_names_of_the_library_and_its_classes_are_there():
    theirs = set(_htcondor.call("names"))
    assert {"ClassAd", "parseOne", "ClassAd.flatten", "ExprTree.simplify"} <= theirs
    missing = [name for name in theirs if not hasattr(*_holder(name))]
    assert missing == []


def _holder(name):
    module, _, method = name.rpartition(".")
    return (getattr(classad, module) if module else classad), method

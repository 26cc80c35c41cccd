"""Traces: the steps of an evaluation, which recording does not change."""

import struct
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Environment,
    evaluate,
    parse,
    parse_ad,
    unparse,
    unparse_value,
)
from negotiator.classad.context import scope as scopes
from negotiator.classad.scalar import trace
from negotiator.classad.scalar.tracing import MAX_RECORDED, TraceLocation
from negotiator.classad.syntax import Attr, Binary, Call, Literal, Paren, children

MY = parse_ad(
    """[
    A = 1; B = A + TARGET.A; Number = 5; Circle = Circle + 1; Turn = TARGET.Turn;
    Nested = [x = A; y = B]; List = {A, TARGET.A, 3}; Ads = {[r = A], [r = 2]};
    Requirements = TARGET.Memory >= MY.Needed && Arch == "X86_64"; Needed = 5; Empty = undefined
    ]"""
)
TARGET = parse_ad('[A = 100; Memory = 7; Arch = "x86_64"; Turn = TARGET.Turn; Both = MY.A + TARGET.A]')
NOW = Environment(now=1_700_000_000.0)


def step_lines(steps, depth=0):
    """Return steps as lines of text."""
    for step in steps:
        value = "(not evaluated)" if step.value is None else f"=> {unparse_value(step.value)}"
        remark = "; ".join(filter(None, (step.location, step.note)))
        yield f"{'  ' * depth}{unparse(step.expr)} {value}{f' ({remark})' if remark else ''}"
        yield from step_lines(step.steps, depth + 1)


def lines(text, my=MY, target=TARGET, **options):
    """Return the trace of an expression in the two ads above as lines of text."""
    return list(step_lines([trace(parse(text), my, target, NOW, **options).root]))


def steps_of(root):
    """Yield every step of a trace."""
    pending = [root]
    while pending:
        step = pending.pop()
        yield step
        pending.extend(step.steps)


def same(one, other):
    """True if two values are equal in kind and to the last bit."""
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack(">d", one) == struct.pack(">d", other)
    return type(one) is type(other) and unparse_value(one) == unparse_value(other)


def bare(expr):
    """Return an expression without the parentheses around it."""
    while isinstance(expr, Paren):
        expr = expr.inner
    return expr


EXAMPLES = {
    "the operands of an operator": (
        "A + 2 * TARGET.A",
        """\
A + 2 * TARGET.A => 201
  A => 1 (in MY)
  2 * TARGET.A => 200
    TARGET.A => 100 (in TARGET)""",
    ),
    "the expression of an attribute is a step below the reference, a constant is not": (
        "Requirements",
        """\
Requirements => true (in MY)
  TARGET.Memory >= MY.Needed && Arch == "X86_64" => true
    TARGET.Memory >= MY.Needed => true
      TARGET.Memory => 7 (in TARGET)
      MY.Needed => 5 (in MY)
    Arch == "X86_64" => true
      Arch => "x86_64" (in TARGET)""",
    ),
    "in an expression of the other ad MY and TARGET change sides, but the recorded locations do not": (
        "TARGET.Both",
        """\
TARGET.Both => 101 (in TARGET)
  MY.A + TARGET.A => 101
    MY.A => 100 (in TARGET)
    TARGET.A => 1 (in MY)""",
    ),
    "what && does not need is not evaluated": (
        "A == 2 && B > 1 && nosuch",
        """\
A == 2 && B > 1 && nosuch => false
  A == 2 => false
    A => 1 (in MY)
  B > 1 (not evaluated)
  nosuch (not evaluated)""",
    ),
    "one of two equal operands is evaluated": (
        "Number == 5 || Number == 5",
        """\
Number == 5 || Number == 5 => true
  Number == 5 => true
    Number => 5 (in MY)
  Number == 5 (not evaluated)""",
    ),
    "the branch that was not taken": (
        "(A == 2) ? (A) : B",
        """\
(A == 2) ? (A) : B => 101
  A == 2 => false
    A => 1 (in MY)
  A (not evaluated)
  B => 101 (in MY)
    A + TARGET.A => 101
      A => 1 (in MY)
      TARGET.A => 100 (in TARGET)""",
    ),
    "the branch that ifThenElse did not take": (
        "ifThenElse(true, A, B)",
        """\
ifThenElse(true,A,B) => 1
  A => 1 (in MY)
  B (not evaluated)""",
    ),
    "the other value of ?: where the first is there": (
        "A ?: B",
        """\
A ?: B => 1
  A => 1 (in MY)
  B (not evaluated)""",
    ),
    "undefined is not the same as nowhere": (
        "Empty + MY.nosuch + TARGET.nosuch + nosuch",
        """\
Empty + MY.nosuch + TARGET.nosuch + nosuch => undefined
  Empty + MY.nosuch + TARGET.nosuch => undefined
    Empty + MY.nosuch => undefined
      Empty => undefined (in MY)
      MY.nosuch => undefined (not found)
    TARGET.nosuch => undefined (not found)
  nosuch => undefined (not found)""",
    ),
    "a circle": (
        "Circle",
        """\
Circle => undefined (in MY)
  Circle + 1 => undefined
    Circle => undefined (in MY; it refers to itself)""",
    ),
    "a circle through both ads": (
        "Turn",
        """\
Turn => undefined (in MY)
  TARGET.Turn => undefined (in TARGET)
    TARGET.Turn => undefined (in MY; it refers to itself)""",
    ),
    "nested ads": (
        "Nested.y + [A = 7; q = A].q",
        """\
Nested.y + [ A = 7; q = A ].q => 108
  Nested.y => 101 (in an ad inside MY)
    Nested => [ x = A; y = B ] (in MY)
    B => 101 (in MY)
      A + TARGET.A => 101
        A => 1 (in MY)
        TARGET.A => 100 (in TARGET)
  [ A = 7; q = A ].q => 7 (in an ad inside MY)
    A => 7 (in an ad inside MY)""",
    ),
    "an element of a list is evaluated where the list is written": (
        "List[1] + {1}[0]",
        """\
List[1] + { 1 }[0] => 101
  List[1] => 100
    List => { A,TARGET.A,3 } (in MY)
    TARGET.A => 100 (in TARGET)
  { 1 }[0] => 1""",
    ),
    "functions that evaluate in other ads": (
        "countMatches(r == A, Ads)",
        """\
countMatches(r == A,Ads) => 1
  Ads => { [ r = A ],[ r = 2 ] } (in MY)
  r == A => true (in an ad inside MY)
    r => 1 (in an ad inside MY)
      A => 1 (in MY)
    A => 1 (in MY)
  r == A => false (in an ad inside MY)
    r => 2 (in an ad inside MY)
    A => 1 (in MY)""",
    ),
    "an attribute of each element of a list": (
        "Ads.r",
        """\
Ads.r => { 1,2 } (of each element of the list)
  Ads => { [ r = A ],[ r = 2 ] } (in MY)
  A => 1 (in MY)""",
    ),
    "text that is evaluated": (
        'eval("A + 1")',
        """\
eval("A + 1") => 2
  A + 1 => 2
    A => 1 (in MY)""",
    ),
    "the ads themselves, and what HTCondor puts around them": (
        "isClassAd(SELF) && CurrentTime > 0 && symmetricMatch",
        """\
isClassAd(SELF) && CurrentTime > 0 && symmetricMatch => undefined
  isClassAd(SELF) => true
    SELF => """
        + unparse_value(evaluate(parse("MY"), MY))
        + """
  CurrentTime > 0 => true
    CurrentTime => 1700000000
  symmetricMatch => undefined (in the match)
    RIGHT.requirements && LEFT.requirements => undefined
      RIGHT.requirements => undefined (not found)
      LEFT.requirements => true (in MY)
        TARGET.Memory >= MY.Needed && Arch == "X86_64" => true
          TARGET.Memory >= MY.Needed => true
            TARGET.Memory => 7 (in TARGET)
            MY.Needed => 5 (in MY)
          Arch == "X86_64" => true
            Arch => "x86_64" (in TARGET)""",
    ),
    "a side of a side": ("MY.TARGET.A", "MY.TARGET.A => 100 (in TARGET)"),
    "parentheses and constants have no steps": ("((5) + ((A)))", "(5) + ((A)) => 6\n  A => 1 (in MY)"),
    "a constant alone": ("5", "5 => 5"),
    "a list alone": ("{A}", "{ A } => { A }"),
}


@pytest.mark.parametrize("case", EXAMPLES)
def test_the_steps_of_a_trace(case):
    """The steps are the evaluated parts in the order of the text."""
    text, expected = EXAMPLES[case]
    assert lines(text) == expected.splitlines()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("1/0", "division by zero"),
        ("A % 0", "division by zero"),
        ("1e308 * 10", "the result is too large for a real"),
        ('"a" + A', "+ does not take a string and an integer"),
        ("5.0 % 2", "% does not take a real and an integer"),
        ('"a" < A', "< does not compare a string with an integer"),
        ("{} =?= {}", "=?= does not compare a list with a list"),
        ('!"a"', "! does not take a string"),
        ('"a" && A && B', "&& does not take a string"),
        ("A == 2 || {}", "|| does not take a list"),
        ('"a" ? A : B', "a string is not a condition"),
        ("ifThenElse({}, 1, 2)", "a list is not a condition"),
        ("List[3]", "invalid index 3 for a list of 3"),
        ("List[true]", "[] does not take a list and a boolean"),
        ("(5).x", "an integer has no attributes"),
        ("Arch.x", "a string has no attributes"),
        ("abs(A)", "unknown function abs"),
        ("substr(Arch)", "substr does not take 1 argument"),
        ("SUBSTR(A, 1)", "substr fails for an integer and an integer"),
        ("sum(strcat(Arch, Arch))", "sum fails for a string"),
        ('eval("A +")', "eval: expected an operand, found end of text"),
        ("random(0)", "given up: invalid arguments of random"),
    ],
)
def test_an_error_has_its_reason(text, note):
    """The step where an error arises has its reason."""
    root = trace(parse(text), MY, TARGET, NOW).root
    assert (root.value, root.note) == (ERROR, note)


@pytest.mark.parametrize(
    "text", ["(1/0) + A", "true && 1/0", "int(1/0)", "[x = 1/0].x", "error + 1", "{1/0}[0]"]
)
def test_an_error_of_a_part_is_explained_once(text):
    """Only the part where an error arises has a reason; a constant error has none."""
    notes = [step.note for step in steps_of(trace(parse(text), MY, TARGET, NOW).root) if step.note]
    assert notes == ([] if text.startswith("error") else ["division by zero"])


def test_missing_ads():
    """Without ads every name is not found; with one ad TARGET is missing."""
    assert lines("x || TARGET.x || MY.x", None, None)[1:] == [
        "  x => undefined (not found)",
        "  TARGET.x => undefined (missing TARGET ad)",
        "  MY.x => undefined (missing MY ad)",
    ]
    assert lines("other.A", MY, None) == ["other.A => undefined (missing TARGET ad)"]
    assert lines(".A", None, None) == [".A => error (given up: no ad to evaluate in)"]


def test_an_attribute_called_target_is_not_the_other_ad():
    """An attribute called TARGET is traced like any other attribute."""
    mine = parse_ad("[TARGET = [A = 7]]")
    assert lines("TARGET.A", mine) == [
        "TARGET.A => 7 (in an ad inside MY)",
        "  TARGET => [ A = 7 ] (in MY)",
    ]


def test_the_step_where_an_evaluation_is_given_up():
    """The reference that exceeds 400 levels has the reason; the steps around it are given up too."""
    chain = parse_ad("[" + "; ".join(f"A{number} = A{number + 1} + 0" for number in range(300)) + "]")
    result = trace(parse("A0"), chain)
    assert result.root.value is ERROR is evaluate(parse("A0"), chain)
    notes = [step.note for step in steps_of(result.root)]
    assert set(notes[:-1]) == {"given up"}
    assert notes[-1] == "given up: more than 400 levels deep"


def test_the_number_of_steps_is_limited():
    """The value is that of the whole evaluation, and steps not recorded are not shown as not evaluated."""
    doubling = parse_ad(
        "[" + "".join(f"A{number} = A{number + 1} + A{number + 1};" for number in range(14)) + "A14 = 1]"
    )
    result = trace(parse("A0"), doubling)
    steps = list(steps_of(result.root))
    assert not result.complete
    assert result.root.value == 2**14
    assert len(steps) <= MAX_RECORDED
    assert all(step.value is not None for step in steps)
    assert trace(parse("A0"), doubling, most=0).root == type(result.root)(parse("A0"), 2**14)
    small = trace(parse("A13"), doubling)
    assert small.complete
    assert len(list(steps_of(small.root))) == 4


def test_operands_that_were_not_evaluated_count_too():
    """Operands that were not evaluated count towards the limit of steps."""
    result = trace(parse(" || ".join(["true", *["A"] * 500])), MY, most=100)
    assert not result.complete
    assert len(list(steps_of(result.root))) <= 100


def test_without_stack_for_recording_the_trace_has_only_the_value():
    """Recording needs more of Python's stack than evaluation; if there is too little, only the value is given."""
    chain = parse_ad("[" + "; ".join(f"A{number} = A{number + 1}" for number in range(250)) + "; A250 = 5]")
    expr = parse("A0")
    assert evaluate(expr, chain) == 5
    limit = sys.getrecursionlimit()
    try:
        for room in range(200, 5000, 20):
            sys.setrecursionlimit(room)
            if evaluate(expr, chain) == 5:
                break
        sys.setrecursionlimit(room + 20)  # for the calls in between
        result = trace(expr, chain)
    finally:
        sys.setrecursionlimit(limit)
    assert (result.root.value, result.root.note, result.complete) == (5, "too deep to be traced", False)


@settings(max_examples=300)
@given(
    text=expressions(),
    my=ads("OnlyMine"),
    target=st.none() | ads("OnlyOther"),
    most=st.sampled_from([0, 3, 2000]),
)
@example("evalInEachContext(A, L) is unresolved(B) && C", "[A = B; B = C; C = 1; L = {[A = 2]}]", None, 2000)
def test_the_value_of_the_root_is_that_of_the_evaluation(text, my, target, most):
    """The root step has the value of evaluate, whatever the expression, the ads and the limit of steps."""
    expr, mine = parse(text), parse_ad(my)
    other = None if target is None else parse_ad(target)
    result = trace(expr, mine, other, NOW, most=most)
    assert same(result.root.value, evaluate(expr, mine, other, NOW))
    if result.complete:
        assert bare(expr) == bare(result.root.expr)


@settings(max_examples=150)
@given(
    text=expressions(),
    my=ads("OnlyMine"),
    target=ads("OnlyOther"),
    levels=st.integers(0, 12),
    steps=st.integers(0, 60),
)
@example("(0) + (A.A)", "[]", "[]", 2, 0)
def test_recording_does_not_change_levels_and_steps(text, my, target, levels, steps):
    """Near the limits, where one more level or step would change the value, the value is the same."""
    expr, mine, other = parse(text), parse_ad(my), parse_ad(target)
    with pytest.MonkeyPatch.context() as patch:
        for name, most in (
            (("MAX_LEVELS", levels), ("MAX_STEPS", 10**7)),
            (("MAX_LEVELS", 400), ("MAX_STEPS", steps)),
        ):
            patch.setattr(scopes, *name)
            patch.setattr(scopes, *most)
            assert same(trace(expr, mine, other, NOW).root.value, evaluate(expr, mine, other, NOW))


@settings(max_examples=200)
@given(text=expressions(calls=False), my=ads("OnlyMine"), target=ads("OnlyOther"))
def test_each_operand_has_the_value_that_it_has_alone(text, my, target):
    """Each evaluated operand has its own value, if no function moves the evaluation to other ads."""
    expr, mine, other = parse(text), parse_ad(my), parse_ad(target)
    pending = [trace(expr, mine, other, NOW).root]
    while pending:
        step = pending.pop()
        operands = {id(bare(child)) for child in children(step.expr)}
        if isinstance(step.expr, Binary) and step.expr.op in {"&&", "||"}:
            operands |= {id(below.expr) for below in step.steps}
        if step.value is not None:
            assert same(step.value, evaluate(step.expr, mine, other, NOW))
            pending.extend(below for below in step.steps if id(below.expr) in operands)
        else:
            assert step.steps == ()


@settings(max_examples=200)
@given(text=expressions(calls=False), my=ads("OnlyMine"), target=ads("OnlyOther"))
def test_the_location_of_an_attribute(text, my, target):
    """The ad of a step's location has the attribute, and the step below is that of its expression."""
    places = {TraceLocation.MY: parse_ad(my), TraceLocation.TARGET: parse_ad(target)}
    for step in steps_of(trace(parse(text), *places.values(), NOW).root):
        if not isinstance(step.expr, Attr) or step.value is None:
            continue
        if step.location is TraceLocation.NOWHERE:
            assert step.value is UNDEFINED
        elif step.location in places:
            attribute = places[step.location].get(step.expr.name)
            assert attribute is not None
            below = [each.expr for each in step.steps]
            if isinstance(bare(attribute), Attr | Binary | Call) and not step.note:
                assert below[-1] == bare(attribute)
            elif isinstance(attribute, Literal):
                assert same(step.value, attribute.value)

"""Lint of an expression by its text alone: findings, their positions, and expressions without findings."""

import pytest

from negotiator.classad import bind, parse, unparse
from negotiator.classad.lint import LintCode, lint, moved
from negotiator.classad.lint.typed_expression import parts
from negotiator.records import Severity

FOUND = [
    # the whole expression
    ("true || a", "true", "constant-operand"),
    ("1 < 2", "1 < 2", "always-true"),
    ("5", "5", "always-true"),
    ("0", "0", "always-false"),
    ('size("abc") > 3', 'size("abc") > 3', "always-false"),
    ("MY.a =?= 5 || true", "MY.a =?= 5 || true", "always-true"),
    ("undefined", "undefined", "always-undefined"),
    ("b && isUndefined(MY.x ?: 0)", "isUndefined(MY.x ?: 0)", "always-false"),
    ("member(3, {1, 2}) && a", "member(3, {1, 2})", "always-false"),
    ("a && x == undefined", "a && x == undefined", "never-true"),
    ("isUndefined(a) ? 0 : x == error", "isUndefined(a) ? 0 : x == error", "never-true"),
    # operands of the wrong kind
    ("x == undefined", "x == undefined", "undefined-comparison"),
    ("undefined != MY.x", "undefined != MY.x", "undefined-comparison"),
    ("MY.x < error", "MY.x < error", "undefined-comparison"),
    ('size(x) > "5"', 'size(x) > "5"', "string-number"),
    ("strcat(a, b) == 5 || c", "strcat(a, b) == 5", "string-number"),
    ('isString(a) == "true"', 'isString(a) == "true"', "string-number"),
    ('int(a) =?= "1"', 'int(a) =?= "1"', "string-number"),
    ("int(a) =?= 1.0", "int(a) =?= 1.0", "wrong-operand"),
    ('a + "b"', 'a + "b"', "wrong-operand"),
    ("a % 2.5 == 0", "a % 2.5", "wrong-operand"),
    ("1 / 0", "1 / 0", "wrong-operand"),
    ("-true", "-true", "wrong-operand"),
    ("{1, 2} == a", "{1, 2} == a", "wrong-operand"),
    ('"abc".x', '"abc".x', "wrong-operand"),
    # conditions
    ('OpSys == "LINUX" || "WINDOWS"', '"WINDOWS"', "not-a-condition"),
    ('!strcat("a", b)', 'strcat("a", b)', "not-a-condition"),
    ("a && {1}", "{1}", "not-a-condition"),
    ("ifThenElse(toUpper(a), 1, 2)", "toUpper(a)", "not-a-condition"),
    ("a && true", "true", "constant-operand"),
    ("(false) || a", "false", "constant-operand"),
    ("a && (b || undefined)", "undefined", "constant-operand"),
    ("1 ? a : b", "1", "constant-operand"),
    ("ifThenElse(false, a, b)", "false", "constant-operand"),
    ("a > 1 && b && (A > 1)", "a > 1", "duplicate-operand"),
    ("(a || b) && (c || a || (b || c))", "c", "duplicate-operand"),
    # what is quoted, or not a number any more
    ('MY.Memory > "1024"', 'MY.Memory > "1024"', "quoted-constant"),
    ('MY.HasDocker == "True"', 'MY.HasDocker == "True"', "quoted-constant"),
    ("Disk > 99999999999999999999", "99999999999999999999", "number-too-large"),
    # calls
    ("regexpp(a, b)", "regexpp(a, b)", "unknown-function"),
    ("size()", "size()", "wrong-arguments"),
    ('regexp("*.org", Machine)', 'regexp("*.org", Machine)', "bad-pattern"),
    ('regexp("[", strcat(a, b), "i")', 'regexp("[", strcat(a, b), "i")', "bad-pattern"),
    ('regexp(Machine, "^node")', 'regexp(Machine, "^node")', "pattern-from-ad"),
]  # fmt: skip

CLEAN = [
    "a",
    "MY.Memory >= TARGET.RequestMemory",
    '(MY.AcctGroup ?: "") != "group_students" || TARGET.Mips < 5000',
    '(isString(MY.Owner) && MY.Owner != "") =!= true',
    'MY.Owner == "tester" && ((MY.NumJobStarts ?: 0) - 1 <= 10) =!= true',
    "x =?= undefined",
    "x =!= undefined && x > 5",
    'OpSysMajorVer == "7"',
    'regexp("^untrusted", MY.Name)',
    'regexp(strcat("^", "x"), MY.Name)',
    "time() - EnteredCurrentState > 3600 * 24",
    'ifThenElse(isUndefined(x), "a", y) == "a"',
    "random(10) < 3 || random(10) < 3",
    "(a && b) || (a && c)",
    "Disk > 9223372036854775807",
    "-9223372036854775808 < a",
    "1e400 > a",
    "x is y",
    "a[0] == 1",
    "[a = 1].a == 1",
    "MY.Start",
    "quantize(RequestMemory, {128, 256}) > 128",
]


def found(text, **known):
    return lint(bind(parse(text)), text=text, **known)


@pytest.mark.parametrize(("text", "part", "code"), FOUND)
def test_mistakes_are_found_with_their_position(text, part, code):
    """Each with its code and the part of the text."""
    hits = [finding for finding in found(text) if finding.code == code]
    assert [text[slice(*finding.span)].lower() for finding in hits[:1]] == [part.lower()]


@pytest.mark.parametrize("text", CLEAN)
def test_correct_expressions_have_no_findings(text):
    """Expressions of real policies, and some that only look odd."""
    assert [str(finding) for finding in found(text)] == []


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("TARGET.Memmory", "Memory"),
        ("MY.Memroy > 5", "Memory"),
        ("Cpuss", "Cpus"),
        ("MY.Cpu > 1", "Cpus"),
        ("TARGET.RequestMemmorry > 1", "RequestMemory"),
        ("JobUniverce == 5", "JobUniverse"),
        ("Ownerr =!= undefined", "Owner"),
    ],
)
def test_a_misspelled_attribute_of_htcondor_is_found_without_ads(text, near):
    """A notice if the expression tests whether it is defined."""
    (finding,) = lint(bind(parse(text)), truth_counts=False)
    assert (finding.code, finding.hint) == (LintCode.MISSPELLED_ATTRIBUTE, f"did you mean {near}?")
    assert finding.severity is (Severity.NOTICE if "undefined" in text else Severity.WARNING)


@pytest.mark.parametrize(
    "text",
    [
        "MY.Rack",
        "Site",
        "Mips2",
        "Tier",
        "Cluster",
        "GPU_Model",
        "KFLOPS",
        "TARGET.HasSingularity",
        "Memories",
    ],
)
def test_a_name_of_the_site_itself_is_not_taken_for_a_misspelled_one(text):
    """A short name is like many others; one with other digits is a name of its own."""
    assert lint(bind(parse(text)), truth_counts=False) == ()


def test_every_code_of_the_text_has_an_example():
    """Those of a pool have theirs elsewhere; a code that is never found would be useless."""
    of_text = set(list(LintCode)[: list(LintCode).index(LintCode.TOO_LARGE)])
    others = {LintCode.ALWAYS_ERROR, LintCode.CONSTANT, LintCode.NO_OTHER_AD, LintCode.MISSPELLED_ATTRIBUTE}
    assert {str(code) for code in of_text - others} == {code for _, _, code in FOUND}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("x == undefined", "write x =?= undefined"),
        ("MY.x != undefined", "write MY.x =!= undefined"),
        ('size(x) > "5"', "write 5 without quotes"),
        ('isString(a) == "True"', "write true without quotes"),
        ('a + "b"', "strcat() joins strings"),
        ('regexp(MY.Name, "^node")', 'the pattern comes first: regexp("^node", MY.Name)'),
        ("regexpp(a, b)", "did you mean regexp?"),
        (
            'regexp("*.org", Machine)',
            "a regular expression is not a file wildcard: write .* for any characters",
        ),
    ],
)
def test_hints_say_what_to_write_instead(text, hint):
    """With the author's own spelling."""
    assert hint in [finding.hint for finding in found(text)]


def test_a_consequence_is_reported_once_after_its_cause():
    """The clause that cannot be true, then the whole; nothing in between."""
    codes = [str(finding.code) for finding in found("a && (b && (c && (x == undefined && d)))")]
    assert codes == ["undefined-comparison", "never-true"]
    assert [str(finding.code) for finding in found("x == undefined")] == ["undefined-comparison"]


def test_certain_mistakes_are_warnings_and_others_notices():
    """So that a program can reject warnings."""
    severities = {finding.code: finding.severity for finding in found('x == undefined && true && a > "5"')}
    assert severities[LintCode.UNDEFINED_COMPARISON] is Severity.WARNING
    assert severities[LintCode.CONSTANT_OPERAND] is severities[LintCode.QUOTED_CONSTANT] is Severity.NOTICE


def test_of_a_rank_only_its_value_counts():
    """It may be a number or a string; a missing value is still reported."""
    assert found("strcat(a, b)", truth_counts=False) == ()
    assert found("Memory * 10", truth_counts=False) == ()
    assert [finding.code for finding in found("2 * 3", truth_counts=False)] == [LintCode.CONSTANT]
    assert [finding.code for finding in found("undefined", truth_counts=False)] == [LintCode.ALWAYS_UNDEFINED]


def test_alone_the_other_ad_is_undefined():
    """Each of its names is reported once, and the consequence for the whole."""
    codes = [
        (finding.code, unparse(finding.expr)) for finding in found("TARGET.x > 5 && other.X", alone=True)
    ]
    assert codes == [
        (LintCode.NO_OTHER_AD, "TARGET.x"),
        (LintCode.ALWAYS_UNDEFINED, "TARGET.x > 5 && TARGET.X"),
    ]
    assert found("TARGET.x > 5") == ()


def test_without_the_text_findings_have_no_position():
    """They are the same otherwise, except for numbers that the tree has lost."""
    (finding,) = lint(parse("x == undefined || 99999999999999999999 < a"))
    assert (finding.code, finding.span) == (LintCode.UNDEFINED_COMPARISON, None)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("self.x  ==\n  undefined", "self.x  ==\n  undefined"),
        ("a && /* why */ ( x==undefined )", "x==undefined"),
        ('MY.x > 1.50 && "a" "b"', '"a" "b"'),
    ],
)
def test_parts_are_found_however_they_are_written(text, part):
    """With the white space, comments, aliases and adjacent strings of the text."""
    assert text[slice(*found(text)[0].span)] == part


def test_a_name_is_not_found_in_another_reference():
    """``a`` is not found in ``MY.a``, ``a.b`` or ``a()``."""
    (finding,) = found("MY.a || a.b || a(1) || (a && a)")[-1:]
    assert (finding.code, finding.span) == (LintCode.DUPLICATE_OPERAND, (24, 25))


@pytest.mark.parametrize(
    "text", [" || ".join(["a"] * 5000), "!" * 450 + "a", "{" + ",".join(["a"] * 30_000) + "}"]
)
def test_expressions_that_are_too_large_are_reported(text):
    """Quickly, and without other findings."""
    (finding,) = lint(parse(text), text=text)
    assert finding.code is LintCode.TOO_LARGE


def test_the_number_of_findings_is_limited():
    """The author fixes the first ones and runs lint again."""
    text = " && ".join(f'("a" + {number} > "{number}" || x{number} == undefined)' for number in range(200))
    assert len(found(text)) < 200


def test_control_characters_do_not_get_into_messages():
    """Messages are printed on terminals."""
    for finding in found('"\x1b[2J" + a == 1 && \'x\x1b[2J\' == undefined && regexp("[\x1b", a)'):
        assert str(finding).isprintable()


@pytest.mark.parametrize(
    ("offset", "into", "place"),
    [
        (5, "a   &&\n\tb && rest", 8),
        (0, "a", 0),
        (5, "a && c", None),
        (5, "a &&", None),
        (3, "a && b", None),
    ],
)
def test_a_position_is_found_in_another_layout(offset, into, place):
    """If the tokens before it are the same."""
    assert moved(offset, "a && b", into) == place


def test_parts_gives_all_nodes_once():
    """Operands before operators."""
    assert [unparse(part) for part in parts(parse("a + {b}[0]"))] == [
        "a",
        "b",
        "{ b }",
        "0",
        "{ b }[0]",
        "a + { b }[0]",
    ]

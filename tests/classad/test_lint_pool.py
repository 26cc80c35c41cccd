"""Lint with the ads of a pool: findings, and the ads for which they hold."""

import pytest

from negotiator.classad import Environment, Table, bind, parse, parse_ad
from negotiator.classad.lint import LintCode, lint
from negotiator.records import Severity

SLOTS = [
    '[Name = "a"; OpSys = "LINUX"; Memory = 1024; Mips = 1.5; HasDocker = true; JobUniverse = 5; Start = Memory > 5]',
    '[Name = "b"; OpSys = "LINUX"; Memory = 2048; Mips = 2.5; HasDocker = false; Old = 1; Start = TARGET.Owner == "x"]',
]
JOBS = [
    '[Owner = "x"; RequestMemory = 100; JobUniverse = 5; Cmd = "a"; Requirements = TARGET.Memory > 0]',
    '[Owner = "y"; RequestMemory = "200"; JobUniverse = 7; Requirements = TARGET.OpSys == "LINUX"]',
]

FOUND = [
    ("MY.Memroy > 5", "MY.Memroy", "unknown-attribute"),
    ("Memroy > 5", "Memroy", "unknown-attribute"),
    ("MY.RequestMemory > 5", "MY.RequestMemory", "other-side"),
    ("TARGET.Memory > 5", "TARGET.Memory", "other-side"),
    ("JobUniverse == 5", "JobUniverse", "both-sides"),
    ("OpSys == LINUX", "LINUX", "unquoted-string"),
    ("Linux =?= MY.OpSys", "Linux", "unquoted-string"),
    ('MY.OpSys =?= "linux"', 'MY.OpSys =?= "linux"', "case-differs"),
    ('"linux" =!= OpSys', '"linux" =!= OpSys', "case-differs"),
    ('MY.Memory > "1024"', 'MY.Memory > "1024"', "string-number-in-pool"),
    ('MY.HasDocker == "true"', 'MY.HasDocker == "true"', "string-number-in-pool"),
    ('MY.HasDocker =?= "true"', 'MY.HasDocker =?= "true"', "string-number-in-pool"),
    ("MY.OpSys < TARGET.JobUniverse", "MY.OpSys < TARGET.JobUniverse", "string-number-in-pool"),
    ("MY.Memory =?= 1024.0", "MY.Memory =?= 1024.0", "wrong-operand-in-pool"),
    ("MY.Mips % 2 == 0", "MY.Mips % 2", "wrong-operand-in-pool"),
    ("MY.OpSys && a", "MY.OpSys", "not-a-condition-in-pool"),
    ("MY.OpSys", "MY.OpSys", "not-a-condition-in-pool"),
    ("MY.Memory >= 1024", "MY.Memory >= 1024", "always-true-in-pool"),
    ("MY.Memory < TARGET.JobUniverse", "MY.Memory < TARGET.JobUniverse", "always-false-in-pool"),
    ("MY.Memroy > 5", "MY.Memroy > 5", "always-undefined-in-pool"),
    ("MY.Name == 5 || MY.OpSys", "MY.Name == 5 || MY.OpSys", "always-error-in-pool"),
    ("MY.Old > 5", "MY.Old > 5", "never-true-in-pool"),
]

CLEAN = [
    "MY.Memory > 1500",
    "TARGET.RequestMemory <= MY.Memory",
    'TARGET.RequestMemory == "200"',
    "MY.Start",
    "TARGET.Requirements && MY.Start",
    'TARGET.Cmd == "a"',
    'OpSys == "linux" && RequestMemory < 200',
    'MY.Name =?= "a"',
    "CurrentTime + Memory > 5 && MY.Memory > 1500",
    "countMatches(MY.Foo, {TARGET}) > 0",
    "[Foo = 1; x = Foo].x + MY.Memory > 1500",
    "random(10) < 3",
    'eval("Memory") > 1500',
    'isUndefined(unresolved(nosuch)) && Memory > "x"',  # Memory is looked up in the wrong place then
]


def found(text, slots=SLOTS, jobs=JOBS, **known):
    return lint(
        bind(parse(text)),
        my=None if slots is None else Table.from_ads([parse_ad(ad) for ad in slots]),
        target=None if jobs is None else Table.from_ads([parse_ad(ad) for ad in jobs]),
        my_word="slot",
        target_word="job",
        text=text,
        env=Environment(now=5.0),
        **known,
    )


def codes(text, *ads, **known):
    return [str(finding.code) for finding in found(text, *ads, **known)]


@pytest.mark.parametrize(("text", "part", "code"), FOUND)
def test_mistakes_for_a_pool_are_found_with_their_position(text, part, code):
    """Each with its code and the part of the text."""
    hits = [text[slice(*finding.span)] for finding in found(text) if finding.code == code]
    assert hits == [part]


@pytest.mark.parametrize("text", CLEAN)
def test_attributes_that_some_ads_have_give_no_findings(text):
    """Nor do values that would need an evaluation of every pair."""
    assert [str(finding) for finding in found(text)] == []


def test_every_code_of_a_pool_has_an_example():
    """A code that is never found would be useless."""
    of_pool = list(LintCode)[list(LintCode).index(LintCode.UNKNOWN_ATTRIBUTE) :]
    assert {str(code) for code in of_pool} == {code for _, _, code in FOUND}


@pytest.mark.parametrize(
    ("text", "jobs", "words"),
    [
        ('MY.Memory > "1"', JOBS, "for every slot of this pool, "),
        ("MY.OpSys < TARGET.JobUniverse", JOBS, "for every slot and job of this pool, "),
        ('JobUniverse > "1"', JOBS, "for every slot and job of this pool, "),
        ('OpSys > "Z" || Memory > "1"', JOBS, "for every slot of this pool, "),
        ("MY.Memory > 5", None, "for every slot of this pool, with any other ad, "),
        ("MY.Memroy > 5", None, "for every slot of this pool, with any other ad, "),
    ],
)
def test_a_finding_names_the_ads_for_which_it_holds(text, jobs, words):
    """Those from whose attributes it follows, and no others."""
    assert found(text, SLOTS, jobs)[-1].message.startswith(words)


def test_attributes_that_the_other_side_may_have_are_not_missing():
    """If its ads are not known, an unscoped name may be one of theirs."""
    assert codes("Color > 5 && TARGET.Foo", SLOTS, None) == []
    assert codes("Memroy > 5 && TARGET.Foo", SLOTS, None) == ["misspelled-attribute"]
    assert codes("Memroy > 5", SLOTS, None, alone=True) == ["unknown-attribute", "always-undefined-in-pool"]
    assert codes("MY.Color > 5 || TARGET.x", None, JOBS) == ["unknown-attribute"]


def test_an_attribute_that_the_author_expects_to_be_missing_is_a_notice():
    """An author who tests for it anywhere in the expression knows that it may be missing."""
    for text in ("(MY.Foo ?: 0) > 1", "MY.Foo =!= true", "!isUndefined(MY.Foo) && MY.Foo > 5"):
        assert {
            finding.severity for finding in found(text) if finding.code is LintCode.UNKNOWN_ATTRIBUTE
        } == {Severity.NOTICE}
    assert found("MY.Foo > 5")[0].severity is Severity.WARNING


def test_spelling_is_that_of_the_ads():
    """Suggestions can be copied."""
    assert found("my.memroy > 5")[0].hint == "did you mean Memory?"


def test_an_attribute_of_some_ads_falls_through_in_the_others():
    """An unscoped name is looked up in the other ad if the first does not have it, not if it is undefined there."""
    slots, jobs = ["[A = undefined]", "[A = 1]"], ['[A = "x"]']
    assert "string-number-in-pool" in codes('A == "y"', slots, jobs)
    assert codes('A == "x"', ["[]", "[A = 1]"], jobs) == ["both-sides"]


def test_an_ad_that_defines_target_makes_target_mean_anything():
    """In an expression that is not bound, the attribute is used; in a bound one, the ad."""
    slots = Table.from_ads([parse_ad("[TARGET = [Foo = 5]; Memory = 1]")])
    jobs = Table.from_ads([parse_ad("[Owner = 1]")])
    expr = parse("TARGET.Foo > 3")
    assert [finding.code for finding in lint(expr, my=slots, target=jobs)] == [LintCode.ALWAYS_TRUE_IN_POOL]
    assert lint(bind(expr), my=slots, target=jobs)[0].code is LintCode.UNKNOWN_ATTRIBUTE


def test_ads_with_different_attributes_called_target_are_all_evaluated():
    """They are not equal, though the expression names nothing else that differs."""
    slots = Table.from_ads([parse_ad(f"[TARGET = [Foo = {number}]]") for number in (5, 1)])
    jobs = Table.from_ads([parse_ad("[Owner = 1]")])
    assert lint(parse("TARGET.Foo > 3"), my=slots, target=jobs) == ()
    assert lint(parse("TARGET.Foo > 3"), my=slots) == ()
    assert lint(parse("TARGET.Foo > 3"), target=jobs) == ()
    assert lint(parse("MY.x > 3"), my=Table.from_ads([parse_ad("[MY = [x = TARGET.y]]")])) == ()


def test_many_different_ads_on_both_sides_are_not_all_evaluated():
    """With 40 different slots and 40 different jobs there is no finding; with few on one side, all are evaluated."""
    slots = [f"[A = {number}]" for number in range(40)]
    jobs = [f"[B = {number}; C = 1]" for number in range(40)]
    assert codes("MY.A >= 0 && TARGET.B >= 0", slots, jobs) == []
    assert codes("MY.A >= 0 && TARGET.C >= 0", slots, jobs) == ["always-true-in-pool"]
    assert codes("TARGET.A >= 0 && MY.C >= 0", jobs, slots) == ["always-true-in-pool"]


def test_the_expressions_of_ads_are_followed():
    """Attributes that are expressions are evaluated too."""
    slots, jobs = ["[Start = TARGET.Owner == Who; Who = 5]"], ['[Owner = "x"]', '[Owner = "y"]']
    assert codes("MY.Start", slots, jobs) == ["always-error-in-pool"]
    assert codes("MY.Start", slots, None) == []
    assert codes("MY.Start", ["[Start = Who == 5; Who = 5]"], None) == ["always-true-in-pool"]


def test_an_empty_pool_gives_no_findings():
    """Anything would hold for its ads."""
    assert codes("MY.Color > 5", [], []) == []

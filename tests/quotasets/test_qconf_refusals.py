"""Which refusal of qconf comes first, and what an object of an attribute switch names: as recorded from a real qmaster 8.1.9."""

import pytest

from gridengine_sessions import ONE, TWO

UNKNOWN = "to nosuch=5"
REFERENCES = '"resource_quota" references not existing complex attribute "nosuch"\n'
NO_RULE = "no resource quota rule specified for modification\n"
THREE_RULES = """{
   name         a
   description  NONE
   enabled      TRUE
   limit        to slots=1
   limit        name x to slots=2
   limit        to slots=3
}
"""


def text(name, limit="to slots=7", description="NONE"):
    return f"{{\n   name {name}\n   description {description}\n   enabled TRUE\n   limit {limit}\n}}\n"


def no_set(name):
    return f'denied: resource quota set "{name}" does not exist\n'


@pytest.fixture
def rules(session):
    session.sets = THREE_RULES
    return session


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (text("one", UNKNOWN), 'resource quota set "one" already exists\n'),
        (text("one", "to slots"), 'resource quota set "one" already exists\n'),
        (text("one", "to slots=$num_proc"), 'resource quota set "one" already exists\n'),
        (text("one") + text("new", UNKNOWN), 'resource quota set "one" already exists\n'),
        (text("new", UNKNOWN) + text("one"), REFERENCES),
        (text("new") + text("other", UNKNOWN), REFERENCES),
        # The syntax of the whole text comes first.
        (text("one", "users {a to slots=5"), "no valid expanded list\n"),
        (text("one") + text("new", "users {a to slots=5"), "no valid expanded list\n"),
        (text("new", UNKNOWN) + text("one", "foo bar"), 'unknown attribute name "foo"\n'),
    ],
)
def test_a_set_that_exists_is_refused_before_its_contents(session, sets, message):
    session.write({"f.txt": sets})
    answer = session.qconf(["-Arqs", "f.txt"])
    assert (answer.stderr[: len(message)], answer.rc, session.sets) == (message, 1, ONE)


@pytest.mark.parametrize(
    ("sets", "names", "message"),
    [
        (text("new", UNKNOWN), "new", no_set("new")),
        (text("new", UNKNOWN), "nosuch", 'resource quota set "nosuch" not found in file "f.txt"\n'),
        (text("one", UNKNOWN), "one,nosuch", 'resource quota set "nosuch" not found in file "f.txt"\n'),
        (text("one", UNKNOWN) + text("new"), "one,new", no_set("new")),
        (text("one", UNKNOWN), "one", REFERENCES),
        (text("new", "users {a to slots=5"), "nosuch", "no valid expanded list\n"),
    ],
)
def test_a_set_to_change_must_be_in_the_file_and_exist_before_its_contents_count(
    session, sets, names, message
):
    session.write({"f.txt": sets})
    answer = session.qconf(["-Mrqs", "f.txt", names])
    assert (answer.stderr, answer.rc, session.sets) == (message, 1, ONE)


def test_the_contents_of_sets_that_are_not_changed_do_not_matter(session):
    session.write({"f.txt": text("one", "to slots=7") + text("new", UNKNOWN)})
    answer = session.qconf(["-Mrqs", "f.txt", "one"])
    assert answer.stderr == 'root@qm modified "one" in resource quota set list\n'
    assert session.sets == ONE.replace("=1", "=7")


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("a/1", "923"),
        ("a/x", "193"),
        ("a/X", "193"),
        ("a//3", "129"),
        # The number ends at the first character that is not a digit: of several names one is changed.
        ("a/1,2", "923"),
        ("a/2,a", "193"),
        ("a/1x", "923"),
        ("a/ 1", "923"),
        ("a/+1", "923"),
        ("a/1.5", "923"),
    ],
)
def test_an_object_names_one_rule(rules, name, numbers):
    answer = rules.qconf(["-mattr", "resource_quota", "limit", "slots=9", name])
    assert (answer.stdout, answer.stderr) == ('root@qm modified "a" in resource quota set list\n', "")
    expected = THREE_RULES
    for old, new in zip("123", numbers, strict=True):
        expected = expected.replace(f"slots={old}", f"slots={new}")
    assert rules.sets == expected


@pytest.mark.parametrize(
    ("names", "messages"),
    [
        (["a/1,b/2"], no_set("a/1,b/2")),
        (["a,b"], no_set("a,b")),
        (["a/1 a/2"], no_set("a/1 a/2")),
        (["a/1/2"], no_set("a/1/2")),
        (["/1"], no_set("/1")),
        (["a/"], no_set("a/")),
        (["a/-1"], NO_RULE),
        (["a/0"], NO_RULE),
        (["a/99999999999999999999"], NO_RULE),
        (["a/x,1"], NO_RULE),
        (["a"], NO_RULE),
        (["nosuch/1", "a/9"], no_set("nosuch") + NO_RULE),
        (["a/9", "nosuch/1"], NO_RULE + no_set("nosuch")),
    ],
)
def test_each_object_without_a_set_or_a_rule_is_refused_in_its_turn(rules, names, messages):
    answer = rules.qconf(["-mattr", "resource_quota", "limit", "slots=9", *names])
    assert (answer.stdout, answer.stderr, answer.rc) == ("", messages, 1)
    assert rules.sets == THREE_RULES


def test_an_object_that_is_named_twice_is_changed_twice(session):
    session.sets = ONE + TWO
    answer = session.qconf(["-aattr", "resource_quota", "limit", "dblres=3", "one/1", "one/1"])
    assert answer.stdout.splitlines() == [
        'root@qm modified "one" in resource quota set list',
        'No modification because "dblres" already exists in "resource_quota_rules" of "resource_quota"',
        'root@qm modified "one" in resource quota set list',
    ]


@pytest.mark.parametrize(
    ("description", "line"),
    [
        ("{x}", 4),
        ('"{x}"', 4),
        ("a } b", 4),
        ('"a } b"', 3),
        ('"{x} y" z', 3),
        ('"[{x}]"', 3),
        ("x}", 4),
        ('"x" }', 4),
        ("NONE }", 4),
    ],
)
def test_a_closing_brace_ends_a_set_even_in_a_description(session, description, line):
    """The next word does not begin another set."""
    session.write({"f.txt": text("new", description=description)})
    answer = session.qconf(["-Arqs", "f.txt"])
    message = f'each value in the attribute value list in line {line} should begin with "{{"\n'
    assert (answer.stderr[: len(message)], answer.rc, session.sets) == (message, 1, ONE)


@pytest.mark.parametrize("description", ["{", '"a { b"', "[x]", "(x)", "{x]"])
def test_other_brackets_are_part_of_a_description(session, description):
    session.write({"f.txt": text("new", description=description)})
    assert session.qconf(["-Arqs", "f.txt"]).rc == 0
    assert f"   description  {description}\n" in session.qconf(["-srqs", "new"]).stdout


@pytest.mark.parametrize("description", ["{x}", '"{x}"'])
def test_a_description_with_a_closing_brace_is_not_set_by_its_attribute(session, description):
    """Grid Engine stores the part before the brace, without its closing quote."""
    answer = session.qconf(["-mattr", "resource_quota", "description", description, "one"])
    assert (answer.rc, session.sets) == (1, ONE)
    assert answer.stderr.startswith('The attribute name ("description") and/or value')

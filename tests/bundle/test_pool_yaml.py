"""The valid contents of ``pool.yaml``, and the problems of invalid ones."""

import re
from pathlib import Path

import pytest

from negotiator.bundle import AuditSettings, DecisionSelection, scalars
from negotiator.classad import parse, unparse
from negotiator.records import Mode, Severity, Source


def test_every_type_of_field_is_read(bundle):
    """A section is filled with values of the types of its schema."""
    bundle.write("down.ics", "x")
    bundle.write(
        "pool.yaml",
        """
items:
  - {name: a, when: MY.x > 3}
  - name: "5"
    when: true
    mode: dryrun
    share: 2
names: [a, "b", 'yes']
words: {x: 1, "on": -2}
calendar: down.ics
text: some text
number: 0
real: 1.5e3
switch: true
TINY_EXPR: |
  MY.a &&
  MY.b
""",
    )
    tiny = bundle.settings()
    first, second = tiny.items
    assert (first.name, first.mode, first.share, first.source) == (
        "a",
        Mode.ENFORCE,
        1.0,
        Source("pool.yaml", 3, 5),
    )
    assert (first.when.tree, first.when.text) == (parse("MY.x > 3"), "MY.x > 3")
    assert first.when.source == Source("pool.yaml", 3, 21)
    assert (second.name, second.mode, second.share) == ("5", Mode.DRYRUN, 2.0)
    assert type(second.share) is float
    assert unparse(second.when.tree) == "true"
    assert tiny.names == ["a", "b", "yes"]
    assert tiny.words == {"x": 1, "on": -2}
    assert tiny.calendar == bundle.path / "down.ics"
    assert (tiny.text, tiny.number, tiny.real, tiny.switch) == ("some text", 0, 1500.0, True)
    assert tiny.knob.source == Source("pool.yaml", 16, 3)
    assert tiny.knob.text == "MY.a &&\nMY.b"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "---\n...\n", "{}\n", "\ufeff# with a mark\n"])
def test_an_empty_file_gives_the_defaults(bundle, text):
    """Every plugin whose fields all have defaults gets an instance, and the audit log records everything."""
    bundle.write("pool.yaml", text)
    loaded = bundle.load()
    assert loaded.problems == ()
    assert loaded.settings["tiny"].number == 3
    assert loaded.audit == AuditSettings(DecisionSelection.ALL, DecisionSelection.ALL)


def test_the_audit_selection_is_a_keyword_or_an_expression(bundle):
    """``all`` and ``none`` are keywords; any other value is an expression."""
    bundle.write("pool.yaml", 'audit:\n  matches: none\n  denials: MY.Owner == "a"\n  rotate_bytes: 5000\n')
    audit = bundle.load().audit
    assert audit.matches is DecisionSelection.NONE
    assert audit.denials.tree == parse('MY.Owner == "a"')
    assert audit.denials.source == Source("pool.yaml", 3, 12)
    assert audit.rotate_bytes == 5000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("matches: GPUs > 0", "GPUs has no scope: a job could define it and keep its matches out"),
        ("matches: non", "non has no scope"),
        ("denials: Owner == 1", "Owner has no scope"),
        ('matches: eval("GPUs")', "are not known from its text"),
    ],
)
def test_no_job_can_keep_its_matches_out_of_the_audit_log(bundle, line, message):
    """A name without scope would be looked up in the job first."""
    bundle.write("pool.yaml", f"audit:\n  {line}\n")
    (problem,) = bundle.check()
    assert (problem.severity, problem.source) == (Severity.ERROR, Source("pool.yaml", 2, 12))
    assert message in problem.message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            'MY.a && strcat("x") != strngListMember("a", "b")',
            "unknown function strngListMember (did you mean stringListMember?)",
        ),
        ("MY.a && MY.b < no_such(3)", "unknown function no_such"),
        ("MY.a && isUndefined(1, 2)", "isUndefined does not take 2 arguments"),
    ],
)
def test_a_call_that_can_only_give_an_error_is_refused(bundle, expression, message):
    """As a gate it would silently never discard anything."""
    bundle.write("pool.yaml", f"audit:\n  matches: >-\n    {expression}\n")
    (problem,) = bundle.check()
    name = message.split(" ")[0 if "does not take" in message else 2]
    assert problem.severity is Severity.ERROR
    assert problem.source == Source("pool.yaml", 3, 5 + expression.index(name))
    assert str(problem).endswith(message)


def test_a_denial_has_no_slot_to_select_by(bundle):
    """A reference to the slot would always be undefined, so that everything would be recorded."""
    bundle.write("pool.yaml", "audit:\n  denials: TARGET.X > 3\n")
    (problem,) = bundle.check()
    assert (problem.severity, problem.source.column) == (Severity.WARNING, 12)
    assert problem.message.startswith("TARGET.X is always undefined")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nmbers: 3", "1:1: error: unknown key 'nmbers' (did you mean number?)"),
        ("Number: 3", "1:1: error: unknown key 'Number' (did you mean number?)"),
        ("number: 3\nnumber: 3", "2:1: error: duplicate key 'number'; the first is in line 1 (*"),
        ("audit: {matchs: all}", "1:9: error: audit: unknown key 'matchs' (did you mean matches?)"),
        ("audit: {rotate_bytes: 0}", "1:23: error: audit.rotate_bytes: must be >= 1: 0"),
        ("audit: all", "1:8: error: audit: expected a mapping, got 'all' (its keys: *"),
        ("audit: {matches: a ==}", "1:22: error: audit.matches: expected an operand*"),
        ("plugins: {folders: [nowhere]}", "1:21: error: plugins.folders[0]: no folder 'nowhere' (*"),
        ("plugins: {disable: [nobody]}", "1:11: warning: unknown plugin nobody (*"),
        ("items: {a: b}", "1:8: error: items: expected a list, got a mapping (begin each item with -)"),
        ("items:\n", "1:7: error: items: expected a list, got nothing (write [] *"),
        ("items: [a]", "1:9: error: items[0]: expected a mapping, got 'a' (its keys: name, when, *"),
        ("items: [{name: a}]", "1:9: error: items[0]: the key 'when' is missing"),
        (
            "items: [{name: a, when: b, mod: warn}]",
            "1:28: error: items[0]: unknown key 'mod' (did you mean mode?)",
        ),
        (
            "items: [{name: a, when: b, mode: off}]",
            "1:34: error: items[0].mode: YAML reads 'off' as a boolean (*",
        ),
        (
            "items: [{name: a, when: b, mode: wrn}]",
            "*: expected one of enforce, warn, dryrun, got 'wrn' (did you *",
        ),
        (
            "items: [{name: a, when: [b]}]",
            "1:25: error: items[0].when: expected a ClassAd expression, got a list (*",
        ),
        (
            "items: [{name: a, when: ''}]",
            "1:25: error: items[0].when: expected a ClassAd expression, got nothing",
        ),
        ("names: a", "1:8: error: names: expected a list, got 'a' (begin each item with -)"),
        ("names: [a, [b]]", "1:12: error: names[1]: expected a text, got a list"),
        ("words: [a]", "1:8: error: words: expected a mapping, got a list (*"),
        ("words: {a: b}", "1:12: error: words.a: expected a whole number, got 'b'"),
        (
            "words: {1: 2}",
            "1:9: error: a key must be a text; YAML reads '1' as a whole number (quote the key)",
        ),
        ("words: {on: 2}", "1:9: error: a key must be a text; YAML reads 'on' as a boolean (quote the key)"),
        ("words: {? [a] : 2}", "1:11: error: a key must be a text (write one word before the colon)"),
        ("text: 5", "1:7: error: text: expected a text, got a whole number (quote it)"),
        ("text: true", "1:7: error: text: expected a text, got a boolean (quote it)"),
        ("number: '5'", "1:9: error: number: expected a whole number, got '5' (remove the quotes)"),
        ("number: 1.5", "1:9: error: number: expected a whole number, got '1.5'"),
        (
            "number: 9223372036854775808",
            "*number: expected a whole number of 64 bits, got '9223372036854775808'",
        ),
        ("number: " + "9" * 5000, "*number: expected a whole number of 64 bits, got '9999999999*...'"),
        ("real: a", "1:7: error: real: expected a number, got 'a'"),
        ("real: 1e999", "1:7: error: real: expected a finite number, got '1e999'"),
        ("switch: 1", "1:9: error: switch: expected true or false, got '1'"),
        ("switch: 'true'", "1:9: error: switch: expected true or false, got 'true' (remove the quotes)"),
        ("positive: 0", "1:11: error: positive: must be > 0: 0"),
        ("TINY_EXPR: a == == b", "1:17: error: TINY_EXPR: expected an operand, found '=='"),
        ("calendar: nowhere", "1:11: error: calendar: no file 'nowhere' in the bundle (*"),
        ("calendar: /etc/passwd", "1:11: error: calendar: the path '/etc/passwd' leads out of the bundle (*"),
        ("calendar: ../bundle/pool.yaml", "*: the path '../bundle/pool.yaml' leads out of the bundle (*"),
        ("calendar: .", "1:11: error: calendar: '.' is not a file (*"),
        ('calendar: "a\\0b"', "1:11: error: calendar: expected a file name"),
    ],
)
def test_an_invalid_value_is_reported_with_its_place(bundle, text, expected):
    """Each mistake is one problem with line and column, the expected and the given value."""
    (problem,) = bundle.yaml(text)
    assert is_like(problem.removeprefix("pool.yaml:"), expected), problem


@pytest.mark.parametrize(
    "word",
    [
        "yes",
        "No",
        "ON",
        "off",
        "y",
        "N",
        "010",
        "-07",
        "0x1F",
        "0b11",
        "0o17",
        "10:30",
        "-1:2:3.5",
        "1_000",
        "1_0.5",
        "2026-01-31",
        ".inf",
        "-.INF",
        ".NaN",
        "=",
        "<<",
    ],
)
@pytest.mark.parametrize("field", ["text", "number", "real", "switch", "names"])
def test_scalars_that_yaml_1_1_reads_differently_must_be_quoted(bundle, word, field):
    """Neither reading is used; the hint shows how to write either. Quoted, it is a string."""
    bundle.write("pool.yaml", f"{field}: {f'[{word}]' if field == 'names' else word}")
    (problem,) = bundle.check()
    assert problem.severity is Severity.ERROR
    assert problem.message.partition(": ")[2].startswith(f"YAML reads {word!r} as ")
    assert "quote it" in problem.hint
    assert problem.excerpt[problem.source.column - 1 :].startswith(word)
    assert bundle.yaml(f'text: "{word}"') == []
    assert bundle.settings().text == word


@pytest.mark.parametrize(
    "text", ["true", "5", "0x1F", "1_0", "yes", "on", "10 + 5", "null", "~5", "{1, 2}[0]"]
)
def test_an_expression_is_read_as_written(bundle, text):
    """YAML's types of scalars do not apply to expressions: the ClassAd parser reads the text."""
    quoted = f"'{text}'" if text.startswith("{") else text
    try:
        tree = parse(text)
    except ValueError:
        assert "TINY_EXPR: " in bundle.yaml(f"TINY_EXPR: {quoted}")[0]
    else:
        assert bundle.yaml(f"TINY_EXPR: {quoted}") == []
        assert bundle.settings().knob.tree == tree


@pytest.mark.parametrize("text", ["TINY_EXPR:", "TINY_EXPR: ''", "calendar:", "calendar: ~", "text: null"])
def test_an_empty_value_of_an_optional_field_is_none(bundle, text):
    """An empty value of an optional field is None."""
    assert bundle.yaml(text) == []
    tiny = bundle.settings()
    assert (tiny.knob, tiny.calendar, tiny.text) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text: !!str 5", "1:7: error: the YAML tag 'tag:yaml.org,2002:str' is refused (*"),
        (
            "TINY_EXPR: !MY.x",
            "1:12: error: the YAML tag '!MY.x' is refused (if it begins an expression: quote*",
        ),
        (
            'TINY_EXPR: !regexp("a", b)',
            "*: error: not valid YAML: *while scanning a tag* (quote the value, *",
        ),
        ("text: &a b", "1:7: error: YAML anchors are refused (*"),
        ("text: &a b\nnames: [*a]", "2:9: error: YAML aliases are refused (*"),
        ("words: {<<: {a: 1}}", "1:9: error: YAML merge keys are refused (write the keys out)"),
        ("number: 1\n---\nnumber: 2", "2:1: error: a second document (*"),
        ("%YAML 1.1\n---\nnumber: 1", "1:1: error: YAML directives are refused (*"),
        ("- a\n- b", "1:1: error: expected keys with their values, such as `audit:`"),
        ("just text", "1:1: error: expected keys with their values, such as `audit:`"),
        ("number: 1\n\ttext: a", "2:1: error: not valid YAML: * (indent with spaces, not with tabs)"),
        (
            "number: [1",
            "*error: not valid YAML: * (is there a bracket that is not closed, or a value that needs quotes?)",
        ),
        ('text: "a', "*error: not valid YAML: * (is there a quote that is not closed?)"),
        (
            'text: "\\d"',
            "1:9: error: not valid YAML: found unknown escape character 'd'* (double the backslash*",
        ),
        ('text: "\\U99999999"', "1:*: error: not valid YAML (*"),
        ('text: "\\uD800"', "1:7: error: invalid character: half of a surrogate pair (*"),
        (
            "TINY_EXPR: (MY.a ?: 0)",
            "1:19: error: not valid YAML: mapping values are not allowed here* (quote *",
        ),
        ("number: 1\n text: 3", "*error: not valid YAML: *"),
        ("text: a\x07b", "1:8: error: the character U+0007 is not allowed in YAML (remove it)"),
        (b"number: 1\ntext: caf\xe9", "2:10: error: byte 0xE9 is not UTF-8 (save the file as UTF-8)"),
        ("number: 1".encode("utf-16"), "1:1: error: byte 0xFF is not UTF-8 (save the file as UTF-8)"),
        ("names: " + "[" * 80 + "]" * 80, "1:71: error: nested deeper than 64"),
        ("names: " + "[" * 100_000, "1:71: error: nested deeper than 64"),
        ("names: [" + "a," * 100_001 + "]", "1:*: error: more than 100000 values in this file"),
        ("# " + "x" * 1_000_000, "1:1: error: the file is longer than 1000000 characters"),
    ],
)
def test_refused_yaml_is_reported_with_its_place(bundle, text, expected):
    """Invalid YAML, and features of YAML that a settings file may not use."""
    problems = bundle.yaml(text)
    assert any(is_like(problem.removeprefix("pool.yaml:"), expected) for problem in problems), problems


def test_all_problems_are_reported_at_once(bundle):
    """The first problem hides no other, even in a part of the file that is invalid as a whole."""
    problems = bundle.yaml(
        "audit: {matches: (, nope: 1}\nitems:\n- {name: 1, when: ==}\n- 5\n- &a z\nnmber: 3\nswitch: yes\nswitch: no\n"
    )
    places = [problem.split(" ", 1)[0] for problem in problems]
    assert places == [
        f"pool.yaml:{place}:" for place in ("1:19", "1:21", "3:10", "3:19", "4:3", "5:3", "6:1", "7:9", "8:1")
    ]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("TINY_EXPR: a == == b", 1, 17),
        ("TINY_EXPR: 'a == \"''\" == == b'", 1, 26),
        ('TINY_EXPR: "a == \\"\\x41\\u0042\\" == == b"', 1, 36),
        ('TINY_EXPR: "a == \\\n    == b"', 2, 5),
        ("TINY_EXPR:\n  a &&\n  b == == c", 3, 8),
        ("TINY_EXPR: 'a &&\n\n  b == == c'", 3, 8),
        ("TINY_EXPR: |\n  a &&\n\n    b == == c\n", 4, 10),
        ("TINY_EXPR: |2-  # note\n   a &&\n  b == == c\n", 3, 8),
        ("TINY_EXPR: >\n  a &&\n  b == == c\n", 3, 8),
        ("TINY_EXPR: >-\n\n  a &&\n    b\n    == == c\n", 5, 8),
        ("TINY_EXPR: |\r\n  a &&\r\n  b == == c\r\n", 3, 8),
        ("TINY_EXPR: a == ", 1, 16),
        ("TINY_EXPR: |\n  a &&\n  b ==\n", 3, 7),
    ],
)
def test_an_error_in_an_expression_has_its_own_place(bundle, text, line, column):
    """Whatever quotes, escapes and folding the scalar has."""
    bundle.write("pool.yaml", text)
    (problem,) = bundle.check()
    assert (problem.source.line, problem.source.column) == (line, column)
    assert problem.excerpt == text.split("\n")[line - 1].rstrip("\r")


def test_a_path_may_not_follow_a_link_out_of_the_bundle(bundle, tmp_path):
    """Neither as a file nor through a folder; a link within the bundle is a file like any other."""
    secret = tmp_path / "secret"
    secret.write_text("x")
    inside = bundle.write("sub/inside", "x")
    (bundle.path / "out").symlink_to(secret)
    (bundle.path / "dir").symlink_to(tmp_path)
    (bundle.path / "in").symlink_to("sub/inside")
    assert "calendar: links lead from 'out' out of the bundle" in "".join(bundle.yaml("calendar: out"))
    assert "calendar: links lead from 'dir/secret' out of the bundle" in "".join(
        bundle.yaml("calendar: dir/secret")
    )
    (bundle.path / "out").unlink()
    assert bundle.yaml("calendar: in") == []
    assert bundle.settings().calendar.samefile(inside)


def test_a_path_may_not_name_a_file_outside_the_digest(bundle):
    """A hidden file could change while the digest stays."""
    bundle.write(".hidden", "x")
    bundle.write("old~", "x")
    for name in (".hidden", "old~"):
        (problem,) = bundle.yaml(f"calendar: {name}")
        assert "the bundle's digest does not cover" in problem


def test_the_path_of_the_bundle_itself_may_be_relative(bundle, monkeypatch):
    """Files are relative to pool.yaml, not to the working folder of the program."""
    bundle.write("down.ics", "x")
    bundle.write("pool.yaml", "calendar: down.ics")
    monkeypatch.chdir(bundle.path.parent)
    bundle.path = Path("bundle")
    assert bundle.settings().calendar.read_text() == "x"


def is_like(text, pattern):
    """True if a text is as expected, where ``*`` matches any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def test_a_scalar_of_many_underscores_is_read_at_once():
    """A line of 100,000 underscores takes no exponential time in a pattern."""
    assert scalars.ambiguous("1" + "_" * 100_000 + "x") is None
    assert scalars.ambiguous("1" + "_" * 100_000).meaning == "a number"


def test_settings_and_each_of_their_values_have_their_own_place(bundle):
    """Not that of the first key of the file, which may belong to another plugin."""
    bundle.write("pool.yaml", "audit:\n  matches: none\nwords:\n  one: 1\n  two: 2\nnames: [a, b]\n")
    tiny = bundle.settings()
    assert tiny.source == Source("pool.yaml", 3, 1)
    assert dict(tiny.sources) == {
        "words": Source("pool.yaml", 3, 1),
        "words.one": Source("pool.yaml", 4, 3),
        "words.two": Source("pool.yaml", 5, 3),
        "names": Source("pool.yaml", 6, 1),
        "names[0]": Source("pool.yaml", 6, 9),
        "names[1]": Source("pool.yaml", 6, 12),
    }


def test_default_settings_have_a_file_but_no_line(bundle):
    bundle.write("pool.yaml", "audit:\n  matches: none\n")
    assert bundle.settings().source == Source("pool.yaml")

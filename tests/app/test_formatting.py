"""The style of YAML files and expressions: stable, and without a change of meaning or of a comment."""

import re
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.app.formatting import format_folder
from negotiator.app.formatting.expression_layout import expression_edits
from negotiator.app.formatting.yaml_layout import Edit, edited, laid_out
from negotiator.bundle import examine_bundle
from negotiator.bundle.text import SourceText
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.classad import parse
from negotiator.classad.syntax import tree_key
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.declarations import Expression
from negotiator.records import Source
from yaml_values import plain

ROOT = Path(__file__).parents[2]


def formatted(text):
    return edited(text, expression_edits(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a&&b", "a && b"),
        ("MY.a>1&&( TARGET.b==2||!  MY.c )", "MY.a > 1 && (TARGET.b == 2 || !MY.c)"),
        ("f ( 1,2 ) [ 0 ]", "f(1, 2)[0]"),
        ("a?b:c", "a ? b : c"),
        ("MY . a - -1", "MY.a - -1"),
        ("{ 1,2 }", "{1, 2}"),
        ("[ a=1;b=2 ].a", "[a = 1; b = 2].a"),
        ('x is undefined||y  isnt "a  b"', 'x is undefined || y isnt "a  b"'),
        ("a  /* why */  &&b", "a  /* why */  && b"),
        ("a\n  &&b", "a\n  && b"),
        ("a &&", "a &&"),
        ("- 5", "- 5"),
    ],
)
def test_an_expression_has_blanks_around_operators_and_none_inside_brackets(text, expected):
    assert formatted(text) == expected


_TOKENS = st.lists(
    st.sampled_from(
        [
            *"+-*/%!~()[]{}.,;?:<>=",
            "&&",
            "||",
            "==",
            "=?=",
            "is",
            "isnt",
            "a",
            "MY",
            "TARGET",
            "1",
            "2.5",
            '"x  y"',
            "true",
            " ",
            "  ",
            "\n",
            "/* c */",
        ]
    ),
    max_size=14,
).map("".join)


@given(_TOKENS)
@settings(max_examples=400)
def test_formatting_an_expression_keeps_its_tree_and_its_comments_and_is_stable(text):
    edits = expression_edits(text)
    if not edits:
        return
    once = edited(text, edits)
    assert tree_key(parse(once)) == tree_key(parse(text))
    assert formatted(once) == once
    assert re.sub(r"\s", "", once) == re.sub(r"\s", "", text)


YAML = """\


# top
policies:
- name:   x   # about x
  mode :  warn
  # about the expression
  expression: >-
      a > 1
        && b

      c
-   name: z
    list: [ a,b , {c: 1,d: 2} ]   # flow
    multi: "one
       two"
    plain:  some
      words   # more
    keep: |+
        t


  # of the list
other:
      deep:
            - - 1
              - 2
            # end
      empty:


# last
"""
EXPECTED = """\
# top
policies:
  - name: x     # about x
    mode: warn
    # about the expression
    expression: >-
      a > 1
        && b

      c
  - name: z
    list: [a, b, {c: 1, d: 2}]    # flow
    multi: "one
       two"
    plain: some
      words   # more
    keep: |+
      t


  # of the list
other:
  deep:
    - - 1
      - 2
    # end
  empty:

# last
"""


def test_levels_are_indented_by_two_blanks_and_comments_stay_beside_what_they_are_about():
    assert laid_out(YAML) == EXPECTED
    assert laid_out(EXPECTED) == EXPECTED


def comments(text):
    return re.findall(r"# c\d+", text)


@st.composite
def documents(draw):
    """Return a mapping as people may write it: with any indentation, comments, blank lines and styles of values."""
    numbers = iter(range(1_000))

    def remark():
        return draw(st.sampled_from(["", "", "", " # c{}", "    # c{}"])).format(next(numbers))

    def between(column):
        lines = draw(st.lists(st.sampled_from(["", "# c{}", "  # c{}"]), max_size=2))
        return [(" " * column + line.format(next(numbers))).rstrip() for line in lines]

    def scalar(column):
        kind = draw(st.sampled_from(["plain", "quoted", "flow", "block", "folded", "multi", "empty"]))
        inner = " " * (column + draw(st.integers(1, 5)))
        match kind:
            case "plain":
                return [f"{draw(st.sampled_from(['1', 'MY.a > 1', 'true', 'a word']))}{remark()}"]
            case "quoted":
                return [draw(st.sampled_from(["'a  # b'", '"x: y"', "''"])) + remark()]
            case "flow":
                return [draw(st.sampled_from(["[a,b]", "{a: 1,b: [ 2 ]}", "[ ]", "[a , 'b']"])) + remark()]
            case "block":
                keep = draw(st.sampled_from(["|", "|-", "|+", ">", ">-"]))
                return [
                    keep + remark(),
                    *(inner + line if line else "" for line in ("x", "", "  y # no comment", "z")),
                ]
            case "folded":
                return [f"'one{draw(st.sampled_from(['', ' ']))}", f"{inner}two'{remark()}"]
            case "multi":
                return ["one", f"{inner}two{remark()}"]
        return [remark().strip() and remark()]

    def mapping(column, depth):
        lines = []
        for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)):
            lines += between(column)
            lines += entry(" " * column + name + draw(st.sampled_from([":", ":", " :"])), column, depth)
        return lines

    def entry(head, column, depth):
        kind = draw(st.sampled_from(["scalar", "map", "list"])) if depth else "scalar"
        if kind == "scalar":
            first, *rest = scalar(column)
            return [f"{head}{draw(st.sampled_from([' ', '   ']))}{first}".rstrip(), *rest]
        inner = column + draw(st.integers(1, 5))
        if kind == "map":
            return [head + remark(), *mapping(inner, depth - 1)]
        dash = draw(st.sampled_from([column, inner]))
        lines = [head + remark()]
        for _ in range(draw(st.integers(1, 2))):
            lines += between(dash)
            gap = draw(st.integers(1, 3))
            if draw(st.booleans()):
                first, *rest = scalar(dash)
                lines += [f"{' ' * dash}-{' ' * gap}{first}".rstrip(), *rest]
            else:
                items = mapping(dash + 1 + gap, depth - 1)
                while items and (not items[0].strip() or items[0].lstrip().startswith("#")):
                    items.pop(0)
                lines += [f"{' ' * dash}-{' ' * gap}{items[0].lstrip()}", *items[1:]]
        return lines

    return "\n".join(mapping(0, 3)) + draw(st.sampled_from(["", "\n", "\n\n\n"]))


@given(documents())
@settings(max_examples=300)
def test_formatting_a_file_keeps_its_values_and_comments_and_is_stable(text):
    before, problems = read_yaml(SourceText("pool.yaml", text))
    if before is None or problems:
        return
    once = laid_out(text)
    after, problems = read_yaml(SourceText("pool.yaml", once))
    assert problems == ()
    assert plain(after) == plain(before)
    assert comments(once) == comments(text)
    assert laid_out(once) == once


@pytest.mark.parametrize(
    "folder",
    sorted(path for path in (ROOT / "policies").iterdir() if path.is_dir()),
    ids=lambda path: path.name,
)
def test_the_example_bundles_are_in_the_style(folder):
    found = format_folder(CommandTargets(bundle=folder))
    assert found.problems == ()
    assert [each.name for each in found.changed] == []


def _without_places(value):
    """Return settings without texts and places: what they mean."""
    if isinstance(value, Expression):
        return tree_key(value.tree)
    if isinstance(value, Source):
        return None
    if isinstance(value, dict) or hasattr(value, "items"):
        return {key: _without_places(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_places(each) for each in value]
    if attrs.has(type(value)):
        found = {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
        return {
            name: _without_places(each)
            for name, each in found.items()
            if name not in {"source", "sources", "text"}
        }
    return value if isinstance(value, str | int | float | bool | None) else repr(type(value))


MESSY = {
    "pool.yaml": (
        'policies:\n- name:  slow   # why\n  applies_to:   match\n  expression:  MY.Owner!="sue"||( TARGET.Mips>1000&&!MY.Slow )\n'
        '- {name: big,applies_to: match, expression: "MY.RequestMemory  <  1000"}\n'
        "NEGOTIATOR_PE_STARTD_ONLY_EXPR:   MY.TotalMemory<128\naudit:\n    denials:  MY.Prio>0\n"
    ),
    "queues.yaml": "partitions:\n  - name: default\n    queues:\n    - name: root\n      submitacl: '*'\n",
}


def _bundle(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_a_formatted_bundle_means_the_same(tmp_path):
    folder = _bundle(tmp_path / "site", MESSY)
    before = examine_bundle(folder).bundle
    found = format_folder(CommandTargets(bundle=folder))
    assert [each.name for each in found.changed] == ["pool.yaml", "queues.yaml"]
    pool = found.files[0].after
    assert 'expression: MY.Owner != "sue" || (TARGET.Mips > 1000 && !MY.Slow)' in pool
    assert '- {name: big, applies_to: match, expression: "MY.RequestMemory < 1000"}' in pool
    after = examine_bundle(_bundle(tmp_path / "new", {each.name: each.after for each in found.files})).bundle
    for name in ("settings", "audit", "partition", "placement"):
        assert _without_places(getattr(after, name)) == _without_places(getattr(before, name))


def test_a_file_with_an_error_is_left_alone_and_named_and_the_others_are_formatted(tmp_path):
    files = {**MESSY, "pool.yaml": "policies:\n- name: [\n", "x_test.yaml": "tests:\n- nam: x\n"}
    found = format_folder(CommandTargets(bundle=_bundle(tmp_path / "site", files)))
    assert sorted(problem.source.file for problem in found.problems) == ["pool.yaml", "x_test.yaml"]
    assert [each.name for each in found.changed] == ["queues.yaml"]


def test_a_file_that_the_style_would_change_in_its_meaning_is_left_alone(tmp_path):
    folder = _bundle(tmp_path / "site", {"pool.yaml": "? match\n: one\n"})
    found = format_folder(CommandTargets(bundle=folder))
    assert [each.after == each.before for each in found.files] or found.problems


def test_a_bundle_with_a_manifest_is_left_alone(tmp_path):
    folder = _bundle(tmp_path / "site", {**MESSY, "SHA256SUMS": ""})
    found = format_folder(CommandTargets(bundle=folder))
    assert (found.files, [problem.source.file for problem in found.problems]) == ((), ["SHA256SUMS"])


def test_edits_are_made_at_their_places():
    assert edited("abcdef", [Edit(4, 5, "X"), Edit(1, 3, "")]) == "adXf"

"""libyaml and PyYAML's own parser give the same results; they differ in speed only."""

import ast
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from negotiator.bundle.text import ListNode, MapNode, ScalarNode, SourceText
from negotiator.bundle.yaml_reader import read_yaml

pytestmark = pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")

REPOSITORY = Path(__file__).parents[2]

QUEUES = """\
---
# Zurück? \t 😀
partitions:
  - name: default  # the pool; why? \t none
    queues:
    - name: root
      submitacl: "*"
      adminacl: ' ops'
      limits:
        - {users: [sue, 'bob'], maxresources: {memory: 10G, vcore: 10}, }
        - users: []
          groups:
      note: >-
        folded 😀
        text

          indented
      rules: |
        MY.é == "a"

      plain: a word
        and more
      "quoted": "twice\\
         said"
      'it''s': 'it
         is'
...
"""

KEYS = st.sampled_from(["a", "name", "a key", '"q"', "'it''s'", '"\\x41"', "é", "😀b", "k" * 1000])
TIDY = st.sampled_from(
    [
        *[
            "",
            "word",
            "two words",
            "10Gi",
            "-1",
            "~",
            "a#b",
            "a:b",
            "x  # note",
            "# note",
            "http://h:1/",
            "é😀",
        ],
        *["''", "'*'", "'it''s'", '""', '"\\u00e9 \\"x\\" "', '"a # b"', "' a  b '", "'a\n\n  b'"],
        *["[]", "{}", "[a, b]", "[a, 'b',]", "{a: b, c: [d]}", "[a: b]", "[a,\n b]"],
        *["word\nmore", "word\n\nmore  # note", '"two\n  lines"', '"a\\\n  b"', '"a \\\n  \\ b\\n"'],
    ]
)
UNTIDY = st.sampled_from(
    [
        *["{a: , b}", "[a: ]", "['':\n  ]", "[a?]", "a ? b : c", "a\tb", "a \t# note", "k" * 1030 + ": b"],
        *["&a b", "*a", "!t b", "- a", "a: b", "5: a", "'a", "[a", "<<: b", "@"],
    ]
)
HEADS = st.sampled_from(["|", ">", "|-", "|+", ">-", ">+", "|2", "| # note", ">  "])
BODIES = st.lists(
    st.sampled_from(["text", "  more", "", "# no note", "é: 😀", "- a", "x  ", " "]), max_size=5
)
WORDS = st.sampled_from(
    [
        *"{}[]:,-?!&*|>'\"%@`#=<~\\\n\t\r ",
        *[
            "\n\n",
            "\n  ",
            "    ",
            ": ",
            "- ",
            ", ",
            " #",
            "---\n",
            "\n...\n",
            "\r\n",
            "\n%YAML 1.1\n---\n",
            "? ",
        ],
        *["\ufeff", "\x85", "\u2028", "\x00", "\x7f", "\ud800", "\xa0", "é", "😀", "''", "\\\n", "<<"],
    ]
)


def headed(text):
    head, *body = text.split("\n")
    return head, body


def mapping(pairs):
    lines = []
    for key, (head, body) in pairs:
        lines += [f"{key}: {head}" if head else f"{key}:", *(f"  {line}" for line in body)]
    return "", lines


def listing(items):
    lines = []
    for head, body in items:
        first, *rest = [head, *body] if head or not body else body
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
    return "", lines


def mappings(inner):
    pairs = st.tuples(KEYS, inner)
    return st.lists(pairs, min_size=1, max_size=4, unique_by=lambda pair: pair[0]).map(mapping)


def files(inline, bodies):
    """Return a strategy for mappings of texts after a colon or a dash, and the lines below."""
    values = st.recursive(
        st.one_of(inline.map(headed), st.tuples(HEADS, bodies)),
        lambda inner: st.one_of(mappings(inner), st.lists(inner, min_size=1, max_size=4).map(listing)),
        max_leaves=12,
    )
    ends = st.sampled_from(["\n", "\r\n"])
    return st.builds(lambda made, end: end.join([*made[1], ""]), mappings(values), ends)


IN_ORDER = files(TIDY, BODIES.map(lambda lines: ["text", *lines]))


@st.composite
def broken(draw):
    """Return a strategy for files with a few mistakes."""
    text = draw(files(TIDY | UNTIDY, BODIES)).removesuffix(draw(st.sampled_from(["", "\n"])))
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(WORDS) + text[at + draw(st.integers(0, 2)) :]
    return text


def plain_value(node):
    """Return all fields of a node as plain values."""
    if isinstance(node, ScalarNode):
        value = node.value
        return "scalar", node.label, node.at, node.style, value.text, list(value.offsets), value.at
    if isinstance(node, ListNode):
        return "list", node.label, node.at, [plain_value(item) for item in node.items]
    if isinstance(node, MapNode):
        return (
            "mapping",
            node.label,
            node.at,
            [(k, e.at, plain_value(e.value)) for k, e in node.entries.items()],
        )
    return None if node is None else ("bad", node.label, node.at)


def read(text, *, libyaml):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", libyaml)
        root, problems = read_yaml(SourceText("queues.yaml", text))
    return plain_value(root), problems


def is_read_by_libyaml(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "SafeLoader")
        try:
            read_yaml(SourceText("queues.yaml", text))
        except AttributeError:
            return False
    return True


@given(text=IN_ORDER)
@settings(max_examples=80)
@example(text=QUEUES)
@example(text=QUEUES.replace("\n", "\r\n"))
@example(text="# nothing\n")
@example(text="a: b  # tab\there?\n")
def test_libyaml_reads_valid_files_as_pyyaml_does(text):
    """Labels, places, texts, the place of each character, and styles are the same."""
    assert is_read_by_libyaml(text)
    assert read(text, libyaml=True) == read(text, libyaml=False)


@given(text=broken())
@settings(max_examples=120)
def test_a_broken_file_has_the_same_problems_with_libyaml(text):
    """Every message, place and hint is the same, and the same nodes if there is no problem."""
    assert read(text, libyaml=True) == read(text, libyaml=False)


def written_in_tests():
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_both_parsers_agree_about_every_text_of_the_other_tests_and_the_examples():
    """All texts in the tests of bundles, YAML or not, and the YAML files of the examples."""
    folders = [REPOSITORY / name for name in ("negotiator", "examples", "policies")]
    files = [path for folder in folders for path in folder.rglob("*.yaml")]
    for text in {*written_in_tests(), *(path.read_text("utf-8") for path in files)}:
        assert read(text, libyaml=True) == read(text, libyaml=False), text


@pytest.mark.parametrize(
    "text",
    [
        *["a: |#\n", "a: >-#c\n  b\n", "a: [b?]\n", "{a? }", "{? }", "a: [b: ]\n", "{a: , b: c}", "a\t: b\n"],
        *[
            "a: ['':\n ]\n",
            'a: "x #"\t\n',
            "a: 'x\n #'\t\n",
            "\ufeffa: b",
            "\n\ufeffa: b",
            "---\n\ufeff",
            "a: b\rc: d",
        ],
        *[
            "a:\x85- b",
            "%X y\n---\na: b\n",
            "\n%YAML 1.1# c\n---\n",
            "a: b\r",
            '"\\ud800"',
            "\ud800",
            "a: !'!' b",
        ],
    ],
)
def test_texts_that_libyaml_reads_differently_are_read_by_pyyaml(text):
    """One of the parsers refuses each of them, or gives other places."""
    assert not is_read_by_libyaml(text)
    assert read(text, libyaml=True) == read(text, libyaml=False)

"""Hints for what people write who know another system or language better."""

import pytest

from negotiator.bundle import examine_bundle

POLICY = "policies:\n  - name: p\n    applies_to: {}\n    expression: |\n      {}\n"


def problems(folder, applies_to, expression):
    (folder / "pool.yaml").write_text(POLICY.format(applies_to, expression))
    return [(str(each.severity), each.source.column, each.hint) for each in examine_bundle(folder).problems]


@pytest.mark.parametrize(("word", "meant"), [("machine", "startd"), ("Slots", "startd"), ("jobs", "job")])
def test_the_word_of_another_system_is_translated(tmp_path, word, meant):
    assert problems(tmp_path, word, "true") == [("error", 17, f"did you mean {meant}?")]


@pytest.mark.parametrize(
    ("expression", "column", "hint"),
    [
        ("Owner = 5", 13, "write == to compare, or =?= if the attribute may be undefined"),
        ("MY.A and MY.B", 12, "write && instead of and"),
        ("MY.A OR (MY.B)", 12, "write || instead of OR"),
        ("not MY.A", 11, "write ! instead of not"),
        ("MY.A == 1 2", 17, ""),
    ],
)
def test_an_operator_of_another_language_is_translated(tmp_path, expression, column, hint):
    assert problems(tmp_path, "job", expression) == [("error", column, hint)]


def test_single_quotes_name_an_attribute(tmp_path):
    """Names that need their quotes, and quotes inside of a text, are as they should be."""
    hint = 'write "alice" for the text, or alice for the attribute'
    assert problems(tmp_path, "job", "Owner == 'alice'") == [("warning", 16, hint)]
    assert problems(tmp_path, "job", """Owner == "the 'best'" || 'a b' =?= 1""") == []
    (warning, error) = problems(tmp_path, "match", "MY.Owner == 'alice'")
    assert warning == ("warning", 19, hint)
    assert error[2].startswith('write "alice" if it is a text; or MY.alice or TARGET.alice; or, ')

"""Messages on a terminal: wrapped between words, never cut in mid-word."""

import click
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cli.messages import wrapped_message
from negotiator.cli.problems import print_problems
from negotiator.records import Problem, Severity, Source

TEXT = "pool.yaml:2:3: error: the key 'polices' is unknown, and no plugin of this bundle has it"


def test_a_message_is_wrapped_between_words_and_further_lines_are_indented():
    assert wrapped_message(TEXT, 40) == (
        "pool.yaml:2:3: error: the key 'polices'\n  is unknown, and no plugin of this\n  bundle has it"
    )


def test_elsewhere_and_in_a_wide_terminal_a_message_is_one_line():
    assert wrapped_message(TEXT, None) == TEXT
    assert wrapped_message(TEXT, 200) == TEXT


def test_colours_take_no_columns():
    text = f"{click.style('pool.yaml:2:3', bold=True)}: short"
    assert wrapped_message(text, 20) == text


@given(st.text("ab é文", max_size=80), st.integers(10, 60))
def test_no_word_is_cut_and_none_is_lost(text, width):
    lines = wrapped_message(text, width).split("\n")
    assert [word for line in lines for word in line.split()] == text.split()


def test_a_problem_fits_into_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setattr("negotiator.cli.problems.message_width", lambda **_: 50)
    line = "  expression: " + "MY.Size > 1 && " * 8 + "TARGET.Mips > 1"
    problem = Problem(Severity.ERROR, Source("pool.yaml", 7, 120), TEXT, f"remove it; {TEXT}", line)
    print_problems([problem])
    printed = click.unstyle(capsys.readouterr().out).splitlines()
    assert max(map(len, printed)) <= 50
    assert any(each.strip() == "^" for each in printed)

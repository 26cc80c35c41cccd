"""Tables on terminals of any width: no cell is cut."""

import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cli import main
from negotiator.cli.render import print_table
from negotiator.cli.table_layout import TableColumn, lines_of_columns, row_lines, widths

LONG = "the job's Requirements: countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs"


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Return a function that prints a table on a terminal of some width, and returns the lines."""

    def show(columns, *table):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))
        print_table(*table)
        return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()

    return show


@pytest.mark.parametrize("columns", [70, 80, 100, 200])
def test_numbers_and_words_are_never_cut(terminal, columns):
    """Long cells are folded, without loss."""
    headers = ("REMOVED", "REJECTED", "VERDICT", "REASON", "RULE")
    lines = terminal(columns, "Not matched", headers, [("31", "33", "denied", LONG, "negotiator")], (0, 1))
    assert max(map(len, lines)) <= columns
    text = " ".join(lines)
    for word in (*headers, "31", "33", "denied", "negotiator"):
        assert word in text.split()
    (titles,) = (line for line in lines if "REASON" in line)
    why, rule = titles.index("REASON"), titles.index("RULE")
    folded = "".join(line[why:rule] for line in lines if "─" not in line)
    assert "".join(LONG.split()) in "".join(folded.split())


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_table_that_does_not_fit_is_wrapped_between_columns(terminal, columns):
    """No name is broken, and cells stay below their headers."""
    headers = ("JOB", "SUBMITTER", "SLOT", "QUEUE", "RANK")
    row = ("19.0", "group_physics.prod.alice@example.org", "slot7@wn00002.example.org", "root.default", "0")
    lines = terminal(columns, "Matched", headers, [row, row], (4,))
    assert max(map(len, lines)) <= columns
    assert [word for line in lines[1:] for word in line.split() if "─" not in word] == [*headers, *row, *row]
    where = {word: line.index(word) for line in lines for word in (*headers, *row) if word in line.split()}
    assert all(where[header] == where[cell] for header, cell in zip(headers[:4], row[:4], strict=True))


@given(
    st.lists(st.lists(st.text("ab. ", max_size=30), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(20, 130),
)
def test_no_word_of_a_table_is_lost_or_broken(rows, room):
    columns = [TableColumn(f"C{number}", [row[number] for row in rows]) for number in range(3)]
    for number in range(len(rows)):
        printed = []
        for line in lines_of_columns(columns, room):
            cells = [*row_lines(line, widths(line, room), number)]
            printed += ["".join(f"{parts[place]} " for parts in cells) for place in range(len(line))]
        assert [text.split() for text in printed] == [cell.split() for cell in rows[number]]


def test_verdicts_are_coloured_on_a_terminal_only(monkeypatch, capsys):
    """NO_COLOR switches it off."""
    table = ("Reasons", ("VERDICT", "REASON"), [("denied", "no"), ("waiting", "later")])
    for variable, expected in ((None, False), ("FORCE_COLOR", True), ("NO_COLOR", False)):
        if variable:
            monkeypatch.setenv(variable, "1")
        print_table(*table)
        text = capsys.readouterr().out
        assert ("\x1b[31mdenied" in text, "\x1b[33mwaiting" in text) == (expected, expected)


def test_no_color_prints_without_colours_on_a_terminal_too(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for words, expected in (([], True), (["--no-color"], False)):
        for command in (["access", "--user", "sue"], ["expr", "eval", "--trace", "1 < 2"]):
            text = CliRunner().invoke(main, [*words, *command], color=True).output
            assert ("\x1b[3" in text) == expected, (words, command)


def test_an_empty_column_is_omitted(terminal):
    """It would take space from the others."""
    text = "\n".join(terminal(80, "Matched", ("JOB", "NOTED"), [("1.0", ""), ("2.0", "")]))
    assert "JOB" in text
    assert "NOTED" not in text

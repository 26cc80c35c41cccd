"""Tables on terminals of any width: no cell is cut."""

import re

import pytest

from negotiator.cli.render import print_table

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


@pytest.mark.parametrize("columns", [40, 80])
def test_a_table_that_does_not_fit_is_printed_as_blocks_of_lines(terminal, columns):
    """One block for each row, each line with its header."""
    headers = [f"HEADER{number}" for number in range(10)]
    rows = [[f"row {row} cell {number} of ten" for number in range(10)] for row in range(2)]
    lines = terminal(columns, "Wide", headers, rows)
    assert lines[0] == "Wide"
    assert [line.split(maxsplit=1) for line in lines[1:11]] == [
        list(pair) for pair in zip(headers, rows[0], strict=True)
    ]


def test_an_empty_column_is_omitted(terminal):
    """It would take space from the others."""
    text = "\n".join(terminal(80, "Matched", ("JOB", "NOTED"), [("1.0", ""), ("2.0", "")]))
    assert "JOB" in text
    assert "NOTED" not in text

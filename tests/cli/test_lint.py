"""``negotiator expr lint``, as its users call it."""

import json

import pytest
from rich.cells import cell_len

from commands import invoke
from negotiator.cli.commands.expr import lint_command

SLOT = 'MyType = "Machine"\nName = "slot1@a"\nState = "Unclaimed"\nMemory = 1024\nOpSys = "LINUX"\n'
JOB = 'MyType = "Job"\nClusterId = 1\nProcId = 0\nRequestMemory = 100\nOwner = "tester"\n'

GOLDEN = """\
warning[unknown-attribute]: no slot of this pool has Memroy: MY.Memroy is
  undefined
    MY.Memroy > 5 && TARGET.Owner =?= "Tester"
    ^^^^^^^^^
  hint: did you mean Memory?
warning[case-differs]: =?= is case-sensitive: TARGET.Owner is "tester" in ads of
  this pool, and "Tester" in none
    MY.Memroy > 5 && TARGET.Owner =?= "Tester"
                     ^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: write "tester", or use ==
notice[always-false-in-pool]: for every slot and job of this pool, MY.Memroy > 5
  && TARGET.Owner =?= "Tester" is always false
    MY.Memroy > 5 && TARGET.Owner =?= "Tester"
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
2 warnings, 1 notice
"""


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A slot and a job, as files of the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "slots").write_text(SLOT)
    (tmp_path / "jobs").write_text(JOB)
    return ["--my", "slots", "--target", "jobs"]


def run(*arguments, **how):
    return invoke(lint_command, arguments, **how)


def test_findings_are_printed_within_80_columns_with_the_part_underlined(pool):
    """Causes first, then consequences, then their number."""
    result = run('MY.Memroy > 5 && TARGET.Owner =?= "Tester"', *pool)
    assert result.output == GOLDEN
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "last"),
    [
        (["MY.Memory >= 1024"], 0, "no findings"),
        (["a && true"], 0, "0 warnings, 1 notice"),
        (["x == undefined"], 1, "1 warning, 0 notices"),
        (["--value", "strcat(a, b)"], 0, "no findings"),
        (["strcat(a, b)"], 1, "1 warning, 0 notices"),
        (["--alone", "TARGET.x > 5"], 1, "2 warnings, 0 notices"),
    ],
)
def test_warnings_have_their_own_exit_code(arguments, code, last):
    """Notices alone are no failure; the use of the expression is an option."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (code, last)


def test_findings_of_several_expressions_are_separate():
    """Each expression with findings is printed above them; an invalid one is reported, and the others are linted."""
    result = run("x == undefined", "a > 1", "1 +", "2 < 1")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line for line in lines if line in {"x == undefined", "a > 1", "1 +", "2 < 1"}] == [
        "x == undefined",
        "1 +",
        "2 < 1",
    ]
    assert "expression:1:4: error: expected an operand" in result.stderr


def test_json_has_all_fields(pool):
    """The part with its beginning and end; null if an expression has none."""
    result = run("--format", "json", 'MY.Memory > "1024"', "1 +", *pool)
    first, second = json.loads(result.stdout)["expressions"]
    assert first == {
        "expression": 'MY.Memory > "1024"',
        "problem": None,
        "findings": [
            {
                "code": "string-number-in-pool",
                "severity": "warning",
                "message": 'for every slot of this pool, MY.Memory > "1024" is always an error: '
                'MY.Memory is an integer, "1024" is a string',
                "hint": "write 1024 without quotes",
                "part": 'MY.Memory > "1024"',
                "start": 0,
                "end": 18,
            }
        ],
    }
    assert second["problem"]["column"] == 4
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["a", "--alone", "--target", "jobs"], 2),
        (["a", "--my", "nowhere"], 4),
        (["a", "--my", "broken"], 4),
        (["a", "--my", "-"], 0),
    ],
)
def test_unreadable_ads_have_their_own_exit_code(pool, tmp_path, arguments, code):  # noqa: ARG001
    """A wrong command line is 2, unreadable ads are 4; - is standard input."""
    (tmp_path / "broken").write_text("what is this")
    assert run(*arguments, input=SLOT).exit_code == code


def underlined(lines):
    """Return the text above the first underline, by the columns of the terminal."""
    place = next(number for number, line in enumerate(lines) if line.strip(" ^") == "" and "^" in line)
    columns = [(character, wide) for character in lines[place - 1] for wide in range(cell_len(character))]
    marked = [columns[at] for at, mark in enumerate(lines[place]) if mark == "^"]
    return "".join(character for character, wide in marked if not wide)


def test_of_a_long_line_the_part_around_the_place_is_shown(monkeypatch):
    """The underline is below the part, also beside wide characters."""
    monkeypatch.setenv("COLUMNS", "80")
    before, after = ("".join(f"{name}{number} && " for number in range(60)) for name in "ab")
    for wide in ("a", "\N{CJK UNIFIED IDEOGRAPH-4E2D}"):
        lines = run(f'{before}"{wide}" != z && x == undefined && {after}c').stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert underlined(lines) == "x == undefined"


def test_a_part_of_several_lines_is_underlined_to_the_end_of_its_first(monkeypatch):
    """The line in which it begins is shown."""
    monkeypatch.setenv("COLUMNS", "80")
    assert underlined(run("a &&\n  x ==\n  undefined").stdout.splitlines()) == "x =="


def test_control_characters_are_escaped():
    """Control characters of an expression are shown, not sent to the terminal."""
    for form in ("text", "json"):
        assert "\x1b" not in run("--format", form, '"\x1b[2J" + a', "'\x1b[2J' == undefined").output

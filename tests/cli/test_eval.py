"""``negotiator expr eval`` as a command, and the layout of traces on terminals of any width."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import parse, parse_ad
from negotiator.classad.scalar import trace
from negotiator.cli import main
from negotiator.cli.steps import print_trace, trace_lines

POOL = Path(__file__).parents[2] / "examples" / "first-pool"

MACHINES = """\
Name = "slot1@a"
Memory = 1024
Start = TARGET.RequestMemory < 600

Name = "slot1@b"
Memory = 256
Start = false
"""
JOB = "ClusterId = 7\nProcId = 1\nRequestMemory = 512\n"


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return a function that calls the command in a folder with a file of machines and one of a job."""
    monkeypatch.chdir(tmp_path)
    Path("machines.ads").write_text(MACHINES)
    Path("job.ads").write_text(JOB)

    def run(*arguments, stdin=None):
        return CliRunner().invoke(main, ["expr", "eval", *arguments], input=stdin)

    return run


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["1 + 2 * 3"], "7\n"),
        (["nosuch"], "undefined\n"),
        (["1/0", "--my", "job.ads"], "error\n"),
        (["time()", "--now", "5"], "5\n"),
        (["RequestMemory", "--target", "job.ads"], "512\n"),
        (
            ["MY.Memory > TARGET.RequestMemory", "--my", "machines.ads", "--target", "job.ads"],
            "slot1@a: true\nslot1@b: false\n",
        ),
    ],
)
def test_the_value_is_printed_for_each_ad(call, arguments, expected):
    """With its name if there are several ads."""
    done = call(*arguments)
    assert (done.exit_code, done.stdout, done.stderr) == (0, expected, "")


def test_a_trace_is_printed_below_the_name_of_its_ad(call):
    """Each part of the expression with its value, indented; without colours if not on a terminal."""
    done = call("Start && Memory > 100", "--my", "machines.ads", "--target", "job.ads", "--trace")
    assert (done.exit_code, done.stderr) == (0, "")
    assert (
        done.stdout
        == """\
slot1@a:
Start && Memory > 100 => true
  Start => true  (in MY)
    TARGET.RequestMemory < 600 => true
      TARGET.RequestMemory => 512  (in TARGET)
  Memory > 100 => true
    Memory => 1024  (in MY)

slot1@b:
Start && Memory > 100 => false
  Start => false  (in MY)
  Memory > 100  (not evaluated)
"""
    )


def test_a_trace_of_one_ad_has_no_name_above_it(call):
    """A single ad needs no name."""
    done = call("TARGET.Memory > RequestMemory", "--my", "-", "--trace", stdin=JOB)
    assert done.stdout.splitlines()[0] == "TARGET.Memory > RequestMemory => undefined"


def test_an_invalid_expression_is_shown_with_a_caret(call):
    """Also with wide characters or several lines."""
    done = call('strcat("日本", \n  "日本" + * 2)')
    assert (done.exit_code, done.stdout) == (1, "")
    first, excerpt, caret = done.stderr.splitlines()
    assert first.startswith("expression:2:10: error: expected an operand")
    assert excerpt == '    "日本" + * 2)'
    assert caret.index("^") == len('    "日本" + ') + 2  # the two characters take two columns each
    assert "use == to compare" in call("Memory = 5").stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["1", "--my", "nosuch.ads"], 4, "nosuch.ads does not exist"),
        (["1", "--my", "job.ads", "--target", "empty.ads"], 4, "empty.ads: no readable ad"),
        ([], 2, "Missing argument"),
    ],
)
def test_unreadable_input_is_reported(call, arguments, code, message):
    """With an exit code of its own, and no value."""
    Path("empty.ads").touch()
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr


def test_values_are_printed_even_if_one_ad_is_unreadable(call):
    """The exit code shows that some are missing."""
    Path("some.ads").write_text("[ A = 1 ]\n[ A = ]\n[ A = 3 ]\n")
    done = call("A", "--my", "some.ads", "--trace")
    assert done.exit_code == 4
    assert "A => 1  (in MY)" in done.stdout.splitlines()


def test_possible_claim_ids_are_not_printed():
    """Also beside an attribute that an expression names, and where a text is cut."""
    ad = parse_ad('[Known = ClaimId == "<1.2.3.4:9618>#secret#1"; Long = "secret" == strcat(ClaimId, "x")]')
    half = ad.with_items([("Cut", parse('ClaimId == "' + "secret " * 400 + '"'))])
    for name in half:
        text = "\n".join(line.plain for line in trace_lines(trace(parse(name), half), None))
        assert "ClaimId" in text
        assert "secret" not in text


def test_control_characters_in_ads_do_not_reach_the_terminal(call):
    """Job ads are written by users."""
    Path("evil.ads").write_bytes(b'Name = "x\x1b[2J"\nA = Name == "\x1b[31m"\n')
    done = call("A", "--my", "evil.ads", "--trace")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Return a function that prints a trace on a terminal of some width, and returns its lines without and with colours."""

    def show(columns, text, my="[]", target="[]"):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(columns))
        print_trace(trace(parse(text), parse_ad(my), parse_ad(target)))
        out = capsys.readouterr().out
        return re.sub(r"\x1b\[[0-9;]*m", "", out).splitlines(), out

    return show


def test_on_a_terminal_expressions_are_cut_and_values_stay(terminal):
    """The cut parts are in the lines below."""
    clauses = " && ".join(f"TARGET.Number{number} =!= {number}" for number in range(9))
    lines, coloured = terminal(80, clauses)
    assert lines[0].endswith("... => true")
    assert len(lines[0]) == 80
    assert lines[1] == "  TARGET.Number0 isnt 0 => true"
    assert "\x1b[32mtrue" in coloured


def test_a_long_value_gets_a_line_of_its_own(terminal):
    """So that the name of the attribute stays visible."""
    lines, _ = terminal(
        60, "MY.CondorVersionOfTheMachine", f'[CondorVersionOfTheMachine = "{"abcdefg " * 30}"]'
    )
    assert lines[0] == "MY.CondorVersionOfTheMachine"
    assert lines[1].startswith('    => "abcdefg abcdefg')
    assert lines[-1].endswith("...  (in MY)")
    assert max(map(len, lines)) <= 60


def test_deep_steps_are_numbered_instead_of_indented(terminal):
    """Indentation of a hundred levels would leave no room."""
    chain = "[" + "; ".join(f"A{number} = A{number + 1}" for number in range(100)) + "; A100 = 1]"
    lines, _ = terminal(80, "A0", chain)
    assert lines[12] == f"{'  ' * 12}A12 => 1  (in MY)"
    assert lines[100] == f"{'  ' * 12}[100] A100 => 1  (in MY)"


@settings(max_examples=100)
@given(text=expressions(), my=ads("OnlyMine"), target=ads("OnlyOther"), width=st.integers(40, 120))
def test_no_line_is_wider_than_the_terminal(text, my, target, width):
    """Whatever the expression."""
    for line in trace_lines(trace(parse(text), parse_ad(my), parse_ad(target)), width):
        assert line.cell_len <= width


def test_the_example_pool_is_traced():
    """Real Requirements: references to the other ad are printed with their values."""
    done = CliRunner().invoke(
        main,
        [
            "expr",
            "eval",
            "MY.Requirements",
            "--my",
            str(POOL / "jobs.ads"),
            "--target",
            str(POOL / "machines.ads"),
            "--trace",
        ],
    )
    assert done.exit_code == 0
    assert (
        done.stdout.count(
            '\n    TARGET.Arch == "X86_64" => true\n      TARGET.Arch => "X86_64"  (in TARGET)\n'
        )
        > 5
    )

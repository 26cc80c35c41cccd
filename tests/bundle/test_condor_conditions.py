"""Conditions and included files of HTCondor-style files: followed as HTCondor does, or known to be unknown."""

import json
import os
import subprocess
import sys

import pytest

# Conditions of which HTCondor 25.14 takes the first branch (True) or the second (False), with X = 5, E = and NOPE unset.
AS_HTCONDOR = [
    ("true", True),
    ("False", False),
    ("YES", True),
    ("no", False),
    ("t", True),
    ("f", False),
    ("1", True),
    ("0.0", False),
    ("-1", True),
    ("1.5e3", True),
    (".5", True),
    ("$(X)", True),
    ("$(E)", False),
    ("$(NOPE:0)", False),
    ("$(NOPE:1)", True),
    ("!true", False),
    ("! false", True),
    ("! $(X)", False),
    ("defined X", True),
    ("defined E", False),
    ("! defined X", False),
    ("version >= 8.1.6", True),
    ("version > 25.14.1", False),
    ("version == 25.14", True),
    ("version <= 25.14", True),
    ("version < 25.14", False),
    ("version != 24.0", True),
    ("Version >=25.2", True),
    ("!version >= 25.14.1", False),
]

UNKNOWN = [
    ("$(NOPE)", "$(NOPE) is not defined in the bundle"),
    ("defined NOPE", "only HTCondor knows whether it has NOPE"),
    ("defined use ROLE:Personal", "only HTCondor knows whether it has use ROLE:Personal"),
    ("$ENV(HOME)", "the macro function $ENV is not supported"),
    ("$(X) > 2", "HTCondor accepts no such condition"),
    ("version > 25", "HTCondor accepts no such condition"),
    ("! ! true", "HTCondor accepts no such condition"),
]

PLUGIN = """
@attrs.frozen
class Knobs:
    A: str | None = None
    B: str | None = None

@hookimpl
def negotiator_section():
    return Section(schema=Knobs)
"""


@pytest.fixture
def knobs(bare):
    bare.plugin("knobs", PLUGIN)
    return bare


def read(knobs, text):
    """Return A, B and the problems of a file."""
    problems = knobs.conf(text)
    settings = knobs.settings("knobs")
    return settings.A, settings.B, problems


@pytest.mark.parametrize(("condition", "taken"), AS_HTCONDOR)
def test_a_condition_selects_the_branch_that_htcondor_takes(knobs, condition, taken):
    """Words, numbers, macros, definitions and versions, each also negated."""
    text = f"X = 5\nE =\nif {condition}\n A = 1\nelse\n A = 2\nendif\n"
    assert read(knobs, text)[0] == ("1" if taken else "2")


def test_htcondor_itself_takes_the_same_branches(tmp_path):
    """The table above agrees with HTCondor's library, if it is installed."""
    pytest.importorskip("htcondor2", reason="HTCondor's own library is not installed")
    blocks = (f"if {each}\n N{i} = 1\nelse\n N{i} = 2\nendif" for i, (each, _) in enumerate(AS_HTCONDOR))
    file = tmp_path / "condor_config"
    file.write_text("\n".join(("X = 5\nE =", *blocks, "")))
    ask = f"import htcondor2 as h, json; print(json.dumps([int(h.param['N%d' % i]) for i in range({len(AS_HTCONDOR)})]))"
    done = subprocess.run(
        [sys.executable, "-c", ask],
        env={**os.environ, "CONDOR_CONFIG": str(file)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == [1 if taken else 2 for _, taken in AS_HTCONDOR]


@pytest.mark.parametrize(("condition", "reason"), UNKNOWN)
def test_a_policy_below_an_unknown_condition_is_an_error_that_names_it(knobs, condition, reason):
    """In both branches, with the place of the policy and of the condition."""
    for branches in ("A = 1\nelse\nOTHER = 2", "OTHER = 1\nelse\nA = 2"):
        problems = knobs.conf(f"X = 5\nif {condition}\n{branches}\nendif\n")
        (first,) = (problem for problem in problems if ": error: " in problem)
        place, _, message = first.partition(": error: ")
        assert place == ("a.conf:3:1" if branches.startswith("A") else "a.conf:5:1")
        expected = f"it depends on the condition {condition!r} in a.conf:2:4 ({reason})"
        assert message.startswith(f"the value of A is not known here: {expected} (define it without")


@pytest.mark.parametrize(("condition", "_reason"), UNKNOWN)
def test_an_unknown_condition_on_which_no_policy_depends_does_not_refuse_the_file(knobs, condition, _reason):
    """The settings below it have no effect anyway; a later certain definition takes precedence."""
    text = f"if {condition}\n DAEMON_LIST = MASTER\n B = 1\nendif\nA = yes\nB = 2\n"
    a, b, problems = read(knobs, text)
    assert (a, b) == ("yes", "2")
    assert not any("error" in problem for problem in problems)


def test_a_policy_that_reads_an_uncertain_macro_is_an_error(knobs):
    """Directly, by way of another macro, and in a number."""
    for use in (
        "A = $(M)",
        "A = $(C)\nC = x$(M)",
        "A = $INT(M)",
        "A = x\nif $(M)\nA = y\nendif",
        "if defined M\nA = y\nendif",
    ):
        text = f"if defined NOPE\n M = 1\nendif\n{use}\n"
        assert any(": error: " in each for each in knobs.conf(text)), use
    assert read(knobs, "if defined NOPE\n M = 1\nendif\nM = 2\nA = $(M)\n")[0] == "2"


def test_blocks_nest_and_only_one_branch_counts(knobs):
    """Conditions in branches that are not read are not evaluated; else if is elif."""
    text = """
        if true
          if false
            A = 1
          elif yes
            A = 2
          elif true
            A = 3
          else
            A = 4
          endif
        else
          if $(NOPE)
            A = 5
          endif
          include : nowhere
        endif
        if false
        else if true
          B = 6
        else
          B = 7
        ENDIF
        """
    assert read(knobs, text) == ("2", "6", [])


def test_after_an_unknown_condition_a_true_one_ends_the_block(knobs):
    """Its branch is uncertain, and those below it are not read at all."""
    text = "if $(NOPE)\nelif true\n B = 1\nelse\n A = 1\nendif\nA = 2\n"
    assert "B is not known here" in knobs.conf(text)[0]
    assert len(knobs.conf(text)) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A = $INT(C)|$INT(D)|$REAL(D)|$REAL(C)\nC = 2*3\nD = 7/2.0", "6|3|3.5|6"),
        ("A = $INT(C)|$REAL(E)|$REAL(F)\nC = -7/2.0\nE = 1.0/3\nF = 1e20", "-3|0.3333333333333333|1E+20"),
        ("A = $INT(C,%03d)|$INT(C,x%dy%%)|$REAL(C,%.2f)|$INT(C,%04x)\nC = 10", "010|x10y%|10.00|000a"),
        ("A = $INT(2+3)|$INT(C)|$INT(D)\nC = true\nD = floor($(E))\nE = 2.7", "5|1|2"),
        ("A = $$INT(C)", "$$INT(C)"),
        ("X = NAME\n$(X)_Y = 5\nA = $(NAME_Y)", "5"),
    ],
)
def test_numeric_functions_and_names_with_macros_have_htcondors_meaning(knobs, tmp_path, text, value):
    """Checked with HTCondor's library too, if it is installed."""
    assert read(knobs, text)[0] == value
    pytest.importorskip("htcondor2", reason="HTCondor's own library is not installed")
    file = tmp_path / "condor_config"
    file.write_text(text + "\n")
    done = subprocess.run(
        [sys.executable, "-c", "import htcondor2 as h; print(h.param.get('A'))"],
        env={**os.environ, "CONDOR_CONFIG": str(file)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == value


def test_a_file_of_the_bundle_is_included_in_place_of_the_line(knobs):
    """Relative to the bundle, by macros too; problems in it have its name and line."""
    knobs.write("config.d/20-site", "A = included\nB = $(A)\nC = $(NAME)\n")
    knobs.write("nested.inc", "include : config.d/20-site\n")
    assert read(knobs, "A = 1\ninclude ifexist : nested.inc\nNAME = x\n")[:2] == ("included", "included")
    assert read(knobs, "DIR = config.d\ninclude : $(DIR)/20-site\nA = after\n")[:2] == ("after", "after")
    assert read(knobs, "if false\ninclude : nested.inc\nendif\ninclude ifexist : nowhere\n") == (
        None,
        None,
        [],
    )
    knobs.write("config.d/20-site", "NEGOTIATOR_PE_NONE = 1\nA = $(NOPE)\n")
    places = [problem.partition(": ")[0] for problem in knobs.conf("include : nested.inc\n")]
    assert places == ["config.d/20-site:1:1", "config.d/20-site:2:5"]
    assert "depends on the condition" in knobs.conf("if defined NOPE\ninclude : nested.inc\nendif")[1]


def test_no_file_outside_the_bundle_is_included(knobs, tmp_path):
    """Neither by its path nor by a link."""
    outside = tmp_path / "outside"
    outside.write_text("A = secret\n")
    (knobs.path / "link").symlink_to(outside)
    for name in (str(outside), "../outside", "config.d/../../outside", "link", "."):
        problems = knobs.conf(f"include : {name}\n")
        assert "secret" not in "".join(problems)
        assert any(": not included: " in problem for problem in problems)


def test_included_files_and_conditions_have_bounds(knobs):
    """Files that include each other many times, and expensive conditions, end soon with an error or as unknown."""
    for i in range(7):
        knobs.write(f"{i}.inc", f"include : {i + 1}.inc\n" * 60)
    knobs.write("7.inc", "B = 1\n")
    assert any("too many or too large" in each for each in knobs.conf("include : 0.inc\n"))
    knobs.write("0.inc", "include : 1.inc\n")
    knobs.write("1.inc", "include : 0.inc\n")
    assert any("'0.inc' includes itself" in each for each in knobs.conf("include : 0.inc\n"))
    doubling = "\n".join(f"M{i} = $(M{i - 1})$(M{i - 1})" for i in range(1, 13))
    many = "if $(M12)\nA = 1\nendif\n" * 3000
    assert any("too many conditions" in each for each in knobs.conf(f"M0 = 1\n{doubling}\n{many}"))


def test_macros_count_towards_the_bound_of_conditions_even_if_they_are_empty(knobs):
    doubling = "\n".join(f"M{i} = $(M{i - 1})$(M{i - 1})" for i in range(1, 13))
    many = "if 1$(M12)\nA = 1\nendif\n" * 50
    assert any("too many conditions" in each for each in knobs.conf(f"M0 =\n{doubling}\n{many}"))

"""HTCondor-style files beside ``pool.yaml``: read as HTCondor reads them, or refused with a reason."""

import json
import os
import re
import subprocess
import sys

import pytest

from negotiator.bundle import load_bundle
from negotiator.classad import parse
from negotiator.records import Source

PLUGIN = """
@attrs.frozen
class Knobs:
    A: str | None = None
    B: str | None = None
    job: Expression | None = attrs.field(default=None, alias="TINY_EXPR")
    number: int = attrs.field(default=0, alias="TINY_NUMBER")
    switch: bool = attrs.field(default=False, alias="TINY_SWITCH")
    names: list[str] = attrs.field(factory=list, alias="TINY_NAMES")

@hookimpl
def negotiator_section():
    return Section(schema=Knobs)
"""

# What HTCondor 25.14 makes of A and B; None: it is not set.
AS_HTCONDOR = [
    ("A = x", "x", None),
    ("  A   =   x y   ", "x y", None),
    ("a = lower\nA = upper", "upper", None),
    ("NEGOTIATOR.A = mine\nA = all", "mine", None),
    ("A = all\nnegotiator.a = mine", "mine", None),
    ("A = x # y", "x # y", None),
    ("# comment \\\nA = x", "x", None),
    ("A = x\\\n   y", "xy", None),
    ("A = x \\\n   y", "x y", None),
    ("A = x \\  \n   y", "x y", None),
    ("A = x \\\n  # comment \\\n  y\nB = 3", "x y", "3"),
    ("A = 1 \\\n   \\\n  2\nB = 1", "1 2", "1"),
    ("A = 1 \\\n\nB = 1", "1 ", "1"),
    ("A = a\\b ", "a\\b", None),
    ("A = \\\\\nB=2", "\\B=2", None),
    ("A = x=y", "x=y", None),
    ("[section]\nA = x", "x", None),
    ("use = 5\nA = $(use)", "5", None),
    ("A @= x \n 1\n\n# no\n 2 \\\n 3\n@x\nB = 5", "1\n2 3", "5"),
    ("A =\nB =", None, None),
    ("A = 1\nA = $(A)2\nA = $(A)3", "123", None),
    ("B = 1\nA = $(B)\nB = 2", "2", "2"),
    ("A = $(B) $(b)\nB = 3\nb = 4", "4 4", "4"),
    ("A = $(NOPE:dd)|$(NOPE:$(B))|$(NOPE:)|$(NOPE:1:2)\nB = 2", "dd|2||1:2", "2"),
    ("A = $(NOPE:$(NADA:3))", "3", None),
    ("A = $(NOPE:(a)b) c", "(a)b c", None),
    ("A = $(B:default)\nB =", "default", None),
    ("A = $(A:1)", "1", None),
    ("A = $$(x) $$([ 1 + 1])", "$$(x) $$([ 1 + 1])", None),
    ("A = $( B )\nB = 2", "$( B )", "2"),
    ("A = $(B\nB = 2", "$(B", "2"),
    ("A = $(DOLLAR)(B)\nB = 2", "$(B)", "2"),
    ("A = #x", "#x", None),
    ("A = 6 * $(HOUR)", "6 * 3600", None),
    ("A = $(StartIdleTime)\nMINUTE = 1", "15 * 1", None),
    ("HOUR = $(HOUR) + 1\nA = $(HOUR)", "3600 + 1", None),
    ("A = $(SUBSYSTEM)", "NEGOTIATOR", None),
    ("if defined HOUR\nA = 1\nendif", "1", None),
]


@pytest.fixture
def knobs(bare):
    bare.plugin("knobs", PLUGIN)
    return bare


@pytest.mark.parametrize(("text", "a", "b"), AS_HTCONDOR)
def test_definitions_have_htcondors_meaning(knobs, text, a, b):
    """Comments, continuations, prefixes, several lines, macros and their defaults."""
    problems = knobs.conf(text + "\n")
    assert [problem for problem in problems if "error" in problem] == []
    settings = knobs.settings("knobs")
    assert (a, b) == (settings.A, settings.B)


def test_htcondor_itself_reads_these_files_the_same_way(tmp_path):
    """The table above agrees with HTCondor's library, if it is installed."""
    pytest.importorskip("htcondor2", reason="HTCondor's own library is not installed")
    ask = "import htcondor2 as h, json; h.set_subsystem('NEGOTIATOR'); print(json.dumps([h.param.get('A'), h.param.get('B')]))"
    file = tmp_path / "condor_config"
    # One of each kind that decides something; all of them would take half a minute.
    for text, a, b in AS_HTCONDOR[8:12] + AS_HTCONDOR[18:19] + AS_HTCONDOR[23:24] + AS_HTCONDOR[-4:-2]:
        file.write_text(text + "\n")
        environment = {**os.environ, "CONDOR_CONFIG": str(file)}
        done = subprocess.run(
            [sys.executable, "-c", ask],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert json.loads(done.stdout) == [a, b]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FOO", "1:1: error: expected NAME = expression (end a continued line with a backslash)"),
        ("A B = 5", "1:1: error: expected NAME = expression (a name consists of letters, digits, _ and .)"),
        ("A-B = 5", "1:1: error: expected NAME = expression (a name consists of letters, digits, _ and .)"),
        ("+A = 5", "1:1: error: expected NAME = expression (a name consists of letters, digits, _ and .)"),
        ("= 5", "1:1: error: expected NAME = expression (a name consists of letters, digits, _ and .)"),
        ("A += 5", "1:1: error: expected NAME = expression (to add to a value, write NAME = $(NAME) ...)"),
        ("A@=x", "1:1: error: expected NAME = expression (put a blank before @=)"),
        ("$(B)_A = 5", "1:1: warning: $(B)_A is not set: the macros in its name are not known here (*"),
        ("A @=x\n 1\n", "1:1: error: the value of 'A' has no end tag (end it with a line '@x')"),
        ("if true\n A = 1\nelse\n B = 2\n", "1:1: error: 'if' without endif (*"),
        ("endif", "1:1: error: 'endif' without if (*"),
        ("else\nA = 1", "1:1: error: 'else' without if (*"),
        ("use ROLE : Personal", "1:1: notice: use ROLE:Personal has no effect here (*"),
        ("@include : /etc/x", "1:1: warning: not included: it is not in the bundle; *"),
        ("include ifexist : ../x", "1:1: warning: not included: it is not in the bundle; *"),
        ("include : b/../../x", "1:1: warning: not included: it is not in the bundle; *"),
        ("include : x.config", "1:1: warning: not included: the bundle has no file 'x.config'; *"),
        ("include : $(ETC)/x", "1:1: warning: not included: $(ETC) is not defined in the bundle; *"),
        ("include command : touch x", "1:1: warning: not included: commands are not run; *"),
        ("include : touch x |", "1:1: warning: not included: commands are not run; *"),
        ("include command into a : x", "1:1: warning: not included: commands are not run; *"),
        ("include : a.conf", "1:1: error: 'a.conf' includes itself, *"),
        ("if $(NOPE)\nerror : stop\nendif", "2:1: warning: message of the file: stop"),
        ("error : stop", "1:1: error: message of the file: stop"),
        ("warning : look", "1:1: warning: message of the file: look"),
        ("A : 5", "1:3: warning: A is set with a colon, which is obsolete in HTCondor (write A = ...)"),
        (
            "A = x $(NOPE)",
            "1:7: error: $(NOPE) is not defined in the bundle (define NOPE, or give a default: *",
        ),
        ("A = $(A)", "1:5: error: $(A) is not defined in the bundle (*"),
        ("A = $(C)\nC = $(D)\nD = $(C)", "*: error: circular macros: $(a) -> $(c) -> $(d) -> $(c) (*"),
        ("NEGOTIATOR.A = $(C)\nC = $(A)", "*: error: circular macros: *"),
        ("A = x\\\n $INT(B)", "2:2: error: $INT(B): its argument reads the attribute b (*"),
        ("A = $INT(C)\nC = time()", "1:5: error: $INT(C): its argument calls time (*"),
        ("A = $INT(C)\nC = 1 +", "1:5: error: $INT(C): its argument is not a valid expression (*"),
        ('A = $INT(C)\nC = "a"', "1:5: error: $INT(C): its argument is not a number (*"),
        ("A = $INT(C,%s)\nC = 1", "1:5: error: $INT(C): the format '%s' is not supported (*"),
        ("A = $INT(1e20)", "1:5: error: $INT(1e20): the number does not fit into 64 bits (*"),
        ("A = $ENV(HOME)", "1:5: error: the macro function $ENV is not supported (*"),
        ("A = $RANDOM_CHOICE(1,2)", "1:5: error: the macro function $RANDOM_CHOICE is not supported (*"),
        ("A = $Fn(B)", "1:5: error: the macro function $Fn is not supported (*"),
        (
            "A = 1\nA = 2",
            "1:1: notice: A is overridden in a.conf:2:1 (remove one of the two)",
        ),
        ("DAEMON_LIST = MASTER", "1:1: notice: DAEMON_LIST has no effect here"),
        ("OTHER.A = 1", "1:1: warning: OTHER.A has no effect here: it is set for OTHER (write A = ...)"),
        ("A = x \\\n # comment\n y", "2:2: warning: a comment inside a continued line, without *"),
        ("TINY_EXPR = a == \\\n  == b", "2:3: error: TINY_EXPR: expected an operand, found '=='"),
        (
            "TINY_EXPR = a && $(B) b\nB = ==",
            "1:18: error: TINY_EXPR: *(after replacing macros: a && == b)",
        ),
        ("TINY_EXPR @=end\n a &&\n b c\n@end", "3:4: error: TINY_EXPR: *"),
        (
            "TINY_NUMBER = x",
            "1:15: error: TINY_NUMBER: expected a whole number, got 'x' (the value reads the attribute x: *",
        ),
        (
            "TINY_NUMBER = $(B) * 2\nB = 3 +",
            "1:15: error: TINY_NUMBER: *(the value is not a valid expression: *; after replacing macros: 3 + * 2)",
        ),
        (
            "TINY_SWITCH = yes",
            "1:15: error: TINY_SWITCH: expected true or false, got 'yes' (*write true or false)",
        ),
        ("TINY_NUMBER = time()", "1:15: error: TINY_NUMBER: * (the value calls time: *"),
        (
            "TINY_NAMES = a, b",
            "1:14: error: TINY_NAMES: expected a list, got 'a, b' (set it in pool.yaml*",
        ),
        (b"A = 1\nB = \xff", "2:5: error: byte 0xFF is not UTF-8 (save the file as UTF-8)"),
    ],
)
def test_lines_that_are_not_read_as_in_htcondor_are_reported(knobs, text, expected):
    """A line that HTCondor reads differently, or that only HTCondor reads, is never ignored silently."""
    (problem,) = knobs.conf(text)
    first, _, last = problem.removeprefix("a.conf:").partition("\n")
    assert not last
    assert is_like(first, expected), first


def test_the_expansion_of_a_macro_is_bounded(knobs):
    """Text that doubles at each step, steps without text, and nested defaults all end soon."""
    doubling = "\n".join(f"M{i} = $(M{i - 1})$(M{i - 1})" for i in range(1, 60))
    for start in ("M0 = xxxxxxxxxx", "M0 ="):
        assert any("error: " in problem for problem in knobs.conf(f"{start}\n{doubling}\nA = $(M59)"))
    chain = "\n".join(f"M{i} = $(M{i - 1})" for i in range(1, 200))
    assert any("nested too deeply" in problem for problem in knobs.conf(f"M0 = x\n{chain}\nA = $(M199)"))
    assert "nested too deeply" in knobs.conf("A = " + "$(X:" * 20_000 + ")" * 20_000)[0]


def test_values_of_a_file_are_converted_to_the_types_of_fields(knobs):
    """Booleans in any case, as HTCondor writes them, and expressions; YAML's rules for quotes do not apply."""
    assert knobs.conf("TINY_NUMBER = 2 * $(HOUR)\nTINY_SWITCH = True && False\n") == []
    assert (knobs.settings("knobs").number, knobs.settings("knobs").switch) == (7200, False)
    assert knobs.conf('TINY_NUMBER = 7\nTINY_SWITCH = TRUE\nA = 010\nB = "yes"\nTINY_EXPR = true\n') == []
    settings = knobs.settings("knobs")
    assert (settings.number, settings.switch, settings.A, settings.B) == (7, True, "010", '"yes"')
    assert settings.job.source == Source("a.conf", 5, 13)


def test_files_are_read_in_the_order_of_their_names(knobs):
    """The later file counts, and the earlier line is named; backups of package managers are not read."""
    knobs.write("20-late.conf", "A = late")
    knobs.write("10-early.config", "A = early\nB = $(A)")
    for name in ("condor_config.rpmsave", "condor_config.rpmnew", "condor_config~", ".a.conf", "a.conf.orig"):
        knobs.write(name, "A = wrong")
    knobs.write("sub/z.conf", "A = wrong")
    assert knobs.problems() == [
        "10-early.config:1:1: notice: A is overridden in 20-late.conf:1:1 (remove one of the two)"
    ]
    assert (knobs.settings("knobs").A, knobs.settings("knobs").B) == ("late", "late")
    knobs.write("condor_config.local", "A = last")
    assert knobs.settings("knobs").A == "last"


def test_a_name_in_both_kinds_of_files_is_an_error_in_both_places(knobs):
    """Neither takes precedence."""
    knobs.write("pool.yaml", "B: x\nTINY_EXPR: a\n")
    assert knobs.conf("tiny_expr = b") == [
        "pool.yaml:2:1: error: TINY_EXPR is set here and in a.conf:1:1",
        (
            "a.conf:1:1: error: TINY_EXPR is set here and in pool.yaml:2:1; neither takes precedence "
            "(remove it here or in pool.yaml)"
        ),
    ]
    assert knobs.conf("tiny_expr =") == []


def test_a_file_of_the_original_system_works_unchanged(bare):
    """The five expressions of the specification, with macros, comments and continuations, in a condor_config."""
    bare.write(
        "condor_config.local",
        r"""
## Pool-wide policy enforcement
MINIMUM = 128
NEGOTIATOR_PE_SCHEDD_ONLY_EXPR = regexp("^untrusted", MY.Name)
NEGOTIATOR_PE_STARTD_ONLY_EXPR = (MY.Memory < $(MINIMUM)) || \
    # too slow \
    (MY.Mips < 1000)
NEGOTIATOR_PE_JOB_ONLY_EXPR =
NEGOTIATOR_PE_RESOURCE_EXPR = TARGET.Owner != "nobody"
NEGOTIATOR.NEGOTIATOR_PE_JOB_EXPR = TARGET.Mips > 0
""",
    )
    loaded = load_bundle(bare.path)
    assert loaded.problems == ()
    central = loaded.settings["expressions"]
    assert central.startd_only.tree == parse("(MY.Memory < 128) || (MY.Mips < 1000)")
    assert central.startd_only.source == Source("condor_config.local", 5, 34)
    assert central.job_only is None
    assert [constraint.record.rule for constraint in loaded.constraints] == [
        "NEGOTIATOR_PE_RESOURCE_EXPR",
        "NEGOTIATOR_PE_JOB_EXPR",
    ]


def is_like(text, pattern):
    """True if a text is as expected, where ``*`` matches any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None

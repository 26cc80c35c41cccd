"""``negotiator check``, as its users call it."""

import json
from pathlib import Path

import pytest

from commands import invoke
from negotiator.bundle import default_bundle
from negotiator.cli.commands.check import check

ROOT = Path(__file__).parents[2]

PLUGIN = """
from __future__ import annotations
import attrs
from negotiator.plugin import Expression, Section, hookimpl

@attrs.frozen
class Tiny:
    number: int = 3
    text: str = ""
    knob: Expression | None = attrs.field(default=None, alias="TINY_EXPR")

@hookimpl
def negotiator_section():
    return Section(schema=Tiny)
"""

POOL = """\
number: yes
text: "a	b"
nmber: 3
audit:
  matches: 1 +
"""

CONF = """\
DAEMON_LIST = MASTER
TINY_EXPR = MY.x > \\
\t(3
OTHER.TINY_EXPR = 5
"""

GOLDEN = """\
bundle/pool.yaml:1:9: error: number: YAML reads 'yes' as a boolean
  number: yes
          ^
  hint: write true or false; or quote it, if it is a text
bundle/pool.yaml:3:1: error: unknown key 'nmber'
  nmber: 3
  ^
  hint: did you mean number?
bundle/pool.yaml:5:15: error: audit.matches: expected an operand, found end of text
    matches: 1 +
                ^
bundle/a.conf:1:1: notice: DAEMON_LIST has no effect here
  DAEMON_LIST = MASTER
  ^
bundle/a.conf:3:4: error: TINY_EXPR: expected an operator or ')', found end of text
   (3
     ^
bundle/a.conf:4:1: warning: OTHER.TINY_EXPR has no effect here: it is set for OTHER
  OTHER.TINY_EXPR = 5
  ^
  hint: write TINY_EXPR = ...
4 errors, 1 warning, 1 notice
"""


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A folder ``bundle`` below the current one, with a plugins folder of its own."""
    monkeypatch.chdir(tmp_path)
    plugins = tmp_path / "bundle" / "plugins"
    plugins.mkdir(parents=True, mode=0o755)
    (plugins / "tiny.py").write_text(PLUGIN)
    (plugins / "tiny.py").chmod(0o644)
    return tmp_path / "bundle"


def run(*arguments):
    return invoke(check, [*map(str, arguments), "--plugins-dir", "bundle/plugins"])


def broken(bundle):
    (bundle / "pool.yaml").write_text(POOL)
    (bundle / "a.conf").write_text(CONF)


def test_every_problem_is_printed_with_its_line_and_a_caret(bundle):
    """Errors, warnings and notices in the order of the files; without colours if not on a terminal."""
    broken(bundle)
    result = run("bundle")
    assert result.output == GOLDEN
    assert result.exit_code == 1


def test_a_valid_bundle_is_ok_and_has_a_digest(bundle):
    """The digest is that of audit records."""
    (bundle / "pool.yaml").write_text("number: 1")
    result = run("bundle")
    assert result.exit_code == 0
    first, second, digest = result.output.rpartition("(digest ")
    assert (first, second) == ("bundle: ok ", "(digest ")
    assert len(digest.strip(")\n")) == 64


def test_warnings_and_notices_alone_are_no_failure(bundle):
    """They are printed, and the exit code is 0."""
    (bundle / "a.conf").write_text("FOO = 1\nOTHER.TINY_EXPR = 2\n")
    result = run("bundle")
    assert result.exit_code == 0
    assert "0 errors, 1 warning, 1 notice\nbundle: ok (digest " in result.output


def test_json_has_all_fields(bundle):
    """Places as numbers, counts, the digest."""
    broken(bundle)
    result = run("bundle", "--format", "json")
    output = json.loads(result.output)
    assert result.exit_code == 1
    assert (output["folder"], output["ok"], output["errors"], output["warnings"], output["notices"]) == (
        "bundle",
        False,
        4,
        1,
        1,
    )
    assert output["problems"][1] == {
        "severity": "error",
        "file": "bundle/pool.yaml",
        "line": 3,
        "column": 1,
        "message": "unknown key 'nmber'",
        "hint": "did you mean number?",
        "excerpt": "nmber: 3",
    }


def test_github_commands_are_escaped(bundle):
    """Percent signs and line ends in messages, colons and commas in file names too."""
    (bundle / "a,b:c%.conf").write_text("error : 100%, see: above\n")
    result = run("bundle", "--format", "github")
    assert result.output.splitlines() == [
        "::error file=bundle/a%2Cb%3Ac%25.conf,line=1,col=1::message of the file: 100%25, see: above",
        "1 error, 0 warnings, 0 notices",
    ]
    assert result.exit_code == 1


def test_control_characters_are_escaped(bundle):
    """Control characters of the files are shown, not sent to the terminal."""
    (bundle / "a.conf").write_text("error : \x1b[2Jgone\n")
    for form in ("text", "github", "json"):
        assert "\x1b" not in run("bundle", "--format", form).output


def test_a_long_line_is_shown_around_its_caret(bundle):
    """If a line is too long for a terminal, the part around the caret is shown."""
    (bundle / "pool.yaml").write_text(f"TINY_EXPR: {'a && ' * 60}here == == b{' && c' * 60}\n")
    lines = run("bundle").output.splitlines()
    assert "here == == b" in lines[1]
    assert lines[1][lines[2].index("^") :].startswith("== b")
    assert len(lines[1]) <= 112


def test_the_caret_counts_the_columns_of_the_terminal(bundle):
    """A wide character takes two."""
    text = "TINY_EXPR: '\"\N{CJK UNIFIED IDEOGRAPH-4E2D}\" =='"
    (bundle / "pool.yaml").write_text(text + "\n")
    lines = run("bundle").output.splitlines()
    assert lines[1] == f"  {text}"
    assert lines[2].index("^") == 2 + len(text[:-1]) + 1


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize(
    "arguments", [["nowhere"], ["bundle", "--format", "xml"], ["bundle/plugins/tiny.py"]]
)
def test_an_invalid_command_line_has_its_own_code(arguments):
    """Exit code 2 means that nothing was checked."""
    assert run(*arguments).exit_code == 2


def test_the_current_folder_is_the_default(bundle, monkeypatch):
    """An editor or a commit hook can run the command in the folder."""
    (bundle / "a.conf").write_text("FOO\n")
    monkeypatch.chdir(bundle)
    result = invoke(check, [])
    assert result.output.startswith("a.conf:1:1: error: expected NAME = expression\n  FOO\n  ^\n")


def test_the_default_bundle_is_ok():
    """The bundle of the program passes its own check."""
    assert invoke(check, [str(default_bundle())]).exit_code == 0


def test_help_shows_an_example():
    """And the exit codes."""
    output = invoke(check, ["--help"]).output
    assert "negotiator check policies/minimum-machine" in output
    assert "1  the bundle has errors" in output


POLICIES = """\
policies:
  - name: small
    applies_to: startd
    expression: MY.Memroy < 128
  - name: fast
    applies_to: match
    expression: >-
      TARGET.Mips > "1000"
      && MY.Owner == undefined
  - name: linux
    applies_to: startd
    expression: 'MY.OpSys == "LINUX"'
  - name: everything
    applies_to: job
    expression: true
    mode: dryrun
"""

LINT_CONF = """\
NEGOTIATOR_PE_JOB_EXPR = MY.Owner =!= "x" && \\
                         TARGET.Memory > size(1, 2) * 0 || \\
                         TARGET.RequestMemory > 0
"""

SLOTS = """\
MyType = "Machine"
Name = "slot1@a"
State = "Unclaimed"
Memory = 1024
Mips = 2000
OpSys = "LINUX"

MyType = "Job"
ClusterId = 1
ProcId = 0
Owner = "tester"
RequestMemory = 5
"""

BY_TEXT = """\
bundle/pool.yaml:9:10: warning: fast: MY.Owner == undefined is never true: it is undefined or an error [undefined-comparison]
        && MY.Owner == undefined
           ^
  hint: write MY.Owner =?= undefined
"""

BY_POOL = """\
bundle/pool.yaml:4:17: warning: small: no slot of this pool has Memroy: MY.Memroy is undefined [unknown-attribute]
      expression: MY.Memroy < 128
                  ^
  hint: did you mean Memory?
bundle/pool.yaml:4:17: warning: small: for every slot of this pool, MY.Memroy < 128 is always undefined [always-undefined-in-pool]
      expression: MY.Memroy < 128
                  ^
bundle/pool.yaml:8:7: warning: fast: for every slot of this pool, TARGET.Mips > "1000" is always an error: TARGET.Mips is an integer, "1000" is a string [string-number-in-pool]
        TARGET.Mips > "1000"
        ^
  hint: write 1000 without quotes
bundle/pool.yaml:12:18: warning: linux discards every slot of this pool (1)
      expression: 'MY.OpSys == "LINUX"'
                   ^
bundle/pool.yaml:15:17: warning: everything discards every job of this pool (1)
      expression: true
                  ^
"""


@pytest.fixture
def pool(bundle):
    """Return a folder with a bundle of expressions, and the ads of a pool."""
    (bundle / "pool.yaml").write_text(POLICIES)
    (bundle.parent / "ads").write_text(SLOTS)
    return bundle


@pytest.mark.usefixtures("pool")
def test_expressions_are_linted_at_their_places():
    """Without a pool, only findings that hold for any ads are reported."""
    result = run("bundle")
    assert result.exit_code == 0
    assert BY_TEXT in result.output
    assert "3 warnings" in result.output
    assert "MY.Memroy is not an attribute of HTCondor's ads [misspelled-attribute]" in result.output
    assert "never-true" in result.output


@pytest.mark.usefixtures("pool")
def test_with_a_pool_expressions_are_linted_for_its_ads():
    """Also the effect of each rule on them."""
    result = run("bundle", "--pool", "ads")
    assert result.exit_code == 0
    for block in (BY_TEXT, *BY_POOL.split("bundle/pool.yaml")[1:]):
        assert block in result.output
    assert "0 errors, 8 warnings, 0 notices\nbundle: ok (digest " in result.output


def test_places_in_continued_lines_of_configuration_files_are_exact(bundle):
    """Also after a backslash."""
    (bundle / "a.conf").write_text(LINT_CONF.replace("size(1, 2) * 0", '"1" + 1'))
    (bundle.parent / "ads").write_text(SLOTS)
    result = run("bundle", "--pool", "ads")
    assert "bundle/a.conf:2:42: warning: NEGOTIATOR_PE_JOB_EXPR: " in result.output
    assert "bundle/a.conf:3:26: warning: NEGOTIATOR_PE_JOB_EXPR: no slot of this pool has RequestMemory" in (
        result.output
    )


def test_problems_of_a_quoted_expression_point_to_its_beginning(bundle):
    """If the file has other characters than the expression."""
    (bundle / "pool.yaml").write_text(
        'policies: [{name: a, applies_to: job, expression: "MY.a == \\"x\\" && MY.x == undefined"}]'
    )
    assert "bundle/pool.yaml:1:52: warning: a: MY.x == undefined is never true" in run("bundle").output


@pytest.mark.usefixtures("pool")
def test_findings_are_in_json_and_github_formats():
    """Like any other problem."""
    output = json.loads(run("bundle", "--pool", "ads", "--format", "json").output)
    assert (output["ok"], output["warnings"], len(output["problems"])) == (True, 8, 8)
    assert (
        "::warning file=bundle/pool.yaml,line=4,col=17::"
        in run("bundle", "--pool", "ads", "--format", "github").output
    )


def test_expressions_in_settings_of_plugins_are_linted(bundle):
    """The ads that the plugin evaluates them for are not known."""
    (bundle / "pool.yaml").write_text("TINY_EXPR: MY.x == undefined\n")
    (bundle.parent / "ads").write_text(SLOTS)
    result = run("bundle", "--pool", "ads")
    assert "bundle/pool.yaml:1:12: warning: tiny: MY.x == undefined is never true" in result.output
    assert "unknown-attribute" not in result.output


def test_a_plugin_whose_gate_fails_on_the_pool_is_named(bundle):
    """It would discard all ads of the kind."""
    (bundle / "plugins" / "failing.py").write_text(
        "from negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_gate_ads(ads):\n    1 / len(ads)\n"
    )
    (bundle / "plugins" / "failing.py").chmod(0o644)
    (bundle / "pool.yaml").write_text("number: 1")
    assert "warning: plugin failing" in run("bundle").output


@pytest.mark.usefixtures("pool")
@pytest.mark.parametrize("form", ["text", "json"])
def test_an_unreadable_pool_has_its_own_code(form):
    """Nothing was checked then; skipped ads are reported on standard error and are not problems of the bundle."""
    assert run("bundle", "--pool", "nowhere", "--format", form).exit_code == 4
    result = invoke(check, ["bundle", "--pool", "-", "--format", form], input="Name = 5\n")
    assert (result.exit_code, "an ad of unknown kind" in result.stderr) == (0, True)


@pytest.mark.parametrize("folder", sorted((ROOT / "policies").glob("*/")), ids=lambda folder: folder.name)
def test_the_example_bundles_have_no_warnings(folder):
    """Neither by their text, nor for a pool that they were not made for, except about attributes that it lacks."""
    assert "warning" not in run(folder).output.replace("0 warnings", "")
    found = run(folder, "--pool", ROOT / "examples" / "first-pool").output
    assert [
        line for line in found.splitlines() if " warning: " in line and "unknown-attribute" not in line
    ] == []


def test_with_a_pool_a_match_policy_that_no_pair_satisfies_is_a_warning(bundle):
    """One that is not enforced forbids nothing."""
    policy = "  - {{name: {0}, applies_to: match, mode: {0}, expression: 'TARGET.Cpus > 1000000'}}\n"
    text = "policies:\n" + "".join(map(policy.format, ("enforce", "warn")))
    (bundle / "pool.yaml").write_text(text)
    done = run("bundle", "--pool", ROOT / "examples" / "first-pool")
    (warning,) = (line for line in done.output.splitlines() if "warning:" in line)
    assert "enforce: for every job and slot of this pool" in warning or "enforce: for every" in warning
    assert "hint: no job of this pool can be matched" in done.output


def test_a_resource_that_nobody_has_is_an_error_with_a_pool_only(tmp_path):
    """The bundle still loads: the pool may change while it is in force."""
    folder, pool = tmp_path / "bundle", tmp_path / "pool"
    folder.mkdir()
    pool.mkdir()
    (folder / "queues.yaml").write_text(
        "partitions:\n  - name: default\n    queues:\n      - name: one\n        resources: {max: {tapes: 4}}\n"
    )
    (pool / "slots.ads").write_text(
        'MyType = "Machine"\nName = "slot1@m"\nMachine = "m"\nCpus = 4\nMemory = 1024\n'
    )
    alone, with_pool = invoke(check, [str(folder)]), invoke(check, [str(folder), "--pool", str(pool)])
    assert (alone.exit_code, with_pool.exit_code) == (0, 1)
    assert "queues.yaml:4:9: warning: root.one: tapes is not a resource of every pool" in alone.stdout
    assert "queues.yaml:4:9: error: root.one: no slot of this pool has tapes" in with_pool.stdout
    assert ": ok" not in with_pool.stdout


DECIDING = """\
GROUP_NAMES = a
GROUP_QUOTA_a = 1
GROUP_SORT_EXPR = RequestCpus + GroupQuota
PREEMPTION_REQUIREMENTS = MY.Memroy > 3 && RemoteUserPrio > SubmitterUserPrio
PREEMPTION_RANK = MY.Memroy
NEGOTIATOR_PRE_JOB_RANK = MY.Memroy
NEGOTIATOR_POST_JOB_RANK = TARGET.RequestMemroy - RemoteUserPrio
SLOT_WEIGHT = Memroy
NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = Memroy > 3
GROUP_DYNAMIC_MACH_CONSTRAINT = Memroy > 3
NEGOTIATOR_SLOT_CONSTRAINT = Memroy > 3 || Memory > 3
NEGOTIATOR_JOB_CONSTRAINT = Memroy > 3 || RequestMemory > 3
"""


def test_every_expression_that_decides_is_compared_with_the_pool(bundle):
    """Attributes that only a cycle adds are no mistake; an order of groups is evaluated with the ads of groups."""
    (bundle / "pool.yaml").write_text("order: submitters\n")
    (bundle / "site.conf").write_text(DECIDING)
    (bundle.parent / "ads").write_text(SLOTS)
    output = run("bundle", "--pool", "ads").output
    assert "site.conf:3:19: warning: GROUP_SORT_EXPR: RequestCpus is undefined for every group" in output
    for name in (line.partition(" ")[0] for line in DECIDING.splitlines()[3:]):
        (line,) = [line for line in output.splitlines() if f": warning: {name}: no " in line]
        assert "Memroy: " in line
    assert "UserPrio" not in "".join(line for line in output.splitlines() if "warning" in line)


@pytest.mark.parametrize("constant", ["false", "0", '"true"', "(undefined)"])
def test_a_constant_that_leaves_no_pair_is_a_warning(bundle, constant):
    """Without a pool it is taken for intended."""
    written = f"'{constant}'" if constant.startswith('"') else constant
    (bundle / "pool.yaml").write_text(f"NEGOTIATOR_PE_JOB_EXPR: {written}\n")
    (bundle.parent / "ads").write_text(SLOTS)
    text = "NEGOTIATOR_PE_JOB_EXPR is true for no pair of slot and job of this pool (1 pairs)"
    assert text not in run("bundle").output
    result = run("bundle", "--pool", "ads")
    assert result.exit_code == 0
    assert f": warning: {text}" in result.output


def test_a_constant_that_is_true_or_only_counted_is_no_warning(bundle):
    policy = "policies: [{name: a, applies_to: match, expression: false, mode: dryrun}]\n"
    (bundle.parent / "ads").write_text(SLOTS)
    for text in ("NEGOTIATOR_PE_JOB_EXPR: true\n", policy):
        (bundle / "pool.yaml").write_text(text)
        assert "no pair" not in run("bundle", "--pool", "ads").output


def test_an_expression_that_leaves_no_pair_of_many_ads_is_a_warning(bundle):
    """Of more different ads than are compared one by one, a sample is counted."""
    (bundle / "pool.yaml").write_text("NEGOTIATOR_PE_JOB_EXPR: TARGET.Memory > MY.RequestMemory\n")
    job = SLOTS.partition("\n\n")[2]
    slots = [f'MyType = "Machine"\nName = "s{i}"\nMemory = {i}\n' for i in range(100)]
    jobs = [
        job.replace("RequestMemory = 5", f"RequestMemory = {1000 + i}").replace("ProcId = 0", f"ProcId = {i}")
        for i in range(100)
    ]
    (bundle.parent / "ads").write_text("\n".join((*slots, *jobs)))
    assert (
        "is true for no pair of slot and job of this pool (a sample of 6,400 of 10,000 pairs)"
        in run("bundle", "--pool", "ads").output
    )

"""What ``negotiator run`` prints: a summary, or all of a cycle or of a part of it."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from queueing import records
from terminals import on_terminal, rows_of

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"
RULES = "policies:\n" + "".join(
    f"  - {{name: rule-{number}, applies_to: match, expression: MY.Need != {number}}}\n"
    for number in range(9)
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the program, and returns the lines that it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*words, columns=None):
        for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", str(columns))) if columns else ():
            monkeypatch.setenv(name, value)
        done = CliRunner().invoke(main, ["run", *map(str, words)])
        assert done.exit_code in {0, 7}, done.output
        return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).splitlines()

    return call


def job(cluster, proc, owner="ada", need=99):
    return (
        f'MyType = "Job"\nClusterId = {cluster}\nProcId = {proc}\nOwner = "{owner}"\nUser = "{owner}@x.org"\nNeed = {need}\n'
        f"RequestCpus = 1\nRequirements = TARGET.Number >= {need if need < 99 else 0}\n"
    )


@pytest.fixture
def pool(tmp_path):
    """Return a pool with jobs of 30 users that nine rules block, of more users that get slots, and of broken ads."""
    ads = [
        f'MyType = "Machine"\nName = "slot{n}@host{n}.example.org"\nCpus = 4\nRequirements = true\nNumber = {n}\n'
        for n in range(20)
    ]
    ads += [job(100 + n, proc, f"user{n}", n % 9) for n in range(30) for proc in range(3)]
    ads += [job(200 + n, 0, f"winner{n}") for n in range(12)]
    ads += [job(300, n, "broken").replace("RequestCpus = 1", "RequestCpus = = 1") for n in range(6)]
    (tmp_path / "pool.yaml").write_text(RULES)
    (tmp_path / "big.ads").write_text("\n".join(ads))
    return tmp_path / "big.ads"


def rules_of(lines):
    """Return how many jobs each reason of a summary leaves without a slot, by the number of its rule."""
    found = (re.match(r" +(\d+)  denied  rule-(\d): MY.Need", line) for line in lines)
    return {int(each[2]): int(each[1]) for each in found if each}


def test_in_a_pipe_the_summary_has_every_reason_every_submitter_and_every_problem(run, pool):
    lines = run(pool, "--bundle", ".", "--audit-log", "log")
    assert lines[0] == "Cycle 1 over 20 slots, 102 idle jobs: 12 matched, 90 not matched"
    assert "Not matched: 90 idle jobs, by the reason that decided" in lines
    assert rules_of(lines) == {**dict.fromkeys(range(3), 12), **dict.fromkeys(range(3, 9), 9)}
    assert any(re.search(r"\(expressions: rule-8 \(pool\.yaml:10:\d+\)\)$", line) for line in lines)
    assert "Matched: 12 jobs" in lines
    assert (
        sum(re.fullmatch(r" +1  winner\d+@x\.org in root\.default", line) is not None for line in lines) == 12
    )
    assert not any("other" in line for line in lines)
    assert lines[-1].startswith("Audit log head: ")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_on_a_terminal_the_summary_fits_and_reasons_come_before_matches(pool, tmp_path, width):
    lines = on_terminal(
        "run", pool, "--bundle", ".", "--audit-log", "log", cwd=tmp_path, lines=24, columns=width
    )
    assert rows_of(lines, width) < 24
    assert lines[0] == "Cycle 1 over 20 slots, 102 idle jobs: 12 matched, 90 not matched"
    shown = rules_of(lines)
    assert sum(shown.values()) + _folded(lines, "reason") == 90
    assert len(shown) == 9 or " ".join(lines).count(f"negotiator idle --full --pool {pool} --bundle .") == 1
    assert "Matched: 12 jobs" in lines
    assert lines[-2:][0].startswith("Details: --full")


def _folded(lines, noun):
    """Return what the line of folded rows counts; 0 without one."""
    found = [re.match(rf" +(\d+)  \d+ other {noun}s?", line) for line in lines]
    return sum(int(each[1]) for each in found if each)


def test_on_a_terminal_with_room_nothing_is_folded(pool, tmp_path):
    words = ("run", pool, "--bundle", ".")
    lines = on_terminal(*words, cwd=tmp_path, lines=60, columns=120)
    assert rules_of(lines) == {**dict.fromkeys(range(3), 12), **dict.fromkeys(range(3, 9), 9)}
    assert not any("other" in line for line in lines)


def test_the_command_that_is_named_prints_the_reasons_that_were_folded(pool, tmp_path, monkeypatch):
    lines = on_terminal("run", pool.name, "--bundle", ".", cwd=tmp_path, lines=14)
    monkeypatch.chdir(tmp_path)
    text = " ".join(line.strip() for line in lines)
    assert 0 < len(rules_of(lines)) < 9
    words = re.search(r"other reasons: negotiator (idle --full --pool \S+ --bundle \.)", text)[1].split()
    done = CliRunner().invoke(main, words)
    assert all(f"rule-{number}: MY.Need" in done.stdout for number in range(9))


def test_reasons_that_deny_come_before_those_that_wait_and_states_are_counted_as_states(run, tmp_path):
    """Nine jobs that no placement rule accepts, more jobs that wait, and jobs that run, are held or have ended."""
    ads = ['MyType = "Machine"\nName = "s@h"\nCpus = 1\nRequirements = true\nNumber = 1\n']
    ads += [job(1, proc, "sue") + 'Team = "known"\n' for proc in range(20)]
    ads += [job(2, proc, "bob") + 'Team = "nowhere"\n' for proc in range(9)]
    ads += [job(3, proc) + f"JobStatus = {status}\n" for proc, status in enumerate([2, 2, 2, 5, 3, 4, 7])]
    (tmp_path / "few.ads").write_text("\n".join(ads))
    (tmp_path / "queues.yaml").write_text(
        "partitions:\n  - name: default\n    placementrules: [{name: tag, value: Team}]\n    queues:\n"
        "      - {name: root, submitacl: '*', queues: [{name: known}]}\n"
    )
    lines = run("few.ads", "--bundle", ".")
    assert lines[:2] == [
        "Cycle 1 over 1 slot, 29 idle jobs: 1 matched, 28 not matched",
        "Other jobs: 3 running, 1 removed, 1 completed, 1 held, 1 suspended",
    ]
    start = lines.index("Not matched: 28 idle jobs, by the reason that decided")
    first, second = lines[start + 1 : start + 3]
    assert re.match(r"      9  denied  no placement rule has a queue for its application", first)
    assert re.match(r"     19  waiting  ", second)
    assert not any("the job is running" in line for line in lines)
    assert "Set aside" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("statuses", "heading"),
    [
        ([2, 2, 2], ["Cycle 1 over 1 slot, 0 idle jobs: nothing to match", "Other jobs: 3 running"]),
        ([], ["Cycle 1 over 1 slot, 0 idle jobs: nothing to match"]),
        ([1], ["Cycle 1 over 1 slot, 1 idle job: 1 matched, 0 not matched"]),
    ],
)
def test_a_pool_where_nothing_waits_says_so(run, tmp_path, statuses, heading):
    ads = ['MyType = "Machine"\nName = "s@h"\nCpus = 1\nRequirements = true\nNumber = 1\n']
    ads += [job(3, proc) + f"JobStatus = {status}\n" for proc, status in enumerate(statuses)]
    (tmp_path / "few.ads").write_text("\n".join(ads))
    lines = run("few.ads")
    assert lines[: len(heading)] == heading
    assert lines[len(heading)].startswith("Policies: ")
    assert "Not matched" not in "\n".join(lines)


@pytest.mark.parametrize("words", [[], ["--full"]])
def test_all_problems_of_ads_are_printed_to_a_file(pool, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["run", "--bundle", ".", str(pool), *words])
    assert done.stderr.count("big.ads:") == 6
    assert "more problems" not in done.stderr


def test_on_a_terminal_the_first_problem_of_ads_is_printed_with_a_summary(pool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words, printed in (((), 1), (("--full",), 6)):
        errors = on_terminal("run", "--bundle", ".", pool, *words, cwd=tmp_path, stream="stderr", columns=200)
        assert sum("big.ads:" in line for line in errors) == printed
        assert ("and 5 more problems of ads (--full prints all)" in errors) == (printed == 1)


def test_a_failed_plugin_is_in_the_summary(run, pool, tmp_path):
    (tmp_path / "mine").mkdir(mode=0o755)
    (tmp_path / "mine" / "bad.py").write_text(
        "from negotiator.plugin import hookimpl\n"
        "@hookimpl\ndef negotiator_filter_slots(slots):\n    raise ValueError('no luck')\n"
    )
    (tmp_path / "mine" / "bad.py").chmod(0o644)
    lines = run(pool, "--bundle", ".", "--plugins-dir", "mine", columns=80)
    assert any(line.startswith("Failures of plugins: 1: ") and "bad" in line for line in lines)


def test_full_lists_every_match(run, pool):
    lines = run(pool, "--bundle", ".", "--full")
    assert sum("@host" in line for line in lines) == 12
    assert not any("--full" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "jobs", "blocked"),
    [
        (["--user", "WINNER3"], ["203.0"], []),
        (["--user", "user4@x.org"], [], ["user4@x.org"]),
        (["--job", "204.0"], ["204.0"], []),
        (["--job", "104.2"], [], ["user4@x.org"]),
        (["--job", "104"], [], ["user4@x.org"]),
        (["--job", "104.3"], [], []),
        (["--queue", "root.default", "--user", "winner7"], ["207.0"], []),
        (["--queue", "root.other"], [], []),
    ],
)
def test_a_user_a_queue_or_a_job_selects_its_matches_and_reasons(run, pool, words, jobs, blocked):
    text = "\n".join(run(pool, "--bundle", ".", *words))
    assert re.findall(r"^  (\d+\.\d+) ", text, re.MULTILINE) == jobs
    assert re.findall(r"^Not matched: (\S+),", text, re.MULTILINE) == blocked
    assert ("No job that takes part in this cycle is selected." in text) == (not jobs and not blocked)


def test_an_invalid_id_of_a_job_is_refused(pool):
    assert CliRunner().invoke(main, ["run", str(pool), "--job", "12.x"]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "status"), [([], "unknown"), (["--queue", "root.other"], "unknown"), (["--full"], "printed")]
)
def test_matches_that_the_output_does_not_list_are_not_recorded_as_printed(run, tmp_path, words, status):
    run(POOL, "--audit-log", "log", *words)
    (outcome,) = records(tmp_path / "log", "outcome")
    assert len(outcome[status]) == 7


def test_no_color_switches_colours_off(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in CliRunner().invoke(main, ["run", str(POOL), "--no-audit"], color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in CliRunner().invoke(main, ["run", str(POOL), "--no-audit"], color=True).stdout


def test_the_readme_shows_the_real_explanation(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text()
    shown = re.search(r"^```console\n\$ negotiator (why .*)\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    done = CliRunner().invoke(
        main, shown[1].split(), env={name: "" for name in ("FORCE_COLOR",) if name in os.environ}
    )
    assert done.stdout == shown[2]


def test_the_bundle_of_the_readme_changes_what_the_example_pool_gets(run, tmp_path):
    """Its first look runs a cycle without and one with a bundle, which holds jobs back, and verifies the log."""
    text = (ROOT / "README.md").read_text().split("## A first look")[1]
    first, second, verify = re.findall(r"^\$ negotiator ((?:run|audit verify) .*)$", text, re.MULTILINE)[:3]
    for name in ("examples", "policies"):
        (tmp_path / name).symlink_to(ROOT / name)
    alone = run(*first.split()[1:])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["examples", "policies"]
    with_bundle = run(*second.split()[1:])
    assert alone[0] == "Cycle 1 over 33 slots, 9 idle jobs: 7 matched, 2 not matched"
    assert with_bundle[0] == "Cycle 1 over 33 slots, 9 idle jobs: 5 matched, 4 not matched"
    (line,) = [each for each in with_bundle if "limits: limit of user * at root (queues.yaml:" in each]
    assert line.split()[0] == "2"
    assert CliRunner().invoke(main, verify.split()).exit_code == 0


def test_the_summary_names_the_rule_that_would_have_rejected_the_most(run, tmp_path):
    """Of matches and of ads, with its mode."""
    ads = [
        f'MyType = "Machine"\nName = "s{n}@h"\nNumber = {n}\nCpus = 1\nRequirements = true\n'
        for n in range(4)
    ]
    ads += [job(1, proc) + 'ConcurrencyLimits = "lic"\n' for proc in range(3)]
    (tmp_path / "few.ads").write_text("\n".join(ads))
    (tmp_path / "pool.yaml").write_text(
        "concurrency_limits: {lic: 1}\nconcurrency_limit_modes: {lic: dryrun}\n"
        "policies: [{name: last, applies_to: startd, expression: MY.Number == 3, mode: warn}]\n"
    )
    (line,) = [line for line in run("few.ads", "--bundle", ".") if line.startswith("Not enforced")]
    assert line == (
        "Not enforced: 2 matches and 1 ad would have been rejected, "
        "2 of them by condor: concurrency limit lic (pool.yaml:1:22), mode dryrun"
    )

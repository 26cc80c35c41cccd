"""What ``negotiator run`` prints: a summary of a screen, or all of a cycle or of a part of it."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from queueing import records

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


@pytest.mark.parametrize("columns", [None, 80, 120])
def test_the_summary_fits_on_a_screen_with_totals_and_the_rules_that_blocked_most_jobs(run, pool, columns):
    lines = run(pool, "--bundle", ".", columns=columns)
    assert len(lines) <= 24
    *_, head = lines  # a hash, which is copied as a whole
    assert head.startswith("Audit log head: ")
    assert columns is None or max(map(len, lines[:-1])) <= columns
    text = "\n".join(lines)
    assert lines[0] == "Cycle 1 over 20 slots, 102 jobs: 12 matched, 90 not matched"
    assert "Matched: 12 jobs" in text
    assert re.search(r"^ +1  winner\d+@x\.org in root\.default$", text, re.MULTILINE)
    assert re.search(r"^ +9  9 others$", text, re.MULTILINE)
    assert re.search(r"^ +12  denied  .*\n +expressions: rule-\d \(pool\.yaml:\d+:\d+\)$", text, re.MULTILINE)
    assert re.search(r"^ +54  6 others$", text, re.MULTILINE)


def test_the_only_other_reason_is_printed_instead_of_1_other(run):
    lines = run(POOL, "--no-audit")
    start = lines.index("Set aside: 10 ads")
    assert lines[start + 1 : start + 3] == [
        "      9  waiting  job: the job is running",
        "      1  waiting  job: the job is held",
    ]


def test_of_the_problems_of_ads_the_first_is_printed_with_a_summary(pool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["run", "--bundle", ".", "--no-audit", str(pool)])
    assert done.stderr.count("big.ads:") == 1
    assert "and 5 more problems of ads (--full prints all)" in done.stderr
    full = CliRunner().invoke(main, ["run", "--bundle", ".", "--no-audit", "--full", str(pool)])
    assert full.stderr.count("big.ads:") >= 6


def test_a_failed_plugin_is_in_the_summary(run, pool, tmp_path):
    (tmp_path / "mine").mkdir(mode=0o755)
    (tmp_path / "mine" / "bad.py").write_text(
        "from negotiator.plugin import hookimpl\n"
        "@hookimpl\ndef negotiator_filter_slots(slots):\n    raise ValueError('no luck')\n"
    )
    (tmp_path / "mine" / "bad.py").chmod(0o644)
    lines = run(pool, "--bundle", ".", "--plugins-dir", "mine", columns=80)
    assert len(lines) <= 24
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

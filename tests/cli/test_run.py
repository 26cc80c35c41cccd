"""``negotiator run`` as a command."""

import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from queueing import records

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"


def negotiator(*arguments, cwd, stdin=b"", env=None, **options):
    return subprocess.run(
        [sys.executable, "-m", "negotiator", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=os.environ | {"COLUMNS": "200"} | (env or {}),
        check=False,
        **options,
    )


def test_the_example_pool_under_the_default_bundle_shows_matches_and_reasons(tmp_path):
    done = negotiator("run", POOL, "--full", cwd=tmp_path)
    out = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.search(r"^Matched: 7 jobs$", out, re.MULTILINE)
    assert "the job's Requirements: TARGET.Memory > 999999" in out
    assert "Other jobs: 9 running, 1 held" in out
    assert "\x1b" not in out


def test_the_audit_log_verifies_until_one_byte_is_changed_and_then_the_record_is_named(tmp_path):
    out = negotiator("run", POOL, "--audit-log", "log", cwd=tmp_path).stdout.decode()
    head = re.search(r"Audit log head: (\S+)", out)[1]
    assert negotiator("audit", "verify", "log", "--head", head, cwd=tmp_path).returncode == 0
    (file,) = (tmp_path / "log").glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"tester", b"Tester", 1)
    file.write_bytes(b"".join(lines))
    done = negotiator("audit", "verify", "log", cwd=tmp_path)
    assert done.returncode == 1
    assert f"{file.name}:4" in done.stdout.decode()


def test_the_pool_may_come_on_standard_input_gzipped_or_in_another_format(tmp_path):
    long = b"\n".join(path.read_bytes() for path in sorted(POOL.glob("*.ads")))
    expected = negotiator("run", POOL, "--json", "--no-audit", "--now", "1", cwd=tmp_path).stdout
    assert (
        negotiator(
            "run", "-", "--json", "--no-audit", "--now", "1", cwd=tmp_path, stdin=gzip.compress(long)
        ).stdout
        == expected
    )


def test_json_is_one_object_a_cycle_and_the_same_each_time(tmp_path):
    runs = [
        negotiator(
            "run", POOL, "--json", "--no-audit", "--now", "1800000000", "--cycles", "2", cwd=tmp_path
        ).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    first, second = map(json.loads, runs[0].splitlines())
    assert (len(first["match"]), first["cycle"][0]["cycle"], second["cycle"][0]["cycle"]) == (7, 1, 2)
    assert "match" not in second


def test_with_a_broken_bundle_nothing_runs(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "pool.yaml").write_text("NEGOTIATOR_PE_JOB_EXPR: Mips < 5\nnonsense: 1\n")
    done = negotiator("run", POOL, "--bundle", "b", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"pool.yaml:1:25" in done.stderr
    assert b"pool.yaml:2:1" in done.stderr
    assert not (tmp_path / "var").exists()


def test_ads_that_do_not_parse_are_reported_and_the_others_used(tmp_path):
    shutil.copytree(POOL, tmp_path / "pool")
    with (tmp_path / "pool" / "jobs.ads").open("a") as jobs:
        jobs.write('\nMyType = "Job"\nClusterId = 99\nProcId = 0\nRequirements = (1 +\n')
    done = negotiator("run", "pool", cwd=tmp_path)
    assert done.returncode == 0
    assert b"Matched: 7 jobs" in done.stdout
    assert re.search(rb"pool/jobs\.ads:\d+:\d+: error: ", done.stderr)


def test_a_missing_pool_is_reported(tmp_path):
    done = negotiator("run", "nowhere", cwd=tmp_path)
    assert done.returncode == 4
    assert b"nowhere" in done.stderr


def test_on_a_full_disk_no_match_is_handed_out_and_written_records_stay(tmp_path):
    csv = tmp_path / "plugins"
    csv.mkdir(mode=0o755)
    (csv / "observer.py").write_text(
        "import pathlib\nfrom negotiator.plugin import hookimpl\n\n"
        f"@hookimpl\ndef negotiator_matches_made(matches):\n    pathlib.Path({str(tmp_path / 'observed')!r}).touch()\n"
    )
    assert negotiator("run", POOL, "--audit-log", "var/audit", cwd=tmp_path).returncode == 0
    (file,) = (tmp_path / "var" / "audit").glob("*.jsonl")
    before = file.read_bytes()

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, len(before) + 100))

    done = negotiator(
        "run", POOL, "--audit-log", "var/audit", "--plugins-dir", csv, cwd=tmp_path, preexec_fn=full
    )
    assert done.returncode == 3
    assert b"no match was handed out" in done.stderr
    assert b"Matched" not in done.stdout
    assert not (tmp_path / "observed").exists()
    assert file.read_bytes() == before
    assert negotiator("audit", "verify", "var/audit", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "options", [(), ("--full",), ("--user", "nobody"), ("--json",), ("--log-level", "error")]
)
def test_observers_get_every_match_whatever_is_printed(tmp_path, options):
    folder, observed = tmp_path / "plugins", tmp_path / "observed"
    folder.mkdir(mode=0o755)
    (folder / "observer.py").write_text(
        "from pathlib import Path\nfrom negotiator.plugin import hookimpl\n\n"
        f"@hookimpl\ndef negotiator_matches_made(matches):\n    Path({str(observed)!r}).write_text(str(len(matches)))\n"
    )
    if "--log-level" in options:
        options = ("--every", "0", "--cycles", "1", *options)
    assert (
        negotiator("run", POOL, "--no-audit", "--plugins-dir", folder, *options, cwd=tmp_path).returncode == 0
    )
    assert observed.read_text() == "7"


@pytest.mark.parametrize("command", [("why", "12"), ("idle",), ("policies",)])
def test_answers_to_questions_call_no_observer(tmp_path, command):
    folder, observed = tmp_path / "plugins", tmp_path / "observed"
    folder.mkdir(mode=0o755)
    (folder / "observer.py").write_text(
        "from pathlib import Path\nfrom negotiator.plugin import hookimpl\n\n"
        f"@hookimpl\ndef negotiator_cycle_ended(summary):\n    Path({str(observed)!r}).touch()\n"
    )
    done = negotiator(*command, "--pool", POOL, "--plugins-dir", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not observed.exists()


def test_trace_hooks_prints_each_call_of_a_plugin(tmp_path):
    done = negotiator("run", POOL, "--trace-hooks", "--no-audit", cwd=tmp_path)
    assert b"negotiator_gate_ads" in done.stderr


def test_a_plugin_can_be_disabled_by_name(tmp_path):
    done = negotiator(
        "run",
        POOL,
        "--disable",
        "expressions",
        "--no-audit",
        "--bundle",
        ROOT / "policies" / "sanity-checks",
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert b"policies" in done.stderr


@pytest.mark.parametrize("command", ["run", "check", "plugins", "expr eval", "audit", "audit verify"])
def test_every_command_has_help_with_an_example(tmp_path, command):
    text = negotiator(*command.split(), "--help", cwd=tmp_path).stdout.decode()
    assert "Example" in text


@pytest.mark.data
def test_real_ads_of_other_pools_are_read_or_skipped_with_a_reason(tmp_path):
    ads = Path(os.environ.get("NEGOTIATOR_SHARED", ROOT.parent / "shared")) / "data" / "ads"
    if not ads.is_dir():
        pytest.skip(f"the real ads are not at {ads}")
    done = negotiator("run", ads, "--no-audit", cwd=tmp_path)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    problems = done.stderr.splitlines()
    assert all(re.match(rb"\S+:\d+|\S+: |  ", line) for line in problems if line)


@pytest.mark.parametrize("command", [["run", POOL], ["plugins"]])
def test_a_bundle_must_be_a_folder(tmp_path, command):
    done = negotiator(*command, "--bundle", "nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert b"'nowhere' does not exist" in done.stderr


def test_a_rule_is_printed_with_its_plugin_and_source(tmp_path):
    (tmp_path / "pool.yaml").write_text(
        "plugins:\n  folders: [mine]\npolicies:\n"
        "  - {name: never, applies_to: match, expression: TARGET.Cpus < 0, description: no slot will do}\n"
    )
    (tmp_path / "mine").mkdir(mode=0o755)
    (tmp_path / "mine" / "none.py").write_text(
        "from negotiator.plugin import Filter, hookimpl\n"
        "@hookimpl\n"
        "def negotiator_filter_slots(slots):\n"
        "    allow = slots.numbers('Cpus', default=0) < 0\n"
        "    yield Filter(rule='nowhere', allow=allow, code='none', text='none will do')\n"
    )
    (tmp_path / "mine" / "none.py").chmod(0o644)
    done = negotiator("run", POOL, "--bundle", ".", "--no-audit", "--full", cwd=tmp_path).stdout.decode()
    assert re.search(r"no slot will do +expressions: never \(pool\.yaml:4:50\)$", done, re.MULTILINE)
    assert re.search(r"none will do +none: nowhere$", done, re.MULTILINE)


def test_run_does_not_print_notices_of_the_bundle(tmp_path):
    """``check`` prints them."""
    (tmp_path / "condor_config").write_text("DAEMON_LIST = MASTER\n")
    done = negotiator("run", POOL, "--bundle", ".", "--no-audit", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"DAEMON_LIST has no effect here" in negotiator("check", cwd=tmp_path).stdout


@pytest.mark.parametrize(("mode", "marked"), [("dryrun", False), ("warn", True)])
def test_rules_that_are_not_enforced_are_counted(tmp_path, mode, marked):
    """No ad is discarded by them; a warning also marks each match."""
    (tmp_path / "pool.yaml").write_text(
        "policies:\n"
        f"  - {{name: node2, applies_to: match, expression: TARGET.Cpus > 99, mode: {mode}}}\n"
        f"  - {{name: none, applies_to: job, expression: MY.Owner == 'x' || true, mode: {mode}}}\n".replace(
            "'", '"'
        )
    )
    out = negotiator("run", POOL, "--bundle", ".", "--no-audit", "--full", cwd=tmp_path).stdout.decode()
    matched, _, rest = out.partition("Not matched")
    assert "Matched: 7 jobs" in matched
    assert len(re.findall(r" node2$", matched, re.MULTILINE)) == (7 if marked else 0)
    kept_out, _, counted = rest.partition("Not enforced")
    assert "expressions: none" not in kept_out.partition("Discarded ads")[2]
    assert re.search(rf"match +7 +{mode} .*expressions: node2 .* 19\.0, 21\.0, 12\.1$", counted, re.MULTILINE)
    assert re.search(rf"job +9 +{mode} .*expressions: none ", counted, re.MULTILINE)


def test_a_closed_output_is_not_an_error_of_the_bundle(tmp_path):
    words = f"{sys.executable} -m negotiator run {POOL} --no-audit | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", words], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode in (0, 141)
    assert done.stderr == b""


def test_unwritable_output_has_its_own_code(tmp_path):
    assert negotiator("run", POOL, "--audit-log", "log", cwd=tmp_path).returncode == 0
    for command in (["run", POOL, "--no-audit"], ["audit", "verify", "log"]):
        words = [sys.executable, "-m", "negotiator", *map(str, command)]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 74
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("options", [["--full"], ["--json"]])
def test_the_outcome_says_printed_only_if_the_output_was_written(tmp_path, options):
    for target, status in ((os.devnull, "printed"), ("/dev/full", "unknown")):
        words = [sys.executable, "-m", "negotiator", "run", str(POOL), "--audit-log", status, *options]
        with Path(target).open("w") as out:
            subprocess.run(words, cwd=tmp_path, stdout=out, stderr=subprocess.PIPE, check=False)
        (outcome,) = records(tmp_path / status, "outcome")
        counts = {name: len(outcome[name]) for name in ("delivered", "printed", "failed", "unknown")}
        assert counts == {"delivered": 0, "printed": 0, "failed": 0, "unknown": 0} | {status: 7}


def test_a_pool_that_cannot_be_read_as_a_whole_is_not_used(tmp_path):
    """With a part of it, limits would count too few running jobs."""
    (tmp_path / "nonsense").write_text("remember the milk")
    (tmp_path / "cut.gz").write_bytes(gzip.compress((POOL / "jobs.ads").read_bytes())[:-9])
    (tmp_path / "useless").write_text('MyType = "Machine"\nCpus = = 1\n')
    for file in ("nonsense", "cut.gz", "useless"):
        paths = [file] if file == "useless" else [POOL, file]
        done = negotiator("run", *paths, "--audit-log", "log", cwd=tmp_path)
        assert done.returncode == 4
        assert f"the pool cannot be read: {file}".encode() in done.stderr
        assert done.stdout == b""
        assert records(tmp_path / "log") == []


@pytest.mark.parametrize("now", ["nan", "inf", "1e18", "-1e18"])
def test_an_invalid_time_is_refused(tmp_path, now):
    assert negotiator("run", POOL, "--no-audit", "--now", now, cwd=tmp_path).returncode == 2


def test_policies_without_a_plugin_are_an_error(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "condor_config").write_text("NEGOTIATOR_PE_JOB_EXPR = TARGET.Cpus > 99\n")
    done = negotiator("run", POOL, "--bundle", "b", "--disable", "expressions", "--no-audit", cwd=tmp_path)
    assert done.returncode == 1
    (tmp_path / "b" / "condor_config").write_text("NEGOTIATOR_PE_JOBEXPR = TARGET.Cpus > 99\n")
    done = negotiator("run", POOL, "--bundle", "b", "--no-audit", cwd=tmp_path)
    assert done.returncode == 1
    assert b"NEGOTIATOR_PE_JOB_EXPR" in done.stderr


def test_a_secret_in_a_jobs_requirements_is_neither_shown_nor_recorded(tmp_path):
    job = 'MyType="Job"\nClusterId=1\nProcId=0\nOwner="x"\nRequirements = TARGET.ClaimId == "S3CR3T" && TARGET.Cpus > 0\n'
    slot = 'MyType="Machine"\nName="s"\nState="Unclaimed"\nCpus=1\nRequirements=true\n'
    done = negotiator("run", "-", "--audit-log", "var/audit", cwd=tmp_path, stdin=f"{job}\n{slot}".encode())
    assert b"the job's Requirements" in done.stdout
    (file,) = (tmp_path / "var" / "audit").glob("*.jsonl")
    assert b"S3CR3T" not in done.stdout + done.stderr + file.read_bytes()


def test_a_failure_is_printed_with_its_line_and_with_debug_its_traceback(tmp_path):
    (tmp_path / "pool.yaml").write_text("plugins:\n  folders: [mine]\n  slow_seconds: 0.000000001\n")
    (tmp_path / "mine").mkdir(mode=0o755)
    file = tmp_path / "mine" / "bad.py"
    file.write_text(
        "from negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_filter_slots(slots):\n    return helper()\n"
        "def helper():\n    raise ValueError('no calendar')\n"
    )
    file.chmod(0o644)
    done = negotiator("--debug", "run", POOL, "--bundle", ".", "--no-audit", cwd=tmp_path)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "bad.py:6)" in re.sub(r"\s", "", out)
    assert "slow calls, the slowest took" in out
    assert "Traceback (most recent call last)" in err
    assert (
        "Traceback"
        not in negotiator("run", POOL, "--bundle", ".", "--no-audit", cwd=tmp_path).stderr.decode()
    )


def listed(folder):
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


@pytest.mark.parametrize(
    "words",
    [
        "run pool",
        "run pool --bundle site --cycles 2",
        "run pool --full",
        "why 14 --pool pool",
        "why 14 slot1@node1.example.org --pool pool",
        "idle --pool pool --bundle site",
        "queues --bundle site --pool pool",
        "usage users --pool pool --bundle site",
        "policies --pool pool --bundle site",
        "place --pool pool --bundle site",
        "check --pool pool site",
        "plugins --bundle site",
        "diff site site --pool pool",
        "expr lint MY.Cpus>0",
        "expr eval 1+1",
        "audit rollout",
        "qquota --pool pool --bundle site",
        "userprio -all --bundle site",
    ],
)
def test_what_only_answers_writes_nothing(tmp_path, words):
    """Neither in the current folder, in the pool or in the bundle, which has a plugin, nor in the home folder."""
    shutil.copytree(POOL, tmp_path / "pool")
    shutil.copytree(ROOT / "policies" / "limits", tmp_path / "site")
    (tmp_path / "site" / "plugins").mkdir(mode=0o755)
    (tmp_path / "site" / "plugins" / "own.py").write_text("OWN = 1\n")
    (tmp_path / "home").mkdir()
    before = listed(tmp_path)
    done = negotiator(*words.split(), cwd=tmp_path, env={"HOME": str(tmp_path / "home")})
    assert b"Traceback" not in done.stderr
    assert listed(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "settings", "folder"),
    [
        ((), "", None),
        ((), "audit: {matches: all}\n", None),
        ((), "audit: {write: true}\n", "var/audit"),
        (("--no-audit",), "audit: {write: true}\n", None),
        (("--audit-log", "log"), "", "log"),
        (("--state", "state"), "", "var/audit"),
        (("--state", "state", "--no-audit"), "", None),
        (("--key-file", "key"), "", "var/audit"),
    ],
)
def test_run_writes_an_audit_log_where_something_asks_for_it(tmp_path, words, settings, folder):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "pool.yaml").write_text(settings or "order: names\n")
    (tmp_path / "key").write_text("0" * 64)
    (tmp_path / "key").chmod(0o600)
    done = negotiator("run", POOL, "--bundle", "site", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {str(each.parent.relative_to(tmp_path)) for each in tmp_path.rglob("*.jsonl")}
    assert found == ({folder} if folder else set())
    assert (b"Audit log head: " in done.stdout) == bool(folder)

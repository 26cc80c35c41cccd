"""``negotiator serve --shadow`` as a command, beside another negotiator that a dropped-in plugin plays."""

import json
import subprocess
import sys

import pytest

from queueing import records

PLUGIN = """
from pathlib import Path
from negotiator.plugin import ObservedPool, PoolSource, hookimpl

class Played(ObservedPool):
    '''A pool that has another file of ads in each cycle.'''

    def __init__(self):
        self.files = sorted(Path("ads").glob("*.ads"))

    def fetch(self, ads):
        ads.add("played", [self.files.pop(0).read_text() if len(self.files) > 1 else self.files[0].read_text()])

def served(settings, control):
    raise AssertionError("the pool is served")

@hookimpl
def negotiator_pool_sources():
    yield PoolSource("played", open=served, observe=lambda settings: Played())
"""
CONF = 'NEGOTIATOR_JOB_CONSTRAINT = MY.Owner =!= "bob"\n'
SUBMITTER = (
    'MyType = "Submitter"\nName = "{0}@d"\nScheddName = "s"\nMyAddress = "<127.0.0.1:2>"\nIdleJobs = 1\n\n'
)
SLOT = """MyType = "Machine"
Name = "slot{0}@h"
MyAddress = "<127.0.0.1:1>"
State = "{1}"
EnteredCurrentState = {2}
Cpus = 1
Requirements = true
ClaimId = "<127.0.0.1:1>#1#1#secret"

"""
JOB = """MyType = "Job"
GlobalJobId = "s#{0}.0#1"
ClusterId = {0}
ProcId = 0
Owner = "{1}"
User = "{1}@d"
Requirements = true
ServerTime = {2}
JobStatus = {3}

"""
BOTH = SUBMITTER.format("ann") + SUBMITTER.format("bob")
FREE = "".join(SLOT.format(number, "Unclaimed", 100) for number in (1, 2))
IDLE = JOB.format(1, "ann", 1000, 1) + JOB.format(2, "bob", 1000, 1)
USED = SLOT.format(1, "Claimed", 1010) + SLOT.format(2, "Claimed", 1010)
RUNNING = JOB.format(1, "ann", 1060, '2\nRemoteHost = "slot1@h"\nJobCurrentStartDate = 1011') + JOB.format(
    2, "bob", 1060, '2\nRemoteHost = "slot2@h"\nJobCurrentStartDate = 1011'
)


@pytest.fixture
def serve(tmp_path):
    """Return a function that runs a cycle in shadow mode over each of these pools; its code, reports and lines."""

    def run(*pools, conf=CONF, count=None):
        plugins = tmp_path / "bundle" / "plugins"
        plugins.mkdir(parents=True, mode=0o755)
        (plugins / "played.py").write_text(PLUGIN)
        (tmp_path / "bundle" / "pool.yaml").write_text("source: played\nplugins:\n  folders: [plugins]\n")
        (tmp_path / "bundle" / "central.conf").write_text(conf)
        (tmp_path / "ads").mkdir()
        for number, text in enumerate(pools):
            (tmp_path / "ads" / f"{number}.ads").write_text(text)
        command = [
            sys.executable,
            "-m",
            "negotiator",
            "serve",
            "--shadow",
            "--bundle",
            "bundle",
            "--every",
            "0",
        ]
        done = subprocess.run(
            [*command, "--json", "--cycles", str(count or len(pools))],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    return run


def test_the_report_names_the_jobs_that_a_gate_would_have_stopped_and_the_gate(serve, tmp_path):
    code, printed, lines = serve(BOTH + FREE + IDLE, BOTH + USED + RUNNING)
    assert code == 0, lines
    (report,) = [each["shadow_report"] for each in printed if "shadow_report" in each]
    assert (report["same_slot"] + report["other_slot"], report["not_comparable"]) == (1, {})
    (difference,) = report["differences"]
    assert (difference["kind"], difference["job"], difference["slot"]) == ("would_wait", "2.0", "slot2@h")
    assert "central.conf:1" in difference["rule"]
    assert "difference kind=would_wait jobs=1" in lines
    assert "shadow total cycles=1" in lines
    (recorded,) = records(tmp_path / "var" / "audit", "shadow_report")
    assert {name: recorded[name] for name in report} == report


def test_nothing_is_handed_out_and_every_record_says_so(serve, tmp_path):
    serve(BOTH + FREE + IDLE, BOTH + FREE + IDLE)
    found = records(tmp_path / "var" / "audit")
    assert {each["kind"] for each in found} > {"match", "cycle", "outcome", "shadow_report"}
    assert all(each["shadow"] is True for each in found)
    matches = [each["id"] for each in found if each["kind"] == "match"]
    withheld = [each["withheld"] for each in found if each["kind"] == "outcome"]
    assert [each for ids in withheld for each in ids] == matches
    texts = [path.read_bytes() for path in (tmp_path / "var").rglob("*") if path.is_file()]
    assert not any(b"secret" in text for text in texts)


def test_a_match_is_charged_to_nobody_and_made_again_while_the_pool_stays_as_it_is(serve, tmp_path):
    _, printed, _ = serve(BOTH + FREE + IDLE, count=3)
    decided = [each for each in printed if "shadow_report" not in each]
    assert [[match["job"] for match in each["match"]] for each in decided] == [["1.0"]] * 3
    command = [
        sys.executable,
        "-m",
        "negotiator",
        "userprio",
        "--state",
        "var/state",
        "--bundle",
        "bundle",
        "-all",
        "-allusers",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True, timeout=60)
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("ann@d"))
    assert row[4:6] == ["0", "0.00"], done.stdout  # slots in use, hours


def test_a_log_of_shadow_mode_verifies_and_a_negotiator_continues_it(serve, tmp_path):
    serve(BOTH + FREE + IDLE)
    command = [sys.executable, "-m", "negotiator", "audit", "verify", "var/audit"]
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=60).returncode == 0
    command = [sys.executable, "-m", "negotiator", "run", "--bundle", "bundle", "--state", "var/state", "ads"]
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=60).returncode == 0
    assert "shadow" not in records(tmp_path / "var" / "audit")[-1]


def test_the_lines_of_a_cycle_are_at_most_a_screen(serve):
    """Each rule has a line, and only some of them are shown."""
    jobs = "".join(JOB.format(number, "ann", 1000, f"1\nX{number} = 1") for number in range(1, 31))
    slots = "".join(SLOT.format(number, "Unclaimed", 100) for number in range(1, 31))
    used = "".join(SLOT.format(number, "Claimed", 1010) for number in range(1, 31))
    running = "".join(
        JOB.format(number, "ann", 1060, f'2\nRemoteHost = "slot{number}@h"\nJobCurrentStartDate = 1011')
        for number in range(1, 31)
    )
    gates = "".join(
        f"NEGOTIATOR_JOB_CONSTRAINT_{number} = MY.ClusterId =!= {number}\n" for number in range(1, 31)
    )
    _, _, lines = serve(BOTH + slots + jobs, BOTH + used + running, conf=gates)
    assert sum("difference" in line or "shadow" in line for line in lines.splitlines()) <= 24

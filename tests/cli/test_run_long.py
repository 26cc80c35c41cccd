"""``negotiator run --every``: a process that continues while its bundle, its pool and its queues change."""

import json
import re
import shutil
import signal
import subprocess
import sys

import pytest

import queueing
from negotiator.audit.verify import verify
from processes import LongCommand
from queueing import QUEUES, records

OTHER = QUEUES.replace("value: root.one", "value: root.above.late, create: true")
BROKEN = "partitions:\n  - name: default\n    queues: [{name: root, nonsense: 1}]\n"
JOB = 'MyType = "Job"\nClusterId = {0}\nProcId = 0\nJobStatus = 1\nOwner = "tester"\nUser = "tester@d"\n'
JOB += 'GlobalJobId = "node1#{0}.0#1"\nRequirements = true\n\n'
SLOT = 'MyType = "Machine"\nName = "s{0}@h"\nMachine = "h"\nState = "Unclaimed"\nCpus = 1\nRequirements = true\n\n'


CYCLE = r"^\S+Z info +cycle number=.* bundle=(\w+)"
"""The line of a cycle, and the digest of its bundle."""


@pytest.fixture
def site(tmp_path):
    queueing.write(tmp_path / "bundle")
    (tmp_path / "pool").mkdir()
    jobs(tmp_path, 1)
    return tmp_path


def jobs(site, *clusters):
    """Replace the jobs of the pool, atomically."""
    new = site / "new.ads"
    new.write_text("".join(map(JOB.format, clusters)))
    new.replace(site / "pool" / "jobs.ads")


def change(site, text, name="queues.yaml"):
    new = site / "new.yaml"
    new.write_text(text)
    new.replace(site / "bundle" / name)


def arguments(*more):
    return ["run", "pool", "--bundle", "bundle", "--state", "state", "--audit-log", "log", *more]


def long(site, *more, every="0.2"):
    return LongCommand(*arguments("--every", every, *more), cwd=site)


def negotiator(*words, cwd, **options):
    command = [sys.executable, "-m", "negotiator", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, **options)


def log(site, *kinds):
    return records(site / "log", *kinds)


def queues(site):
    """Return the queue of each application, by its first job."""
    return {each["first_job"]: each["queue"] for each in log(site, "placement")}


def test_a_changed_bundle_is_loaded_between_cycles_and_a_broken_one_is_not(site):
    """The digest of each cycle's record is that of the bundle in force."""
    with long(site, "--watch", "--stable", "0.2") as run:
        before = run.wait_for(CYCLE)[1]
        jobs(site, 1, 2)
        change(site, OTHER)
        after = run.wait_for(r"bundle reloaded bundle=(\w+) trigger=watch$")[1]
        assert run.wait_for(CYCLE)[1] == after != before
        jobs(site, 1, 2, 3)
        run.wait_for(" info +cycle .* jobs=3 ")

        change(site, BROKEN)
        run.wait_for(r"^\S+Z error .* file=bundle/queues\.yaml line=3")
        refused = run.wait_for(r"bundle rejected, the previous one stays active bundle=(\w+) trigger=watch$")[
            1
        ]
        assert run.wait_for(CYCLE)[1] == after
        run.wait_for(CYCLE)

        change(site, QUEUES)
        assert run.wait_for(r"bundle reloaded bundle=(\w+) trigger=watch$")[1] == before
        run.wait_for(CYCLE)
        run.signal(signal.SIGTERM)
        assert run.end() == 0
    reloads = [(each["new_bundle"][:12], each["accepted"]) for each in log(site, "reload")]
    assert reloads == [(after, True), (refused, False), (before, True)]
    digests = list(dict.fromkeys(each["bundle"][:12] for each in log(site, "cycle")))
    assert digests == [before, after]
    assert queues(site)["1.0"] == "root.one"
    assert queues(site)["3.0"] == "root.above.late"
    assert verify(site / "log").fault is None


def test_sighup_reloads_the_bundle_without_watch(site):
    """At once, not when the next cycle is due."""
    with long(site, every="3600") as run:
        run.wait_for(CYCLE)
        change(site, OTHER)
        run.signal(signal.SIGHUP)
        run.wait_for(r"bundle reloaded bundle=\w+ trigger=signal$")
        run.signal(signal.SIGTERM)
        assert run.end() == 0
    assert [each["trigger"] for each in log(site, "reload")] == ["signal"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_after_the_current_cycle_is_recorded(site, number):
    with long(site, every="3600") as run:
        run.wait_for(" cycle number=1 ")
        run.signal(number)
        assert run.end() == 0
        assert " cycle number=1 " in run.lines[-1]
    assert len(log(site, "cycle")) == len(log(site, "outcome")) == 1


def test_the_process_stops_after_the_given_number_of_cycles(site):
    with long(site, "--cycles", "3", every="0") as run:
        assert run.end() == 0
    assert len(log(site, "cycle")) == 3


@pytest.mark.parametrize(("level", "status"), [("info", "printed"), ("warning", "unknown")])
def test_matches_are_lines_of_level_info_and_without_them_the_outcome_is_unknown(site, level, status):
    (site / "pool" / "slots.ads").write_text(SLOT.format(0))
    with long(site, "--cycles", "1", "--log-level", level, every="0") as run:
        assert run.end() == 0
    assert any(" info    match " in line for line in run.lines) == (status == "printed")
    (outcome,) = log(site, "outcome")
    assert len(outcome[status]) == 1


def test_a_vanished_bundle_does_not_end_the_process(site):
    with long(site, "--watch", "--stable", "0.2") as run:
        run.wait_for(CYCLE)
        (site / "bundle").rename(site / "away")
        run.wait_for(r"bundle rejected, .* trigger=watch$")
        run.wait_for(CYCLE)
        (site / "away").rename(site / "bundle")
        run.wait_for(r"bundle reloaded bundle=\w+ trigger=watch$")
        run.signal(signal.SIGTERM)
        assert run.end() == 0


def test_a_watched_bundle_without_its_queues_is_not_loaded(site):
    """The error names the file, and is recorded; cycles go on under the active bundle."""
    with long(site, "--watch", "--stable", "0.2") as run:
        before = run.wait_for(CYCLE)[1]
        (site / "bundle" / "queues.yaml").unlink()
        run.wait_for(r"error .*this file of the active bundle is missing.* file=\S*queues\.yaml")
        run.wait_for(r"bundle rejected, .* trigger=watch$")
        assert run.wait_for(CYCLE)[1] == before
        run.signal(signal.SIGTERM)
        assert run.end() == 0
    (record,) = log(site, "reload")
    assert (record["accepted"], "queues.yaml" in record["problems"][0]) == (False, True)


def test_the_running_process_carries_out_requests(site):
    """The commands print the answers; a second process cannot run with the same state."""
    with long(site) as run:
        run.wait_for(CYCLE)
        done = negotiator("admin", "hold", "1", "--note", "so", "--state", "state", cwd=site)
        assert (done.returncode, done.stdout) == (0, "node1#1 is held: it is not matched\n")
        run.wait_for("admin request done action=hold .*node1#1 is held: it is not matched")
        run.wait_for(" info +cycle .* discarded=1 ")
        done = negotiator("admin", "move", "1", "root.nowhere", "--state", "state", cwd=site)
        assert (done.returncode, done.stderr) == (1, "unknown queue root.nowhere\n")

        (site / "other.yaml").write_text(OTHER)
        command = ("admin", "change", "queues.yaml", "other.yaml", "--bundle", "bundle", "--state", "state")
        done = negotiator(*command, cwd=site)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\nthe changed bundle was reloaded (digest " in done.stdout
        run.wait_for(r'bundle reloaded bundle=\w+ trigger="command by \S+"$')
        (with_state,) = (site / "bundle").glob("queues.yaml.*~")
        assert (with_state.read_text(), (site / "bundle" / "queues.yaml").read_text()) == (QUEUES, OTHER)

        done = negotiator("admin", "reload", "--state", "state", cwd=site)
        assert (done.returncode, done.stdout[:31]) == (0, "the bundle was reloaded (digest")
        run.wait_for(r'bundle reloaded bundle=\w+ trigger="command by \S+"$')

        (site / "bundle" / "pool.yaml").write_text("nothing_such: 1\n")
        done = negotiator("admin", "reload", "--state", "state", cwd=site)
        assert (done.returncode, done.stdout) == (1, "")
        rejected, error = done.stderr.splitlines()
        assert rejected == "the bundle was rejected, the active one stays:"
        assert error.startswith("  pool.yaml:1:1: error: unknown key 'nothing_such'")
        (site / "bundle" / "pool.yaml").unlink()

        second = negotiator(*arguments("--audit-log", "log2"), cwd=site)
        assert second.returncode == 6
        assert "state: another negotiator uses this state" in second.stderr
        run.signal(signal.SIGTERM)
        assert run.end() == 0
    acts = [(each["action"], each["ok"]) for each in log(site, "admin")]
    assert acts == [
        ("hold", True),
        ("move", False),
        ("change_queues", True),
        ("reload", True),
        ("reload", True),
    ]
    assert negotiator("audit", "verify", "log", cwd=site).returncode == 0


def test_after_a_kill_it_continues_with_its_state(site):
    with long(site) as run:
        run.wait_for(CYCLE)
        assert negotiator("admin", "hold", "1", "--state", "state", cwd=site).returncode == 0
        run.signal(signal.SIGKILL)
        assert run.end() == -signal.SIGKILL
    change(site, OTHER)
    with long(site) as run:
        run.wait_for(" info +cycle .* discarded=1 ")
        run.signal(signal.SIGTERM)
        assert run.end() == 0
    assert queues(site) == {"1.0": "root.one"}
    assert verify(site / "log").fault is None


def test_successive_runs_keep_queues_and_matches_only_with_a_state(site):
    """Without it, a matched slot and job are free again in the next run, as in their ads."""
    (site / "pool" / "slots.ads").write_text(SLOT.format(1))
    assert negotiator(*arguments(), cwd=site).returncode == 0
    change(site, OTHER)
    again = json.loads(negotiator(*arguments("--json"), cwd=site).stdout)
    assert "match" not in again
    assert {each["reason"]["code"] for each in again["discard"]} == {"slot_matched", "job_matched"}
    (site / "pool" / "slots.ads").write_text(SLOT.format(1) + SLOT.format(2))
    (site / "pool" / "more.ads").write_text(JOB.format(1).replace("ProcId = 0", "ProcId = 1"))
    with_state = json.loads(negotiator(*arguments("--json"), cwd=site).stdout)
    new = json.loads(negotiator("run", "pool", "--bundle", "bundle", "--json", "--no-audit", cwd=site).stdout)
    assert [each["match"][0]["queue"] for each in (with_state, new)] == ["root.one", "root.above.late"]


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x"])
def test_an_invalid_interval_is_refused(site, value):
    assert negotiator(*arguments("--every", value), cwd=site).returncode == 2
    assert not (site / "state").exists()


def test_with_an_unusable_state_nothing_is_handed_out(site):
    (site / "pool" / "slots.ads").write_text(SLOT.format(1))
    (site / "state").write_text("")
    done = negotiator(*arguments(), cwd=site)
    assert done.returncode == 6
    assert re.search(
        r"^error: state: cannot open the state: .*: no match was handed out$", done.stderr, re.MULTILINE
    )
    assert "Matched" not in done.stdout
    assert log(site, "match") == []


def test_on_a_full_disk_for_the_state_nothing_is_handed_out(site):
    (site / "pool" / "slots.ads").write_text(SLOT.format(1))
    (site / "state").mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=200k,mode=755", "tmpfs", site / "state"],
        capture_output=True,
        check=False,
    )
    if not made or made.returncode:
        pytest.skip("only root can mount a small file system")
    try:
        jobs(site, *range(1, 5000))
        done = negotiator(*arguments(), cwd=site)
        assert done.returncode == 6
        assert re.search(r"cannot \w+ the state: .*full.*: no match was handed out", done.stderr)
        assert "Matched" not in done.stdout
        assert (len(log(site, "cycle")), log(site, "outcome")) == (1, [])
    finally:
        subprocess.run([shutil.which("umount"), site / "state"], check=True)

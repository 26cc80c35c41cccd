"""``negotiator run --state``: a state is continued with its own bundle and its own audit log, or not at all."""

import json
import re
import shutil
import sqlite3

import pytest
from click.testing import CliRunner

import queueing
from negotiator.cli import main
from negotiator.runtime.state import StateStore
from queueing import QUEUES, records

POOL = """
MyType = "Job"
ClusterId = 1
ProcId = 0
JobStatus = 1
Owner = "tester"
User = "tester@d"
GlobalJobId = "node1#1.0#1"
Requirements = true

MyType = "Machine"
Name = "s0@h"
Machine = "h"
State = "Unclaimed"
Cpus = 1
Requirements = true
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with two bundles and a pool, and a state after one run with the first bundle."""
    for name in ("one", "other"):
        queueing.write(tmp_path / name)
    queueing.write(tmp_path / "other", QUEUES.replace("name: two", "name: three"))
    (tmp_path / "pool.ads").write_text(POOL)
    monkeypatch.chdir(tmp_path)
    assert run("--bundle", "one").exit_code == 0
    return tmp_path


def run(*options):
    return invoke("run", "pool.ads", "--state", "state", "--audit-log", "log", *options)


def invoke(*words):
    return CliRunner().invoke(main, list(words))


def queues(site):
    with StateStore.read(site / "state") as store:
        return sorted(queue.path for queue in store.load(0).queues)


@pytest.mark.parametrize("options", [["--bundle", "other"], []])
def test_another_or_a_forgotten_bundle_is_refused(site, options):
    """The queues of the state are as before; the message names both bundles and both remedies."""
    before = queues(site), len(records(site / "log"))
    done = run(*options)
    assert done.exit_code == 2
    assert f"belongs to the policy bundle {site / 'one'}" in done.output
    assert (f"policy bundle {site / 'other'}" if options else "the built-in policy bundle") in done.output
    assert f"use --bundle {site / 'one'}, or negotiator run --change-bundle" in done.output
    assert (queues(site), len(records(site / "log"))) == before


def test_a_requested_change_of_the_bundle_is_recorded_and_asked_for_once(site):
    done = run("--bundle", "other", "--change-bundle")
    assert done.exit_code == 0
    (record,) = records(site / "log", "reload")
    assert record["accepted"]
    assert "--change-bundle by" in record["trigger"]
    assert f"{site / 'one'} -> policy bundle {site / 'other'}" in record["trigger"]
    assert run("--bundle", "other").exit_code == 0
    assert run("--bundle", "one").exit_code == 2
    assert "root.three" in queues(site)


def test_a_changed_text_of_the_same_bundle_is_a_normal_reload(site):
    queueing.write(site / "one", QUEUES.replace("name: two", "name: four"))
    assert run("--bundle", "one").exit_code == 0
    assert not records(site / "log", "reload")


def test_a_bundle_is_the_same_by_another_path_and_after_a_move(site):
    (site / "link").symlink_to("one")
    assert run("--bundle", "link").exit_code == 0
    shutil.copytree("one", "moved")
    shutil.rmtree("one")
    assert run("--bundle", "moved").exit_code == 0


@pytest.mark.usefixtures("site")
def test_an_administrators_request_needs_the_bundle_of_the_state():
    words = ["admin", "hold", "1", "--state", "state", "--audit-log", "log"]
    done = invoke(*words)
    assert done.exit_code == 2
    assert "belongs to the policy bundle" in done.output
    assert invoke(*words, "--bundle", "one").exit_code == 0


def test_a_deleted_state_hands_nothing_out_again(site):
    """Not before an administrator says so; that is recorded."""
    shutil.rmtree("state")
    done = run("--bundle", "one", "--json")
    assert done.exit_code == 6
    assert "it was emptied, deleted or replaced" in done.output
    assert "--recover" in done.output
    assert "no match was handed out" in done.output
    shutil.rmtree("state")
    done = run("--bundle", "one", "--recover", "--json")
    assert done.exit_code == 0
    assert len(json.loads(done.stdout)["match"]) == 1
    (record,) = records(site / "log", "recovery")
    assert "deleted" in record["differences"][0]


@pytest.mark.parametrize("state", [True, False])
def test_a_changed_record_stops_the_negotiator(site, state):
    """With the name of the file and the line; also without a state."""
    (file,) = (site / "log").glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"jobs":1', b'"jobs":2', 1))
    done = run("--bundle", "one") if state else invoke("run", "pool.ads", "--audit-log", "log")
    assert done.exit_code == 3
    assert "audit-000001.jsonl:1: record 1 was changed" in done.output
    assert run("--bundle", "one", "--recover").exit_code == 0
    assert run("--bundle", "one").exit_code == 0


def test_a_log_that_was_moved_away_needs_a_recovery(site):
    """The new log begins with the head of the old one."""
    (site / "log").rename("old")
    assert run("--bundle", "one").exit_code == 3
    assert run("--bundle", "one", "--recover").exit_code == 0
    first = records(site / "log")[0]
    assert (first["kind"], first["state_head"].partition(":")[0]) == (
        "recovery",
        str(records(site / "old")[-1]["seq"]),
    )


def test_a_notice_that_fails_is_reported_and_fails_no_run(site):
    """The program waits for it before it ends; a later run is quiet."""
    closed = QUEUES.replace('{name: one, adminacl: "head"}', "{name: new}").replace("root.one", "root.new")
    queueing.write(site / "one", closed, "notify: {command: [/bin/false]}\n")
    done = run("--bundle", "one")
    assert done.exit_code == 0
    assert "not notified of draining root.one: /bin/false: it ended with status 1" in done.stderr
    assert "draining" not in run("--bundle", "one").stderr
    assert [each["ok"] for each in records(site / "log", "drain_notice")] == [False]


def test_an_application_is_killed_without_a_running_negotiator(site):
    """By the command of the bundle; the exit code tells whether it worked."""
    for program, code in (("/bin/true", 0), ("/bin/false", 1)):
        queueing.write(site / "one", QUEUES, f"kill: {{command: [{program}, '{{cluster}}']}}\n")
        done = invoke("admin", "kill", "1", "--state", "state", "--audit-log", "log", "--bundle", "one")
        assert done.exit_code == code
    assert "node1#1 was perhaps not killed: /bin/false: it ended with status 1" in done.stderr
    assert [each["ok"] for each in records(site / "log", "admin")] == [True, True, True, False]


def cycle_number(done):
    assert done.exit_code == 0, done.output
    return int(re.match(r"Cycle (\d+) over", done.stdout)[1])


def test_cycles_are_numbered_1_2_3_in_output_log_state_recordings_and_matches(site):
    """A request of an administrator has records of its own, which count no cycle."""
    hold = ("admin", "hold", "node1#1", "--bundle", "one", "--state", "state", "--audit-log", "log")
    assert invoke(*hold).exit_code == 0
    numbers = [cycle_number(run("--bundle", "one", "--record", "recorded")) for _ in range(2)]
    assert numbers == [2, 3]
    assert [each["cycle"] for each in records(site / "log", "cycle")] == [1, 2, 3]
    assert [each["cycle"] for each in records(site / "log", "outcome")] == [1, 2, 3]
    assert len(records(site / "log", "admin")) == 1
    matches = records(site / "log", "match")
    assert [re.split(r"\D", each["id"])[0] for each in matches] == [str(each["cycle"]) for each in matches]
    history = json.loads((site / "state" / "cycles.json").read_text())
    assert [each["number"] for each in history["cycles"]] == [1, 2, 3]
    assert history["last"]["number"] == 3
    status = json.loads(invoke("status", "--state", "state", "--json").stdout)
    assert status["status"]["last"]["number"] == 3
    assert [
        int(re.search(r"-(\d{8})\.", each.name)[1]) for each in sorted((site / "recorded").iterdir())
    ] == [2, 3]


@pytest.mark.usefixtures("site")
def test_a_state_without_an_audit_log_goes_on_counting():
    assert cycle_number(run("--bundle", "one", "--no-audit")) == 2
    assert cycle_number(run("--bundle", "one", "--recover")) == 3


def test_a_log_without_a_state_goes_on_counting(site):
    numbers = [cycle_number(invoke("run", "pool.ads", "--audit-log", "own")) for _ in range(3)]
    assert numbers == [1, 2, 3]
    assert [each["cycle"] for each in records(site / "own", "cycle")] == [1, 2, 3]
    assert cycle_number(invoke("run", "pool.ads")) == 1  # neither: each run is the first


def test_a_state_of_an_earlier_version_goes_on_after_the_last_cycle_of_the_log(site):
    """It has no number of its own, and the log counted records."""
    database = sqlite3.connect(site / "state" / "state.sqlite")
    with database:
        assert database.execute("DELETE FROM row_counts WHERE name = 'cycles'").rowcount == 1
    database.close()
    last = records(site / "log", "cycle")[-1]["cycle"]
    assert cycle_number(run("--bundle", "one")) == last + 1
    with StateStore.read(site / "state") as store:
        assert store.cycles() == last + 1


def test_a_cycle_that_only_the_log_has_keeps_its_number(site):
    """After a crash between the two, the ids of matches are still unique."""
    with sqlite3.connect(site / "state" / "state.sqlite") as database:
        database.execute("UPDATE row_counts SET number = 0 WHERE name = 'cycles'")
    assert cycle_number(run("--bundle", "one")) == 2
    ids = [each["id"] for each in records(site / "log", "match")]
    assert len(ids) == len(set(ids))

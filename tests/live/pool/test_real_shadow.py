"""Shadow mode beside condor_negotiator: it differs where the policy differs, and the pool does not notice it."""

import json
import subprocess
import sys
import time

import pytest

from queueing import records
from secret_file import write_secret

PATIENCE = 300.0
SUBMIT = """executable = /bin/sleep
arguments = 4
log = /dev/null
request_memory = 1
request_disk = 1024
queue 2
"""
BUNDLE = """source: htcondor
htcondor:
  collector: {address}
  token: {token}
"""
GATE = 'NEGOTIATOR_JOB_CONSTRAINT = MY.Owner =!= "tester"\n'


@pytest.fixture
def observe_until(negotiating_pool, tmp_path):
    """Return a function: submit jobs while shadow mode runs, until its reports fulfil a condition; they are returned.

    Its user may read only.
    """
    pool, address = negotiating_pool

    def run(done, conf=""):
        bundle, token = tmp_path / "bundle", tmp_path / "token"
        bundle.mkdir()
        write_secret(token, pool.inside("run", "condor_token_create", "-identity", "somebody@example.org"))
        (bundle / "pool.yaml").write_text(BUNDLE.format(address=address.primary, token=token))
        (bundle / "central.conf").write_text(conf)
        command = [
            sys.executable,
            "-m",
            "negotiator",
            "serve",
            "--shadow",
            "--bundle",
            "bundle",
            "--every",
            "3",
        ]
        end = time.monotonic() + PATIENCE
        with (
            (tmp_path / "lines").open("w") as lines,
            subprocess.Popen([*command, "--json"], cwd=tmp_path, stdout=lines, stderr=lines) as process,
        ):
            try:
                while not done(reports := _reports(tmp_path / "lines")):
                    assert process.poll() is None, (tmp_path / "lines").read_text()
                    assert time.monotonic() < end, (tmp_path / "lines").read_text()
                    if pool.inside("run", "condor_q", "-all", "-af", "ProcId").count("\n") < 2:
                        pool.submit(SUBMIT)
                    time.sleep(1)
            finally:
                process.terminate()
        assert process.returncode == 0
        pool.remove_jobs()
        return reports

    return run


def _reports(file):
    lines = [line for line in file.read_text().splitlines() if line.startswith("{") and line.endswith("}")]
    return [each["shadow_report"] for each in map(json.loads, lines) if "shadow_report" in each]


def both_matched(report):
    return report["same_slot"] + report["other_slot"]


def differences(reports):
    return [each for report in reports for each in report["differences"]]


def test_without_a_policy_the_two_negotiators_match_the_same_jobs_and_ours_hands_out_nothing(
    observe_until, tmp_path
):
    found = observe_until(lambda reports: sum(map(both_matched, reports)) >= 2)
    assert differences(found) == []
    log = records(tmp_path / "var" / "audit")
    matches = [each["id"] for each in log if each["kind"] == "match"]
    assert matches
    assert [
        each for record in log if record["kind"] == "outcome" for each in record.get("withheld", ())
    ] == matches
    texts = [
        path.read_bytes() for path in [*(tmp_path / "var").rglob("*"), tmp_path / "lines"] if path.is_file()
    ]
    assert not any(b"[Integrity" in text or b"ClaimId" in text for text in texts)


def test_jobs_that_a_gate_would_stop_are_named_with_the_gate_and_nothing_is_handed_out(
    observe_until, negotiating_pool, tmp_path
):
    pool, _ = negotiating_pool
    found = observe_until(lambda reports: bool(differences(reports)), GATE)
    assert {(each["kind"], each["submitter"]) for each in differences(found)} == {
        ("would_wait", "tester@example.org")
    }
    assert all("central.conf:1" in each["rule"] for each in differences(found))
    kinds = {record["kind"] for record in records(tmp_path / "var" / "audit")}
    assert "match" not in kinds
    assert "shadow_report" in kinds
    assert pool.inside("run", "condor_status", "-negotiator", "-af", "Name").count("\n") == 1

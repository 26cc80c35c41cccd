"""What ``run``, ``status``, ``idle`` and ``policies`` print of limits that are exceeded, and of running jobs that a policy would deny."""

import json
import re

import pytest
from click.testing import CliRunner

import queueing
from negotiator.cli import main
from pools import slot, write_ads
from queueing import app, limited

LIMIT = "{limit: l, users: ['*'], maxresources: {vcore: 2}}"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the program in a folder with a pool: ann runs three jobs and bob five, of two each."""
    monkeypatch.chdir(tmp_path)
    queueing.write(tmp_path / "bundle", limited(LIMIT))
    users = ["ann"] * 3 + ["bob"] * 5
    own = {"MyType": '"Job"', "JobStatus": "2", "RequestCpus": "1", "RequestMemory": "100"}
    jobs = [app(1, place, user, RemoteHost=f'"s{place}@h"', **own) for place, user in enumerate(users)]
    write_ads(tmp_path / "pool.ads", *(slot(place, MyType='"Machine"') for place in range(8)), *jobs)

    def call(*words):
        done = CliRunner().invoke(main, [*words])
        assert done.exit_code in {0, 1}, done.output
        return re.sub(r"\x1b\[[0-9;]*m", "", done.output)

    return call


RUN = ("run", "pool.ads", "--bundle", "bundle")


def test_the_summary_has_the_number_of_limits_and_the_most_exceeded_one(run):
    """One line."""
    (line,) = [each for each in run(*RUN).splitlines() if "Overruns" in each]
    text = "user bob in root: vcore uses 5, may have 2 (limits: limit of user * at root (queues.yaml:7:18))"
    assert line == f"Overruns: 2 limits exceeded: {text}"


def test_full_has_all_exceeded_limits(run):
    lines = run(*RUN, "--full").splitlines()
    first = lines.index("Overruns: limits that are exceeded by what is in use")
    rows = [re.split("  +", line.strip()) for line in lines[first + 2 : first + 4]]
    rule = "limits: limit of user * at root (queues.yaml:7:18)"
    assert rows == [
        ["user bob in root", "vcore", "5", "2", rule],
        ["user ann in root", "vcore", "3", "2", rule],
    ]


def test_json_has_their_numbers_and_places(run):
    cycle = json.loads(run(*RUN, "--json"))
    assert [(each["used"], each["limit"]) for each in cycle["overrun"]] == [(5000, 2000), (3000, 2000)]
    assert cycle["overrun"][0]["reason"]["provenance"]["source"] == "queues.yaml:7:18"
    assert cycle["cycle"][0]["overruns"] == 2


def test_cycles_that_run_on_report_a_lasting_overrun_once(run):
    lines = run(*RUN, "--every", "0.01", "--cycles", "3").splitlines()
    begun = [line for line in lines if " warning overrun change=begun " in line]
    assert [re.search('of="user (.*?) in root"', line)[1] for line in begun] == ["bob", "ann"]
    cycles = [line for line in lines if " cycle number=" in line]
    assert len([line for line in cycles if " overruns=2 " in line]) == len(cycles) == 3


def test_the_status_has_their_number(run):
    run(*RUN, "--state", "state")
    assert "Overruns    2 limits exceeded\n" in run("status", "--state", "state")
    assert json.loads(run("status", "--state", "state", "--json"))["status"]["last"]["limits_exceeded"] == 2


class TestJobs:
    """Four running jobs of ann, of which a policy would deny two, and a claimed slot whose job has no ad."""

    POLICIES = """policies:
  - {name: no-big, applies_to: job, expression: MY.RequestMemory > 200}
  - {name: tried, applies_to: match, mode: warn, expression: TARGET.Memory < 100}
"""

    @pytest.fixture(autouse=True)
    def pool(self, tmp_path, run):
        """Replace the pool and the bundle of ``run``."""
        del run
        (tmp_path / "bundle" / "queues.yaml").unlink()
        (tmp_path / "bundle" / "pool.yaml").write_text(self.POLICIES)
        own = {"MyType": '"Job"', "JobStatus": "2", "RequestCpus": "1"}
        jobs = [
            app(1, place, "ann", RemoteHost=f'"s{place}@h"', RequestMemory=str(100 + 100 * place), **own)
            for place in range(4)
        ]
        slots = [slot(place, MyType='"Machine"') for place in range(5)]
        unknown = slot(
            5,
            MyType='"Machine"',
            State='"Claimed"',
            JobId='"9.0"',
            GlobalJobId='"n#9.0#1"',
            RemoteOwner='"bob@d"',
        )
        write_ads(tmp_path / "pool.ads", *slots, unknown, *jobs)

    def test_the_summary_counts_them_with_the_rule_and_those_that_are_unknown(self, run):
        lines = run(*RUN).splitlines()
        text = "2 running jobs: no-big is true: MY.RequestMemory > 200 (expressions: no-big (pool.yaml:2:49))"
        assert f"Overruns: 2 jobs run against 1 rule: {text}" in lines
        assert "Unknown: 1 running job: not every policy could judge them" in lines

    def test_full_has_each_job(self, run):
        output = run(*RUN, "--full")
        lines = output.splitlines()
        first = lines.index("Overruns: running jobs that a policy would deny")
        assert [line.split()[:3] for line in lines[first + 2 : first + 4]] == [
            ["1.2", "ann", "s2@h"],
            ["1.3", "ann", "s3@h"],
        ]
        assert "1 running job unknown" in output

    def test_status_has_jobs_rules_and_unknown_jobs(self, run):
        run(*RUN, "--state", "state")
        assert "Overruns    2 jobs run against 1 rule; 1 job unknown\n" in run("status", "--state", "state")
        last = json.loads(run("status", "--state", "state", "--json"))["status"]["last"]
        assert [last[name] for name in ("overruns", "overrun_rules", "limits_exceeded", "unjudged")] == [
            2,
            1,
            0,
            1,
        ]

    def test_idle_has_the_rule_that_most_break(self, run):
        words = ("idle", "--pool", "pool.ads", "--bundle", "bundle")
        output = " ".join(run(*words).split())
        assert "2 jobs run against 1 rule: 2 of them against no-big is true: MY.RequestMemory > 200" in output
        assert "1 running job unknown" in output
        values = json.loads(run(*words, "--json"))
        rules = [(each["jobs"], each["reason"]["provenance"]["rule"]) for each in values["overruns"]]
        assert (rules, values["unjudged"]) == ([(2, "no-big")], 1)

    def test_policies_has_how_many_run_against_each_rule(self, run):
        words = ("policies", "--pool", "pool.ads", "--bundle", "bundle")
        values = json.loads(run(*words, "--json"))
        assert {each["rule"]: each["overruns"] for each in values["rules"]} == {"no-big": 2, "tried": 5}
        assert "RUNNING" in run(*words)

    def test_json_has_them_with_job_and_slot(self, run):
        cycle = json.loads(run(*RUN, "--json"))
        found = [(each["change"], each["job"], each["slot"], each["user"]) for each in cycle["overrun"]]
        assert found == [("begun", "1.2", "s2@h", "ann"), ("begun", "1.3", "s3@h", "ann")]
        (last,) = cycle["cycle"]
        assert (last["overruns"], last["unjudged"]) == (2, 1)
        assert [(each["jobs"], each["reason"]["mode"]) for each in last["overruns_by_rule"]] == [
            (5, "warn"),
            (2, "enforce"),
        ]

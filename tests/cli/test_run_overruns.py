"""What ``run`` and ``status`` print of limits that are exceeded by running jobs."""

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

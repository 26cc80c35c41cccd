"""A negotiator, a schedd and a collector that are killed, a wrong token, and a new bundle while jobs run."""

import signal

import pytest

#: Like the program, but it kills itself around the delivery of its first matches: their intent is on disk, their outcome is not.
DYING = """
import os, signal, sys
from negotiator.cli import main
from negotiator_live.pool.source import HTCondorPool

deliver = HTCondorPool.deliver

def dying(self, decisions):
    found = list(deliver(self, decisions)) if not decisions.matches or {after} else []
    if decisions.matches:
        os.kill(os.getpid(), signal.SIGKILL)
    return found

HTCondorPool.deliver = dying
main()
"""
SHORT = "placement:\n  claim_timeout: 3\n"


def run_once(site, cluster, jobs):
    """True if the jobs of a cluster have completed, each with one start."""
    return site.history(cluster, "JobStatus", "NumJobStarts") == ["4 1"] * jobs


@pytest.mark.parametrize("after", [False, True], ids=["before the delivery", "after the delivery"])
def test_a_negotiator_killed_between_intent_and_outcome_hands_nothing_out_twice(site, after):
    """What it did not deliver is offered again after claim_timeout; all jobs run once, and the log is intact."""
    site.write(SHORT)
    cluster = site.submit(4)
    with site.started(program=("-c", DYING.format(after=after))) as process:
        process.process.wait(120)
    assert process.returncode == -signal.SIGKILL
    intended = len(site.matches())
    assert intended > 0
    with site.serving() as process:
        process.wait_for_output("cycle")
        process.wait_for(lambda: not site.queue(cluster))
    assert run_once(site, cluster, 4)
    assert len(site.matches()) == (4 if after else 4 + intended)


def test_the_jobs_of_a_schedd_that_is_killed_run_once_it_is_back(site_of):
    # A shadow that does not reach a running job again would wait up to five minutes for the next attempt.
    with site_of("NUM_CPUS = 2\nRECONNECT_BACKOFF_CEILING = 5\n") as site, site.serving() as process:
        cluster = site.submit(4)
        process.wait_for(lambda: site.is_running(cluster))
        site.pool.kill("condor_schedd")
        process.wait_for(lambda: site.is_back("condor_schedd") and not site.queue(cluster))
        assert site.history(cluster, "JobStatus") == ["4"] * 4


def test_a_collector_that_is_killed_costs_cycles_which_name_it_and_the_pool_goes_on(site_of):
    with site_of("NUM_CPUS = 2\n") as site, site.serving() as process:
        process.wait_for_output("cycle")
        site.pool.kill("condor_collector")
        process.wait_for_output(f"127.0.0.1:{site.pool.port}>, command QUERY_")
        cluster = site.submit(2)
        process.wait_for(lambda: not site.queue(cluster))


def test_a_token_of_somebody_else_names_the_daemon_its_address_and_what_to_allow(site):
    site.use_token("somebody@example.org")
    with site.serving() as process:
        process.wait_for_output("add somebody@example.org to ALLOW_NEGOTIATOR")
        assert f"collector at <127.0.0.1:{site.pool.port}>, command " in process.output()
        assert "no cycle" in process.output()
        site.use_token("negotiator@example.org")
        cluster = site.submit()
        process.wait_for(lambda: not site.queue(cluster))


def test_jobs_go_on_and_stay_counted_when_the_bundle_is_reloaded(site):
    cluster = site.submit(2, seconds=6)
    with site.serving() as process:
        process.wait_for(lambda: site.queue(cluster, "JobStatus") == ["2", "2"])
        site.write(slots_rqs="{\n name per_user\n limit users {*} to slots=2\n}\n")
        process.reload()
        more = site.submit()
        process.wait_for(lambda: any("per_user/1" in each for each in site.reasons(more)))
        process.wait_for(lambda: not site.queue(cluster) and not site.queue(more))
    assert run_once(site, cluster, 2)

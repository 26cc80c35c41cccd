"""Policies hold for what runs: a schedd starts a user's next jobs on a claim, which the negotiator sees, and ends if it is to."""

#: One static slot, and one partitionable one, whose rest the schedd divides among its jobs.
SETTINGS = """SLOT_TYPE_1 = cpus=1, memory=512, disk=10%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_2 = cpus=3, memory=1536, disk=30%
SLOT_TYPE_2_PARTITIONABLE = True
NUM_SLOTS_TYPE_2 = 1
MAXJOBRETIREMENTTIME = 8
MACHINEMAXVACATETIME = 1
"""
POLICIES = """NEGOTIATOR_PE_JOB_ONLY_EXPR = MY.Project =?= "closed"
NEGOTIATOR_PE_RESOURCE_EXPR = TARGET.Wish =!= "elsewhere"
"""
GLOBAL = "nowhere#1.0#1700000000"
GATE, RESOURCE = "NEGOTIATOR_PE_JOB_ONLY_EXPR", "NEGOTIATOR_PE_RESOURCE_EXPR"


def test_jobs_that_a_policy_denies_run_on_a_claim_until_they_are_to_end(site_of):
    """Reported by default, with the rule, while their schedd starts them unasked; ended under ``vacate``, and kept idle with ``never``."""
    with site_of(SETTINGS, mode="secure") as site:
        site.write("reuse: allow\n", central_conf=POLICIES)
        # The first job has the claims of both slots; the others are never matched.
        permitted = site.submit(4, seconds=600)
        with site.serving("--state", "var/state") as process:
            process.wait_for(lambda: site.running(permitted) == 4)
            closed = site.submit(seconds=600, more='+Project = "closed"')
            # Users write their jobs' ads: this one pretends to be another, and later to run elsewhere.
            elsewhere = site.submit(seconds=600, more='+Wish = "elsewhere"')
            site.pool.inside("tester", "condor_qedit", f"{elsewhere}.0", "GlobalJobId", f'"{GLOBAL}"')
            process.wait_for(lambda: any(GATE in each for each in site.reasons(closed)))
            site.pool.inside("tester", "condor_rm", f"{permitted}.0", f"{permitted}.1")
            process.wait_for(lambda: site.running(closed) == site.running(elsewhere) == 1)
            process.wait_for(lambda: rules(site, "begun") == {GATE, RESOURCE})
            # What a user changes of a running job counts at once, in both directions.
            edited = f"{permitted}.2"
            site.pool.inside("tester", "condor_qedit", edited, "Project", '"closed"')
            process.wait_for(
                lambda: jobs(site, "begun") > jobs(site, "ended") and edited in jobs(site, "begun")
            )
            site.pool.inside("tester", "condor_qedit", edited, "Project", '"open"')
            process.wait_for(lambda: jobs(site, "ended") == {edited})
            assert site.queue(elsewhere, "GlobalJobId") == [GLOBAL]
            site.pool.inside("tester", "condor_qedit", f"{elsewhere}.0", "RemoteHost", '"slot9@nowhere"')
            assert site.queue(elsewhere, "RemoteHost") == ["slot9@nowhere"]
            site.write("reuse: never\noverruns: vacate\noverrun_grace: 0\n", central_conf=POLICIES)
            process.reload()
            # Retirement and vacate time are the startd's to grant.
            process.wait_for(
                lambda: "Retiring" in site.pool.inside("run", "condor_status", "-af", "Activity")
            )
            process.wait_for(lambda: site.running(closed) == site.running(elsewhere) == 0)
            process.wait_for(lambda: jobs(site, "ended") == {edited, f"{closed}.0", f"{elsewhere}.0"})
            process.wait_for(lambda: any(GATE in each for each in site.reasons(closed)))
            assert site.running(permitted) == 2
            assert site.queue(closed, "VacateReason") == ["Claim vacated by the administrator"]
        assert jobs(site, "begun") == jobs(site, "ended") == {edited, f"{closed}.0", f"{elsewhere}.0"}
        assert jobs(site, "evict") == {f"{closed}.0", f"{elsewhere}.0"}
        outcomes = [each for each in site.records("outcome") if each.get("evicted")]
        assert outcomes


def rules(site, change):
    """Return the rules of the overruns that began or ended."""
    return {
        each["reason"]["provenance"]["rule"] for each in site.records("overrun") if each["change"] == change
    }


def jobs(site, change):
    """Return the jobs of the overruns that began, ended, or were to end."""
    return {each["job"] for each in site.records("overrun") if each["change"] == change}

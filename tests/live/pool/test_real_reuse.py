"""Which jobs a claim of a real pool runs: three jobs of a user, of which the bundle denies two, on a static and on a partitionable slot.

A schedd uses a claim for further jobs, and divides the rest of a partitionable slot, without asking a negotiator.
"""

import subprocess
import sys
from contextlib import contextmanager

import pytest

from condor_pool import PoolSettings, PoolUnavailableError
from live_site import LiveSite

SLOTS = """SHADOW_WORKLIFE = 3600
UPDATE_INTERVAL = 3
SLOT_TYPE_1 = cpus=1, memory=512, disk=10%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_2 = cpus=3, memory=1024, disk=20%
SLOT_TYPE_2_PARTITIONABLE = True
NUM_SLOTS_TYPE_2 = 1
"""
LINE = "START = ($(START)) && (NegotiatorMatchExprPolicy =!= false)\n"
POLICY = """NEGOTIATOR_PE_JOB_ONLY_EXPR: Blocked =?= true
NEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Big =!= true || MY.TotalMemory > 1000000
"""
#: A user for each type of slot: claims are a user's.
USERS = {"ann": 1, "bob": 2}
DENIED = {"+Blocked = true": "NEGOTIATOR_PE_JOB_ONLY_EXPR", "+Big = true": "NEGOTIATOR_PE_RESOURCE_EXPR"}


@pytest.fixture(scope="module")
def reusing_pool(pool_of):
    """Return a pool whose claims are used as HTCondor does by default, and its collector's address."""
    with pool_of(PoolSettings("open", more=SLOTS)) as started:
        yield started


@pytest.fixture
def reusing_site(reusing_pool, tmp_path):
    """Return a folder that serves the pool."""
    yield LiveSite(*reusing_pool, tmp_path)
    reusing_pool[0].remove_jobs()


@contextmanager
def configured(site, more, *daemons):
    """Add configuration to the pool for a while."""
    file = site.pool.root / "etc" / "condor" / "condor_config"
    text = file.read_text()
    try:
        file.write_text(f"{text}\n{more}")
        for daemon in daemons:
            site.pool.inside("run", "condor_reconfig", f"-{daemon}")
        yield
    finally:
        file.write_text(text)
        for daemon in daemons:
            site.pool.inside("run", "condor_reconfig", f"-{daemon}")


def starts(site):
    return site.pool.inside("run", "condor_status", "-af:r", "Start")


def submit(site, user, more="", count=1):
    type_ = USERS[user]
    slot = f"requirements = member(TARGET.SlotTypeID, {{{type_}, -{type_}}})"
    return site.submit(count, user=user, seconds=1, more=f"{slot}\n{more}")


def submit_all(site, permitted=3):
    """Submit the jobs of each user; return the clusters of the permitted and of the denied ones, with their rules."""
    allowed = [submit(site, user, count=permitted) for user in USERS]
    return allowed, {submit(site, user, more): rule for more, rule in DENIED.items() for user in USERS}


def queued(site):
    """Return the number of starts and the reason of the jobs in the queue, by cluster."""
    names = ("ClusterId", "NumJobStarts", "LastRejMatchReason")
    lines = site.pool.inside("run", "condor_q", "-all", "-af", *names).splitlines()
    return {cluster: rest for cluster, _, rest in (each.partition(" ") for each in lines)}


def have_run(site, clusters):
    return not queued(site).keys() & {*clusters}


def wait_for_denials(site, process, denied):
    """Wait until the permitted jobs have run; the denied ones have not, and their user reads the rule."""

    def is_done():
        found = queued(site)
        return found.keys() == denied.keys() and all(rule in found[each] for each, rule in denied.items())

    process.wait_for(is_done)
    assert all(each.startswith("0 ") for each in queued(site).values())


def matches_of(site, user):
    return [each for each in site.matches() if each["submitter"].startswith(f"{user}@")]


def test_with_nothing_configured_each_job_is_matched_and_the_denied_ones_stay_idle(reusing_site):
    site = reusing_site
    site.write(POLICY)
    _, denied = submit_all(site, 2)
    with site.serving() as process:
        wait_for_denials(site, process, denied)
        process.wait_for_output("claims")
    assert [len(matches_of(site, user)) for user in USERS] == [2, 2]
    [line] = [each for each in process.output().splitlines() if " claims " in each]
    assert "negotiator export startd" in line
    assert "2 of 2" in line


def test_with_the_line_in_start_a_claim_runs_the_permitted_jobs_of_its_user(reusing_site):
    """The parts of the partitionable slot too, of which only the first job was matched."""
    site = reusing_site
    site.write(POLICY)
    with configured(site, LINE, "startd"):
        _, denied = submit_all(site)
        with site.serving() as process:
            process.wait_for(lambda: starts(site).count("NegotiatorMatchExprPolicy") >= len(USERS))
            wait_for_denials(site, process, denied)
    # The first cycles may have seen the slots without the line.
    assert all(len(matches_of(site, user)) < 3 for user in USERS)


def test_where_allow_is_written_a_claim_runs_any_job_of_its_user_and_the_rules_are_named(reusing_site):
    site = reusing_site
    site.write(POLICY + "reuse: allow\n")
    permitted, denied = submit_all(site)
    with site.serving() as process:
        process.wait_for(lambda: have_run(site, permitted) and have_run(site, denied))
    assert all(site.history(each, "JobStatus") == ["4"] for each in denied)
    status = negotiator(site, "status", "--state", "var/state")
    for rule in DENIED.values():
        assert f'rule can be bypassed change=begun rule="expressions: {rule}"' in process.output()
        assert f"Bypassable  expressions: {rule} (pool.yaml:" in status


def test_never_is_kept_for_limits_too(reusing_site):
    """A limit of two processors on a slot with three, which the schedd divides otherwise."""
    site = reusing_site
    site.write("reuse: never\n", slots_rqs="{\n name per_user\n limit users {*} to slots=2\n}\n")
    cluster = submit(site, "bob", count=3)
    most = 0
    with site.serving() as process:

        def ended():
            nonlocal most
            most = max(most, site.running(cluster))
            return not site.queue(cluster)

        process.wait_for(ended)
    assert 1 <= most <= 2
    assert len(site.matches()) == 3


def test_the_exported_configuration_refuses_a_job_with_the_reason_and_startds_start_no_other(reusing_site):
    site = reusing_site
    site.write(POLICY)
    startd = negotiator(site, "export", "startd", "--bundle", "bundle")
    schedd = negotiator(site, "export", "schedd", "--bundle", "bundle")
    site.write("reuse: allow\n")  # nobody else keeps the rules
    earlier = [submit(site, "ann", more) for more in DENIED]
    with configured(site, startd + schedd, "startd", "schedd"):
        with pytest.raises(PoolUnavailableError, match="PE_JOB_ONLY_EXPR is true: Blocked =\\?= true"):
            submit(site, "ann", "+Blocked = true")
        late = submit(site, "ann", "+Big = true")
        requirements = site.pool.inside("run", "condor_q", "-all", late, "-af:r", "Requirements")
        assert "(MY.Big =!= true || TARGET.TotalMemory > 1000000) =?= true" in requirements
        plain = submit(site, "ann", count=2)
        with site.serving() as process:
            process.wait_for(lambda: starts(site).count("TARGET.Blocked") >= 1)
            process.wait_for(lambda: have_run(site, [plain]))
        assert {each: queued(site)[each][:2] for each in (*earlier, late)} == dict.fromkeys(
            (*earlier, late), "0 "
        )


def negotiator(site, *arguments):
    """Run the program in the folder of a site; return what it prints."""
    command = [sys.executable, "-m", "negotiator", *arguments]
    return subprocess.run(command, cwd=site.folder, capture_output=True, text=True, check=False).stdout

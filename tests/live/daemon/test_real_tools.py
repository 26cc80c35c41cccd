"""HTCondor's own tools against this negotiator: condor_userprio, condor_ping, condor_submit, and the Python bindings."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from condor_pool import PoolUnavailableError
from served_pool import ServedPool, waited_for

ANN = "ann@example.org"
SUBMIT = "executable = /bin/sleep\narguments = 60\nlog = /dev/null\nrequest_memory = 1\nrequest_disk = 1024\nqueue\n"


@pytest.fixture
def site(mostly_secure_pool, tmp_path):
    """Return the negotiator of a real pool, not yet running."""
    site = ServedPool(*mostly_secure_pool, tmp_path)
    site.write_bundle()
    mostly_secure_pool[0].remove_jobs()
    return site


def changed(site, *options):
    """Change an account by condor_userprio; return what it prints once the negotiator has done it."""
    before = len(site.requests())
    printed = site.tool("condor_userprio", *options)
    waited_for(lambda: len(site.requests()) > before, f"the request of {options}")
    return printed


def test_condor_userprio_changes_accounts_and_shows_them(site):
    with site.serving():
        for option, value in (
            ("-setfactor", "500"),
            ("-setprio", "7.25"),
            ("-setaccum", "36000"),
            ("-setbegin", "1700000000"),
            ("-setlast", "1700003600"),
            ("-setceiling", "20"),
            ("-setfloor", "2"),
        ):
            assert ANN in changed(site, option, ANN, value)
        ann = site.accounts()[ANN]
        expected = {
            "PriorityFactor": 500,
            "Priority": 7.25 * 500,
            "WeightedAccumulatedUsage": 36_000,
            "BeginUsageTime": 1_700_000_000,
            "LastUsageTime": 1_700_003_600,
            "Ceiling": 20,
            "Floor": 2,
        }
        assert {name: float(ann[name]) for name in expected} == expected
        changed(site, "-resetusage", ANN)
        assert float(site.accounts()[ANN]["WeightedAccumulatedUsage"]) == 0
        changed(site, "-setaccum", ANN, "36000")
        changed(site, "-resetall")
        assert float(site.accounts()[ANN]["WeightedAccumulatedUsage"]) == 0
        changed(site, "-delete", ANN)
        assert ANN not in site.accounts()
    assert all(each["ok"] for each in site.requests())
    assert {each["user"] for each in site.requests()} <= {"condor@example.org", "condor@password"}


def test_condor_userprio_leases_values_and_hears_why_not(site):
    with site.serving():
        for option, value, cancel in (
            ("-setfactor", "50", "-cancelfactorlease"),
            ("-setceiling", "5", "-cancelceilinglease"),
            ("-setfloor", "1", "-cancelfloorlease"),
        ):
            assert "lease" in site.tool("condor_userprio", option, ANN, value, "-duration", "3600")
            with pytest.raises(PoolUnavailableError, match="lease"):
                site.tool("condor_userprio", option, ANN, value, "-duration", "3600")
            assert "Cancelled" in site.tool("condor_userprio", cancel, ANN)
            with pytest.raises(PoolUnavailableError, match="rejected cancel"):
                site.tool("condor_userprio", cancel, ANN)


def test_condor_userprio_shows_the_same_by_each_way_of_asking(site):
    with site.serving():
        changed(site, "-setfactor", ANN, "500")
        for options in (
            (),
            ("-all",),
            ("-allusers",),
            ("-grouprollup",),
            ("-usage", "-allusers"),
            ("-most", "-allusers"),
        ):
            printed = site.tool("condor_userprio", "-negotiator", *options, "-allusers")
            assert ANN in printed, (options, printed)
        legacy = site.tool("condor_userprio", "-negotiator", "-grouprollup", "-legacy", "-long")
        assert f'"{ANN}"' in legacy
        assert "NumSubmittors = 2" in legacy
        assert list(site.accounts("-constraint", "PriorityFactor == 500")) == [ANN]
        assert list(site.accounts("-constraint", "PriorityFactor == 501")) == []
        assert "Number of Resources Used: 0" in site.tool("condor_userprio", "-getreslist", ANN)


def test_a_schedd_starts_a_cycle_and_the_slots_of_its_user_are_listed(site):
    """Without RESCHEDULE the next cycle would begin in an hour."""
    with site.serving():
        waited_for(lambda: "cycle number=1" in "".join(site.output).replace("\x1b", ""), "the first cycle")
        cluster = site.pool.submit(SUBMIT)
        waited_for(
            lambda: "2" in site.tool("condor_q", "-all", cluster, "-af", "JobStatus").split(), "a running job"
        )
        printed = site.tool("condor_userprio", "-getreslist", "tester@example.org")
        assert f"@{site.tool('condor_status', '-af', 'Machine').split()[0]} " in printed, printed
        assert "Number of Resources Used: 1" in printed
        site.pool.remove_jobs()


def test_condor_ping_shows_what_a_peer_may_do(site):
    with site.serving():
        address = site.negotiator_address()
        found = site.tool(
            *("condor_ping", "-address", address, "-table", "READ", "WRITE", "ADMINISTRATOR", "NEGOTIATOR"),
            check=False,
        )
        rows = {line.split()[0]: line for line in found.splitlines()[1:] if line.strip()}
        assert "ALLOW" in rows["READ"]
        assert "ALLOW" in rows["ADMINISTRATOR"]
        assert "DENY" in rows["NEGOTIATOR"] or "FAIL" in rows["NEGOTIATOR"], found


def test_condor_reconfig_loads_the_bundle_again_and_condor_status_shows_the_ad(site):
    with site.serving():
        site.tool("condor_reconfig", "-negotiator")
        waited_for(lambda: "the bundle was reloaded" in "".join(site.output), "a reload")
        printed = site.tool(
            "condor_status", "-negotiator", "-direct", site.negotiator_address(), "-af", "MyAddress"
        )
        assert printed.strip() == site.negotiator_address()


def test_who_is_no_administrator_changes_nothing_and_is_logged_with_what_to_allow(site):
    site.write_bundle(administrators='"boss@example.org"')
    with site.serving():
        site.tool("condor_userprio", "-setprio", ANN, "5", check=False)
        site.tool("condor_userprio", "-setfactor", ANN, "5", check=False)
        waited_for(lambda: "".join(site.output).count("PERMISSION DENIED") >= 2, "two notices")
        assert ANN not in site.accounts()
    output = "".join(site.output)
    assert "command SET_PRIORITY" in output
    assert "to administrators of htcondor:" in output
    assert "client condor@" in output
    assert site.requests() == []


BINDINGS = """
import json, sys
import classad2 as classad, htcondor2 as htcondor
for name, value in json.loads(sys.argv[2]).items():
    htcondor.param[name] = value
negotiator = htcondor.Negotiator(classad.ClassAd({"MyAddress": sys.argv[1]}))
ann = "ann@example.org"
negotiator.setFactor(ann, 500.0)
negotiator.setPriority(ann, 7.25)
negotiator.setUsage(ann, 36000.0)
negotiator.setBeginUsage(ann, 1700000000)
negotiator.setLastUsage(ann, 1700003600)
negotiator.setCeiling(ann, 20)
import time
end = time.monotonic() + 60
while time.monotonic() < end:
    found = [dict(ad) for ad in negotiator.getPriorities() if ad["Name"] == ann and ad["Ceiling"] == 20]
    if found:
        break
    time.sleep(0.2)
print(json.dumps([found[0], len(negotiator.getPriorities(True)), len(negotiator.getResourceUsage(ann))]))
negotiator.resetUsage(ann)
negotiator.resetAllUsage()
negotiator.deleteUser(ann)
"""


@pytest.mark.skipif(find_spec("htcondor2") is None, reason="the package htcondor is not installed")
def test_the_python_bindings_change_accounts_and_show_them(site):
    is_secure = (site.folder / "POOL").exists()
    methods = "FS" if is_secure else "CLAIMTOBE"
    settings = {
        "SEC_CLIENT_AUTHENTICATION_METHODS": methods,
        "UID_DOMAIN": "example.org",
        "TRUST_DOMAIN": "example.org",
    }
    with site.serving():
        environment = {**os.environ, "CONDOR_CONFIG": "/dev/null", "TZ": "UTC"}
        command = [sys.executable, "-c", BINDINGS, site.negotiator_address(), json.dumps(settings)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env=environment
        )
        assert done.returncode == 0, done.stderr + "".join(site.output)
        waited_for(lambda: len(site.requests()) == 9, "nine requests")
        assert ANN not in site.accounts()
    ann, groups, slots = json.loads(done.stdout)
    assert (ann["PriorityFactor"], ann["Priority"], ann["WeightedAccumulatedUsage"]) == (500, 3625, 36_000)
    assert groups >= 2  # its own, the root group, and submitters with slots
    assert slots == 0
    assert {each["user"] for each in site.requests()} <= {"condor@example.org", "root@example.org"}

"""Beside HTCondor's other daemons: several schedds, flocking, condor_had, condor_defrag and condor_rooster.

Each scene runs with condor_negotiator and with this program in its place, under condor_master, and ends alike.
"""

import socket
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs
import pytest

from condor_pool import CondorPool, PoolSettings, PoolUnavailableError, condor_pool, root_folder

pytestmark = pytest.mark.slow_pool

PATIENCE = 150.0
ROOT = Path(__file__).parents[3]
PROGRAM = Path(sys.executable).with_name("negotiator-daemon")
OURS, THEIRS = "negotiator", "condor_negotiator"
BOTH = pytest.mark.parametrize("negotiator", [OURS, THEIRS])
#: The first one leads or has the jobs. Both of ours are what a site has in the end, both of theirs what it comes from.
PAIRS = pytest.mark.parametrize("pair", [(OURS, THEIRS), (THEIRS, OURS), (OURS, OURS), (THEIRS, THEIRS)])
IN_PLACE = "NEGOTIATOR = {program}\nNEGOTIATOR_BUNDLE = {bundle}\n"
POLICY = """source: htcondor
order: submitters
NEGOTIATOR_INTERVAL: 2
NEGOTIATOR_CYCLE_DELAY: 1
"""
SETTINGS = """DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR {daemons}
CLAIM_WORKLIFE = 0
UPDATE_INTERVAL = 3
NEGOTIATOR_INTERVAL = 2
"""
STATIC = """SLOT_TYPE_1 = cpus=1, memory=512, disk=1%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 4
"""
SUBMIT = """executable = /bin/sleep
arguments = {seconds}
transfer_executable = false
should_transfer_files = no
log = /dev/null
request_memory = 1
request_disk = 1
{more}
queue {count}
"""


@attrs.frozen
class Pool:
    """A pool with either negotiator, under condor_master."""

    condor: CondorPool
    negotiator: str

    def run(self, *command, check=True):
        return self.condor.inside("run", *command, check=check)

    def submit(self, user="tester", count=1, seconds=300, more=""):
        """Submit jobs; return the number of their cluster."""
        return self.condor.submit(SUBMIT.format(seconds=seconds, more=more, count=count), user)

    def running(self, cluster):
        """Return how many jobs of a cluster run."""
        return self.run("condor_q", "-all", cluster, "-af", "JobStatus", check=False).split().count("2")

    def negotiates(self):
        """True if its condor_master runs its negotiator."""
        program = THEIRS if self.negotiator == THEIRS else Path(sys.executable).name
        try:
            return bool(self.condor.process(program))
        except PoolUnavailableError:
            return False

    def wait_for(self, condition):
        """Wait until a condition holds; return its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found := condition():
                return found
            time.sleep(0.5)
        queue = self.run("condor_q", "-all", "-af:j", "JobStatus", "LastRejMatchReason", check=False)
        slots = self.run("condor_status", "-af", "Name", "State", "RemoteUser", check=False)
        pytest.fail("\n".join([self.negotiator, self.condor.log("NegotiatorLog")[-3000:], queue, slots]))


def free_ports(count):
    """Return ports of 127.0.0.1 that are free."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in listeners]


@pytest.fixture
def pools(tmp_path):
    """Return a function that starts a pool with a negotiator, daemons beside it, and more settings; a pool ends with its stack."""
    try:
        root_folder()
    except PoolUnavailableError as error:
        pytest.skip(str(error))
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    for folder in (tmp_path, bundle):
        folder.chmod(0o755)
    (bundle / "pool.yaml").write_text(POLICY)

    @contextmanager
    def start(negotiator, daemons="SCHEDD STARTD", more="", port=0):
        settings = SETTINGS.format(daemons=daemons) + more
        folders = ()
        if negotiator == OURS:
            folders = tuple(map(str, dict.fromkeys((ROOT, sys.prefix, sys.base_prefix, bundle))))
            settings += IN_PLACE.format(program=PROGRAM, bundle=bundle)
        with condor_pool(PoolSettings("open", more=settings, folders=folders), port) as started:
            yield Pool(started, negotiator)

    return start


@BOTH
def test_the_users_of_two_schedds_share_the_slots(pools, negotiator):
    """One of them has jobs at both, and gets no more for it. The negotiator starts when all jobs are advertised."""
    with pools(negotiator, "SCHEDD STARTD", STATIC + "SCHEDD_NAME = first@pool\n") as pool:
        pool.wait_for(lambda: pool.run("condor_status", "-negotiator", "-af", "Name", check=False))
        pool.run("condor_off", "-negotiator")
        pool.wait_for(lambda: not pool.run("condor_status", "-negotiator", "-af", "Name"))
        second = f"DAEMON_LIST = MASTER SCHEDD\nCOLLECTOR_HOST = 127.0.0.1:{pool.condor.port}\n"
        names = "SCHEDD_NAME = second@pool\nMASTER_NAME = second@pool\n"
        with pools(THEIRS, more=second + names) as access:
            schedds = ("condor_status", "-schedd", "-af", "Name")
            pool.wait_for(lambda: len(pool.run(*schedds).split()) == 2)
            for place, user in ((access, "bob"), (pool, "bob"), (pool, "ann")):
                place.submit(user, 4)
            idle = ("condor_status", "-submitters", "-constraint", "IdleJobs == 4", "-af", "Name")
            pool.wait_for(lambda: len(pool.run(*idle).split()) == 3)
            pool.run("condor_on", "-negotiator")
            users = ("condor_status", "-constraint", 'State == "Claimed"', "-af", "RemoteUser")
            pool.wait_for(lambda: len(pool.run(*users).split()) == 4)
            assert sorted(pool.run(*users).split()) == ["ann@example.org"] * 2 + ["bob@example.org"] * 2


@PAIRS
def test_jobs_flock_to_another_pool_whoever_negotiates_there_and_at_home(pools, pair):
    """The home pool has no slot: its negotiator rejects the jobs, and the schedd then offers them to the other pool."""
    home, other = pair
    with pools(other, "STARTD", STATIC) as there:
        flocking = f"FLOCK_TO = 127.0.0.1:{there.condor.port}\nFLOCK_INCREMENT = 1\nSCHEDD_NAME = home@pool\n"
        with pools(home, "SCHEDD", flocking) as here:
            cluster = here.submit("ann", 2, seconds=5)
            done = ("condor_history", cluster, "-af", "JobStatus", "LastRemotePool")
            here.wait_for(lambda: len(here.run(*done).splitlines()) == 2)
            assert here.run(*done).split() == ["4", f"127.0.0.1:{there.condor.port}"] * 2
            used = ("condor_userprio", "-modular", "-allusers", "-af", "Name")
            there.wait_for(lambda: "ann@example.org" in there.run(*used, check=False))


#: Two central managers, of which one negotiates. The second has the jobs and the slots, so that the first can end.
HAD = """HAD_ARGS = -p {own}
HAD_LIST = 127.0.0.1:{ports[0]}, 127.0.0.1:{ports[1]}
HAD_USE_PRIMARY = True
HAD_USE_REPLICATION = False
HAD_USE_SHARED_PORT = False
HAD_CONNECTION_TIMEOUT = 2
HAD_CONTROLLEE = NEGOTIATOR
HAD_DEBUG = D_FULLDEBUG
MASTER_NEGOTIATOR_CONTROLLER = HAD
MASTER_HAD_BACKOFF_CONSTANT = 5
COLLECTOR_HOST = 127.0.0.1:{collectors[0]}, 127.0.0.1:{collectors[1]}
MASTER_NAME = {name}@pool
"""


@PAIRS
def test_the_second_central_manager_takes_over_when_the_first_has_ended(pools, pair):
    """Each has a state of its own; what runs goes on, and its slots are nobody else's."""
    ports, collectors = free_ports(2), free_ports(2)
    first = HAD.format(own=ports[0], ports=ports, collectors=collectors, name="first")
    second = HAD.format(own=ports[1], ports=ports, collectors=collectors[::-1], name="second")
    with ExitStack() as leader:
        lead = leader.enter_context(pools(pair[0], "HAD", first, collectors[0]))
        with pools(pair[1], "HAD SCHEDD STARTD", STATIC + second, collectors[1]) as standby:
            early = standby.submit("ann", 2)
            standby.wait_for(lambda: standby.running(early) == 2)
            assert lead.negotiates()
            assert not standby.negotiates()
            leader.close()
            late = standby.submit("bob", 3)
            standby.wait_for(lambda: standby.running(late) == 2)
            assert standby.negotiates()
            assert standby.running(early) == 2


#: Slots are drained as soon as they are divided, and serve again once they are whole.
DEFRAG = """DEFRAG_INTERVAL = 5
DEFRAG_DRAINING_MACHINES_PER_HOUR = 3600
DEFRAG_MAX_WHOLE_MACHINES = 1
DEFRAG_MAX_CONCURRENT_DRAINING = 1
DEFRAG_REQUIREMENTS = PartitionableSlot && Cpus < TotalSlotCpus && Offline =!= true
DEFRAG_WHOLE_MACHINE_EXPR = Cpus == TotalSlotCpus
DEFRAG_UPDATE_INTERVAL = 5
MAXJOBRETIREMENTTIME = 0
MACHINEMAXVACATETIME = 2
NUM_CPUS = 4
"""


@BOTH
def test_a_job_that_needs_a_whole_machine_gets_the_one_that_condor_defrag_has_drained(pools, negotiator):
    with pools(negotiator, "SCHEDD STARTD DEFRAG", DEFRAG) as pool:
        pool.wait_for(lambda: pool.run("condor_status", "-negotiator", "-af", "Name", check=False))
        pool.run("condor_userprio", "-setprio", "ann@example.org", "1000")
        small = pool.submit("ann", 1)
        pool.wait_for(lambda: pool.running(small) == 1)
        whole = pool.submit("bob", 1, more="request_cpus = 4")
        pool.wait_for(lambda: pool.running(whole) == 1)
        assert pool.running(small) == 0
        assert "Initiating graceful draining" in pool.condor.log("DefragLog")


ROOSTER = """ROOSTER_INTERVAL = 3
ROOSTER_WAKEUP_CMD = "/usr/bin/tee -a /pool/log/woken"
ROOSTER_MAX_UNHIBERNATE = 1
COLLECTOR_PERSISTENT_AD_LOG = $(SPOOL)/persistent
"""
#: A machine that is switched off, as the collector keeps it.
ASLEEP = """MyType = "Machine"
TargetType = "Job"
Name = "slot1@asleep.example.org"
Machine = "asleep.example.org"
MyAddress = "<127.0.0.1:9>"
StartdIpAddr = "<127.0.0.1:9>"
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 $"
OpSys = "LINUX"
FileSystemDomain = "example.org"
HasFileTransfer = true
Cpus = 1
Memory = 512
Disk = 1000000
SlotID = 1
Offline = true
Requirements = true
Start = true
Rank = 0.0
CurrentRank = 0.0
Unhibernate = MY.MachineLastMatchTime =!= undefined
"""


@BOTH
def test_condor_rooster_wakes_the_machine_that_a_job_was_matched_with(pools, negotiator):
    with pools(negotiator, "SCHEDD STARTD ROOSTER", STATIC + ROOSTER) as pool:
        (pool.condor.root / "pool" / "asleep").write_text(ASLEEP)
        pool.run("condor_advertise", "UPDATE_STARTD_AD", "/pool/asleep")
        asleep = ("condor_status", "-constraint", "Offline", "-af", "Name")
        pool.wait_for(lambda: pool.run(*asleep).split() == ["slot1@asleep.example.org"])
        pool.submit("ann", 1, more='requirements = Machine =!= "asleep.example.org"', seconds=1)
        pool.wait_for(lambda: not pool.run("condor_q", "-all", "-af", "ClusterId"))
        assert not pool.condor.log("woken")
        pool.submit("ann", 1, more='requirements = Machine == "asleep.example.org"')
        pool.wait_for(lambda: 'Name = "slot1@asleep.example.org"' in pool.condor.log("woken"))

"""Cycles with schedds that a test plays: what each receives, and that none delays the others."""

import operator
import subprocess
import sys
import threading
import time
from datetime import datetime

import pytest

from negotiator_live.wire.commands import DaemonCommand
from played_pool import PlayedSchedd, daemon, played_pool
from processes import LongCommand
from queueing import records

SLOT = {
    "MyType": '"Machine"',
    "Machine": '"h"',
    "State": '"Unclaimed"',
    "Requirements": "true",
    "Cpus": "1",
    "Memory": "100",
    "Disk": "100",
}
POOL = """source: htcondor
htcondor:
  collector: {}
  timeout: {}
"""


def slot(number, **more):
    name, address = f'"slot{number}@h"', f'"<127.0.0.1:9?n={number}>"'
    return {**SLOT, "Name": name, "MyAddress": address, **more}


def request(cluster, autocluster=1, count=1, **more):
    """Return a request ad of a schedd."""
    ids = {"ClusterId": str(cluster), "ProcId": "0", "AutoClusterId": str(autocluster)}
    job = {"Owner": '"ann"', "User": '"ann@d"', "Requirements": "true"}
    return {**ids, "_condor_RESOURCE_COUNT": str(count), **job, **more}


@pytest.fixture
def served(tmp_path):
    """Return a function: one cycle with these slots and schedds; it returns the output."""

    def run(slots, schedds, timeout=20, more="", merged=None, options=()):
        with played_pool(slots, schedds, merged=merged) as collector:
            (tmp_path / "bundle").mkdir(exist_ok=True)
            (tmp_path / "bundle" / "pool.yaml").write_text(POOL.format(collector, timeout) + more)
            command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", "--cycles", "1"]
            command += options
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)
        return done.returncode, done.stderr

    return run


def test_a_match_has_the_claim_id_and_the_ad_of_its_slot_in_the_syntax_of_the_wire(served):
    """A backslash in a string is sent as the startd advertises it."""
    schedd = PlayedSchedd("s", [request(7)])
    folder = '"C:\\data \\"new\\""'
    assert served([slot(1, Folder=folder, Start="TARGET.Age > 1 || true")], [schedd])[0] == 0
    [(claim, ad)] = schedd.matches
    assert claim == "claim of slot1@h"
    assert (ad["Folder"], ad["Start"]) == (folder, "TARGET.Age > 1 || true")
    assert (ad["_condor_RESOURCE_CLUSTER"], ad["_condor_RESOURCE_PROC"]) == ("7", "0")


def test_a_match_names_the_concurrency_limits_of_its_job(served):
    schedd = PlayedSchedd("s", [request(1, ConcurrencyLimits='"SW1:2, sw2"')])
    served([slot(1)], [schedd])
    [(_, ad)] = schedd.matches
    assert ad.string("MatchedConcurrencyLimits") == "sw1:2, sw2"


TESTING = "(true) && (NegotiatorMatchExprPolicy =!= false)"


def test_a_match_says_for_which_further_jobs_its_claim_may_be_used(served):
    """The policy goes to slots that test it; the claim of any other slot is for one job."""
    schedd = PlayedSchedd("s", [request(1, count=2)])
    slots = [
        slot(1, Requirements="START", Start=TESTING, AuthenticatedIdentity='"condor@family"'),
        slot(2, Requirements="START", Start="true", authenticatedidentity='"condor@family"'),
    ]
    served(slots, [schedd], more="NEGOTIATOR_PE_JOB_ONLY_EXPR: Blocked =?= true\n")
    tested, untested = sorted((ad for _, ad in schedd.matches), key=lambda ad: ad["Name"])
    assert "TARGET.Blocked =!= true" in tested["NegotiatorMatchExprPolicy"]
    assert (tested.get("RestrictToAuthenticatedIdentity"), tested.string("AuthenticatedIdentity")) == (
        None,
        "condor@family",
    )
    assert untested.get("NegotiatorMatchExprPolicy") is None
    assert untested["RestrictToAuthenticatedIdentity"] == "true"
    assert untested.string("AuthenticatedIdentity") == "policy@negotiator"


@pytest.mark.parametrize("more", ["", "NEGOTIATOR_PE_JOB_ONLY_EXPR: Blocked\nreuse: allow\n"])
def test_a_match_says_nothing_where_nothing_can_be_bypassed_or_allow_is_written(served, more):
    schedd = PlayedSchedd("s", [request(1)])
    served([slot(1, Start=TESTING, Requirements="START")], [schedd], more=more)
    [(_, ad)] = schedd.matches
    assert not {"NegotiatorMatchExprPolicy", "RestrictToAuthenticatedIdentity"} & ad.keys()


@pytest.mark.parametrize(("start", "matches"), [("true", 1), (TESTING, 2)])
def test_a_slot_is_filled_only_if_its_schedd_may_divide_it(served, start, matches):
    schedd = PlayedSchedd("s", [request(1, count=2, RequestCpus="1")])
    whole = slot(1, Cpus="2", PartitionableSlot="true", Requirements="START", Start=start)
    whole["MachineResources"] = '"Cpus Memory Disk"'
    policy = "match: fill\nNEGOTIATOR_PE_JOB_ONLY_EXPR: Blocked\n"
    _, output = served([whole], [schedd], more=policy)
    assert output.count(" match id=") == matches


@pytest.mark.parametrize(
    ("groups", "group"), [("", None), ("GROUP_NAMES: a\nGROUP_QUOTA_a: 0\n", '"<none>"')]
)
def test_a_match_has_the_group_of_its_turn_and_not_that_of_an_earlier_job(served, groups, group):
    schedd = PlayedSchedd("s", [request(1)])
    served([slot(1, remotegroup='"old"', RemoteAutoregroup="true")], [schedd], more=groups)
    [(_, ad)] = schedd.matches
    assert ad.get("RemoteGroup") == group
    assert ad.string("RemoteNegotiatingGroup") == "<none>"
    assert ad["RemoteAutoregroup"] == "false"


def test_a_match_has_the_requirements_that_the_startd_advertises(served):
    """Those for the negotiator alone are no reason for the schedd to refuse its jobs."""
    own = {"Requirements": "TARGET.Age =!= 1", "NegotiatorRequirements": "TARGET.Age =!= 2"}
    schedd = PlayedSchedd("s", [request(1)])
    served([slot(1, **own)], [schedd])
    [(_, ad)] = schedd.matches
    assert ad["Requirements"] == own["Requirements"]


def test_a_slot_that_several_jobs_of_a_request_fill_is_sent_once(served, tmp_path):
    """The schedd divides it; each job is a match of its own."""
    schedd = PlayedSchedd("s", [request(1, count=3, RequestCpus="1")])
    whole = slot(1, PartitionableSlot="true", Cpus="2", SlotWeight="Cpus")
    assert served([whole], [schedd], more="match: fill\n")[0] == 0
    assert [claim for claim, _ in schedd.matches] == ["claim of slot1@h"]
    assert len(schedd.rejections) == 1
    [outcome] = records(tmp_path / "var" / "audit", "outcome")
    assert (len(outcome["delivered"]), outcome["failed"]) == (2, {})


ENDING = """ALLOW_PSLOT_PREEMPTION: true
PREEMPTION_REQUIREMENTS: "true"
"""


def dynamic(number, **more):
    own = {
        "DynamicSlot": "true",
        "PslotRollupInformation": "true",
        "State": '"Claimed"',
        "RemoteUser": '"bob@d"',
    }
    ids = {
        "Name": f'"slot1_{number}@h"',
        "MyAddress": '"<127.0.0.1:9?n=1>"',
        "SlotID": "1",
        "DSlotID": str(number),
    }
    return {**SLOT, **own, **ids, **more}


def test_a_match_that_ends_jobs_of_dynamic_slots_has_their_claim_ids_after_that_of_the_slot(served, tmp_path):
    """The schedd counts the blanks: one more is at the end. No record has a claim id."""
    schedd = PlayedSchedd("s", [request(1, RequestCpus="3", Requirements="TARGET.Cpus >= RequestCpus")])
    whole = slot(1, PartitionableSlot="true", SlotID="1", SlotWeight="Cpus")
    assert served([whole, *map(dynamic, (3, 1, 2))], [schedd], more=ENDING)[0] == 0
    [(claim, ad)] = schedd.matches
    assert claim == "claim of slot1@h claim of slot1_1@h claim of slot1_2@h "
    assert (ad["Cpus"], ad["RemoteUser"]) == ("3", '"various_dSlot_users"')
    assert b"claim of" not in b"".join(
        each.read_bytes() for each in (tmp_path / "var").rglob("*") if each.is_file()
    )


@pytest.mark.parametrize("listens", [True, False])
def test_a_startd_is_told_of_a_match_and_nobody_waits_for_it(served, listens):
    told, heard = [], threading.Event()

    def startd(channel, command):
        told.append((command, channel.get_string()))
        channel.end_received()
        heard.set()

    schedd = PlayedSchedd("s", [request(1)])
    with daemon(startd) as address:
        where = f'"<{address}>"' if listens else '"<127.0.0.1:9>"'
        assert served([slot(1, MyAddress=where)], [schedd], more="NEGOTIATOR_INFORM_STARTD: true\n")[0] == 0
        assert not listens or heard.wait(20)
    assert told == ([(DaemonCommand.MATCH_INFO, "claim of slot1@h")] if listens else [])
    assert [claim for claim, _ in schedd.matches] == ["claim of slot1@h"]


def test_a_slot_that_is_not_claimed_is_sent_without_its_claim_id(served):
    schedd = PlayedSchedd("s", [request(1)])
    served([slot(1, WantClaiming="false")], [schedd])
    assert [claim for claim, _ in schedd.matches] == ["null"]


def test_a_slot_that_is_offline_is_matched_without_a_claim_id_and_its_ad_says_when(served, tmp_path):
    """The schedd ignores the match; condor_rooster reads the collector's ad, and wakes the machine."""
    schedd, merged = PlayedSchedd("s", [request(1)]), []
    began = int(time.time())
    assert served([slot(3, Offline="true", SlotID="3")], [schedd], merged=merged)[0] == 0
    assert [claim for claim, _ in schedd.matches] == ["null"]
    names = [ad.string("Name") for ad in merged]
    assert names == ["slot3@h", "slot1@h"]
    assert [ad.string("StartdIpAddr") for ad in merged] == ["<127.0.0.1:9?n=3>"] * 2
    ended = int(time.time())
    assert began <= merged[0].integer("MachineLastMatchTime") <= ended
    assert began <= merged[1].integer("slot3_MachineLastMatchTime") <= ended
    assert "MyType" not in merged[0]
    (outcome,) = records(tmp_path / "var" / "audit", "outcome")
    assert (len(outcome["delivered"]), outcome["failed"]) == (1, {})


def test_each_autocluster_is_rejected_once_with_the_reason_of_its_own(served):
    asks = "TARGET.Memory > {}"
    requests = [
        request(1, 11, Requirements=asks.format(500)),
        request(2, 12, Requirements=asks.format(600)),
        request(3, 11, Requirements=asks.format(500)),
    ]
    schedd = PlayedSchedd("s", requests)
    assert served([slot(1)], [schedd])[0] == 0
    assert schedd.rejections == [
        "the job's Requirements: TARGET.Memory > 500 |11|1.0|",
        "the job's Requirements: TARGET.Memory > 600 |12|2.0|",
    ]


@pytest.mark.parametrize("more", [{}, {"JobStatus": "1"}], ids=["now", "versions that send whole job ads"])
def test_a_request_for_several_jobs_gets_a_slot_for_each_and_a_rejection_for_the_rest(served, more):
    schedd = PlayedSchedd("s", [request(1, count=3, **more)])
    assert served([slot(1), slot(2)], [schedd])[0] == 0
    assert {claim for claim, _ in schedd.matches} == {"claim of slot1@h", "claim of slot2@h"}
    assert len(schedd.rejections) == 1


def test_each_request_of_a_parallel_job_gets_a_slot_of_its_own(served):
    """The dedicated scheduler asks once for each node, under its own name, with ads of one job and without a count."""
    node = request(1, JobUniverse="11", AccountingGroup='"physics.ann"')
    del node["_condor_RESOURCE_COUNT"]
    other = request(2, autocluster=2, JobUniverse="11")
    schedd = PlayedSchedd("s", [node, node, node, other])
    assert served([slot(1), slot(2)], [schedd])[0] == 0
    assert [ad["_condor_RESOURCE_CLUSTER"] for _, ad in schedd.matches] == ["1", "1"]
    assert {claim for claim, _ in schedd.matches} == {"claim of slot1@h", "claim of slot2@h"}
    assert [text.split("|")[2] for text in schedd.rejections] == ["1.0", "2.0"]


@pytest.mark.parametrize("proc", ["0", "-99"])
def test_a_rejection_names_the_job_of_a_request_without_an_autocluster(served, proc):
    """Those of parallel jobs and of owner capacity units have none; a schedd skips an empty field of the reason."""
    asking = request(3, ProcId=proc, Requirements="TARGET.Memory > 500")
    del asking["AutoClusterId"]
    schedd = PlayedSchedd("s", [asking])
    assert served([slot(1)], [schedd])[0] == 0
    assert schedd.rejections == [f"the job's Requirements: TARGET.Memory > 500 |-1|3.{proc}|"]


@pytest.mark.parametrize("proc", ["-99", "-1"])
def test_a_request_for_no_job_gets_a_slot(served, proc):
    schedd = PlayedSchedd("s", [request(1, ProcId=proc)])
    assert served([slot(1)], [schedd])[0] == 0
    assert [ad["_condor_RESOURCE_PROC"] for _, ad in schedd.matches] == [proc]


@pytest.mark.parametrize("group", ['"bob@elsewhere"', '"physics.ann"', "undefined"])
def test_a_job_is_matched_for_the_submitter_whom_the_schedd_was_asked_about(served, tmp_path, group):
    """Whatever the ad has: a schedd may append another domain than that of the user."""
    schedd = PlayedSchedd("s", [request(1, AccountingGroup=group, User='"ann@elsewhere"')])
    served([slot(1)], [schedd], more="accounting:\n  trust_names: true\n")
    assert [each["submitter"] for each in records(tmp_path / "var" / "audit", "match")] == ["ann@d"]


def test_requests_are_served_in_the_order_of_their_schedd(served):
    """They need not have the JobPrio by which it sorted them."""
    schedd = PlayedSchedd("s", [request(5, 2), request(3, 1, JobPrio="9")])
    served([slot(1)], [schedd])
    assert [ad["_condor_RESOURCE_CLUSTER"] for _, ad in schedd.matches] == ["5"]


def test_the_schedd_is_sent_the_attributes_in_which_its_jobs_must_be_equal(served):
    schedd = PlayedSchedd("s", [request(1)])
    served([slot(1, Requirements="START", Start='TARGET.Project =!= "x"')], [schedd])
    names = schedd.header.string("AutoClusterAttrs").split(",")
    assert {"project", "requestmemory", "jobuniverse"} <= set(names)


def test_of_a_hundred_schedds_one_that_never_answers_delays_none(served, tmp_path):
    """It is released only after the program has ended."""
    schedds = [PlayedSchedd(f"s{number}", [request(number)]) for number in range(1, 100)]
    silent = PlayedSchedd("silent", [], threading.Event())
    slots = [slot(number) for number in range(1, 101)]
    _, printed = served(slots, [silent, *schedds], timeout=4)
    assert [len(each.matches) for each in schedds] == [1] * 99
    [line] = [line for line in printed.splitlines() if "silent" in line]
    assert f"schedd silent at <{silent.address}>, command NEGOTIATE" in line
    assert len(records(tmp_path / "var" / "audit", "match")) == 99


def test_a_schedd_that_hangs_keeps_one_cycle_waiting_and_its_jobs_run_once_it_answers(tmp_path):
    """The cycles after the first go on without it: with two seconds for each schedd, they are less than two seconds apart."""
    answers = threading.Event()
    silent = PlayedSchedd("silent", [request(1)], answers)
    good = PlayedSchedd("good", [request(2, Requirements="false")])
    (tmp_path / "bundle").mkdir()
    with played_pool([slot(1)], [silent, good]) as collector:
        (tmp_path / "bundle" / "pool.yaml").write_text(POOL.format(collector, 2))
        with LongCommand("serve", "--bundle", "bundle", "--every", "0.3", cwd=tmp_path) as negotiator:
            negotiator.wait_for("schedd silent at .* no answer within 2 s")
            negotiator.wait_for("schedd silent at .*; no cycle waits for it any more")
            lines = [negotiator.wait_for("^(.*)Z info +cycle .* jobs=1 matched=0") for _ in range(4)]
            times = [datetime.fromisoformat(line[1]) for line in lines]
            assert min(map(operator.sub, times[1:], times)).total_seconds() < 2
            answers.set()
            negotiator.wait_for("cycle .* jobs=2 matched=1")
    assert [claim for claim, _ in silent.matches] == ["claim of slot1@h"]


def test_a_running_job_that_a_policy_denied_is_queried_until_its_schedd_has_answered(tmp_path):
    """A schedd that does not answer in between changes nothing: the job may be permitted by then."""
    claimed = {
        "State": '"Claimed"',
        "RemoteUser": '"ann@d"',
        "RemoteScheddName": '"s"',
        "GlobalJobId": '"s#7.0#1700000000"',
        "JobId": '"7.0"',
    }
    job = {"ClusterId": "7", "ProcId": "0", "Owner": '"ann"', "User": '"ann@d"', "JobStatus": "2"}
    permitted, denied = {**job, "Closed": "false"}, {**job, "Closed": "true"}
    schedd = PlayedSchedd("s", [], running=[[permitted], [denied], None, [permitted], []])
    (tmp_path / "bundle").mkdir()
    with played_pool([slot(1, **claimed)], [schedd]) as collector:
        policy = "NEGOTIATOR_PE_JOB_ONLY_EXPR: Closed\n"
        (tmp_path / "bundle" / "pool.yaml").write_text(POOL.format(collector, 20) + policy)
        command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", "--cycles", "6"]
        subprocess.run([*command, "--every", "0.1"], cwd=tmp_path, check=False, capture_output=True)
    by_id = ["member(ClusterId, {7})" in each for each in schedd.conditions]
    assert by_id == [True, False, True, True, True, False]
    changes = [(each["change"], each["job"]) for each in records(tmp_path / "var" / "audit", "overrun")]
    assert changes == [("begun", "7.0"), ("ended", "7.0")]


def closes(_channel):
    """Close the connection."""


def answers_with_a_number(channel):
    channel.put_int(999)
    channel.end_message()


def offers_a_job_without_ids(channel):
    channel.put_int(DaemonCommand.JOB_INFO)
    channel.put_ad({"Owner": '"eve"'})
    channel.end_message()


def offers_an_ad_of_too_many_attributes(channel):
    channel.put_int(DaemonCommand.JOB_INFO)
    channel.put_int(2**40)
    channel.end_message()


def offers_more_than_was_requested(channel):
    for number in range(1000):
        channel.put_int(DaemonCommand.JOB_INFO)
        channel.put_ad(request(number))
        channel.end_message()


class HostileSchedd(PlayedSchedd):
    """A schedd that answers a negotiation in another way than agreed."""

    def __init__(self, behave):
        super().__init__("hostile", [])
        self.behave = behave

    def __call__(self, channel, _command):
        channel.get_ad()
        channel.end_received()
        channel.get_int()
        channel.get_int()
        channel.end_received()
        self.behave(channel)


@pytest.mark.parametrize(
    "behave",
    [
        closes,
        answers_with_a_number,
        offers_a_job_without_ids,
        offers_an_ad_of_too_many_attributes,
        offers_more_than_was_requested,
    ],
)
def test_a_schedd_that_breaks_the_protocol_is_named_and_the_others_are_served(served, behave):
    good, hostile = PlayedSchedd("good", [request(1)]), HostileSchedd(behave)
    _, printed = served([slot(1)], [hostile, good])
    assert [claim for claim, _ in good.matches] == ["claim of slot1@h"]
    assert f"schedd hostile at <{hostile.address}>, command NEGOTIATE" in printed
    assert "Traceback" not in printed


def test_a_signal_while_a_schedd_hangs_ends_the_process_and_removes_its_ad(tmp_path):
    """Within the timeout of the schedd, which is longer than the 10 s that plugins have; a schedd that waits is not called."""
    released, commands = threading.Event(), []
    schedds = [PlayedSchedd(f"s{number}", [request(number)], released) for number in range(33)]
    with played_pool([slot(1)], schedds, commands) as collector:
        (tmp_path / "bundle").mkdir()
        (tmp_path / "bundle" / "pool.yaml").write_text(POOL.format(collector, 13))
        command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle"]
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            for each in schedds[:32]:
                assert each.called.wait(60)
            process.terminate()
            output = process.communicate(timeout=60)[1]
    assert process.returncode == 0, output
    assert "error" not in output
    assert DaemonCommand.INVALIDATE_NEGOTIATOR_ADS in commands
    assert not schedds[32].called.is_set()


def test_a_submitter_ad_that_names_another_schedd_is_set_aside_and_named(served):
    """Else its jobs would pass for those of that schedd, and the claim ids for these would be sent to it."""

    class Liar(PlayedSchedd):
        def submitter(self):
            return super().submitter() | {"ScheddName": '"good"'}

    good, liar = PlayedSchedd("good", [request(1)]), Liar("liar", [request(1)])
    _, printed = served([slot(1)], [good, liar])
    assert [claim for claim, _ in good.matches] == ["claim of slot1@h"]
    assert not liar.called.is_set()
    assert (
        f"submitter ann@d: the ad is set aside: it names the schedd good, which is at <{good.address}>"
        in printed
    )


def test_the_reason_that_a_user_reads_names_the_slot_that_waits_for_its_claim(served):
    """The collector goes on to show the slot of the first match as it was; the other slot accepts nobody."""
    slots, requests = [slot(1), slot(2, Requirements="false")], [request(7), request(8, autocluster=2)]
    rejections = []
    for _ in range(2):
        schedd = PlayedSchedd("s", requests)
        code, output = served(slots, [schedd], options=("--state", "state"))
        assert code == 0, output
        rejections += (each for each in schedd.rejections if "|8.0|" in each)
    assert not schedd.matches
    kept = "; slot slot1@h was matched in an earlier cycle, and the pool does not show it yet |2|8.0|"
    assert [kept in each for each in rejections] == [False, True]

"""Which jobs of a queue their schedd would offer, and under which submitter name; a request was offered.

The table is that of ``Runnable`` and ``service_this_universe`` of condor_schedd 25.14; tests/live/pool/test_real_offers.py asks a real one.
"""

import pytest

import pools
from negotiator.records import Verdict
from pools import NOW, ad, job, matched, reasons, slot, snapshot

SOON, LATER = str(int(NOW)), str(int(NOW) + 3000)
PARALLEL = {"WantParallelScheduling": "true"}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"IsNoopJob": "true"}, "job_noop"),
        ({"IsNoopJob": "2"}, "job_noop"),
        ({"IsNoopJob": '"true"'}, None),
        *[
            ({"JobUniverse": number}, f"universe_{name}")
            for number, name in {
                "7": "scheduler",
                "8": "mpi",
                "9": "grid",
                "11": "parallel",
                "12": "local",
            }.items()
        ],
        *[({"JobUniverse": number}, None) for number in ("1", "5", "10", "13", "99", "undefined")],
        (PARALLEL, "parallel_scheduling"),
        (PARALLEL | {"JobUniverse": "13"}, "parallel_scheduling"),
        (PARALLEL | {"JobUniverse": "1"}, None),
        ({"Managed": '"External"'}, "managed_externally"),
        ({"Managed": '"external"'}, None),
        ({"Managed": '"ScheddDone"'}, None),
        ({"JobCoolDownExpiration": LATER}, "job_cool_down"),
        ({"JobCoolDownExpiration": SOON}, "job_cool_down"),
        ({"JobCoolDownExpiration": f"{SOON} - 1"}, None),
        ({"JobCoolDownExpiration": f"{LATER}.9"}, "job_cool_down"),
        ({"JobCoolDownExpiration": f'"{LATER}"'}, None),
        ({"CurrentHosts": "1"}, "job_has_hosts"),
        ({"CurrentHosts": "1", "MaxHosts": "2"}, None),
        ({"CurrentHosts": "2", "MaxHosts": "2"}, "job_has_hosts"),
        ({"CurrentHosts": "1.9", "MaxHosts": "true"}, "job_has_hosts"),
        ({"CurrentHosts": "0.9"}, None),
        ({"MaxHosts": "0"}, "job_has_hosts"),
        ({"JobMaterializePaused": "1"}, None),
    ],
)
def test_a_job_that_its_schedd_would_not_offer_is_set_aside_with_the_reason(changed, code):
    pool = snapshot([slot()], [job(**changed)])
    result = pools.cycle(pool)
    assert matched(result) == ([] if code else [("1.0", "s0@h")])
    assert reasons(result) == ({code} if code else set())


def test_of_several_reasons_the_first_that_the_schedd_tests_is_named():
    everything = {"Managed": '"External"', "JobCoolDownExpiration": LATER, "CurrentHosts": "1"}
    assert reasons(pools.cycle(snapshot([slot()], [job(**everything)]))) == {"managed_externally"}
    assert reasons(pools.cycle(snapshot([slot()], [job(JobStatus="5", **everything)]))) == {"job_held"}


def test_what_passes_is_waiting_and_a_universe_is_denied():
    jobs = [job(0, JobCoolDownExpiration=LATER), job(1, JobUniverse="12")]
    verdicts = {each.reason.code: each.reason.verdict for each in pools.cycle(snapshot([], jobs)).discarded}
    assert verdicts == {"job_cool_down": Verdict.WAITING, "universe_local": Verdict.DENIED}


@pytest.mark.parametrize(
    "changed",
    [{"JobUniverse": "11"}, PARALLEL, {"JobCoolDownExpiration": LATER}, {"Managed": '"External"'}],
)
def test_a_request_is_served_whatever_its_ad_has(changed):
    """The dedicated scheduler asks for the machines of parallel jobs with such ads."""
    assert matched(pools.cycle(snapshot([slot()], [job(JobStatus=None, **changed)])))


def test_each_request_of_one_job_gets_a_slot():
    """A parallel job asks once for each of its nodes."""
    requests = [job(JobStatus=None, JobUniverse="11") for _ in range(3)]
    result = pools.cycle(snapshot([slot(0), slot(1)], requests))
    assert matched(result) == [("1.0", "s0@h"), ("1.0", "s1@h")]


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({}, "tester@d"),
        ({"User": None}, "tester"),
        ({"User": '"tester@a@d"'}, "tester@a@d"),
        ({"AccountingGroup": '"physics.tester"'}, "physics.tester@d"),
        ({"AccountingGroup": '"tester@d"'}, "tester@d@d"),
        ({"AccountingGroup": '"physics.tester@d"'}, "physics.tester@d@d"),
        ({"AccountingGroup": '""'}, "tester@d"),
        ({"AccountingGroup": "7"}, "tester@d"),
        ({"AcctGroup": '"physics"', "AcctGroupUser": '"sue"'}, "tester@d"),
        ({"NiceUser": "true"}, "tester@d"),
        ({"_negotiator_SUBMITTER": '"sue@d"'}, "tester@d"),
        ({"_negotiator_SUBMITTER": '"sue@d"', "JobStatus": None}, "sue@d"),
    ],
)
def test_a_submitter_has_the_name_that_its_schedd_makes(changed, name):
    """The domain is appended whatever the name has in it."""
    [match] = pools.cycle(snapshot([slot()], [job(**changed)])).matches
    assert match.submitter == name


def test_a_job_is_charged_to_the_submitter_ad_of_its_schedd(tmp_path):
    bundle = pools.write_bundle(tmp_path / "b", "order: submitters\n")
    group, where = {"AccountingGroup": '"physics.tester@d"'}, {"GlobalJobId": '"s#1.0#1"'}
    submitter = ad(Name='"physics.tester@d@d"', ScheddName='"s"', IdleJobs="1")
    assert matched(pools.cycle(snapshot([slot()], [job(**where, **group)], submitters=[submitter]), bundle))

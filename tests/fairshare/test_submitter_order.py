"""``order: submitters``: cycles under fair share, the accounts in the state, and quotas beside it."""

import json
import sqlite3

import attrs
import pytest

from fair_share import FAIR, jobs_of, run, shares, submitter
from negotiator.cycle import turns
from negotiator.errors import BundleError
from negotiator.runtime.state import StateStore
from negotiator.runtime.state_manager import StateManager
from pools import NOW, ad, job, slot, snapshot, write_bundle


def pool(slots, **counts):
    """Return a pool of idle slots and of jobs by submitter."""
    jobs = [each for at, (name, count) in enumerate(counts.items()) for each in jobs_of(name, count, at + 1)]
    return snapshot(slots, jobs, submitters=[submitter(name, count) for name, count in counts.items()])


SLOTS = [slot(number, Cpus="1") for number in range(10)]


@pytest.fixture
def fair(tmp_path):
    return write_bundle(tmp_path / "fair", FAIR)


def test_submitters_with_equal_priorities_have_equal_shares(fair):
    assert shares(run(fair, pool(SLOTS, ann=20, sue=20))) == {"ann": 5, "sue": 5}


def test_what_a_submitter_leaves_goes_to_the_others(fair):
    assert shares(run(fair, pool(SLOTS, ann=2, sue=20))) == {"ann": 2, "sue": 8}


def test_shares_count_the_weights_of_slots(fair):
    heavy = [slot(0, Cpus="6", Rank="0"), *(slot(number, Cpus="1", Rank="0") for number in range(1, 7))]
    assert shares(run(fair, pool(heavy, ann=9, sue=9))) == {"ann": 6, "sue": 1}


def test_a_submitter_that_used_much_has_a_worse_priority_later(fair):
    first = run(fair, pool(SLOTS, ann=10))
    claimed = [
        slot(number, Cpus="1", State='"Claimed"', RemoteUser='"ann@d"', AccountingGroup='"ann@d"')
        for number in range(10)
    ]
    state, now = attrs.evolve(first.state, journal=()), NOW
    for _ in range(3):
        now += 86_400
        state = run(fair, pool(claimed, ann=1), state, now).state
    later = run(fair, pool(SLOTS, ann=20, sue=20), state, now + 60)
    assert shares(later)["sue"] > shares(later)["ann"]


def test_each_autocluster_of_a_schedd_is_a_request_of_its_own(fair):
    """Even if nothing that a cycle reads tells its jobs from those of another: condor_negotiator gets them apart."""
    jobs = [
        each
        for cluster, autocluster in ((1, 7), (2, 7), (3, 8))
        for each in jobs_of(
            "ann", 2, cluster, AutoClusterId=str(autocluster), Requirements="TARGET.Cpus > 99"
        )
    ]
    result = run(fair, snapshot(SLOTS, jobs, submitters=[submitter("ann", 6)]))
    assert [jobs[each.job_row].integer("ClusterId") for each in result.order.rejections] == [1, 3]


def test_a_quota_holds_beside_the_share(tmp_path):
    quota = """
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_charges(request, slots):
    if request.submitter == "ann@d":
        yield Charge(("ann",), 1, 2, Quota(rule="two", text="at most two"))
"""
    bundle = write_bundle(tmp_path / "quota", FAIR, plugins={"q": quota})
    assert shares(run(bundle, pool(SLOTS, ann=20, sue=20))) == {"ann": 2, "sue": 8}


def test_a_pool_without_submitter_ads_divides_among_the_submitters_of_jobs(fair):
    jobs = [*jobs_of("ann", 20, 1), *jobs_of("sue", 20, 2)]
    assert shares(run(fair, snapshot(SLOTS, jobs))) == {"ann": 5, "sue": 5}


def test_jobs_of_a_submitter_without_an_ad_wait_with_that_reason(fair):
    found = snapshot(SLOTS, [*jobs_of("ann", 2, 1), *jobs_of("sue", 3, 2)], submitters=[submitter("ann", 2)])
    result = run(fair, found)
    (rejection,) = result.rejections
    assert (rejection.submitter, rejection.jobs, rejection.reason.code) == ("sue@d", 3, "no_submitter")
    assert rejection.reason.provenance.station == "order"


@pytest.mark.parametrize("weight", ['real("INF")', 'real("NaN")', "1e300", "-5", "error", '"heavy"'])
def test_weights_and_names_of_hostile_ads_harm_nobody(fair, weight):
    odd = slot(77, State='"Claimed"', RemoteUser='"\\t\\n odd"', SlotWeight=weight)
    submitters = [submitter("ann", 4), ad(Name='"bob@d"', IdleJobs=weight, RunningJobs="1e300")]
    found = snapshot([*SLOTS, odd], jobs_of("ann", 4, 1), submitters=submitters)
    first = run(fair, found)
    second = run(fair, found, attrs.evolve(first.state, journal=()), NOW + 60)
    assert shares(first) == shares(second) == {"ann": 4}


def test_accounts_survive_cycles_under_another_order(fair, tmp_path):
    first = run(fair, pool(SLOTS, ann=10))
    by_name = write_bundle(tmp_path / "named", "order: names\n")
    later = run(by_name, pool(SLOTS, ann=10), first.state)
    assert later.state.order_rows == first.state.order_rows


def test_a_request_without_a_slot_is_matched_once_however_many_spins_there_are(fair, monkeypatch):
    """Ann's large jobs fit nowhere, and the others take turns in several spins."""
    calls = []
    one, many = turns.match, turns.SlotMatcher.plain_candidates
    monkeypatch.setattr(turns, "match", lambda of, *rest: calls.append(of.submitter) or one(of, *rest))
    monkeypatch.setattr(
        turns.SlotMatcher,
        "plain_candidates",
        lambda matcher, queued, *rest: calls.append(queued.request.submitter) or many(matcher, queued, *rest),
    )
    large = jobs_of("ann", 3, 1, Requirements="TARGET.Memory > 99999")
    found = snapshot(
        SLOTS,
        [*large, *jobs_of("sue", 5, 2), *jobs_of("tim", 5, 3)],
        submitters=[submitter("ann", 3), submitter("sue", 5), submitter("tim", 5)],
    )
    result = run(fair, found)
    (pie,) = result.order.pies
    assert len(pie.spins) > 1
    assert calls.count("ann@d") == 1


KEYS = """
from negotiator.plugin import KeyCharge, Quota, hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_charges(request, slots):
    label = Quota(rule="one", text="one application")
    yield KeyCharge((request.submitter,), request.applications, 1, label)
"""


def test_jobs_that_a_quota_refuses_leave_the_share_to_the_others_of_the_request(tmp_path):
    """The second request has the applications 2 and 5, and only 5 is running."""
    bundle = write_bundle(tmp_path / "keys", FAIR, plugins={"q": KEYS})
    ann = [
        *jobs_of("ann", 1, 5, JobPrio="9", RequestMemory="7"),
        *jobs_of("ann", 2, 2),
        *(job(proc, **IN_FIVE, GlobalJobId=f'"h#5.{proc}#1"') for proc in (1, 2)),
    ]
    found = snapshot(
        SLOTS[:4], [*ann, *jobs_of("sue", 4, 9)], submitters=[submitter("ann", 5), submitter("sue", 4)]
    )
    jobs = {entry.job for entry in run(bundle, found).journal}
    assert {name for name in jobs if not name.startswith("9")} == {"5.0", "5.1"}


IN_FIVE = {"Owner": '"ann"', "User": '"ann@d"', "ClusterId": "5"}


def test_an_unknown_order_is_an_error_with_the_known_ones(tmp_path):
    with pytest.raises(BundleError, match="unknown order submiters: known are names, queues, submitters"):
        write_bundle(tmp_path / "wrong", "order: submiters\n")


def test_accounts_are_stored_with_the_matches_and_read_by_the_next_process(fair, tmp_path):
    def restored(store):
        return StateManager.begin(fair, NOW, store)

    with StateStore.open(tmp_path / "state") as store:
        manager = restored(store)
        found = pool(SLOTS, ann=4)
        state, _ = manager.cycle_state(found, NOW)
        manager.adopt(run(fair, found, state))
    with StateStore.open(tmp_path / "state") as store:
        rows = restored(store).order_rows["submitters"]
    assert rows["account:ann@d"]["WeightedResourcesUsed"] == 4
    assert rows["clock"] == {"last_update": int(NOW)}


def test_a_damaged_account_is_reported_and_set_aside_and_the_others_are_kept(fair, tmp_path):
    with StateStore.open(tmp_path / "state") as store:
        manager = StateManager.begin(fair, NOW, store)
        state, _ = manager.cycle_state(pool(SLOTS, ann=4, sue=4), NOW)
        manager.adopt(run(fair, pool(SLOTS, ann=4, sue=4), state))
    with sqlite3.connect(tmp_path / "state" / "state.sqlite") as db:
        row = json.dumps({"Name": "ann@d", "Priority": "much"})
        db.execute("UPDATE order_rows SET row = ? WHERE key = 'account:ann@d'", (row,))
        db.execute("UPDATE order_rows SET row = '[' WHERE key = 'clock'")
    db.close()
    with StateStore.open(tmp_path / "state") as store:
        manager = StateManager.begin(fair, NOW, store)
    assert "account:sue@d" in manager.order_rows["submitters"]
    assert "account:ann@d" not in manager.order_rows["submitters"]
    assert len(manager.damaged) == 2
    assert all("of the order submitters is damaged and was set aside" in each for each in manager.damaged)

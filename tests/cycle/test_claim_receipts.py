"""The receipts of running claims: releasing a slot returns exactly what its jobs were charged."""

import numpy as np
import pytest

from negotiator.cycle.charges import ClaimReceipts
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.place import place
from negotiator.cycle.recount import recount
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.ledger import LedgerError
from negotiator.plugin import Cycle
from negotiator.records import Mode
from pools import NOW, slot, snapshot, write_bundle
from queueing import app

QUOTAS = """
import numpy as np
from negotiator.plugin import Charge, Family, Grouping, KeyCharge, Mode, Quota, hookimpl

@hookimpl
def negotiator_charges(request, slots):
    hosts, codes = np.unique(slots.strings("Machine").astype(str), return_inverse=True)
    label = Quota(rule="r", text="t")
    yield Charge(Grouping(codes, Family(("host",), hosts.tolist())), 1, 1, label)
    yield Charge(("large", request.user), request.resources["memory"], None, label)
    yield KeyCharge(("applications",), request.applications, None, label)
    yield Charge(("watched",), 2, 1, Quota(rule="w", text="t", mode=Mode.WARN))
"""
SLOTS = [slot(number, Machine=f'"h{number % 2}"') for number in range(6)]


@pytest.fixture
def bundle(tmp_path):
    return write_bundle(tmp_path / "b", plugins={"q": QUOTAS})


def runs(cluster, proc=0, where="s0@h", **more):
    own = {"JobStatus": "2", "RequestCpus": "1", "RequestMemory": "100", "RemoteHost": f'"{where}"'}
    return app(cluster, proc, **(own | more))


def counted(bundle, jobs, slots=SLOTS):
    pool = snapshot(slots, jobs)
    cycle = Cycle(1, NOW, bundle.digest)
    placed = place(pool, None, bundle, cycle, CycleState.new(bundle, NOW))
    return recount(placed, pool.slots, bundle, cycle, WorkAccounts.of(pool.slots, pool.jobs))


def used(in_use):
    """Return the counters of both modes that are not 0."""
    found = {}
    for mode in (Mode.ENFORCE, Mode.WARN):
        counters = in_use.ledger.counters(mode)
        found |= {(mode, key): amount for key, amount in counters if amount}
        found |= {(mode, key, "keys"): dict(members) for key, members in counters.key_sets() if members}
    return found


JOBS = [runs(1, number, f"s{number}@h") for number in range(4)] + [runs(2, 0, "s4@h"), runs(3, 0, "gone@h")]


@pytest.mark.parametrize("row", range(6))
def test_a_released_slot_counts_as_if_its_job_did_not_run(bundle, row):
    """Sums, sets of applications and shadow counters alike; even above a limit."""
    in_use = counted(bundle, JOBS)
    in_use.receipts.release(row, in_use.ledger)
    others = [each for each in JOBS if each.string("RemoteHost") != f"s{row}@h"]
    if row:  # the others stay one request
        assert used(in_use) == used(counted(bundle, others))
    in_use.ledger.verify()


def test_after_releasing_all_slots_jobs_on_unknown_slots_still_count(bundle):
    in_use = counted(bundle, JOBS)
    for row in range(6):
        in_use.receipts.release(row, in_use.ledger)
    assert used(in_use) == used(counted(bundle, JOBS[-1:]))
    assert in_use.receipts.of(-1) == ()


def test_several_jobs_of_a_slot_are_released_together(bundle):
    jobs = [runs(1, 0, "s1@h"), runs(2, 0, "s1@h"), runs(2, 1, "s2@h")]
    in_use = counted(bundle, jobs)
    assert len(in_use.receipts.of(1)) == 2 * len(in_use.receipts.of(2))
    in_use.receipts.release(1, in_use.ledger)
    assert used(in_use) == used(counted(bundle, jobs[-1:]))


def test_a_job_with_an_amount_too_large_to_sum_has_a_receipt_of_the_rest(bundle):
    """Such a job is charged and released for everything else."""
    jobs = [runs(cluster, 0, f"s{cluster}@h", RequestMemory="8e12") for cluster in (1, 2, 3)]
    in_use = counted(bundle, jobs)
    for row in (1, 2, 3):
        in_use.receipts.release(row, in_use.ledger)
    assert used(in_use) == {}
    in_use.ledger.verify()


def test_a_slot_cannot_be_released_twice(bundle):
    in_use = counted(bundle, JOBS)
    in_use.receipts.release(2, in_use.ledger)
    before = used(in_use)
    with pytest.raises(LedgerError, match="released before"):
        in_use.receipts.release(2, in_use.ledger)
    assert used(in_use) == before


def test_a_hundred_thousand_jobs_are_one_block():
    receipts = ClaimReceipts()
    receipts.add(np.arange(100_000)[::-1], range(1, 100_001))
    assert receipts.of(99_999) == (1,)
    assert receipts.of(0) == (100_000,)


HELD = """
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_charges(request):
    yield Charge(("held",), 1, None, Quota(rule="h", text="t", held_through_cycle=True))
    yield Charge(("released",), 1, None, Quota(rule="r", text="t"))
"""


def test_what_is_held_through_the_cycle_is_not_released_with_its_slot(tmp_path):
    """A later match of the cycle cannot use it."""
    bundle = write_bundle(tmp_path / "b", plugins={"q": HELD})
    in_use = counted(bundle, JOBS[:2])
    counters = in_use.ledger.counters()
    in_use.receipts.release(0, in_use.ledger)
    assert (counters.used(("q", "held")), counters.used(("q", "released"))) == (2, 1)
    in_use.ledger.verify()

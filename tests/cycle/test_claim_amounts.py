"""What a claim counts for: its job's requests, compared with what its slot has."""

import gc

import numpy as np
import pytest

from negotiator.classad import Ad, Environment, Table, parse_ad
from negotiator.classad.context import Compiled
from negotiator.cycle.claim_amounts import MOST, ClaimAmounts, exceeds

ENV = Environment(now=0.0)
SLOTS = [
    "[Cpus = 4; Memory = 4096; GPUs = 2; DynamicSlot = true]",
    '[Cpus = 1; Memory = 1024; GPUs = 0; SlotType = "Dynamic"]',
    "[Cpus = 8; Memory = 8192]",
    "[Cpus = 1; Memory = 1024; GPUs = 1; DynamicSlot = true]",
]
CARVED, WITHOUT_GPUS, STATIC, ONE_GPU = range(4)


@pytest.fixture
def amounts():
    slots = Table.from_ads([parse_ad(text) for text in SLOTS])
    return ClaimAmounts(slots, ("requestcpus", "requestgpus", "requestmemory"), ("requestlicence",))


def column(amounts, name, job, row):
    """Return the amount of a request of one job, None where it is not replaced."""
    values, replaced = amounts.columns(Table.from_ads([parse_ad(job)]), np.array([row]), ENV)[name]
    return values[0] if np.broadcast_to(replaced, 1)[0] else None


@pytest.mark.parametrize(
    ("job", "row", "gpus"),
    [
        ("[x = 1]", CARVED, 2),  # its slot was made with two
        ("[x = 1]", ONE_GPU, 1),
        ("[x = 1]", WITHOUT_GPUS, None),
        ("[x = 1]", STATIC, None),
        ("[RequestGPUs = 1]", CARVED, 2),
        ("[RequestGPUs = 3]", CARVED, 2),
        ("[RequestGPUs = 0]", WITHOUT_GPUS, 0),
    ],
)
def test_a_job_without_a_request_requests_what_its_dynamic_slot_has_and_otherwise_nothing(
    amounts, job, row, gpus
):
    assert column(amounts, "requestgpus", job, row) == gpus


@pytest.mark.parametrize(
    ("cpus", "counted"), [("2", 2), ("9", 8), ("0", 1), ("-1", 8), ("1e300", 8), ('"2"', 8)]
)
def test_a_request_counts_at_least_one_core_and_at_most_the_slot_and_an_invalid_one_for_the_slot(
    amounts, cpus, counted
):
    assert column(amounts, "requestcpus", f"[RequestCpus = {cpus}]", STATIC) == counted


def test_a_job_outside_the_pool_counts_at_most_for_the_largest_slot(amounts):
    assert column(amounts, "requestmemory", f"[RequestMemory = {MOST}]", -1) == 8192


@pytest.mark.parametrize(
    ("job", "row", "expected"),
    [
        ({"RequestCpus": 1, "RequestMemory": 9999}, CARVED, {"requestcpus": 4, "requestgpus": 2}),
        ({"RequestCpus": 1, "RequestMemory": 1024, "RequestGPUs": -1}, WITHOUT_GPUS, {}),
        ({"RequestCpus": 1}, STATIC, {}),
        ({"RequestCpus": 1}, -1, {}),
    ],
)
def test_a_match_with_a_dynamic_slot_counts_at_least_what_the_slot_has(amounts, job, row, expected):
    ad = Ad(list(job.items()))
    changed = amounts.of_claim(ad, row)
    assert {name: changed.integer(name) for name in expected} == expected
    assert (changed is ad) is (not expected)


@pytest.mark.parametrize("name", ["requestcpus", "requestgpus", "requestlicence"])
@pytest.mark.parametrize("value", [2, 9, 0, -1, 1.5, 1e300, "2", True])
def test_one_value_of_all_matches_counts_as_it_would_at_each(amounts, name, value):
    """Also where all slots hold it, which is found without a look at each."""
    rows = np.array([CARVED, STATIC])
    found = amounts.of_matches(name, [value], rows)
    each = [
        amount for row in rows for amount in amounts.of_matches(name, [value, value], np.array([row, row]))
    ]
    assert (found * 2 if len(found) == 1 else found) == each


def test_amounts_of_further_cycles_leave_no_compiled_trees_behind():
    """A negotiator that reads the same requests in each cycle would grow, up to the limit of the trees that are kept."""

    def trees():
        gc.collect()
        return sum(type(each) is Compiled for each in gc.get_objects())

    job, names = parse_ad("[RequestCpus = 1; RequestGpus = RequestCpus + 1]"), ("requestcpus", "requestgpus")
    assert not exceeds(job, names, Environment())
    before = trees()
    for _ in range(50):
        exceeds(job, names, Environment())
    assert trees() == before

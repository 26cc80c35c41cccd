"""The example pool of examples/first-pool."""

import re
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from negotiator.pool import read_pool

FOLDER = Path(__file__).parents[2] / "examples" / "first-pool"


def test_the_example_pool_is_read_without_a_problem():
    """Each file adds ads of its own; no ad occurs twice."""
    pool = read_pool([FOLDER])
    assert pool.problems == ()
    assert (len(pool.slots), len(pool.jobs), len(pool.submitters), len(pool.schedds)) == (33, 19, 3, 1)
    assert (pool.private, pool.other) == (8, 0)


def test_its_files_may_be_joined():
    """Each ends in a blank line, as the output of HTCondor's tools does: ``cat *.ads | negotiator run -``."""
    joined = BytesIO(b"".join(file.read_bytes() for file in sorted(FOLDER.glob("*.ads"))))
    pool = read_pool(["-"], joined)
    assert pool.problems == ()
    assert (len(pool.slots), len(pool.jobs), len(pool.submitters), len(pool.schedds)) == (33, 19, 3, 1)


def test_the_example_pool_has_slots_of_every_type():
    """Partitionable, dynamic and static ones, in use and free."""
    slots = read_pool([FOLDER]).slots.ads
    assert Counter(slot.string("SlotType") for slot in slots) == {
        "Partitionable": 2,
        "Dynamic": 5,
        "Static": 26,
    }
    assert Counter(slot.string("State") for slot in slots) == {"Claimed": 7, "Unclaimed": 26}


def test_the_example_pool_agrees_with_itself():
    """The jobs that slots say they run are running, and submitters have as many idle jobs as they say."""
    pool = read_pool([FOLDER])
    running = {job.string("GlobalJobId") for job in pool.jobs.ads if job.integer("JobStatus") == 2}
    assert {slot.string("GlobalJobId") for slot in pool.slots.ads} - {None} <= running
    idle = Counter(
        (job.string("AccountingGroup") or job.string("Owner")) + "@example.org"
        for job in pool.jobs.ads
        if job.integer("JobStatus") == 1
    )
    assert {ad.string("Name"): ad.integer("IdleJobs") for ad in pool.submitters.ads} == idle


def test_the_example_pool_holds_no_real_claim_ids():
    """Every claim id ends with the word REDACTED where its secret was."""
    text = "".join(path.read_text() for path in FOLDER.glob("*.ads"))
    secrets = re.findall(r"^(?:ClaimId|ChildClaimIds) = (.*)$", text, re.MULTILINE)
    assert len(secrets) == 9
    for secret in secrets:
        assert secret.count("#[") == secret.count("]REDACTED") > 0


def test_the_tables_of_a_snapshot_can_not_be_changed():
    pool = read_pool([FOLDER])
    for table in (pool.schedds, pool.submitters, pool.slots, pool.jobs):
        with pytest.raises(TypeError, match="not frozen"):
            table.append([])

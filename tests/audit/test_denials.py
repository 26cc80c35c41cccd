"""What one user's denials may take of the audit log."""

import json

from negotiator.audit.denials import OWNER_BYTES, RECORD_BYTES
from negotiator.audit.records import records_by_kind
from pools import cycle, job, slot, snapshot

LONG = " && ".join(
    f'(TARGET.Name != "{"x" * 300}{number}" && TARGET.Cpus > {number + 9})' for number in range(80)
)


def denials(jobs):
    return records_by_kind(cycle(snapshot([slot(0), slot(1)], jobs)))["denial"]


def size(record):
    return len(json.dumps(record["reasons"]))


def test_the_reasons_of_a_denial_have_a_budget():
    """Whatever the Requirements of the job; the others are counted."""
    (record,) = denials([job(Requirements=LONG)])
    assert 0 < size(record) <= RECORD_BYTES + 200
    assert record["reasons_left_out"] > 0
    assert len(json.dumps(record)) < 2 * RECORD_BYTES


def test_all_denials_of_an_owner_have_a_budget():
    """Under any accounting group; each has one short reason at least, and those of another user are complete."""
    many = [
        job(n, Requirements=LONG.replace("xxx", f"a{n}"), AccountingGroup=f'"g{n}.tester"') for n in range(60)
    ]
    short = {"Requirements": "TARGET.Cpus > 99 && TARGET.Memory > 9999"}
    records = denials([*many, job(99, Owner='"zoe"', User='"zoe@d"', **short)])
    own = [record for record in records if "tester" in record["submitter"]]
    assert len(own) == 60
    assert sum(map(size, own)) <= OWNER_BYTES + 60 * 1_000
    assert all(record["reasons"] for record in own)
    (other,) = [record for record in records if "zoe" in record["submitter"]]
    assert other["reasons_left_out"] == 0

"""What one user's denials may take of the audit log."""

import json

import numpy as np
import pytest

from negotiator.audit.denials import ID_BYTES, OWNER_BYTES, RECORD_BYTES, bounded_denials
from negotiator.audit.records import records_by_kind
from negotiator.classad import Ad
from negotiator.cycle.jobs import JobRanges
from negotiator.cycle.result import Removal, RequestOutcome
from negotiator.hooks.records import Request
from negotiator.records import Provenance, Reason, Station, Verdict
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


def test_a_denial_names_all_its_jobs_as_ranges_and_each_record_its_time():
    """Also those that it would not match because there are fewer slots."""
    jobs = [job(n, ClusterId=str(12 + n // 100), ProcId=str(n % 100), Rank="0") for n in range(150) if n != 7]
    by_kind = records_by_kind(cycle(snapshot([slot(0), slot(1)], jobs)))
    (record,) = by_kind["denial"]
    assert (record["jobs"], record["first_job"]) == (147, "12.2")
    assert record["job_ids"] == ["12.2-6", "12.8-99", "13.0-49"]
    assert record["job_ids_left_out"] == 0
    assert {each["time"] for records in by_kind.values() for each in records} == {by_kind["cycle"][0]["time"]}


def test_the_ids_of_a_denial_have_a_budget_and_the_others_are_counted():
    """Jobs may have any ids: here no two are neighbours."""
    (record,) = denials([job(n, ClusterId=str(10**6 + 2 * n), ProcId="3") for n in range(700)])
    assert len(json.dumps(record["job_ids"])) <= ID_BYTES
    assert len(record["job_ids"]) > 100
    assert len(record["job_ids"]) + record["job_ids_left_out"] == record["jobs"] == 698


def test_the_ids_of_all_denials_of_an_owner_have_a_budget():
    """Each denial names one range at least."""
    alone = np.arange(0, 10_000, 2, dtype=np.int64)
    request = Request("ada@pool", "submit1", Ad([("Owner", "ada")]), 5000, "0.0")
    outcome = RequestOutcome(request, (), "0.0", 0, (), JobRanges.of(alone, alone))
    ids = [fields["job_ids"] for _, fields in bounded_denials([outcome] * 300)]
    assert min(map(len, ids)) == 1
    assert sum(len(json.dumps(each)) for each in ids) <= OWNER_BYTES + 300 * 40


@pytest.mark.parametrize(
    ("submitter", "user", "shared"),
    [("g{}.zoe", "zoe", True), ("zoe", "", True), ("zoe", "u{}", False), ("g{}.zoe", "", False)],
)
def test_without_an_owner_the_budget_is_that_of_the_user_then_of_the_submitter(submitter, user, shared):
    """40 denials with long reasons take more than the budget of one."""
    where = Provenance(Station.MATCH, "expressions", "1.0", "r" * 256)
    reason = Reason(Verdict.DENIED, "code", "t" * 500, where)
    removals = tuple(Removal(reason, number, 0) for number in range(1, 30))
    requests = [
        Request(submitter.format(number), "s", Ad([]), 1, "1.0", user=user.format(number))
        for number in range(40)
    ]
    outcomes = [RequestOutcome(request, (), "1.0", 0, removals) for request in requests]
    short = [request for request, fields in bounded_denials(outcomes) if len(fields["reasons"]) == 1]
    assert bool(short) is shared


def reason_of(size):
    """Return a removal whose fields take so many bytes."""
    where = Provenance(Station.MATCH, "expressions", "1.0", "rule")
    (fields,) = reasons_of([outcome_with([Removal(Reason(Verdict.DENIED, "code", "", where), 10, 0)])])[0]
    text = "t" * (size - len(json.dumps(fields)))
    return Removal(Reason(Verdict.DENIED, "code", text, where), 10, 0)


def outcome_with(removals):
    return RequestOutcome(Request("zoe", "s", Ad([]), 1, "1.0"), (), "1.0", 0, tuple(removals))


def reasons_of(outcomes):
    return [fields["reasons"] for _, fields in bounded_denials(outcomes)]


@pytest.mark.parametrize("more", [0, 1])
def test_reasons_that_take_exactly_the_budget_of_a_record_are_recorded(more):
    *full, last = [500] * (RECORD_BYTES // 500)
    (reasons,) = reasons_of([outcome_with(map(reason_of, [*full, last + more]))])
    assert len(reasons) == len(full) + (not more)


@pytest.mark.parametrize("more", [0, 1])
def test_reasons_that_take_exactly_the_budget_of_an_owner_are_recorded(more):
    full = [outcome_with([reason_of(500)] * 10)] * (OWNER_BYTES // 5000 - 1)
    *_, last = reasons_of([*full, outcome_with([*[reason_of(500)] * 9, reason_of(500 + more)])])
    assert len(last) == 10 - more


@pytest.mark.parametrize(("length", "shown"), [(120, "t" * 120), (121, "t" * 119 + "…")])
def test_the_one_reason_beyond_the_budget_has_texts_of_120_characters(length, shown):
    where = Provenance(Station.MATCH, "expressions", "1.0", "t" * length)
    reason = Reason(Verdict.DENIED, "t" * length, "t" * length, where, numbers={"n": 1.0})
    full = [outcome_with([reason_of(500)] * 10)] * (OWNER_BYTES // 5000)
    *_, (last,) = reasons_of([*full, outcome_with([Removal(reason, 1, 0)])])
    assert (last["text"], last["code"], last["provenance"]["rule"]) == (shown, shown, shown)
    assert last["numbers"] == {}


def test_the_decisive_reason_of_a_denial_is_named_and_always_recorded():
    """It took the last slots, even if others took more and leave no room."""
    (record,) = denials([job(Requirements=f"{LONG} && TARGET.Cpus > 5")])
    decisive = record["reasons"][record["decisive"]]
    assert decisive["removed"] > 0


def test_a_denial_by_other_jobs_has_no_decisive_reason():
    """All slots are taken by jobs of the same request."""
    (record,) = denials([job(n, Requirements="true", Rank="0") for n in range(3)])
    assert (record["jobs"], record["decisive"]) == (1, None)


def test_matches_and_denials_name_the_owner_of_the_jobs():
    """Whatever the accounting group of the submitter."""
    jobs = [job(n, Owner='"zoe"', User='"zoe@d"', AccountingGroup='"physics.zoe"') for n in range(3)]
    by_kind = records_by_kind(cycle(snapshot([slot(0), slot(1)], jobs)))
    assert {each["user"] for kind in ("match", "denial") for each in by_kind[kind]} == {"zoe"}

"""The records of one job: its matches and its denials, in all files of a log."""

import pytest

from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.search import AuditQuery, records_in_order

RECORDS = [
    {"kind": "denial", "job_ids": ["12.0-5", "13.7"], "first_job": "12.0", "jobs": 7},
    {"kind": "match", "job": "12.6"},
    {"kind": "denial", "first_job": "12.7"},  # of an earlier version
    {"kind": "match", "job": "13.0"},
    {"kind": "cycle", "job": "12.6"},
]


@pytest.fixture
def folder(tmp_path):
    with AuditLog.open(tmp_path / "audit", rotate_bytes=400) as log:
        for record in RECORDS:
            log.append([record])
    assert len(list((tmp_path / "audit").glob("audit-*"))) > 1
    return tmp_path / "audit"


@pytest.mark.parametrize(
    ("job", "places"),
    [
        ("12.0", [0]),
        ("12.5", [0]),
        ("12.6", [1]),
        ("12.7", [2]),
        ("12", [0, 1, 2]),
        ("13.7", [0]),
        ("13", [0, 3]),
        ("12.8", []),
        ("1", []),
    ],
)
def test_a_job_or_a_cluster_has_its_matches_and_denials_in_their_order(folder, job, places):
    found = [{key: record[key] for key in RECORDS[place]} for record, place in _numbered(folder, job)]
    assert found == [RECORDS[place] for place in places]


def _numbered(folder, job):
    return [(record, record["seq"] - 1) for record in records_in_order(folder, [AuditQuery(job=job)])]


def test_a_line_that_is_no_record_is_named(folder):
    first = min(folder.glob("audit-*"))
    first.write_bytes(first.read_bytes() + b"broken\n")
    number = len(first.read_bytes().splitlines())
    with pytest.raises(AuditError, match=rf"{first.name}:{number}: not a record"):
        list(records_in_order(folder, [AuditQuery(job="99")]))


def test_a_line_that_is_not_an_object_is_no_match(folder):
    first = min(folder.glob("audit-*"))
    first.write_bytes(b"[1]\n")
    assert [record["job"] for record in records_in_order(folder, [AuditQuery(job="13.0")])] == ["13.0"]


def test_a_folder_without_a_log_is_an_error(tmp_path):
    with pytest.raises(AuditError, match="no audit log"):
        list(records_in_order(tmp_path, [AuditQuery(job="1")]))

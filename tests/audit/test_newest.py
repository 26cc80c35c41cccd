"""Pages of the newest records of an audit log, by their properties."""

import json

import pytest

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.newest import newest_records, records_backwards
from negotiator.audit.values import instant

START = 1_700_000_000.0
KINDS = (
    {"kind": "match", "user": "ada", "submitter": "ada@d", "job": "12.1", "slot": "s1@n", "queue": "root.a"},
    {"kind": "denial", "user": "bob", "submitter": "g.bob@d", "job_ids": ["12.4-9"], "first_job": "12.4"},
    {"kind": "admin", "user": 'ö"x', "action": "hold", "queue": "root.b"},
    {"kind": "cycle"},
)


def record(number):
    """Return the record of a number, from 1: kinds in turn, ten seconds apart."""
    fields = dict(KINDS[(number - 1) % len(KINDS)])
    kind = fields.pop("kind")
    cycle = {} if kind == "admin" else {"cycle": number}
    return {"kind": kind, **cycle, "time": instant(START + 10 * (number - 1)), **fields}


@pytest.fixture
def folder(tmp_path):
    with AuditLog.open(tmp_path / "audit", rotate_bytes=2_000) as log:
        for number in range(1, 41):
            log.append([record(number)])
    assert len(list((tmp_path / "audit").glob("audit-*"))) > 3
    return tmp_path / "audit"


def numbers(page):
    return [each["seq"] for each in page.records]


def test_the_newest_records_come_first_and_pages_join(folder):
    """Over the ends of files; every record is on one page."""
    found, query = [], AuditQuery()
    while True:
        page = audit_page(folder, query, 7)
        found += numbers(page)
        if page.before is None:
            break
        query = AuditQuery(before=page.before)
    assert found == list(range(40, 0, -1))


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ({"kinds": frozenset({"match", "cycle"})}, {0, 3}),
        ({"job": "12.1"}, {0}),
        ({"job": "12.7"}, {1}),
        ({"job": "12"}, {0, 1}),
        ({"job": "1"}, set()),
        ({"user": "ada"}, {0}),
        ({"user": "g.bob@d"}, {1}),
        ({"user": "bo"}, set()),
        ({"user": 'ö"x'}, {2}),
        ({"slot": "s1@n"}, {0}),
        ({"queue": "root.b"}, {2}),
        ({"queue": "root"}, set()),
        ({"text": "G.BOB"}, {1}),
        ({"text": 'ö"X'}, {2}),
        ({"text": "hold", "user": "ada"}, set()),
    ],
)
def test_records_have_all_wanted_properties(folder, query, places):
    expected = [number for number in range(40, 0, -1) if (number - 1) % len(KINDS) in places]
    assert numbers(audit_page(folder, AuditQuery(**query))) == expected


def test_a_time_span_has_its_beginning_and_not_its_end(folder):
    page = audit_page(folder, AuditQuery(since=START + 100, until=START + 130))
    assert (numbers(page), page.before) == ([13, 12, 11], None)


def test_a_change_of_a_queue_that_began_earlier_does_not_end_the_search(tmp_path):
    """Its time is that of the change, not of its record."""
    change = {"kind": "queue_change", "cycle": 2, "time": instant(START - 500), "queue": "root.a"}
    with AuditLog.open(tmp_path, rotate_bytes=10**6) as log:
        log.append([record(1), change, record(2)])
    assert numbers(audit_page(tmp_path, AuditQuery(since=START))) == [3, 1]


def test_a_page_ends_after_its_bytes_and_the_next_one_goes_on(folder):
    """So a search for what is not there has an end."""
    query = AuditQuery(user="nobody")
    page = newest_records(folder, query, 10, most_bytes=1_000)
    assert (page.records, page.searched) == ((), False)
    assert 0 < page.before < 40
    rest = newest_records(folder, AuditQuery(user="nobody", before=page.before), 10)
    assert (rest.records, rest.before, rest.searched) == ((), None, True)


def test_a_line_that_is_being_written_is_left_out(folder):
    last = max(folder.glob("audit-*"))
    last.write_bytes(last.read_bytes() + b'{"seq":41,"prev":"ab')
    assert numbers(audit_page(folder, AuditQuery(), 1)) == [40]


def test_long_lines_over_many_blocks_are_read_whole(tmp_path):
    """A record can have megabytes."""
    texts = ["a" * 3_000_000, "b", "c" * 2**20]
    with AuditLog.open(tmp_path, rotate_bytes=10**8) as log:
        log.append([{"kind": "admin", "text": text} for text in texts])
    assert [each["text"] for each in audit_page(tmp_path, AuditQuery()).records] == texts[::-1]


@pytest.mark.parametrize("line", [b"broken", b'{"seq":41,broken', json.dumps([1]).encode()])
def test_a_line_that_is_no_record_is_an_error(folder, line):
    last = max(folder.glob("audit-*"))
    last.write_bytes(last.read_bytes() + line + b"\n")
    with pytest.raises(AuditError, match=rf"{last.name}: a line is not a record"):
        audit_page(folder, AuditQuery())


def test_a_folder_without_a_log_is_an_error(tmp_path):
    with pytest.raises(AuditError, match="no audit log"):
        audit_page(tmp_path, AuditQuery())


def test_all_records_of_a_time_are_read_backwards_and_nothing_older(folder):
    """A broken line before that time is not read."""
    query = AuditQuery(kinds=frozenset({"match", "cycle"}), since=START + 300)
    assert [each["seq"] for each in records_backwards(folder, query)] == [40, 37, 36, 33, 32]
    first = min(folder.glob("audit-*"))
    first.write_bytes(
        b'{"seq":1,"prev":"0","kind":"match","cycle":1,"time":"2000-01-01T00:00:00.000Z",broken\n'
    )
    assert len(list(records_backwards(folder, query))) == 5
    with pytest.raises(AuditError, match="a line is not a record"):
        list(records_backwards(folder, AuditQuery(kinds=frozenset({"match"}))))
    with pytest.raises(AuditError, match="no audit log"):
        list(records_backwards(folder / "..", query))

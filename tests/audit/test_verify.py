"""Detection of tampering with an audit log, by the kinds of ``FaultKind``."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import tempfile
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.verify import FaultKind, verify

KEY = b"sixteen bytes or more"

texts = st.text(max_size=12) | st.sampled_from(['","hash":"', "\n", "\udc80", '{"seq":1}'])
payloads = st.fixed_dictionaries(
    {"kind": st.sampled_from(["match", "denial", "cycle"]), "text": texts}, optional={"number": st.integers()}
)
keys = st.sampled_from([None, KEY])
rotations = st.sampled_from([1, 500, 10_000])


@pytest.fixture(autouse=True, scope="module")
def _no_durability():
    """Switch fsync off: the tests create thousands of small logs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _fd: None)
        yield


def write_log(folder, records, *, key=None, rotate_bytes=10_000):
    with AuditLog.open(folder, key=key, rotate_bytes=rotate_bytes) as log:
        for record in records:
            log.append([record])
        return log.head


@contextmanager
def a_log(records, **options):
    """A log in a folder of its own, for tests that make many."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "audit"
        yield folder, write_log(folder, records, **options)


def files_of(folder):
    return sorted(folder.glob("audit-*.jsonl"))


def lines_of(folder):
    return [line for file in files_of(folder) for line in file.read_bytes().splitlines(keepends=True)]


def put_lines(folder, lines):
    """Write lines to the files: as many to each file as before, the rest to the last."""
    counts = [len(file.read_bytes().splitlines()) for file in files_of(folder)]
    rest = list(lines)
    for file, count in zip(files_of(folder), [*counts[:-1], len(rest)], strict=True):
        file.write_bytes(b"".join(rest[:count]))
        del rest[:count]


def sealed_anew(line, *, key=None, **changes):
    """Return an altered record with its matching hash, as an attacker who knows the format makes it."""
    record = json.loads(line) | changes
    del record["hash"]
    body = json.dumps(record, separators=(",", ":")).encode()
    digest = hmac.digest(key, body, "sha256").hex() if key else hashlib.sha256(body).hexdigest()
    return body[:-1] + f',"hash":"{digest}"}}\n'.encode()


def notes(number):
    return [{"kind": "note", "text": f"text {each}"} for each in range(1, number + 1)]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "audit"


@settings(deadline=None)
@given(records=st.lists(payloads, max_size=6), key=keys, rotate=rotations)
def test_an_untouched_log_verifies(records, key, rotate):
    """With or without a key, in one file or several; and so does every head."""
    with a_log(records, key=key, rotate_bytes=rotate) as (folder, head):
        found = verify(folder, key=key, head=head)
        assert (found.records, found.head, found.fault) == (len(records), head, None)
        for line in lines_of(folder):
            record = json.loads(line)
            assert verify(folder, key=key, head=f"{record['seq']}:{record['hash']}").fault is None


@settings(deadline=None, max_examples=300)
@given(records=st.lists(payloads, min_size=1, max_size=5), key=keys, rotate=rotations, data=st.data())
def test_a_change_of_any_byte_names_its_record(records, key, rotate, data):
    """One changed byte of record k, line end and hash included, is a fault of record k."""
    with a_log(records, key=key, rotate_bytes=rotate) as (folder, _):
        lines = lines_of(folder)
        number = data.draw(st.integers(0, len(lines) - 1))
        place = data.draw(st.integers(0, len(lines[number]) - 1))
        byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != lines[number][place]))
        changed = lines[number][:place] + bytes([byte]) + lines[number][place + 1 :]
        put_lines(folder, [*lines[:number], changed, *lines[number + 1 :]])
        fault = verify(folder, key=key).fault
        assert fault is not None
        assert fault.seq == number + 1
        assert fault.kind in {FaultKind.CHANGED, FaultKind.KEY, FaultKind.TORN}
        assert json.loads(lines[number])["seq"] == fault.seq


@settings(deadline=None, max_examples=200)
@given(
    records=st.lists(payloads, min_size=1, max_size=5),
    key=keys,
    place=st.integers(0),
    more=st.binary(min_size=1),
)
def test_inserted_bytes_name_their_record(records, key, place, more):
    """White space, line ends, NULs, anything: the fault is at the record that they are in, or before."""
    with a_log(records, key=key) as (folder, _):
        (file,) = files_of(folder)
        content = file.read_bytes()
        place %= len(content) + 1
        damaged = content[:place] + more + content[place:]
        file.write_bytes(damaged)
        fault = verify(folder, key=key).fault
        assert fault is not None
        pairs = zip(content, damaged, strict=False)
        same = next((at for at, (old, new) in enumerate(pairs) if old != new), len(content))
        assert fault.seq == content[:same].count(b"\n") + 1


@settings(deadline=None)
@given(records=st.lists(payloads, min_size=2, max_size=8), key=keys, rotate=rotations, data=st.data())
def test_removed_records_are_named(records, key, rotate, data):
    """The fault has the number and the place of the first missing record, at the beginning and in the middle."""
    with a_log(records, key=key, rotate_bytes=rotate) as (folder, head):
        lines = lines_of(folder)
        start = data.draw(st.integers(0, len(lines) - 2))
        end = data.draw(st.integers(start + 1, len(lines) - 1))
        put_lines(folder, lines[:start] + lines[end:])
        fault = verify(folder, key=key).fault
        assert (fault.kind, fault.seq) == (FaultKind.REMOVED, start + 1)
        assert verify(folder, key=key, head=head).fault == fault


@settings(deadline=None)
@given(records=st.lists(payloads, min_size=1, max_size=5), key=keys, rotate=rotations, data=st.data())
def test_an_end_that_was_cut_off_is_shown_by_the_head_only(records, key, rotate, data):
    """A shorter log is valid; the head stored elsewhere shows the number of the first missing record."""
    with a_log(records, key=key, rotate_bytes=rotate) as (folder, head):
        remaining = data.draw(st.integers(0, len(records) - 1))
        put_lines(folder, lines_of(folder)[:remaining])
        assert verify(folder, key=key).fault is None
        fault = verify(folder, key=key, head=head).fault
        assert (fault.kind, fault.seq) == (FaultKind.CUT_OFF, remaining + 1)


@settings(deadline=None)
@given(records=st.lists(payloads, min_size=2, max_size=8), key=keys, rotate=rotations, data=st.data())
def test_swapped_records_are_found(records, key, rotate, data):
    """The fault names the earlier of the two, with its present place."""
    with a_log(records, key=key, rotate_bytes=rotate) as (folder, _):
        lines = lines_of(folder)
        first = data.draw(st.integers(0, len(lines) - 2))
        second = data.draw(st.integers(first + 1, len(lines) - 1))
        lines[first], lines[second] = lines[second], lines[first]
        put_lines(folder, lines)
        fault = verify(folder, key=key).fault
        assert (fault.kind, fault.seq) == (FaultKind.REORDERED, first + 1)
        assert fault.message.startswith(f"record {second + 1} instead of record {first + 1}, which is at ")


@settings(deadline=None)
@given(records=st.lists(payloads, min_size=1, max_size=6), key=keys, data=st.data())
def test_a_duplicated_record_is_detected(records, key, data):
    """A copy after its original is an inserted record, one before it is a wrong order; the fault has its line."""
    with a_log(records, key=key) as (folder, _):
        lines = lines_of(folder)
        original = data.draw(st.integers(0, len(lines) - 1))
        place = data.draw(st.integers(0, len(lines)).filter(lambda place: place != original))
        put_lines(folder, [*lines[:place], lines[original], *lines[place:]])
        fault = verify(folder, key=key).fault
        assert fault.kind is (FaultKind.INSERTED if place > original else FaultKind.REORDERED)
        assert (fault.line, fault.seq) == (place + 1, place + 1)


def test_a_fault_has_file_and_line(folder):
    """Lines count from 1 in each file."""
    write_log(folder, notes(6), rotate_bytes=600)
    second = files_of(folder)[1]
    lines = second.read_bytes().splitlines(keepends=True)
    second.write_bytes(lines[0] + lines[1].replace(b"text", b"next"))
    fault = verify(folder).fault
    assert (fault.file, fault.line) == (second.name, 2)
    assert fault.seq == json.loads(lines[1])["seq"]


def test_a_missing_file_is_found(folder):
    """All records of a file in the middle are missing."""
    write_log(folder, notes(5), rotate_bytes=1)
    files_of(folder)[1].unlink()
    fault = verify(folder).fault
    assert (fault.file, fault.kind, fault.seq) == ("audit-000003.jsonl", FaultKind.REMOVED, 2)
    assert fault.message == "record 2 is missing before record 3: removed"


def test_files_are_read_by_number(folder):
    """The millionth file follows the one before it though its name sorts before it; other names do not count."""
    write_log(folder, notes(2), rotate_bytes=1)
    first, second = files_of(folder)
    second.rename(folder / "audit-1000000.jsonl")
    first.rename(folder / "audit-999999.jsonl")
    for name in ("audit-0000001.jsonl", "audit-000001.jsonl~", "notes.txt"):
        (folder / name).write_text("not of the log")
    assert (verify(folder).records, verify(folder).files, verify(folder).fault) == (2, 2, None)
    write_log(folder, notes(1), rotate_bytes=1)
    assert (folder / "audit-1000001.jsonl").exists()


def test_the_same_meaning_in_other_bytes_is_a_change(folder):
    """Other blanks or another order of fields are detected, although JSON reads them alike."""
    write_log(folder, notes(2))
    lines = lines_of(folder)
    for same in (lines[0].replace(b",", b", "), b"{" + lines[0][1:].replace(b"text 1", rb"text\u00201")):
        assert json.loads(same) == json.loads(lines[0])
        put_lines(folder, [same, lines[1]])
        assert verify(folder).fault.seq == 1
    put_lines(folder, [b'{"seq": 1}\n', lines[1]])
    assert verify(folder).fault.message == "record 1 was changed: it does not have the form of a record"
    put_lines(folder, [b"[" * 100_000 + b"\n", lines[1]])
    assert verify(folder).fault.message == "record 1 was changed: it is not JSON"


def test_a_record_that_was_changed_and_hashed_again_is_named(folder):
    """Its own hash is right, but the next record has the hash of the original."""
    write_log(folder, notes(4))
    lines = lines_of(folder)
    put_lines(folder, [lines[0], sealed_anew(lines[1], text="other"), *lines[2:]])
    fault = verify(folder).fault
    assert (fault.line, fault.seq, fault.kind) == (2, 2, FaultKind.CHANGED)
    put_lines(folder, [sealed_anew(lines[0], prev="1" * 64), *lines[1:]])
    fault = verify(folder).fault
    assert (fault.line, fault.seq, fault.kind) == (1, 1, FaultKind.CHANGED)


def test_a_log_rewritten_as_a_whole_is_shown_by_a_head_or_a_key(folder, tmp_path):
    """Without a key anybody can write a valid log of other content; the head of the original shows it."""
    head = write_log(folder, notes(3))
    other = tmp_path / "other"
    write_log(other, [*notes(2), {"kind": "note", "text": "other"}, *notes(2)])
    assert verify(other).fault is None
    fault = verify(other, head=head).fault
    assert (fault.line, fault.seq, fault.kind) == (3, 3, FaultKind.REWRITTEN)
    fault = verify(other, key=KEY).fault
    assert (fault.seq, fault.kind) == (1, FaultKind.KEY)
    assert fault.message == "record 1: the log is not keyed, and a key was given"


def test_a_keyed_record_cannot_be_hashed_again_without_the_key(folder):
    """Neither with another key, nor without one."""
    write_log(folder, notes(3), key=KEY)
    lines = lines_of(folder)
    for forged in (sealed_anew(lines[2], key=b"guess" * 4, text="x"), sealed_anew(lines[2], text="x")):
        put_lines(folder, [*lines[:2], forged])
        assert (verify(folder, key=KEY).fault.seq, verify(folder, key=KEY).fault.kind) == (
            3,
            FaultKind.CHANGED,
        )


def test_the_wrong_key_is_distinguished_from_tampering(folder):
    """A record has the id of its key, without the key."""
    write_log(folder, notes(2), key=KEY)
    fault = verify(folder, key=KEY + b"!").fault
    assert (fault.seq, fault.kind) == (1, FaultKind.KEY)
    assert "keyed with another key" in fault.message


def test_a_keyed_log_cannot_be_verified_without_its_key(folder):
    """The result is that the key is missing, not that the log was tampered with."""
    write_log(folder, notes(2), key=KEY)
    with pytest.raises(AuditError, match=r"the log is keyed .* no key was given: it cannot be verified"):
        verify(folder)


def test_a_keyed_record_in_a_log_without_key_is_a_fault(folder):
    """The writer of the other records did not write it."""
    write_log(folder, notes(2))
    lines = lines_of(folder)
    with a_log(notes(3), key=KEY) as (other, _):
        put_lines(folder, [*lines, lines_of(other)[2]])
    assert (verify(folder).fault.seq, verify(folder).fault.kind) == (3, FaultKind.KEY)


@pytest.mark.parametrize("head", ["", "1", "1:abc", "x:" + "0" * 64, "-1:" + "0" * 64, "1:" + "g" * 64])
def test_a_head_is_a_number_and_a_hash(folder, head):
    """Other texts are errors of the caller, and not a head of zero."""
    write_log(folder, notes(1))
    with pytest.raises(ValueError, match="SEQ:HASH"):
        verify(folder, head=head)


def test_no_log_is_an_error(tmp_path):
    """For a folder without a log, a file and a missing path, the error names the path."""
    with pytest.raises(AuditError, match="no audit log in this folder"):
        verify(tmp_path)
    with pytest.raises(AuditError, match="missing: cannot read the folder of the audit log: No such file"):
        verify(tmp_path / "missing")
    (tmp_path / "audit-000001.jsonl").mkdir()
    with pytest.raises(AuditError, match="not a regular file"):
        verify(tmp_path)


def test_memory_does_not_grow_with_the_log(folder):
    """20 MB are verified with less than one MB."""
    with AuditLog.open(folder, rotate_bytes=8_000_000) as log:
        for _ in range(20):
            log.append([{"kind": "note", "text": "x" * 900}] * 1000)
    tracemalloc.start()
    try:
        assert verify(folder).records == 20_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_line_without_end_is_not_read_into_memory(folder):
    """A file of one endless line needs no more memory than the longest valid record."""
    write_log(folder, notes(1))
    with files_of(folder)[0].open("r+b") as stream:
        stream.truncate(2**31)
    tracemalloc.start()
    try:
        fault = verify(folder).fault
        assert (fault.line, fault.seq, fault.kind) == (2, 2, FaultKind.CHANGED)
        with pytest.raises(AuditError, match="no record at the end"):
            AuditLog.open(folder, rotate_bytes=1000)
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()

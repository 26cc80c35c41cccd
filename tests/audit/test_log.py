"""The writer of the audit log, on real files."""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.verify import verify

KEY = b"sixteen bytes or more"


def opened(folder, *, key=None, rotate_bytes=1_000_000):
    return AuditLog.open(folder, key=key, rotate_bytes=rotate_bytes)


def written(folder, records, **options):
    with opened(folder, **options) as log:
        log.append(records)
        log.sync()
        return log.head


def notes(*texts):
    return [{"kind": "note", "text": text} for text in texts]


def lines(folder):
    return [
        line
        for file in sorted(folder.glob("audit-*.jsonl"))
        for line in file.read_bytes().splitlines(keepends=True)
    ]


def objects(folder):
    return [json.loads(line) for line in lines(folder)]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "audit"


@pytest.mark.parametrize("key", [None, KEY])
def test_the_format_can_be_checked_without_this_program(folder, key):
    """A line without its last field is the text that was hashed, and each line has the hash of the one above."""
    head = written(folder, notes("a", 'b,"hash":"', "c\n\udc80é"), key=key)
    prev = "0" * 64
    for seq, line in enumerate(lines(folder), start=1):
        body, _, rest = line.rpartition(b',"hash":"')
        body += b"}"
        digest = hashlib.sha256(body).hexdigest() if key is None else hmac.digest(key, body, "sha256").hex()
        assert rest == digest.encode() + b'"}\n'
        record = json.loads(line)
        assert (record["seq"], record["prev"], record["hash"]) == (seq, prev, digest)
        assert ("keyed" in record) == (key is not None)
        prev = digest
    assert head == f"3:{prev}"


def test_the_check_in_the_documentation_works(folder, monkeypatch):
    """The lines of code in docs/audit.md accept a valid log of several files, and refuse an altered one."""
    text = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
    code = compile(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], "audit.md", "exec")
    monkeypatch.chdir(folder.parent)
    folder = Path("var/audit")
    with opened(folder, rotate_bytes=1) as log:
        for text in ("a", "b", "c"):
            log.append(notes(text))
    exec(code, {})  # noqa: S102 - it is our own
    second = folder / "audit-000002.jsonl"
    second.write_bytes(second.read_bytes().replace(b'"b"', b'"x"'))
    with pytest.raises(AssertionError):
        exec(code, {})  # noqa: S102


def test_an_empty_log_has_the_head_zero(folder):
    """Before the first record the head is number 0 and 64 zeros, and the log verifies."""
    with opened(folder) as log:
        assert log.head == "0:" + "0" * 64
    assert verify(folder).records == 0


def test_a_log_that_is_opened_again_continues_where_it_ended(folder):
    """Numbers and hashes continue across processes."""
    first = written(folder, notes("a", "b"))
    with opened(folder) as log:
        assert (log.head, log.notices) == (first, ())
    assert written(folder, notes("c")).startswith("3:")
    found = verify(folder, head=first)
    assert (found.records, found.files, found.fault) == (3, 1, None)


def test_texts_are_read_back_unchanged(folder):
    """Bytes that are not UTF-8 (lone surrogates), control characters and quotes survive, and the file stays ASCII."""
    text = '\udcff\udc80 \x00\x1b[31m "\\\n\u2028 \U0001f600 é'
    written(folder, notes(text))
    assert objects(folder)[0]["text"] == text
    assert lines(folder)[0].isascii()


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "note", "seq": 7},
        {"kind": "note", "hash": ""},
        {"kind": "note", "keyed": False},
        {"kind": "note", "prev": ""},
        {"kind": 3},
        {"kind": "note", "rank": float("nan")},
    ],
)
def test_an_invalid_record_is_refused_with_its_whole_batch(folder, record):
    """Fields of the log itself, a kind that is not a string, and numbers that JSON lacks are errors of the caller."""
    with opened(folder) as log:
        with pytest.raises(ValueError):
            log.append([*notes("good"), record])
        assert log.head.startswith("0:")
    assert lines(folder) == []


def test_a_record_too_long_to_be_read_back_is_refused(folder):
    """The length of a line is limited, so that a reader needs bounded memory."""
    with opened(folder) as log, pytest.raises(AuditError, match="kind note has 17000"):
        log.append(notes("x" * 17_000_000))
    assert lines(folder) == []


def test_files_are_not_readable_by_everybody(folder):
    """Whatever the umask, other users can neither read nor write the log."""
    mask = os.umask(0)
    try:
        written(folder, notes("a"))
    finally:
        os.umask(mask)
    assert folder.stat().st_mode & 0o7777 == 0o750
    modes = {file.name: file.stat().st_mode & 0o7777 for file in folder.iterdir()}
    assert modes.pop("audit.lock") == 0o600  # whoever may open it could hold it
    assert set(modes.values()) == {0o640}


def test_rotation_keeps_the_chain(folder):
    """A file does not exceed the limit; the first line of the next one has the hash of the last of the one before."""
    with opened(folder, rotate_bytes=600) as log:
        for number in range(10):
            log.append(notes(f"record {number}"))
        log.sync()
        head = log.head
    files = sorted(folder.glob("audit-*.jsonl"))
    assert [file.name for file in files[:2]] == ["audit-000001.jsonl", "audit-000002.jsonl"]
    assert all(file.stat().st_size <= 600 for file in files)
    found = verify(folder, head=head)
    assert (found.records, found.files, found.fault) == (10, len(files), None)
    written(folder, notes("again"), rotate_bytes=600)
    assert verify(folder, head=head).records == 11


@pytest.mark.parametrize("rotate_bytes", [1, 1_000_000])
def test_the_last_cycle_is_found_behind_other_records_and_in_earlier_files(folder, rotate_bytes):
    with opened(folder, rotate_bytes=rotate_bytes) as log:
        assert log.last_cycle == 0
        log.append([{"kind": "cycle", "cycle": 7, "time": "2026-11-20T00:00:00Z"}])
        assert log.last_cycle == 7
        log.append([{"kind": "admin", "time": "2026-11-20T00:00:00Z", "user": "sue"}])
        log.append([{"kind": "outcome", "cycle": 7, "time": "2026-11-20T00:00:00Z"}])
        for _ in range(20):
            log.append([{"kind": "admin", "time": "2026-11-20T00:00:00Z", "note": '"cycle":9,"time":"'}])
        assert log.last_cycle == 7
    with opened(folder, rotate_bytes=rotate_bytes) as log:
        assert log.last_cycle == 7


def test_a_cycle_whose_records_were_not_written_has_no_number(folder):
    with opened(folder) as log:
        log.append([{"kind": "cycle", "cycle": 1, "time": "2026-11-20T00:00:00Z"}])
        with pytest.raises(ValueError):
            log.append([{"kind": "cycle", "cycle": 2, "time": "2026-11-20T00:00:00Z", "seq": 1}])
        assert log.last_cycle == 1


def test_a_file_is_durable_before_the_next_one_exists(folder, monkeypatch):
    """After a power cut only the last file can be torn, and the names of files with records are durable."""
    calls = []
    fsync, open_file = os.fsync, os.open

    def record_fsync(fd):
        calls.append(("fsync", str(Path(f"/proc/self/fd/{fd}").readlink()), os.fstat(fd).st_size))
        fsync(fd)

    def record_open(path, flags, *mode):
        if flags & os.O_EXCL:
            calls.append(("create", str(path)))
        return open_file(path, flags, *mode)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "open", record_open)
    with opened(folder, rotate_bytes=1) as log:
        log.append(notes("a"))
        calls.clear()
        log.append(notes("b"))
    first, second = sorted(folder.glob("audit-*.jsonl"))
    assert calls[:2] == [("fsync", str(first), first.stat().st_size), ("create", str(second))]
    assert calls[2][:2] == ("fsync", str(folder))


def test_records_appended_together_stay_in_one_file(folder):
    """A batch is never divided, even if it exceeds the size of a file."""
    with opened(folder, rotate_bytes=300) as log:
        for _ in range(2):
            log.append(notes(*"abcdef"))
    assert [len(file.read_bytes().splitlines()) for file in sorted(folder.glob("audit-*.jsonl"))] == [6, 6]


def test_a_second_writer_is_refused(folder):
    """While a process has the log open, no other can open it, nor the same one twice; afterwards they can."""
    script = (
        "import sys; from pathlib import Path; from negotiator.audit.log import AuditLog; "
        "AuditLog.open(Path(sys.argv[1]), rotate_bytes=1000)"
    )
    with opened(folder):
        with pytest.raises(AuditError, match="another process"):
            opened(folder)
        other = subprocess.run(
            [sys.executable, "-c", script, folder], capture_output=True, text=True, check=False
        )
        assert other.returncode == 1
        assert "AuditBusyError: " in other.stderr
        assert "another process has this audit log open" in other.stderr
    subprocess.run([sys.executable, "-c", script, folder], check=True)


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_torn_last_line_is_replaced_by_a_repair_record(folder, before):
    """Wherever the last line is torn, complete lines stay; a record and a notice describe what was cut off."""
    written(folder, notes(*["whole"] * before, "torn"))
    file = folder / "audit-000001.jsonl"
    data = file.read_bytes()
    start = len(b"".join(data.splitlines(keepends=True)[:-1]))
    for end in range(start + 1, len(data)):
        file.write_bytes(data[:end])
        with opened(folder) as log:
            (notice,) = log.notices
            assert str(file) in notice
            assert f"{end - start} bytes" in notice
        *complete, repair = objects(folder)
        assert [record["text"] for record in complete] == ["whole"] * before
        digest = hashlib.sha256(data[start:end]).hexdigest()
        assert (repair["kind"], repair["bytes"], repair["sha256"]) == ("repair", end - start, digest)
        assert verify(folder).fault is None
        with opened(folder) as log:
            assert log.notices == ()


def test_a_torn_line_longer_than_its_repair_record_is_removed(folder):
    """The repair overwrites the torn line; nothing of a longer one is left behind it."""
    written(folder, notes("whole"))
    with (folder / "audit-000001.jsonl").open("ab") as stream:
        stream.write(b"x" * 300_000)
    with opened(folder) as log:
        assert "300000 bytes" in log.notices[0]
    assert (verify(folder).records, verify(folder).fault) == (2, None)


def test_a_line_torn_at_the_beginning_of_a_new_file_is_repaired_there(folder):
    """The chain continues from the last record of the file before."""
    for text in ("a", "b"):
        written(folder, notes(text), rotate_bytes=1)
    second = folder / "audit-000002.jsonl"
    second.write_bytes(second.read_bytes()[:50])
    written(folder, notes("c"), rotate_bytes=1)
    assert [record["kind"] for record in objects(folder)] == ["note", "repair", "note"]
    assert verify(folder).fault is None


def test_a_torn_line_before_the_last_file_is_an_error(folder):
    """Each file is synced before the next one begins, so that this is tampering, which is not repaired."""
    for text in ("a", "b"):
        written(folder, notes(text), rotate_bytes=1)
    (folder / "audit-000001.jsonl").write_bytes(lines(folder)[0][:50])
    (folder / "audit-000002.jsonl").write_bytes(b"")
    with pytest.raises(AuditError, match=r"audit-000001\.jsonl: its last line is torn though"):
        opened(folder)


@pytest.mark.parametrize("junk", [b"{}\n", b"\n", b"\0" * 4000 + b"\n"])
def test_a_complete_last_line_that_does_not_verify_is_unchanged(folder, junk):
    """A complete line was altered, not torn: nothing is appended or cut, and the error explains how to examine it."""
    written(folder, notes("a"))
    file = folder / "audit-000001.jsonl"
    data = file.read_bytes() + junk
    file.write_bytes(data)
    with pytest.raises(
        AuditError, match=r"audit-000001\.jsonl: the last record does not verify.*audit verify"
    ):
        opened(folder)
    assert file.read_bytes() == data


def test_an_altered_last_record_is_detected_when_the_log_is_opened(folder):
    """One changed letter is detected."""
    written(folder, notes("a", "before"))
    file = folder / "audit-000001.jsonl"
    file.write_bytes(file.read_bytes().replace(b"before", b"beyond"))
    with pytest.raises(AuditError, match="does not verify"):
        opened(folder)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (KEY, None, "no key was given"),
        (None, KEY, "the log is not keyed"),
        (KEY, KEY + b"!", "with another key"),
    ],
)
def test_a_chain_has_one_key(folder, first, second, message):
    """A missing or different key is reported as such and not as tampering; no key is ever printed."""
    written(folder, notes("a"), key=first)
    with pytest.raises(AuditError, match=message) as caught:
        opened(folder, key=second)
    assert "sixteen" not in str(caught.value)


def test_a_log_that_another_program_moved_away_is_not_written(folder):
    """Rotation by another program is an error, since records would go into an unlinked file."""
    with opened(folder) as log:
        log.append(notes("a"))
        (folder / "audit-000001.jsonl").rename(folder / "audit.old")
        with pytest.raises(AuditError, match=r"audit-000001\.jsonl: cannot find"):
            log.append(notes("b"))
        (folder / "audit-000001.jsonl").touch()
        with pytest.raises(AuditError, match="moved or replaced by another program"):
            log.append(notes("b"))


def test_a_log_that_another_program_wrote_to_is_not_written_over(folder):
    """The writer knows the end of its log, and does not overwrite what another program appended."""
    with opened(folder) as log:
        log.append(notes("a"))
        with (folder / "audit-000001.jsonl").open("ab") as stream:
            stream.write(b"{}\n")
        with pytest.raises(AuditError, match="changed by another program"):
            log.append(notes("b"))
    assert verify(folder).fault.line == 2


def test_a_symbolic_link_is_not_followed_for_writing(folder, tmp_path):
    """A link in the folder cannot make the writer overwrite another file."""
    victim = tmp_path / "victim"
    victim.touch()
    folder.mkdir()
    (folder / "audit-000001.jsonl").symlink_to(victim)
    with pytest.raises(AuditError, match=r"audit-000001\.jsonl.*symbolic link"):
        opened(folder)
    assert victim.read_bytes() == b""


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    """The error has the path and the system's message."""
    (tmp_path / "file").touch()
    with pytest.raises(
        AuditError, match="file/audit: cannot make the folder of the audit log: Not a directory"
    ):
        opened(tmp_path / "file" / "audit")


def test_a_closed_log_cannot_be_written(folder):
    """After close, append and sync raise an AuditError."""
    log = opened(folder)
    log.close()
    log.close()
    for call in (log.sync, lambda: log.append(notes("a"))):
        with pytest.raises(AuditError, match="closed"):
            call()


def test_records_that_could_not_be_synced_are_removed(folder, monkeypatch):
    """After a failed fsync the state of the disk is unknown: the log is cut to what was synced, and can continue."""
    with opened(folder) as log:
        log.append(notes("durable"))
        log.sync()
        head = log.head
        log.append(notes("doubtful"))
        with monkeypatch.context() as patch:
            # No device at hand fails on demand.
            patch.setattr(
                os, "fsync", lambda _fd: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error"))
            )
            with pytest.raises(
                AuditError, match=r"audit-000001\.jsonl: cannot make .* durable: Input/output error"
            ):
                log.sync()
        assert log.head == head
        log.append(notes("later"))
        log.sync()
    assert [record["text"] for record in objects(folder)] == ["durable", "later"]
    assert verify(folder).fault is None


def test_a_rollback_that_fails_too_closes_the_log(folder, monkeypatch):
    """If cutting fails too, nothing more is written until the log is opened and repaired."""
    with opened(folder) as log:
        log.append(notes("a"))
        log.sync()
        with monkeypatch.context() as patch:
            write = os.pwrite

            def half(fd, data, offset):
                if len(data) < 100:
                    raise OSError(errno.EIO, "Input/output error")
                return write(fd, data[: len(data) - 50], offset)

            patch.setattr(os, "pwrite", half)
            patch.setattr(
                os, "ftruncate", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error"))
            )
            with pytest.raises(AuditError, match="cannot write"):
                log.append(notes("b"))
        with pytest.raises(AuditError, match="open it again"):
            log.append(notes("c"))
    with opened(folder) as log:
        assert len(log.notices) == 1
    assert [record["kind"] for record in objects(folder)] == ["note", "repair"]
    assert verify(folder).fault is None


def test_a_log_that_cannot_be_continued_closes_no_descriptor_of_others(folder):
    written(folder, notes("a"))
    (file,) = folder.glob("audit-*")
    file.write_bytes(file.read_bytes().replace(b'"a"', b'"b"'))
    others = [os.fstat(fd).st_ino for fd in (0, 1, 2)]
    with pytest.raises(AuditError):
        opened(folder)
    assert [os.fstat(fd).st_ino for fd in (0, 1, 2)] == others

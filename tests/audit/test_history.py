"""What a log tells about a state before it is continued: matches, outcomes, and the first fault."""

import pytest

from negotiator.audit.administration import recovery_record
from negotiator.audit.chain import Seal
from negotiator.audit.history import complete_files, fault_fields, read_history
from negotiator.audit.log import AuditLog

SEAL = Seal(None)
SMALL = 400  # bytes of a file: one record or two


def a_cycle(number, last_match=None):
    saved = {} if last_match is None else {"last_match": last_match}
    return [{"kind": "match", "match": f"m{number}"}, {"kind": "cycle", "cycle": number, **saved}]


def outcome(number):
    return {"kind": "outcome", "cycle": number}


def write(folder, records, rotate_bytes=10_000):
    with AuditLog.open(folder, rotate_bytes=rotate_bytes) as log:
        for record in records:
            log.append([record])
        return log.head


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "audit"


def test_a_history_has_the_last_match_of_each_cycle_with_a_saved_state_and_the_recorded_outcomes(folder):
    head = write(folder, [*a_cycle(1, "m1"), outcome(1), *a_cycle(2), *a_cycle(7, ""), *a_cycle(8, "m8")])
    history = read_history(folder, SEAL, 3)
    assert (history.matches, history.cycles) == ({2: "m1", 7: "", 9: "m8"}, {2: 1, 7: 7, 9: 8})
    assert history.outcomes == {1}
    assert history.last_match == "m8"
    assert [history.last_match_until(seq) for seq in (1, 2, 6, 7, 8, 9)] == [None, "m1", "m1", "", "", "m8"]
    assert [history.cycles_after(seq) for seq in (1, 2, 8, 9)] == [[1, 7, 8], [7, 8], [8], []]
    assert (str(history.last), history.at_mark.seq, history.fault) == (head, 3, None)


def test_a_log_without_cycles_has_no_last_match(folder):
    write(folder, [{"kind": "admin"}])
    history = read_history(folder, SEAL, 9)
    assert (history.last_match, history.last_match_until(9), history.at_mark) == (None, None, None)


def test_a_file_that_changed_since_it_was_verified_is_read_again(folder):
    """And so are all after it; the last file in any case."""
    write(folder, [record for number in range(1, 5) for record in a_cycle(number, f"m{number}")], SMALL)
    files = sorted(folder.glob("audit-*"))
    assert len(files) > 3
    verified = complete_files(folder)
    assert list(verified) == [file.name for file in files[:-1]]
    for place, file in enumerate(files):
        before = file.read_bytes()
        file.write_bytes(before.replace(b'"kind":"match"', b'"kind":"other"'))  # the first record
        assert read_history(folder, SEAL, 0, verified).fault.file == file.name
        fault = read_history(folder, SEAL, 0).fault  # reads the last file only
        assert (fault is not None) is (place == len(files) - 1)
        file.write_bytes(before)
        verified = complete_files(folder)
    assert read_history(folder, SEAL, 0, verified).fault is None


def test_the_record_at_the_mark_is_known_although_its_file_is_not_read_again(folder):
    write(folder, [{"kind": "admin", "number": number} for number in range(6)], SMALL)
    *_, before, last = sorted(folder.glob("audit-*"))
    mark = len(b"".join(file.read_bytes() for file in folder.glob("audit-*")).splitlines())
    mark -= len(last.read_bytes().splitlines())
    history = read_history(folder, SEAL, mark, complete_files(folder))
    assert history.at_mark.hash.encode() in before.read_bytes().splitlines()[-1]


def accepted(fault):
    fields = fault_fields(fault)
    return recovery_record(now=0.0, bundle="", user="ada", differences=(), state_head="", fault=fields)


def test_a_fault_is_passed_over_after_a_recovery_that_names_it(folder):
    write(folder, [*a_cycle(1, "m1"), *a_cycle(2, "m2"), outcome(2)])
    (file,) = folder.glob("audit-*")
    file.write_bytes(file.read_bytes().replace(b'"match":"m1"', b'"match":"m9"'))
    fault = read_history(folder, SEAL, 0).fault
    assert (fault.file, fault.line, fault.seq) == (file.name, 1, 1)
    write(folder, [accepted(fault), *a_cycle(3, "m3")])
    history = read_history(folder, SEAL, 0)
    assert (history.fault, history.last_match, history.last.seq) == (None, "m3", 8)


def test_a_recovery_that_names_another_fault_accepts_nothing(folder):
    write(folder, [*a_cycle(1, "m1"), *a_cycle(2, "m2")])
    (file,) = folder.glob("audit-*")
    before = file.read_bytes()
    file.write_bytes(before.replace(b'"match":"m2"', b'"match":"m9"'))
    later = read_history(folder, SEAL, 0).fault
    file.write_bytes(before.replace(b'"match":"m1"', b'"match":"m9"'))
    write(folder, [accepted(later), accepted(None)])
    assert read_history(folder, SEAL, 0).fault.line == 1


def test_a_recovery_before_a_fault_does_not_accept_it(folder):
    """An administrator cannot have seen it."""
    write(folder, [*a_cycle(1, "m1"), *a_cycle(2, "m2")])
    (file,) = folder.glob("audit-*")
    before = file.read_bytes()
    file.write_bytes(before.replace(b'"match":"m2"', b'"match":"m9"'))
    fault = read_history(folder, SEAL, 0).fault
    file.unlink()
    write(folder, [accepted(fault), *a_cycle(1, "m1"), *a_cycle(2, "m2")])
    changed = file.read_bytes().replace(b'"match":"m2"', b'"match":"m9"')
    file.write_bytes(changed)
    assert read_history(folder, SEAL, 0).fault.seq == 4

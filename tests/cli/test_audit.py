"""``negotiator audit verify``, as its users call it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from negotiator.audit.bundles import bundle_file, store_bundle
from negotiator.audit.log import AuditLog
from negotiator.bundle.archive import digest_of
from negotiator.cli import main
from negotiator.cli.commands.audit import audit

KEY = b"sixteen bytes or more"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "audit"


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY + b"\n")
    path.chmod(0o640)
    return path


def write_log(folder, *, key=None):
    with AuditLog.open(folder, key=key, rotate_bytes=1) as log:
        for text in ("a", "b", "c"):
            log.append([{"kind": "note", "text": text}])
        return log.head


def verify(*arguments):
    return CliRunner().invoke(audit, ["verify", *map(str, arguments)], catch_exceptions=False)


def test_a_valid_log_is_ok_and_its_head_is_printed(folder):
    """One line with the number of records and files, and the head."""
    head = write_log(folder)
    for arguments in ((), ("--head", head), ("--head", head.upper())):
        ran = verify(folder, *arguments)
        assert (ran.exit_code, ran.output) == (0, f"ok: 3 records in 3 files, head {head}\n")


def test_one_changed_byte_names_the_record(folder):
    """File and line in the format of compilers, and exit code 1."""
    write_log(folder)
    file = folder / "audit-000002.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"b"', b'"x"'))
    ran = verify(folder)
    assert ran.exit_code == 1
    assert ran.output == f"{file}:1: record 2 was changed: its hash does not fit its content\n"


def test_an_end_that_was_cut_off_is_found_with_the_head(folder):
    """If the last file is missing, the head stored elsewhere shows it."""
    head = write_log(folder)
    (folder / "audit-000003.jsonl").unlink()
    assert verify(folder).exit_code == 0
    ran = verify(folder, "--head", head)
    assert ran.exit_code == 1
    assert "audit-000002.jsonl:1: the log ends with record 2, but record 3 was written" in ran.output


def test_json_is_one_object(folder):
    """With the same exit codes."""
    head = write_log(folder)
    ran = verify(folder, "--json")
    assert (ran.exit_code, json.loads(ran.output)) == (
        0,
        {"ok": True, "records": 3, "files": 3, "head": head, "fault": None, "bundles": 0, "warnings": []},
    )
    (folder / "audit-000002.jsonl").unlink()
    ran = verify(folder, "--json")
    finding = json.loads(ran.output)
    assert (ran.exit_code, finding["ok"], finding["records"]) == (1, False, 1)
    assert finding["fault"] == {
        "file": "audit-000003.jsonl",
        "line": 1,
        "seq": 2,
        "kind": "removed",
        "message": "record 2 is missing before record 3: removed",
    }
    ran = verify(folder / "missing", "--json")
    assert (ran.exit_code, json.loads(ran.output)["ok"]) == (3, None)


def test_a_keyed_log_needs_its_key(folder, key_file):
    """Without the key the result is exit code 3; with it the log verifies."""
    write_log(folder, key=KEY)
    ran = verify(folder)
    assert ran.exit_code == 3
    assert "no key was given" in ran.stderr
    assert verify(folder, "--key-file", key_file).exit_code == 0
    key_file.write_bytes(b"another key of some length")
    ran = verify(folder, "--key-file", key_file)
    assert ran.exit_code == 1
    assert "keyed with another key" in ran.output


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (KEY, 0o644, "every user may read or write this key"),
        (KEY, 0o602, "every user may read or write this key"),
        (b"short", 0o600, "a key must have 16 to 4096 bytes"),
        (b"long" * 2000, 0o600, "a key must have 16 to 4096 bytes"),
        (b"\n" * 20, 0o600, "a key must have 16 to 4096 bytes"),
    ],
)
def test_a_bad_key_file_is_refused_and_not_shown(folder, key_file, content, mode, message):
    """A key that everybody may read protects nothing, and a short one can be guessed."""
    write_log(folder)
    key_file.write_bytes(content)
    key_file.chmod(mode)
    ran = verify(folder, "--key-file", key_file)
    assert ran.exit_code == 3
    assert ran.stderr.startswith(f"error: {key_file}: {message}")
    assert content.decode().strip() not in ran.stderr or not content.strip()


def test_a_key_file_that_is_not_a_regular_file_is_refused(folder, tmp_path):
    """A folder, a device and a missing file are errors that name the path."""
    write_log(folder)
    for path, message in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file"),
        ("/dev/null", "regular"),
    ):
        ran = verify(folder, "--key-file", path)
        assert ran.exit_code == 3
        assert f"error: {path}: " in ran.stderr
        assert message in ran.stderr


def test_a_missing_log_is_an_error(tmp_path):
    """An empty folder or a wrong path is exit code 3 with a message on standard error."""
    for path in (tmp_path, tmp_path / "missing"):
        ran = verify(path)
        assert (ran.exit_code, ran.stdout) == (3, "")
        assert ran.stderr.startswith(f"error: {path}: ")


def test_an_invalid_head_is_a_wrong_command_line(folder):
    """The message has the format of a head."""
    write_log(folder)
    ran = verify(folder, "--head", "3")
    assert ran.exit_code == 2
    assert "invalid head: must be SEQ:HASH" in ran.stderr


def test_help_has_an_example_and_the_exit_codes():
    """What one needs in order to call it from a script."""
    ran = verify("--help")
    assert ran.exit_code == 0
    assert "negotiator audit verify var/audit --head" in ran.output
    assert "Exit codes:" in ran.output


@pytest.fixture
def digest(folder):
    files = {"pool.yaml": b"plugins: {}\n", "data.bin": b"\xff"}
    found = digest_of(files)
    folder.mkdir(exist_ok=True)
    store_bundle(folder, found, files)
    return found


def bundle(folder, *arguments):
    return CliRunner().invoke(audit, ["bundle", *map(str, arguments), "--audit-log", str(folder)])


def test_a_bundle_is_printed_by_its_digest(folder, digest):
    """As a list of its files, or one of them, byte for byte."""
    listed = bundle(folder, digest[:8])
    assert (listed.exit_code, listed.output.split()[:2]) == (0, ["Bundle", digest])
    assert "  pool.yaml     12" in listed.output
    assert bundle(folder, digest, "data.bin").stdout_bytes == b"\xff"


def test_a_missing_or_altered_bundle_is_reported(folder, digest):
    assert bundle(folder, "0" * 64).exit_code == 3
    ran = bundle(folder, digest, "other.yaml")
    assert (ran.exit_code, ran.stderr) == (1, "error: this bundle has no file other.yaml\n")
    bundle_file(folder, digest).write_text("{}")
    assert bundle(folder, digest).exit_code == 1


def test_the_records_of_a_job_are_found_within_ranges(folder):
    denied = {"kind": "denial", "first_job": "12.0", "job_ids": ["12.0-499", "13.7"]}
    matched = {"kind": "match", "job": "12.500"}
    earlier = {"kind": "denial", "first_job": "14.1", "jobs": 3}
    with AuditLog.open(folder, rotate_bytes=10**6) as log:
        log.append([denied, matched, earlier])
    expected = {"12.300": [0], "13": [0], "12.500": [1], "12": [0, 1], "14.1": [2], "13.8": [], "1": []}
    for job, places in expected.items():
        done = CliRunner().invoke(audit, ["why", job, "--records", "--audit-log", str(folder)])
        assert [json.loads(line)["seq"] - 1 for line in done.stdout.splitlines()] == places
        assert done.exit_code == (0 if places else 1)


def test_the_argument_of_verify_wins_over_the_variable_and_the_default(folder, tmp_path, monkeypatch):
    write_log(folder)
    write_log(tmp_path / "var" / "audit", key=KEY)
    monkeypatch.chdir(tmp_path)
    for variables in ({}, {"NEGOTIATOR_AUDIT_LOG": "elsewhere"}):
        ran = CliRunner().invoke(main, ["audit", "verify", "audit"], env=variables)
        assert (ran.exit_code, ran.output[:4]) == (0, "ok: ")
    for words in ((folder, "--audit-log", folder), ("--audit-log", folder)):
        assert verify(*words).exit_code == 0
    assert "no key was given" in verify().stderr


def test_an_argument_of_verify_and_another_option_are_refused(folder, tmp_path):
    write_log(folder)
    ran = verify(tmp_path / "my log", "--audit-log", folder)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"use negotiator audit verify '{tmp_path / 'my log'}'\n" in ran.stderr


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["why", "12.7", "log"], "why 12.7 --audit-log log"),
        (["why", "12.7", "log", "--since", "7d"], "why 12.7 --since 7d --audit-log log"),
        (["who", "sue", "log"], "who sue --audit-log log"),
        (["changes", "log"], "changes --audit-log log"),
        (["sql", "SELECT 1 AS x", "log"], "sql 'SELECT 1 AS x' --audit-log log"),
        (["sql", "SELECT 1", "x.parquet", "--csv"], "sql 'SELECT 1' --csv --audit-log x.parquet"),
        (["export", "x.parquet", "log"], "export x.parquet --audit-log log"),
        (["bundle", "5f0c4a11", "log"], "bundle 5f0c4a11 --audit-log log"),
        (["bundle", "5f0c4a11", "log", "pool.yaml"], "bundle 5f0c4a11 pool.yaml --audit-log log"),
        (["job", "12.7", "log"], "why JOB --records --audit-log DIR"),
        (["search", "log", "--user", "sue"], "why --audit-log DIR, with the same filters"),
    ],
)
def test_a_wrong_form_is_answered_with_the_right_one(tmp_path, monkeypatch, words, right):
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "log")
    ran = CliRunner().invoke(main, ["audit", *words])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"use negotiator audit {right}\n" in ran.stderr


def test_a_query_without_quotes_is_no_folder():
    ran = CliRunner().invoke(main, ["audit", "sql", "SELECT", "1", "AS", "x"])
    assert (ran.exit_code, "unexpected arguments: 1 AS x\n" in ran.stderr) == (2, True)

"""The use cases of an auditor."""

import pytest

from negotiator.app.audit import parse_head, stored_bundle, verify_log
from negotiator.audit.bundles import NoBundleError, store_bundle
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.bundle.archive import digest_of

FILES = {"pool.yaml": b"policies: {}\n"}


@pytest.fixture
def folder(tmp_path):
    with AuditLog.open(tmp_path / "audit", rotate_bytes=1 << 20) as log:
        log.append([{"kind": "note", "text": "a"}])
    return tmp_path / "audit"


def test_a_log_is_verified_against_a_head_stored_elsewhere(folder):
    assert verify_log(folder).fault is None
    found = verify_log(folder, head="2:" + "0" * 64)
    assert found.fault is not None


def test_a_missing_log_and_a_missing_key_are_audit_errors(folder, tmp_path):
    with pytest.raises(AuditError, match="no audit log"):
        verify_log(tmp_path)
    with pytest.raises(AuditError, match="key"):
        verify_log(folder, key_file=tmp_path / "key")


def test_a_head_is_brought_into_its_canonical_form_or_refused():
    assert parse_head("7:" + "AB" * 32) == "7:" + "ab" * 32
    with pytest.raises(ValueError, match="SEQ:HASH"):
        parse_head("7")


def test_a_stored_bundle_is_found_by_the_beginning_of_its_digest_in_any_case(folder):
    digest = digest_of(FILES)
    store_bundle(folder, digest, FILES)
    found = stored_bundle(folder, digest[:10].upper())
    assert (found.digest, dict(found.files)) == (digest, FILES)
    with pytest.raises(NoBundleError):
        stored_bundle(folder, "0" * 64)

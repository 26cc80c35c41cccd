"""The policy bundles beside an audit log: stored by digest, and verified when they are read."""

import json
import stat

import pytest

from negotiator.audit.administration import reload_record
from negotiator.audit.bundles import (
    AlteredBundleError,
    NoBundleError,
    bundle_file,
    find_digest,
    read_bundle,
    store_bundle,
)
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.values import instant
from negotiator.audit.verify import FaultKind, verify
from negotiator.bundle import load_bundle
from negotiator.bundle.archive import decode, digest_of, encode

FILES = {
    "pool.yaml": b"# caf\xc3\xa9\r\n",
    "sub/data.bin": b"\xff\x00",
    "a\udcff": b"",
    "z": b"\xef\xbb\xbfx",
}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "audit"
    made.mkdir()
    return made


def stored(folder, files=FILES):
    digest = digest_of(files)
    store_bundle(folder, digest, files)
    return digest


def write_log(folder, *digests):
    with AuditLog.open(folder, rotate_bytes=1 << 20) as log:
        for number, digest in enumerate(digests, 1):
            log.append([{"kind": "cycle", "cycle": number, "time": instant(number), "bundle": digest}])
        log.sync()


def test_stored_files_are_read_back_unchanged():
    """Including content and names that are not UTF-8, empty files and byte order marks."""
    assert decode(encode(FILES)) == FILES
    assert encode(dict(reversed(FILES.items()))) == encode(FILES)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"version":2,"files":[]}', b'{"version":1,"files":[{"name":"x"}]}', b"\xff"]
)
def test_another_format_is_refused(data):
    with pytest.raises(ValueError):
        decode(data)


def test_the_digest_of_a_bundle_is_that_of_its_files(tmp_path):
    (tmp_path / "pool.yaml").write_text("plugins: {}\n")
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "notes.txt").write_text("covered too")
    bundle = load_bundle(tmp_path)
    assert set(bundle.files) == {"pool.yaml", "plugins/notes.txt", ".plugins"}
    assert bundle.files[".plugins"].decode().splitlines() == sorted(bundle.hooks.plugin_set)
    assert digest_of(bundle.files) == bundle.digest


def test_a_bundle_is_stored_once_for_its_owner_alone(folder):
    digest = stored(folder)
    file = bundle_file(folder, digest)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.stat()
    stored(folder)
    assert file.stat() == before
    assert [each.name for each in file.parent.iterdir()] == [f"{digest}.json"]
    assert read_bundle(folder, digest) == FILES


def test_an_altered_copy_is_not_read(folder):
    digest = stored(folder)
    file = bundle_file(folder, digest)
    document = json.loads(file.read_text())
    document["files"][0]["name"] = "other.yaml"
    file.write_text(json.dumps(document))
    with pytest.raises(AlteredBundleError, match=r"it was changed"):
        read_bundle(folder, digest)
    file.write_text("{")
    with pytest.raises(AlteredBundleError):
        read_bundle(folder, digest)


def test_a_bundle_is_found_by_the_first_digits_of_its_digest(folder):
    digest = stored(folder)
    assert find_digest(folder, digest[:8]) == find_digest(folder, digest) == digest
    for wrong in (digest[:7], "../../x", "0" * 64, ""):
        with pytest.raises(NoBundleError):
            find_digest(folder, wrong)


def test_without_any_stored_bundle_none_is_found(folder):
    with pytest.raises(NoBundleError):
        find_digest(folder, "0" * 64)
    with pytest.raises(NoBundleError):
        read_bundle(folder, "0" * 64)


def test_a_copy_that_cannot_be_written_is_an_error_that_names_it(folder):
    (folder / "bundles").write_text("in the way")
    with pytest.raises(AuditError, match=r"bundles.*store the policy bundle"):
        stored(folder)


def test_each_bundle_that_the_log_names_is_verified(folder):
    """A missing copy is a warning; an altered one is a fault at the first record that names it."""
    digest, missing = stored(folder), "0" * 64
    write_log(folder, missing, digest, digest)
    found = verify(folder)
    assert (found.fault, found.bundles) == (None, 2)
    assert found.warnings == (f"record 1 names bundle {missing}, of which no copy is stored",)
    bundle_file(folder, digest).write_bytes(encode({}))
    fault = verify(folder).fault
    assert (fault.kind, fault.seq, fault.line) == (FaultKind.BUNDLE, 2, 2)
    assert digest in fault.message


def test_the_new_bundle_of_an_accepted_reload_is_verified(folder):
    """Whatever the name of the user who requested the reload."""
    active, new, rejected, named = stored(folder), stored(folder, {"x": b""}), "0" * 64, "1" * 64
    by = f'command by "\\","accepted":true,"new_bundle":"{named}"'
    common = {"now": 0.0, "bundle": active, "trigger": by, "problems": ()}
    with AuditLog.open(folder, rotate_bytes=1 << 20) as log:
        log.append([reload_record(**common, new_bundle=rejected, accepted=False)])
        log.append([reload_record(**common, new_bundle=new, accepted=True)])
        log.sync()
    found = verify(folder)
    assert (found.fault, found.bundles, found.warnings) == (None, 2, ())
    bundle_file(folder, new).write_bytes(encode({}))
    fault = verify(folder).fault
    assert (fault.kind, fault.seq) == (FaultKind.BUNDLE, 2)
    bundle_file(folder, new).unlink()
    assert verify(folder).warnings == (f"record 2 names bundle {new}, of which no copy is stored",)


def test_a_digest_in_a_users_text_is_not_a_reference_to_a_bundle(folder):
    with AuditLog.open(folder, rotate_bytes=1 << 20) as log:
        log.append(
            [{"kind": "x", "cycle": 1, "tags": {"bundle": "0" * 64}, "note": f'"bundle":"{"0" * 64}"'}]
        )
        log.sync()
    assert verify(folder).bundles == 0

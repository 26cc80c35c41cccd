"""Changes of a file of a bundle: written as a whole if the bundle is then valid, with a backup of the old contents."""

import hashlib
import os
import shutil
import subprocess

import pytest

import queueing
from dying import killed_at_each_step
from negotiator.bundle import examine_bundle, load_bundle
from negotiator.runtime.change_file import ChangedMeanwhileError, ChangeError, change_file
from queueing import NOW, QUEUES

KEPT = "queues.yaml.20270115T080000Z"
OTHER = QUEUES.replace("name: two", "name: three").encode()


@pytest.fixture
def folder(tmp_path):
    return queueing.write(tmp_path / "bundle")


def change(folder, content, name="queues.yaml", now=NOW):
    return change_file(folder, name, content, lambda files: examine_bundle(folder, replaced=files), now)


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_the_new_contents_are_written_and_the_old_ones_saved_beside_them(folder):
    changed = change(folder, OTHER)
    assert (changed.written, changed.problems, changed.backup) == (True, (), folder / f"{KEPT}~")
    assert (folder / "queues.yaml").read_bytes() == OTHER
    assert changed.backup.read_text() == QUEUES
    assert load_bundle(folder).digest == changed.digest
    assert visible(folder) == ["pool.yaml", "queues.yaml", f"{KEPT}~"]


def test_contents_with_errors_are_not_written_and_all_errors_are_reported(folder):
    changed = change(folder, b"partitions:\n  - name: default\n    queues: [{name: root, nonsense: 1}, 7]\n")
    assert (changed.written, changed.backup) == (False, None)
    assert {problem.source.file for problem in changed.problems} == {"queues.yaml"}
    assert (folder / "queues.yaml").read_text() == QUEUES
    assert visible(folder) == ["pool.yaml", "queues.yaml"]


def test_an_error_in_another_file_prevents_the_change_too(folder):
    (folder / "pool.yaml").write_text("scheduleracl: ']['\nnonsense: 1\n")
    assert not change(folder, OTHER).written
    assert (folder / "queues.yaml").read_text() == QUEUES


def test_a_new_file_has_no_backup(folder):
    changed = change(folder, b"NEGOTIATOR_PE_JOB_EXPR = false\n", "site.conf")
    assert (changed.written, changed.backup) == (True, None)
    assert (folder / "site.conf").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["queue.yaml", "queue.yml", "queues.yml", "Queues.yaml", "pool.yml"])
def test_a_file_name_that_resembles_settings_is_a_warning(folder, name):
    (problem,) = change(folder, b"", name).problems
    assert (problem.severity, problem.source.file) == ("warning", name)
    assert problem.message == "this file is not read as settings"


def test_changes_within_one_second_have_separate_backups(folder):
    contents = [QUEUES, *(f"{QUEUES}# {number}\n" for number in range(3))]
    backups = [change(folder, content.encode()).backup for content in contents[1:]]
    assert [path.name for path in backups] == [f"{KEPT}~", f"{KEPT}-2~", f"{KEPT}-3~"]
    assert [path.read_text() for path in backups] == contents[:-1]


def test_the_mode_of_the_file_is_preserved(folder):
    (folder / "queues.yaml").chmod(0o640)
    changed = change(folder, OTHER)
    assert [path.stat().st_mode & 0o777 for path in (folder / "queues.yaml", changed.backup)] == [
        0o640,
        0o640,
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_of_the_file_is_preserved(folder):
    """Otherwise the negotiator could not read a file that root changed."""
    os.chown(folder / "queues.yaml", 65534, 65534)
    change(folder, OTHER)
    found = (folder / "queues.yaml").stat()
    assert (found.st_uid, found.st_gid) == (65534, 65534)


def test_the_target_of_a_link_is_written_and_the_link_stays(folder):
    (folder / "real").mkdir()
    (folder / "queues.yaml").rename(folder / "real" / "q.yaml")
    (folder / "queues.yaml").symlink_to("real/q.yaml")
    changed = change(folder, OTHER)
    assert (folder / "queues.yaml").is_symlink()
    assert (folder / "real" / "q.yaml").read_bytes() == OTHER
    assert (changed.backup.read_text(), changed.backup.name) == (QUEUES, f"{KEPT}~")
    assert load_bundle(folder).digest == changed.digest


def test_links_to_the_changed_file_are_checked_with_its_new_contents(folder):
    (folder / "queues.yaml").rename(folder / "q.yaml")
    (folder / "queues.yaml").symlink_to("q.yaml")
    assert not change(folder, b"nonsense: 1", "q.yaml").written
    assert change(folder, OTHER, "q.yaml").digest == load_bundle(folder).digest


def test_a_link_out_of_the_bundle_is_refused(folder, tmp_path):
    (tmp_path / "elsewhere.yaml").write_text(QUEUES)
    (folder / "queues.yaml").unlink()
    (folder / "queues.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    with pytest.raises(ChangeError, match=r"it is a link out of the bundle; change .*elsewhere\.yaml"):
        change(folder, OTHER)
    assert (tmp_path / "elsewhere.yaml").read_text() == QUEUES
    assert (folder / "queues.yaml").is_symlink()


@pytest.mark.parametrize("name", ["queues.yaml", "new.conf"])
def test_an_unwritable_file_is_an_error_and_nothing_is_changed(folder, name):
    (folder / "kept").mkdir()
    (folder / ".change.lock").mkdir()
    with pytest.raises(ChangeError, match=f"{name} cannot be changed: Is a directory"):
        change(folder, OTHER if name == "queues.yaml" else b"", name)
    assert (folder / "queues.yaml").read_text() == QUEUES


def test_a_folder_with_the_name_of_the_file_is_an_error(folder):
    (folder / "plugins").mkdir()
    with pytest.raises(ChangeError, match="plugins cannot be changed: Is a directory"):
        change(folder, b"x", "plugins")
    assert (folder / "plugins").is_dir()


def test_on_a_full_disk_the_old_file_stays_whole(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, check=False
    )
    if not made or made.returncode:
        pytest.skip("only root can mount a small file system")
    try:
        folder = queueing.write(place / "bundle")
        large = OTHER + b"# x\n" * 20_000
        with pytest.raises(ChangeError, match=r"queues\.yaml cannot be changed: No space left"):
            change(folder, large)
        assert (folder / "queues.yaml").read_text() == QUEUES
        assert not list(folder.glob(".*.new"))
        assert change(folder, OTHER, now=NOW + 1).written
    finally:
        subprocess.run([shutil.which("umount"), place], check=True)


def test_a_process_killed_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path):
    """Remaining temporary files do not affect a later change."""
    steps = [(os, name) for name in ("open", "fsync", "fchmod", "close", "rename", "replace", "fdopen")]
    seen = set()
    for parent in killed_at_each_step(
        tmp_path, steps, lambda own, _tell: change(queueing.write(own / "bundle"), OTHER), most=299
    ):
        folder = parent / "bundle"
        found = (folder / "queues.yaml").read_bytes()
        assert found in {QUEUES.encode(), OTHER}
        backups = [path.read_text() for path in folder.glob("*~")]
        assert backups == [QUEUES] if found == OTHER else backups in ([], [QUEUES])
        seen.add(found)
        assert change(folder, OTHER, now=NOW + 1).written
    assert len(seen) == 2


@pytest.mark.parametrize("name", ["queues.yaml", "new.conf"])
def test_if_a_superseded_file_cannot_be_renamed_nothing_is_changed(folder, name):
    """The name of its backup would be too long; the file before it, already renamed, is restored."""
    for old in ("old.txt", long := "o" * 250):
        (folder / old).write_text(old)
    before = {path: path.read_bytes() for path in folder.glob("[!.]*") if not path.name.endswith("~")}
    content = OTHER if name == "queues.yaml" else b""
    look = lambda files: examine_bundle(folder, replaced=files)  # noqa: E731
    with pytest.raises(ChangeError, match=f"{name} cannot be changed: File name too long"):
        change_file(folder, name, content, look, NOW, ("old.txt", long))
    after = {path: path.read_bytes() for path in folder.glob("[!.]*") if not path.name.endswith("~")}
    assert after == before


def test_a_file_that_was_changed_meanwhile_is_not_replaced(folder):
    """``expected`` is the SHA-256 of the contents that a change was made from."""
    look = lambda files: examine_bundle(folder, replaced=files)  # noqa: E731
    expected = hashlib.sha256(QUEUES.encode()).hexdigest()
    for content in (b"# by hand", None):
        if content is None:
            (folder / "queues.yaml").unlink()
        else:
            (folder / "queues.yaml").write_bytes(content)
        with pytest.raises(ChangedMeanwhileError, match="was changed meanwhile"):
            change_file(folder, "queues.yaml", OTHER, look, NOW, expected=expected)
    assert visible(folder) == ["pool.yaml"]
    assert change_file(folder, "queues.yaml", OTHER, look, NOW, expected="").written
    expected = hashlib.sha256(OTHER).hexdigest()
    assert change_file(folder, "queues.yaml", QUEUES.encode(), look, NOW, expected=expected).written

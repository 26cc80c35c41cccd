"""A bundle that another user could have written is refused."""

import os
import stat

import pytest

from negotiator.bundle import default_bundle, examine_bundle

OTHER_USER = 12345

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "notes.txt").write_text("x")
    (tmp_path / "pool.yaml").write_text("scheduleracl: boss\n")
    return tmp_path


def refusals(folder):
    check = examine_bundle(folder)
    assert check.bundle is None or not check.problems
    return [(each.source.file, each.message, each.hint) for each in check.problems]


@pytest.mark.parametrize("name", [".", "pool.yaml", "below", "below/notes.txt"])
def test_a_world_writable_file_or_folder_refuses_the_bundle(folder, name):
    path = folder / name
    path.chmod(path.stat().st_mode | stat.S_IWOTH)
    ((file, message, hint),) = refusals(folder)
    assert (file.rstrip("/"), message) == (name, "refused: world-writable, so any user could have written it")
    assert hint.startswith("chmod o-w ")


@root
@pytest.mark.parametrize("name", [".", "pool.yaml", "below"])
def test_a_file_or_folder_of_another_user_refuses_the_bundle(folder, name):
    os.chown(folder / name, OTHER_USER, -1)
    ((file, message, _),) = refusals(folder)
    assert file.rstrip("/") == name
    assert message.startswith(f"refused: belongs to user {OTHER_USER}, neither to root nor to the caller")


def test_a_link_through_a_world_writable_folder_refuses_the_bundle(folder):
    """Such a folder is hidden, so that its files are not read themselves."""
    hidden = folder / ".data"
    hidden.mkdir()
    (folder / "pool.yaml").rename(hidden / "pool.yaml")
    (folder / "pool.yaml").symlink_to(".data/pool.yaml")
    assert refusals(folder) == []
    hidden.chmod(0o777)
    ((file, message, _),) = refusals(folder)
    assert (file, "world-writable" in message) == ("pool.yaml", True)


def test_a_group_writable_bundle_is_loaded(folder):
    """A group of administrators is the site's own business."""
    for path in (folder, folder / "pool.yaml"):
        path.chmod(path.stat().st_mode | stat.S_IWGRP)
    assert examine_bundle(folder).bundle


def test_the_built_in_bundle_is_part_of_the_program():
    """Whoever installed the program owns it."""
    assert examine_bundle(default_bundle()).bundle

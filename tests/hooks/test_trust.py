"""Plugin files that other users could have written are not executed."""

import os

import pytest

from negotiator.hooks import trust
from negotiator.hooks.trust import UntrustedError, read_trusted

OTHER_USER = 12345
CONTENT = "@hookimpl\ndef negotiator_commands(): yield click.Command('x')\n"


def give_away(path, monkeypatch):
    """Change the owner of ``path`` to another user if permitted, otherwise the user id of this process."""
    if os.geteuid() == 0:
        os.chown(path, OTHER_USER, -1)
    else:
        monkeypatch.setattr(trust.os, "geteuid", lambda: OTHER_USER)


def test_a_world_writable_file_is_refused(plugins):
    """The problem names the file and the remedy; the other plugins are loaded."""
    file = plugins.write("bad.py", "raise ValueError('was executed')")
    file.chmod(0o646)
    plugins.write("good.py", CONTENT)
    assert [info.name for info in plugins.load().plugins] == ["good"]
    assert [str(problem) for problem in plugins.problems] == [
        f"{file}: error: plugin bad is refused: world-writable, so any user could have written it (chmod o-w {file})"
    ]


def test_a_world_writable_plugins_folder_is_refused(plugins):
    """Any user could add a file."""
    plugins.write("a.py", CONTENT)
    plugins.folder.chmod(0o1777)
    assert plugins.refusals() == [
        (
            f"{plugins.folder}: error: plugins folder {plugins.folder} is refused:"
            f" world-writable, so any user could have written it (chmod o-w {plugins.folder})"
        )
    ]


@pytest.mark.parametrize("mode", [0o757, 0o1777])
def test_a_world_writable_folder_of_a_package_is_refused(plugins, mode):
    """Any user could replace its modules; the sticky bit does not prevent it inside."""
    plugins.write("a/__init__.py", CONTENT)
    inner = plugins.write("a/inner/b.py", "")
    inner.parent.chmod(mode)
    (message,) = plugins.refusals()
    assert message.startswith(f"{inner.parent}: error: plugin a is refused: world-writable")


def test_a_world_writable_module_of_a_package_refuses_the_package(plugins):
    """Nothing of it is executed."""
    plugins.write("a/__init__.py", "raise ValueError('was executed')")
    module = plugins.write("a/b.py", "")
    module.chmod(0o666)
    (message,) = plugins.refusals()
    assert message.startswith(f"{module}: error: plugin a is refused: world-writable")


def test_a_file_of_another_user_is_refused(plugins, monkeypatch):
    """Only root and the caller may write policies."""
    file = plugins.write("a.py", "raise ValueError('was executed')")
    give_away(file, monkeypatch)
    with pytest.raises(UntrustedError, match=r"belongs to user \d+, neither to root nor to the caller"):
        read_trusted(file, plugins.folder)
    assert "neither to root nor to the caller" in plugins.refusals()[0]


def test_a_folder_of_another_user_is_refused(plugins, monkeypatch):
    """Its owner could replace its contents."""
    plugins.write("a.py", "raise ValueError('was executed')")
    give_away(plugins.folder, monkeypatch)
    assert plugins.refusals()[0].startswith(
        f"{plugins.folder}: error: plugins folder {plugins.folder} is refused"
    )


def test_a_group_writable_file_is_not_refused(plugins):
    """Sites may have a group of administrators."""
    plugins.write("a.py", CONTENT).chmod(0o664)
    assert len(plugins.load().plugins) == 1


def test_a_link_is_followed(plugins, tmp_path):
    """To a file that no other user could have written, through folders that none could have changed."""
    target = tmp_path / "elsewhere.py"
    target.write_text("import click\nfrom negotiator.plugin import *\n" + CONTENT)
    target.chmod(0o644)
    (plugins.folder / "a.py").symlink_to(target)
    (plugins.folder / "b.py").symlink_to("../elsewhere.py")
    assert [info.name for info in plugins.load().plugins] == ["a", "b"]
    assert plugins.problems == ()


@pytest.mark.parametrize("open_to_all", ["file", "folder", "folder above", "folder of a link"])
def test_the_target_of_a_link_is_checked_alike(plugins, tmp_path, open_to_all):
    """With every folder on the way, also that of a link between."""
    target = tmp_path / "above" / "elsewhere" / "a.py"
    target.parent.mkdir(mode=0o755, parents=True)
    target.write_text("raise ValueError('was executed')")
    target.chmod(0o644)
    between = tmp_path / "links" / "between.py"
    between.parent.mkdir(mode=0o755)
    between.symlink_to(target)
    (plugins.folder / "a.py").symlink_to(between)
    bad = {
        "file": target,
        "folder": target.parent,
        "folder above": target.parent.parent,
        "folder of a link": between.parent,
    }[open_to_all]
    bad.chmod(0o757)
    (message,) = plugins.refusals()
    assert message.startswith(f"{bad}: error: plugin a is refused: world-writable")


def test_a_sticky_folder_on_the_way_of_a_link_is_allowed(plugins, tmp_path):
    """In a folder such as /tmp nobody can replace files of other users."""
    target = tmp_path / "sticky" / "a.py"
    target.parent.mkdir()
    target.parent.chmod(0o1777)
    target.write_text("x = 1")
    target.chmod(0o644)
    (plugins.folder / "a.py").symlink_to(target)
    assert len(plugins.load().plugins) == 1


def test_the_plugins_folder_may_be_a_link(plugins, tmp_path):
    """The folder that it leads to is checked."""
    plugins.write("a.py", CONTENT)
    (tmp_path / "link").symlink_to(plugins.folder)
    assert b"negotiator_commands" in read_trusted(tmp_path / "link" / "a.py", tmp_path / "link")
    plugins.folder.chmod(0o757)
    with pytest.raises(UntrustedError, match="world-writable"):
        read_trusted(tmp_path / "link" / "a.py", tmp_path / "link")


def test_links_in_a_circle_are_refused(plugins):
    """They end in an error, not in a loop."""
    (plugins.folder / "a.py").symlink_to("b.py")
    (plugins.folder / "b.py").symlink_to("a.py")
    (plugins.folder / "package").symlink_to("package")
    messages = plugins.refusals()
    assert len(messages) == 3
    assert all("too many links" in message for message in messages)


def test_a_link_to_nowhere_is_refused(plugins):
    """With the name of the plugin, since a policy is missing."""
    (plugins.folder / "a.py").symlink_to("gone.py")
    (message,) = plugins.refusals()
    assert "plugin a can't be loaded: FileNotFoundError" in message


def test_a_path_that_is_not_a_regular_file_is_refused(plugins):
    """Opening a pipe would block."""
    os.mkfifo(plugins.folder / "a.py")
    (plugins.folder / "b.py").mkdir()
    messages = plugins.refusals()
    assert f"{plugins.folder / 'a.py'}: error: plugin a is refused: not a regular file" in messages[0]
    assert len(messages) == 2


def test_a_huge_file_is_refused(plugins):
    """It is not read to its end."""
    with plugins.write("a.py", "").open("wb") as file:
        file.truncate(trust.MAX_BYTES + 1)
    assert "larger than" in plugins.refusals()[0]

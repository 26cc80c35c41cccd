"""Default switches in files: of the bundle for everybody, of the home for the caller."""

import os

import pytest

from negotiator_quotasets.qquota.arguments import (
    DefaultsError,
    QquotaArguments,
    read_arguments,
    with_defaults,
)


def defaults(bundle, home):
    """The arguments of an empty command line."""
    return with_defaults(QquotaArguments(), bundle, home)


@pytest.fixture
def folders(tmp_path):
    bundle, home = tmp_path / "bundle", tmp_path / "home"
    bundle.mkdir()
    home.mkdir()
    return bundle, home


def test_both_files_add_up(folders):
    """The file for everybody first, then the caller's."""
    (folders[0] / "sge_qquota").write_text("-u roland -xml\n")
    (folders[1] / ".sge_qquota").write_text("-u andre\n")
    assert defaults(*folders) == QquotaArguments({"users": ("roland", "andre")}, frozenset({"-xml"}))


@pytest.mark.parametrize(
    ("line", "users", "hosts"),
    [
        ("", ("roland", "andre"), ("durin",)),
        ("-u alice bob", ("roland", "alice", "bob"), ("durin",)),
        ("-h lxa -u", ("roland", "andre"), ("lxa",)),
    ],
)
def test_a_list_of_the_command_line_overrides_the_callers_one(folders, line, users, hosts):
    """Not that for everybody; a switch without names overrides nothing."""
    (folders[0] / "sge_qquota").write_text("-u roland\n")
    (folders[1] / ".sge_qquota").write_text("-u andre -h durin -xml\n")
    found = with_defaults(read_arguments(line.split()), *folders)
    assert found.names("users") == users
    assert found.names("hosts") == hosts
    assert found.switches == {"-xml"}


def test_without_files_or_a_home_there_are_no_defaults(folders):
    assert defaults(*folders) == defaults(folders[0], None) == QquotaArguments()


def test_arguments_are_quoted_as_on_a_command_line(folders):
    (folders[0] / "sge_qquota").write_text(
        "# everybody's\n-u \"*\"\n  # and\n'alice'\n-l virtual_free -q #1\n"
    )
    assert defaults(*folders) == QquotaArguments(
        {"users": ("*", "alice"), "resources": ("virtual_free",), "queues": ("#1",)}
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"-u alice\n-U bob\n", ':2: invalid option argument "-U"'),
        (b'-u "alice\n', ":1: unclosed quote or backslash: close it on the same line"),
        (b"-u \xff\n", ": this is not UTF-8: save the file as UTF-8"),
        (b"-u" + b" x" * 40_000, ": the file is longer than 65536 bytes"),
    ],
    ids=["no switch", "quote", "encoding", "size"],
)
def test_an_invalid_file_is_named_with_the_line(folders, content, message):
    path = folders[1] / ".sge_qquota"
    path.write_bytes(content)
    with pytest.raises(DefaultsError) as caught:
        defaults(*folders)
    assert str(caught.value) == f"{path}{message}"


def test_a_path_that_is_not_a_regular_file_is_ignored(folders):
    """A pipe without a writer, or a folder."""
    os.mkfifo(folders[0] / "sge_qquota")
    (folders[1] / ".sge_qquota").mkdir()
    assert defaults(*folders) == QquotaArguments()

"""Folders, files, standard input, compression, and what the disk does wrong."""

import errno
import gzip
import io
import os
import subprocess
import sys

import pytest

from negotiator.pool import PoolError, decoding, read_ads, read_pool
from negotiator.records import Severity

SLOT = 'MyType = "Machine"\nName = "{}"\nState = "Unclaimed"\n'


def names(pool):
    return [ad.string("Name") for ad in pool.slots.ads]


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    """Files and folders inside are read by name; hidden ones, READMEs, INDEXes and pages of documentation are not."""
    for name in (
        "b.ads",
        "a/z",
        "a/y.json",
        ".hidden",
        ".git/x",
        "README.md",
        "INDEX.md",
        "readme",
        "how-to.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(SLOT.format(name))
    pool = read_pool([tmp_path])
    assert names(pool) == ["b.ads", "a/y.json", "a/z"]
    assert pool.problems == ()


def test_several_paths_are_read_in_their_order(tmp_path):
    """Files, folders and standard input can be named together."""
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "x").write_text(SLOT.format("x"))
    (tmp_path / "y").write_text(SLOT.format("y"))
    pool = read_pool([tmp_path / "y", "-", tmp_path / "f"], io.BytesIO(SLOT.format("in").encode()))
    assert names(pool) == ["y", "in", "x"]


def test_standard_input_is_that_of_the_process(monkeypatch):
    """Without a stream of its own, "-" is the standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLOT.format("in").encode())))
    assert names(read_pool(["-"])) == ["in"]


def test_a_path_that_does_not_exist_is_an_error_that_names_it(tmp_path):
    """A mistyped path is an error, not an empty pool."""
    with pytest.raises(PoolError, match=r"nosuch does not exist: name a folder or file"):
        read_pool([tmp_path, tmp_path / "nosuch"])
    with pytest.raises(PoolError):
        read_ads(tmp_path / "nosuch")


def test_an_empty_folder_and_an_empty_file_are_warnings(tmp_path):
    """An input without ads is reported, since it is seldom meant."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "nothing").write_text(" \n")
    messages = [str(problem) for problem in read_pool([tmp_path / "empty", tmp_path / "nothing"]).problems]
    assert messages == [
        f"{tmp_path}/empty: warning: the folder holds no files of ads",
        f"{tmp_path}/nothing: warning: the file is empty",
    ]


def test_a_broken_link_and_a_pipe_in_a_folder_are_problems_and_the_rest_is_read(tmp_path):
    """Nothing in a folder stops the reading, not even a pipe without a writer."""
    (tmp_path / "a").symlink_to(tmp_path / "nosuch")
    os.mkfifo(tmp_path / "b")
    (tmp_path / "c").write_text(SLOT.format("c"))
    pool = read_pool([tmp_path])
    assert names(pool) == ["c"]
    assert [str(problem.source) for problem in pool.problems] == [f"{tmp_path}/a", f"{tmp_path}/b"]


def test_a_link_to_a_folder_is_not_followed(tmp_path):
    """A link to a folder above does not make the reading endless."""
    (tmp_path / "c").write_text(SLOT.format("c"))
    (tmp_path / "loop").symlink_to(tmp_path)
    assert names(read_pool([tmp_path])) == ["c"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_a_problem(tmp_path):
    """A file or folder without permission is one problem; the rest is read."""
    (tmp_path / "a").write_text(SLOT.format("a"))
    (tmp_path / "a").chmod(0)
    (tmp_path / "c").write_text(SLOT.format("c"))
    pool = read_pool([tmp_path])
    assert names(pool) == ["c"]
    assert "Permission denied" in pool.problems[0].message


class _FailingDisk(io.BytesIO):
    """A stream that fails after its content."""

    def read(self, size=-1):
        if data := super().read(size):
            return data
        raise OSError(errno.EIO, "Input/output error")


def test_ads_read_before_a_disk_failure_count():
    """Whole ads before a failure count; the last one may be incomplete, and is left out."""
    pool = read_pool(["-"], _FailingDisk((SLOT.format("a") + "\n" + SLOT.format("b")).encode()))
    assert names(pool) == ["a"]
    (problem,) = pool.problems
    assert "Input/output error" in problem.message
    assert problem.severity is Severity.ERROR
    assert problem.source.line == 8


def test_gzip_is_recognised_by_its_first_bytes(snapshot, compressed):
    """Compressed files are read whatever their name, in several members, with padding between them."""
    data = compressed(SLOT.format("a") + "\n") + b"\0" * 512 + compressed(SLOT.format("b"))
    assert names(snapshot(data)) == ["a", "b"]


def test_the_ads_at_the_start_of_a_truncated_gzip_are_read(snapshot, compressed):
    """The ads before the place where compressed data end count, and the problem names that place."""
    whole = "\n".join(SLOT.format(os.urandom(40).hex()) for _ in range(2000))
    data = compressed(whole)
    pool = snapshot(data[: len(data) // 2])
    assert 500 < len(pool.slots) < 1500
    (problem,) = pool.problems
    assert "end too soon" in problem.message
    assert problem.source.line > 0


@pytest.mark.parametrize("tail", [b"garbage", b"\x1f\x8bgarbage"])
def test_damaged_gzip_is_a_problem(snapshot, compressed, tail):
    """Other data after a gzip member is a problem; the ads of the member are read."""
    pool = snapshot(compressed(SLOT.format("a") + "\n\n") + tail)
    assert names(pool) == ["a"]
    assert "damaged" in pool.problems[0].message


def test_a_file_does_not_expand_without_bound(snapshot, compressed, monkeypatch):
    """A small file that expands to a huge one is read up to the limit."""
    monkeypatch.setattr(decoding, "MAX_EXPANDED", 1 << 20)
    pool = snapshot(compressed(SLOT.format("a") + "\n" + "\n" * (4 << 20)))
    assert names(pool) == ["a"]
    assert "expands to more than 1048576 bytes and 500 times its size" in pool.problems[0].message
    assert pool.unread == pool.problems


def test_a_file_of_any_size_is_read(snapshot, compressed, monkeypatch):
    """It is read in pieces, however many; a compressed one too, unless it expands like no file of ads."""
    monkeypatch.setattr(decoding, "MAX_EXPANDED", 1 << 10)
    monkeypatch.setattr(decoding, "BLOCK", 1 << 10)
    text = "".join(SLOT.format(f"slot{number}") + "\n" for number in range(2000))
    for content in (text, compressed(text)):
        pool = snapshot(content)
        assert names(pool) == [f"slot{number}" for number in range(2000)]
        assert pool.problems == ()


def test_the_ads_of_one_file_for_the_eval_command(tmp_path):
    """read_ads gives ads of whatever kind with their places, and what was wrong with the others."""
    path = tmp_path / "ad"
    path.write_text('A = 1\n\nB = (\n\nClaimId = "x"\nC = 3\n')
    file = read_ads(path)
    assert [(ad.names(), str(source)) for ad, source in file.ads] == [
        (("A",), f"{path}:1"),
        (("C",), f"{path}:5"),
    ]
    assert [problem.source.line for problem in file.problems] == [3]


def test_the_state_and_the_audit_logs_of_the_program_are_no_ads(tmp_path):
    """``run .`` in a folder with its own state and audit log reads the ads beside them alone."""
    (tmp_path / "slots.ads").write_text(SLOT.format("a"))
    words = [
        sys.executable,
        "-m",
        "negotiator",
        "run",
        ".",
        "--state",
        "work/state",
        "--audit-log",
        "work/log",
    ]
    for _ in range(2):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    pool = read_pool([tmp_path])
    assert (names(pool), pool.other, pool.problems) == (["a"], 0, ())


def test_what_could_not_be_read_to_its_end_is_listed_apart(tmp_path):
    """A damaged file and a named file without ads; not one of a folder that is about something else."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes").write_text("remember the milk")
    (tmp_path / "damaged").write_bytes(gzip.compress(SLOT.format("a").encode())[:-9])
    (tmp_path / "named").write_text("remember the milk")
    pool = read_pool([tmp_path / "folder", tmp_path / "damaged", tmp_path / "named"])
    assert [str(problem.source).split(":")[0] for problem in pool.problems] == [
        f"{tmp_path}/{name}" for name in ("folder/notes", "damaged", "named")
    ]
    assert pool.unread == pool.problems[1:]

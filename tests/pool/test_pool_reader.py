"""A pool that is read for one cycle after the other: what has not changed is not read again."""

import gzip
import io
import os

import pytest

from negotiator.errors import PoolError
from negotiator.pool import PoolReader

SLOT = 'MyType = "Machine"\nName = "{}"\nState = "Unclaimed"\n\n'


def names(pool):
    return [ad.string("Name") for ad in pool.slots.ads]


@pytest.fixture
def folder(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(SLOT.format(name))
    return tmp_path


def test_an_unchanged_pool_is_the_same_snapshot(folder):
    """Nothing is parsed again, and what was computed from the ads is still there."""
    reader = PoolReader([folder])
    first = reader.read()
    assert names(first) == ["a", "b"]
    assert reader.read() is first


def _rewrite(folder):
    (folder / "b").write_text(SLOT.format("changed"))
    return ["a", "changed"]


def _rewrite_secretly(folder):
    """The same size, and the time of the last change put back."""
    before = (folder / "b").stat()
    (folder / "b").write_text(SLOT.format("c"))
    os.utime(folder / "b", ns=(before.st_atime_ns, before.st_mtime_ns))
    return ["a", "c"]


def _add(folder):
    (folder / "c").write_text(SLOT.format("c"))
    return ["a", "b", "c"]


def _remove(folder):
    (folder / "a").unlink()
    return ["b"]


def _rename(folder):
    (folder / "a").rename(folder / "z")
    return ["b", "a"]


@pytest.mark.parametrize("change", [_rewrite, _rewrite_secretly, _add, _remove, _rename])
def test_a_changed_pool_is_read_again(folder, change):
    """Whichever file changed, and however."""
    reader = PoolReader([folder])
    first = reader.read()
    expected = change(folder)
    second = reader.read()
    assert names(second) == expected
    assert names(first) == ["a", "b"]
    assert reader.read() is second


def test_a_file_that_was_not_read_to_its_end_is_read_again(folder):
    """It may have been in the midst of being written."""
    (folder / "b").write_bytes(gzip.compress(SLOT.format("b").encode())[:-4])
    reader = PoolReader([folder])
    first = reader.read()
    assert first.unread
    assert reader.read() is not first


def test_a_path_that_is_gone_is_an_error(folder):
    """Also if its ads are known from before."""
    reader = PoolReader([folder / "a", folder / "b"])
    reader.read()
    (folder / "a").unlink()
    with pytest.raises(PoolError, match="does not exist"):
        reader.read()


def test_standard_input_is_read_once(folder):
    """Each later snapshot has its ads, and those of the files beside it."""
    reader = PoolReader(["-", folder / "a"], io.BytesIO(SLOT.format("in").encode()))
    first = reader.read()
    assert names(first) == ["in", "a"]
    assert reader.read() is first

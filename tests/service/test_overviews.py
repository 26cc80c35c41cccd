"""The answers that are kept of an overview."""

import shutil
from pathlib import Path

from negotiator.hooks.command_targets import CommandTargets
from negotiator.service import overviews
from negotiator.service.overviews import Overviews, ShownPool

POOL = Path(__file__).parents[2] / "examples" / "first-pool"


def test_an_answer_is_made_once_until_too_many_bytes_are_kept():
    """A client that writes paths in ever new ways costs time, and no memory."""
    shown, made = ShownPool(overview=None), []

    def make():
        made.append(1)
        return bytes(24 << 20)

    for path in ("a", "a", "b", "b", "c", "c"):
        assert len(shown.answer(path, make)) == 24 << 20
    assert len(made) == 4  # the third path is made each time


def test_after_an_internal_error_the_last_overview_stays_until_the_pool_is_read_again(
    tmp_path, monkeypatch, capsys
):
    shutil.copytree(POOL, tmp_path / "pool")
    read = Overviews(CommandTargets(pool=(tmp_path / "pool",)))
    read.refresh()
    shown = read.shown

    def fail(_view):
        raise ZeroDivisionError("a mistake")

    with monkeypatch.context() as patched:
        patched.setattr(overviews, "pool_overview", fail)
        (tmp_path / "pool" / "workers.ads").unlink()
        read.refresh()
    assert (read.shown, read.failure) == (shown, "internal error: ZeroDivisionError: a mistake")
    assert "a mistake" in capsys.readouterr().err
    (tmp_path / "pool" / "jobs.ads").touch()
    read.refresh()
    assert read.shown is not shown
    assert read.failure == ""

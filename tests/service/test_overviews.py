"""The overview of a pool, which follows its files."""

import shutil
from pathlib import Path

import attrs

from app_client import app_client
from negotiator.app.health import Health
from negotiator.errors import StateError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.state import StateStore
from negotiator.runtime.status_file import NegotiatorStatus, write_status
from negotiator.service import overviews
from negotiator.service.health import health_checks
from negotiator.service.overviews import Overviews
from negotiator.service.web_app import make_app

POOL = Path(__file__).parents[2] / "examples" / "first-pool"


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


def test_who_has_the_process_is_called_when_the_pool_was_read_and_only_then(tmp_path):
    shutil.copytree(POOL, tmp_path / "pool")
    called = []
    read = Overviews(CommandTargets(pool=(tmp_path / "pool",)), when_read=lambda: called.append(read.shown))
    read.refresh()
    read.refresh()
    assert called == [read.shown]


def test_a_new_status_changes_the_health_alone_and_the_pool_is_not_read_again(tmp_path):
    """A negotiator writes its status before and after each cycle; readers of its database touch a file beside it."""
    shutil.copytree(POOL, tmp_path / "pool")
    targets = CommandTargets(state=tmp_path / "state", pool=(tmp_path / "pool",))
    with StateStore.open(targets.state) as store:
        read = Overviews(targets)
        read.refresh()
        first = read.shown
        read.refresh()
        assert read.shown is first
        assert first.overview.health.status is None
        write_status(targets.state, NegotiatorStatus.of_this_process(1.0, "digest", 60.0))
        (tmp_path / "state" / "state.sqlite-shm").touch()
        read.refresh()
        assert read.shown.overview.health.status is not None
        assert read.shown.overview.contents is first.overview.contents
        assert store.folder == targets.state


def test_a_pool_that_could_not_be_read_is_tried_again_although_no_file_has_changed(tmp_path, monkeypatch):
    shutil.copytree(POOL, tmp_path / "pool")
    read = Overviews(CommandTargets(pool=(tmp_path / "pool",)))
    read.refresh()
    shown = read.shown

    def fail(_view):
        raise StateError("the state is locked")

    with monkeypatch.context() as patched:
        patched.setattr(overviews, "pool_overview", fail)
        (tmp_path / "pool" / "workers.ads").unlink()
        read.refresh()
    assert (read.shown, read.failure) == (shown, "the state is locked")
    read.refresh()
    assert len(read.shown.overview.contents.hosts) < len(shown.overview.contents.hosts)
    assert read.failure == ""


def test_a_standby_is_ready_and_nothing_is_wrong_with_it(tmp_path):
    shutil.copytree(POOL, tmp_path / "pool")
    targets = CommandTargets(state=tmp_path / "state", pool=(tmp_path / "pool",))
    with StateStore.open(targets.state) as store:
        assert store.hold_folder()
        now = NegotiatorStatus.of_this_process(1.0, "digest", 60.0)
        write_status(targets.state, attrs.evolve(now, standby="process 7 on cm1 leads"))
        read = Overviews(targets)
        read.refresh()
        answer = app_client(make_app(read)).get("/readyz")
        assert (answer.status_code, answer.text) == (200, "standby\n")
        health = read.shown.overview.health
        assert (health.health, health.text) == (Health.STANDBY, "process 7 on cm1 leads")
        checks = health_checks(read.shown.overview, "")
        assert [check.fault for check in checks if check.name == "Negotiator"] == [""]

"""What a command is busy with, as somebody at a terminal sees it."""

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.activity import Activity, activity, advance, present_activity, unwatched, watched
from negotiator.app.audit import AuditQuery, audit_page, verify_log
from negotiator.app.pool_view import PoolView
from negotiator.cli import main
from negotiator.cli.activity import ActivityWatcher
from negotiator.cli.activity_line import ActivityLine, activity_text
from negotiator.hooks.command_targets import CommandTargets
from negotiator.pool import read_pool

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"


class Witness:
    """A watcher that keeps the outermost activities, and how many have ended."""

    def __init__(self):
        self.seen = []
        self.ended = 0

    def begin(self):
        self.seen.append(present_activity())

    def end(self):
        self.ended += 1


@pytest.fixture
def witness():
    found = Witness()
    with watched(found):
        yield found


def test_the_outermost_activity_is_reported_when_it_begins_and_after_it_has_ended(witness):
    with activity("outer"):
        with activity("inner", 10):
            advance(3)
            assert (present_activity().text, present_activity().done) == ("inner", 3)
        assert present_activity().text == "outer"
        assert witness.ended == 0
    assert [each.text for each in witness.seen] == ["outer"]
    assert witness.ended == 1
    assert present_activity() is None


def test_an_activity_that_says_how_much_there_is_takes_precedence_over_those_within_that_do_not(witness):
    del witness
    with activity("outer", 10), activity("inner"):
        assert present_activity().text == "outer"


def test_an_activity_that_fails_has_ended(witness):
    with pytest.raises(ValueError, match="x"), activity("fails"):
        raise ValueError("x")
    assert (present_activity(), witness.ended) == (None, 1)


def test_activities_of_other_threads_are_not_shown(witness):
    def work():
        with activity("elsewhere"):
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert witness.seen == []


def test_without_a_watcher_nothing_is_kept():
    with activity("alone") as found:
        advance(5)
        assert (present_activity(), found.done) == (None, 0)


def test_a_program_with_lines_of_its_own_ends_the_watch(witness):
    with activity("outer"):
        unwatched()
        assert witness.ended == 1
    with activity("next"):
        assert present_activity() is None


def test_all_bytes_of_a_pool_and_of_a_log_are_counted(witness, tmp_path):
    read_pool([POOL])
    log = tmp_path / "log"
    assert CliRunner().invoke(main, ["run", str(POOL), "--audit-log", str(log)]).exit_code == 0
    del witness.seen[:]
    read_pool([POOL])
    verify_log(log)
    audit_page(log, AuditQuery())
    names = ["reading the ads", "verifying the audit log", "searching the audit log"]
    assert [each.text for each in witness.seen] == names
    assert all(each.done == each.total > 0 for each in witness.seen)


def test_a_cycle_for_an_answer_counts_its_requests(witness):
    view = PoolView.load(CommandTargets(pool=(POOL,)))
    assert view.present_cycle.matches
    found = witness.seen[-1]
    assert found.text == "deciding about the jobs"
    assert 0 < found.done <= found.total


def test_the_line_has_a_bar_and_the_time_that_is_left():
    found = Activity("reading the ads", 200_000_000)
    found.done = 50_000_000
    bar = "━" * 5 + "─" * 15
    assert activity_text(found, 9.0, 3.0) == f"reading the ads {bar} 25% of 200.0 MB, 9 s left"
    short = "━" * 2 + "─" * 6
    assert activity_text(found, 9.0, 3.0, 8) == f"reading the ads {short} 25% of 200.0 MB, 9 s left"
    assert activity_text(found, 9.0, 0.5) == f"reading the ads {bar} 25% of 200.0 MB"


def test_the_line_of_an_activity_of_unknown_length_has_the_seconds():
    assert (
        activity_text(Activity("loading the policy bundle"), 75.0, 3.0) == "loading the policy bundle, 1 min"
    )


def test_rows_and_requests_are_counted_by_name():
    found = Activity("deciding about the jobs", 4, "request")
    found.done = 4
    assert activity_text(found, 9.0, 3.0) == f"deciding about the jobs {'━' * 20} 100% of 4 requests"


def test_the_line_is_that_of_the_present_activity_and_empty_between_two(witness):
    del witness
    line = ActivityLine()
    assert line.text(3.0) == ""
    with activity("first"):
        assert line.text(3.0) == "first, 3 s"


def test_an_activity_that_ends_soon_shows_nothing(witness):
    del witness
    watcher = ActivityWatcher()
    watcher.begin()
    watcher.end()
    assert watcher._line is None


#: The program with a log that is verified once the line is shown.
SLOW = """
import threading
from negotiator.activity import activity
from negotiator.app import audit
from negotiator.cli import main
from negotiator.cli.activity import ActivityWatcher

shown, show, verify = threading.Event(), ActivityWatcher._show, audit.verify_log

def showing(self):
    show(self)
    shown.set()

def slow(folder, head=None, key_file=None):
    with activity("verifying slowly"):
        assert shown.wait(60)
        return verify(folder)

ActivityWatcher._show = showing
audit.verify_log = slow
main()
"""


def test_a_terminal_shows_the_activity_and_in_the_end_only_the_answer(tmp_path):
    log = tmp_path / "log"
    assert CliRunner().invoke(main, ["run", str(POOL), "--audit-log", str(log)]).exit_code == 0
    controller, terminal = pty.openpty()
    command = [sys.executable, "-c", SLOW, "audit", "verify", str(log)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=terminal, env=environment, text=True
    ) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(controller, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        answer = process.stdout.read()
    os.close(controller)
    assert process.returncode == 0, shown
    assert answer.startswith("ok: ")
    assert b"verifying slowly" in shown

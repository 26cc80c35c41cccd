"""What a command is busy with, as somebody at a terminal sees it."""

import os
import pty
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.activity import Activity, LongOperation, activity, advance, unwatched, watched
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
    """A watcher that keeps the operations, their outermost activities, and how many have ended."""

    def __init__(self):
        self.operations = []
        self.seen = []
        self.ended = 0

    def begin(self, operation):
        self.operations.append(operation)
        self.seen.append(operation.present())

    def end(self):
        self.ended += 1

    @property
    def present(self):
        """The present activity of the operation that began last; None without one, or after its end."""
        return self.operations[-1].present() if self.operations else None


@pytest.fixture
def witness():
    found = Witness()
    with watched(found):
        yield found


def test_the_outermost_activity_is_reported_when_it_begins_and_after_it_has_ended(witness):
    with activity("outer"):
        with activity("inner", 10):
            advance(3)
            assert (witness.present.text, witness.present.done) == ("inner", 3)
        assert witness.present.text == "outer"
        assert witness.ended == 0
    assert [each.text for each in witness.seen] == ["outer"]
    assert witness.ended == 1
    assert witness.present is None


def test_an_activity_that_says_how_much_there_is_takes_precedence_over_those_within_that_do_not(witness):
    with activity("outer", 10), activity("inner"):
        assert witness.present.text == "outer"


def test_an_activity_that_fails_has_ended(witness):
    with pytest.raises(ValueError, match="x"), activity("fails"):
        raise ValueError("x")
    assert (witness.present, witness.ended) == (None, 1)


def in_thread(work):
    """Run a function in another thread to its end, and return what it returned."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()


def test_a_thread_without_a_watcher_is_neither_shown_nor_counted(witness):
    def work():
        with activity("elsewhere") as found:
            advance(5)
            return found.done

    with activity("here") as here:
        assert in_thread(work) == 0
        assert (witness.present.text, here.done) == ("here", 0)
    assert [each.text for each in witness.seen] == ["here"]


def test_two_threads_do_not_see_each_others_activity():
    """Each has a watcher of its own, and both are busy at the same time."""
    both = threading.Barrier(2, timeout=60)

    def work(name, amount):
        own = Witness()
        with watched(own), activity(name, 10), activity(f"{name}, a part", 10) as part:
            both.wait()
            advance(amount)
            both.wait()
            shown = own.present.text
            both.wait()
        return [each.text for each in own.seen], shown, part.done, own.ended

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(work, ("one", "two"), (1, 2)))
    assert found == [(["one"], "one, a part", 1, 1), (["two"], "two, a part", 2, 1)]


def test_a_thread_with_a_copy_of_the_context_counts_for_the_activity_that_it_works_for(witness):
    def work():
        with activity("a part") as part:
            advance(2)
        advance(3)
        return part.done

    with activity("whole", 10) as whole:
        assert in_thread(partial(copy_context().run, work)) == 2
        assert (whole.done, witness.present.text) == (3, "whole")
    assert witness.ended == 1


def test_one_operation_is_shown_at_a_time(witness):
    """A second one, of a thread with the same watcher, is not: there is one line on the terminal."""

    def work():
        with activity("second"):
            assert witness.present.text == "first"

    second = copy_context()
    with activity("first"):
        in_thread(partial(second.run, work))
        assert witness.ended == 0
    assert [each.text for each in witness.seen] == ["first"]


def test_a_generator_that_is_closed_late_leaves_the_activity_of_its_caller(witness):
    def reading():
        with activity("reading"):
            yield

    unfinished = reading()
    next(unfinished)
    with activity("deciding", 10) as deciding:
        unfinished.close()
        advance(4)
        assert (deciding.done, witness.present) == (4, deciding)
    assert (witness.present, witness.ended) == (None, 1)
    with activity("next"):
        assert [each.text for each in witness.seen] == ["reading", "next"]


def test_without_a_watcher_nothing_is_kept():
    with activity("alone") as found:
        advance(5)
        assert found.done == 0


def test_a_program_with_lines_of_its_own_ends_the_watch(witness):
    with activity("outer"):
        unwatched()
        assert witness.ended == 1
    with activity("next"):
        assert [each.text for each in witness.seen] == ["outer"]


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


def test_the_line_is_that_of_the_present_activity_and_empty_after_the_end(witness):
    with activity("first"):
        line = ActivityLine(operation=witness.operations[-1])
        assert line.text(3.0) == "first, 3 s"
    assert line.text(3.0) == ""


def test_an_activity_that_ends_soon_shows_nothing():
    watcher = ActivityWatcher()
    watcher.begin(LongOperation())
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

def showing(self, operation):
    show(self, operation)
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

"""The lines of a long-running ``negotiator run``."""

import io
import json
import re
from pathlib import Path

import pytest

from negotiator.cli.event_log import LEVELS, open_log
from negotiator.cli.run_output import LogOutput
from negotiator.errors import StateError
from negotiator.records import Problem, Severity, Source


def lines(form="text", level="info"):
    out = io.StringIO()
    return open_log(form, level, out), out


def test_each_line_has_time_and_level():
    log, out = lines()
    log.info("cycle", number=1, queue="root.a b", empty="")
    line = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z info    cycle number=1 queue="root\.a b" empty=""\n'
    assert re.fullmatch(line, out.getvalue())


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('root.a" change="removed', r'"root.a\" change=\"removed"'),
        ('root.a\\" change="removed', r'"root.a\\\" change=\"removed"'),
        ("a\\", r'"a\\"'),
        ('"', r'"\""'),
    ],
)
def test_a_value_cannot_add_a_field(value, written):
    """Names of queues come from users: quotes and backslashes in them are escaped."""
    log, out = lines()
    log.info("queue changed", queue=value, change="created")
    assert out.getvalue().endswith(f" queue changed queue={written} change=created\n")


def test_as_json_each_line_is_an_object():
    log, out = lines("json")
    log.warning("x\n", user="\udcff")
    found = json.loads(out.getvalue())
    assert (found["event"], found["level"], found["user"]) == ("x\n", "warning", "\udcff")
    assert found["timestamp"].endswith("Z")
    assert out.getvalue().count("\n") == 1


@pytest.mark.parametrize("level", LEVELS)
def test_events_below_the_level_are_left_out(level):
    log, out = lines(level=level)
    for each in LEVELS:
        getattr(log, each)("event")
    assert [line.split()[1] for line in out.getvalue().splitlines()] == list(LEVELS[LEVELS.index(level) :])


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_has_no_secret_and_no_control_character(form):
    log, out = lines(form)
    log.info("a\x1b[2J\nb", detail='ClaimId = "<10.0.0.1:9618>#1#secret"')
    assert "secret" not in out.getvalue()
    assert out.getvalue().count("\n") == 1
    assert "\x1b" not in out.getvalue()


def test_the_message_of_a_problem_cannot_add_a_field():
    """Messages quote names of ads and files, so they are in quotes themselves."""
    log, out = lines()
    message = 'unknown key a" file=other.yaml'
    LogOutput(log, Path()).problems([Problem(Severity.WARNING, Source("pool.yaml", 3), message)])
    assert out.getvalue().endswith(
        r' warning problem message="unknown key a\" file=other.yaml" file=pool.yaml line=3' "\n"
    )


def test_the_message_of_the_error_that_ends_the_run_is_quoted():
    log, out = lines()
    with pytest.raises(SystemExit), LogOutput(log, Path()).reporting_errors():
        raise StateError("a: cannot be read level=info")
    assert out.getvalue().endswith(' error   ended by an error message="a: cannot be read level=info"\n')

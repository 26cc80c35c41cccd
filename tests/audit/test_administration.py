"""The records of administration: texts of people are cut, and what is left out is counted."""

import pytest

from negotiator.audit.administration import admin_record, drain_record, reload_record
from negotiator.records import Problem, Severity, Source

LONG = "x" * 501
CUT = "x" * 499 + "…"


def drained(**changed):
    given = {
        "now": 60.0,
        "bundle": "b",
        "queue": "root.a",
        "since": 0.0,
        "users": [f"u{number}" for number in range(52)],
        "administrators": [f"a{number}" for number in range(51)],
        "program": "mail",
        "failure": "",
    }
    return drain_record(**given | changed)


@pytest.mark.parametrize(("failure", "ok"), [("", True), ("no such program", False)])
def test_a_notice_of_draining_failed_if_it_has_a_failure(failure, ok):
    record = drained(failure=failure)
    assert (record["ok"], record["failure"]) == (ok, failure)
    assert (record["time"], record["since"]) == ("1970-01-01T00:01:00.000Z", "1970-01-01T00:00:00.000Z")


def test_50_users_and_50_administrators_are_named_and_the_others_counted():
    record = drained()
    assert (len(record["users"]), len(record["administrators"]), record["names_left_out"]) == (50, 50, 3)
    assert drained(users=["u"], administrators=["a"] * 50)["names_left_out"] == 0


@pytest.mark.parametrize(("text", "shown"), [(LONG, CUT), (LONG[1:], LONG[1:])])
def test_texts_have_500_characters(text, shown):
    times = {"now": 0.0, "requested_at": 0.0}
    words = dict.fromkeys(("bundle", "action", "user", "application", "queue", "rule", "order"), "w")
    record = admin_record(**times, **words, request=1, note=text, change=text, ok=True, text=text)
    assert [record["note"], record["change"], record["text"], drained(failure=text)["failure"]] == [shown] * 4


def test_a_reload_has_50_problems_and_the_number_of_the_others():
    problems = [Problem(Severity.ERROR, Source("pool.yaml", 1, 1), f"{n}") for n in range(51)]
    given = {"now": 0.0, "bundle": "a", "trigger": "SIGHUP", "new_bundle": "b", "accepted": False}
    record = reload_record(**given, problems=problems)
    assert (len(record["problems"]), record["problems_left_out"]) == (50, 1)
    assert reload_record(**given, problems=problems[:50])["problems_left_out"] == 0

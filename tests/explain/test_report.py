"""The figures of a report: the records of an audit log, added up."""

import pytest

from audited_month import BEGUN, DAY, HOUR, cycle, reason
from negotiator.explain.report import PeriodCollector, PoolPoint
from negotiator.explain.report.collector import OTHERS, interval_width


def figures(*cycles):
    collector = PeriodCollector()
    for records in cycles:
        for record in records:
            collector.add(record)
    return collector.figures()


def named(series):
    return {each.name: each.values for each in series}


def test_slots_are_added_up_by_user_and_queue_in_each_interval():
    found = figures(cycle(1, matches=["ada", "bob", "ada"]), cycle(2), cycle(31, matches=["bob"]))
    assert (found.width, found.times[0], len(found.times)) == (HOUR, BEGUN + HOUR, 31)
    first, second = (named(series) for series in (found.by_user, found.by_queue))
    assert (first["ada"][0], first["bob"][0], first["bob"][30], sum(first["bob"])) == (2, 1, 1, 2)
    assert second["root.ada"] == first["ada"]
    assert (found.cycles, found.matches, found.users) == (3, 4, 2)


def test_of_many_users_ten_are_named_and_the_others_are_one():
    users = [f"u{n:02}" for n in range(14) for _ in range(20 - n)]
    series = figures(cycle(1, matches=users)).by_user
    assert [each.name for each in series] == [*(f"u{n:02}" for n in range(10)), OTHERS]
    assert (series[0].total, series[-1].total, series[-1].is_rest) == (20, 10 + 9 + 8 + 7, True)


def test_a_user_who_is_named_others_is_not_the_rest():
    series = figures(cycle(1, matches=[OTHERS])).by_user
    assert [(each.name, each.is_rest) for each in series] == [(OTHERS, False)]


def test_the_pool_has_the_averages_over_the_cycles_of_an_interval():
    """An interval without a cycle has none."""
    late = BEGUN + 2 * DAY + 40 * HOUR
    found = figures(
        cycle(0, running=10, denials=[("a", 4, reason("x"))], slots=50),
        cycle(1, running=30, denials=[("a", 6, reason("x")), ("b", 2, reason("y"))], slots=70),
        cycle(2, running=1, time=late),
    )
    assert found.width == 3 * HOUR
    assert found.pool[0] == PoolPoint(slots=60, running=20, waiting=6)
    assert found.pool[1] is None
    assert found.pool[-1] == PoolPoint(slots=100, running=1, waiting=0)


def test_running_jobs_of_users_and_queues_are_averages_over_the_cycles():
    """Those that the log does not name are others. Cycles of earlier versions have none, and count the jobs that they left aside."""
    first = {"jobs": 20, "users": {"ada": 12, "bob": 2}, "queues": {"root.a": 20}}
    second = {"jobs": 8, "users": {"bob": 8}, "queues": {"root.b": 8}}
    times = [BEGUN, BEGUN + 60, BEGUN + 120, BEGUN + 40 * DAY]
    found = figures(
        *(
            cycle(n, time=time, in_use=used)
            for n, (time, used) in enumerate(zip(times, (first, second), strict=False))
        ),
        cycle(2, time=times[2], running=5),
        cycle(3, time=times[3]),
    )
    assert found.pool[0].running == (20 + 8 + 5) / 3
    first_values = {each.name: each.values[0] for each in found.use_by_user}
    assert first_values == {"ada": 6, "bob": 5, OTHERS: 3}
    assert {each.name: each.values[0] for each in found.use_by_queue} == {"root.a": 10, "root.b": 4}


def test_jobs_that_wait_are_averages_by_reason_and_user():
    """Texts differ in their numbers, so that the newest stands for the rule."""
    old, new = reason("cap", text="8 of 8"), reason("cap", text="9 of 9")
    found = figures(
        cycle(2, denials=[("ada", 6, new), ("bob", 1, reason("Memory > 9", "negotiator", source=None))]),
        cycle(1, denials=[("ada", 2, old)]),
    )
    assert [(each.reason, each.place, each.user, each.jobs) for each in found.blocked] == [
        ("9 of 9", "queues.yaml:3:5 cap", "ada", 4.0),
        ("Memory > 9 is reached", "", "bob", 0.5),
    ]


def test_jobs_whose_slots_others_took_have_a_reason_too():
    (record, *rest) = cycle(1, denials=[("ada", 3, reason("x"))])
    found = figures([{**record, "decisive": None}, *rest])
    assert [(each.reason, each.place) for each in found.blocked] == [("other jobs got the last slots", "")]


def test_of_many_reasons_and_users_the_largest_are_named():
    denials = [(f"u{n}", 50 - n, reason(f"r{n}")) for n in range(20)]
    found = figures(cycle(1, denials=denials)).blocked
    assert {each.reason for each in found} == {*(f"r{n} is reached" for n in range(8)), OTHERS}
    assert {each.user for each in found} == {*(f"u{n}" for n in range(10)), OTHERS}
    assert sum(each.jobs for each in found) == sum(50 - n for n in range(20))


def test_what_the_log_left_out_and_shadow_mode_are_said():
    *rest, last = cycle(1)
    assert (figures([*rest, last]).missing, figures([*rest, last]).is_shadow) == (0, False)
    last |= {"matches": 5, "matches_recorded": 2, "denials": 4, "denials_recorded": 0, "shadow": True}
    assert (figures([*rest, last]).missing, figures([*rest, last]).is_shadow) == (7, True)


def test_without_a_cycle_there_are_no_figures():
    assert figures() is None


@pytest.mark.parametrize(
    ("seconds", "width"),
    [(0, 60), (3600, 300), (DAY, HOUR), (7 * DAY, 6 * HOUR), (31 * DAY, DAY), (1e9, 30 * DAY)],
)
def test_a_month_is_drawn_by_days_and_a_day_by_hours(seconds, width):
    assert interval_width(seconds) == width

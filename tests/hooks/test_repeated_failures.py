"""Plugins that keep failing or are slow: counted, and observers switched off."""

import pytest

from failing_plugins import filter_slots
from negotiator.hooks import specs
from negotiator.hooks.manager import PluginStatus
from negotiator.testing import cycle_record


def test_a_policy_that_keeps_failing_is_called_each_time_and_denies_its_request(plugins):
    """Exceptions caused by one user's jobs must not deny other users."""
    calls = plugins.write(
        "bad.py",
        """
        calls = 0
        @hookimpl
        def negotiator_filter_slots():
            global calls
            calls += 1
            raise ValueError(calls)
        """,
    )
    manager = plugins.load(max_failures=2)
    messages = [filter_slots(manager).failures[0].message for _ in range(4)]
    assert messages == [f"ValueError: {number}" for number in (1, 2, 3, 4)]
    (info,) = manager.plugins
    assert (info.calls, info.failures, info.status) == (4, 4, PluginStatus.OK)
    assert info.last_failure == "ValueError: 4"
    assert info.origin == str(calls)


def test_an_observer_that_keeps_failing_is_switched_off(plugins):
    """No decision depends on it; the other hooks of the plugin are still called."""
    plugins.write(
        "bad.py",
        """
        @hookimpl
        def negotiator_matches_made():
            raise ValueError("full")
        @hookimpl
        def negotiator_filter_slots():
            return []
        """,
    )
    manager = plugins.load(max_failures=2)
    assert [
        len(
            manager.ask(specs.negotiator_matches_made, matches=(), cycle=cycle_record(), settings={}).failures
        )
        for _ in range(4)
    ] == [1, 1, 0, 0]
    (info,) = manager.plugins
    assert (info.failures, info.status) == (2, PluginStatus.OFF)
    assert filter_slots(manager).failures == ()


def test_failures_must_be_in_a_row(plugins):
    """A successful call resets the count."""
    plugins.write(
        "bad.py",
        """
        answers = [1, 0, 1, 0, 1, 0]
        @hookimpl
        def negotiator_filter_slots():
            return 1 / (1 - answers.pop()) and []
        """,
    )
    manager = plugins.load(max_failures=2)
    assert [len(filter_slots(manager).failures) for _ in range(6)] == [0, 1, 0, 1, 0, 1]
    assert manager.plugins[0].status is PluginStatus.OK


@pytest.mark.parametrize(
    ("hook", "status"), [("filter_slots", PluginStatus.OK), ("matches_made", PluginStatus.OFF)]
)
def test_slow_calls_switch_off_an_observer_when_the_cycle_ends_and_a_policy_never(plugins, hook, status):
    """Within a cycle the clock has no effect; what a policy decides never depends on it."""
    answer = "[]" if hook == "filter_slots" else "None"
    plugins.write("slow.py", f"@hookimpl\ndef negotiator_{hook}(): return {answer}\n")
    manager = plugins.load(slow_seconds=1.0, max_failures=2, takes=[1.5, 1.5, 0.5, 1.0, 1.5])

    def failures():
        if hook == "filter_slots":
            return filter_slots(manager).failures
        return manager.ask(
            specs.negotiator_matches_made, matches=(), cycle=cycle_record(), settings={}
        ).failures

    assert [failures() for _ in range(4)] == [()] * 4
    assert manager.plugins[0].slow_calls == 2
    assert manager.plugins[0].status is PluginStatus.OK
    manager.end_cycle()
    assert manager.plugins[0].status is status
    assert failures() == ()
    assert manager.plugins[0].calls == (5 if status is PluginStatus.OK else 4)


def test_slow_calls_that_are_not_in_a_row_have_no_effect(plugins):
    """Single slow calls are only reported."""
    plugins.write("slow.py", "@hookimpl\ndef negotiator_filter_slots(): return []\n")
    manager = plugins.load(slow_seconds=1.0, max_failures=2, takes=[1.5, 0.1, 1.5, 0.1])
    for _ in range(4):
        assert filter_slots(manager).failures == ()
        manager.end_cycle()
    assert (manager.plugins[0].slow_calls, manager.plugins[0].status) == (2, PluginStatus.OK)


def test_slow_calls_are_named_at_the_end_of_their_cycle(plugins):
    """Once, with their duration, and without any effect."""
    plugins.write("slow.py", "@hookimpl\ndef negotiator_filter_slots(): return []\n")
    manager = plugins.load(slow_seconds=1.0, max_failures=9, takes=[1.5, 0.1, 2.5, 0.5, 3.0])
    for _ in range(3):
        assert filter_slots(manager).failures == ()
    (slow,) = manager.end_cycle()
    named = f"plugin {manager.plugin_set[0]}, hook negotiator_filter_slots"
    assert str(slow) == f"{named}: 2 slow calls, the slowest took 2.5 s (job 1.0 of alice@example.org)"
    filter_slots(manager)
    assert manager.end_cycle() == ()
    filter_slots(manager)
    assert [str(each) for each in manager.end_cycle()] == [
        f"{named}: slow call: it took 3 s (job 1.0 of alice@example.org)"
    ]

"""Checks of a plugin before any of its hooks is called."""

import pytest

from negotiator.hooks import specs


@pytest.mark.parametrize(
    ("source", "line", "text"),
    [
        (
            "@hookimpl\ndef negotiator_filter_slot(): pass",
            4,
            "error: plugin p, hook negotiator_filter_slot: unknown hook (did you mean negotiator_filter_slots?)",
        ),
        (
            "@hookimpl\ndef zzz(): pass",
            4,
            (
                "error: plugin p, hook zzz: unknown hook (the nearest of 23 are: negotiator_user_groups, negotiator_usage,"
                " negotiator_unused_hooks, negotiator_starting_bundles, negotiator_section)"
            ),
        ),
        (
            "\n@hookimpl\ndef negotiator_filter_slots(job): pass",
            5,
            (
                "error: plugin p, hook negotiator_filter_slots: unknown argument job"
                " (its arguments are: request, slots, settings, cycle, policy)"
            ),
        ),
        (
            "@hookimpl\ndef negotiator_filter_slots(slots, job=None): pass",
            4,
            (
                "error: plugin p, hook negotiator_filter_slots: unknown argument job"
                " (its arguments are: request, slots, settings, cycle, policy)"
            ),
        ),
        (
            "@hookimpl\ndef negotiator_section(settings): pass",
            4,
            "error: plugin p, hook negotiator_section: unknown argument settings (it has no arguments)",
        ),
        (
            "@hookimpl\ndef negotiator_constraints(*settings): pass",
            4,
            (
                "error: plugin p, hook negotiator_constraints: the argument *settings can't be passed by name"
                " (its arguments are: settings)"
            ),
        ),
        (
            "@hookimpl\ndef negotiator_constraints(settings, /): pass",
            4,
            (
                "error: plugin p, hook negotiator_constraints: the argument settings can't be passed by name"
                " (its arguments are: settings)"
            ),
        ),
        (
            "@hookimpl(wrapper=True)\ndef negotiator_constraints(): yield",
            4,
            (
                "error: plugin p, hook negotiator_constraints: wrappers are refused"
                " (a wrapper could hide the answer of another plugin; implement the hook itself)"
            ),
        ),
        (
            "@hookimpl(hookwrapper=True)\ndef negotiator_constraints(): yield",
            4,
            (
                "error: plugin p, hook negotiator_constraints: wrappers are refused"
                " (a wrapper could hide the answer of another plugin; implement the hook itself)"
            ),
        ),
        (
            "@hookimpl\nasync def negotiator_constraints(): pass",
            4,
            "error: plugin p, hook negotiator_constraints: is async (hooks are plain functions or generators)",
        ),
        (
            "@hookimpl\nasync def negotiator_constraints(): yield",
            4,
            "error: plugin p, hook negotiator_constraints: is async (hooks are plain functions or generators)",
        ),
    ],
)
def test_a_plugin_with_an_invalid_hook_is_refused(plugins, source, line, text):
    """At the line of the function, with the valid form."""
    file = plugins.write("p.py", source)
    assert plugins.refusals() == [f"{file}:{line}: {text}"]


def test_every_problem_of_a_plugin_is_reported_at_once(plugins):
    """And none of its hooks is used, even valid ones."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_section(): return 1
        @hookimpl
        def negotiator_sections(): return 1
        @hookimpl
        def negotiator_constraints(a, b): return 1
        """,
    )
    assert len(plugins.refusals()) == 3
    assert plugins.load().ask(specs.negotiator_section).failures == ()


def test_an_unmarked_function_is_warned_of(plugins):
    """It looks like a hook but would never be called."""
    file = plugins.write(
        "p.py",
        """
        def negotiator_filter_slots(): return []
        @hookimpl
        def negotiator_commands(): return []
        negotiator_version = 3
        """,
    )
    assert len(plugins.load().plugins) == 1
    assert [str(problem) for problem in plugins.problems] == [
        (
            f"{file}:5: warning: plugin p: negotiator_filter_slots is not marked, so it is never called"
            " (put @hookimpl before it)"
        )
    ]


def test_a_plugin_without_any_hook_is_warned_of(plugins):
    """It is loaded, and has no effect."""
    file = plugins.write("p.py", "x = 1")
    assert plugins.load().plugins[0].hooks == ()
    assert [str(problem) for problem in plugins.problems] == [
        f"{file}: warning: plugin p implements no hook (mark its functions with negotiator.plugin.hookimpl)"
    ]


def test_a_hook_of_another_version_may_be_optional(plugins):
    """With ``optionalhook`` it is only a warning, and the other hooks are used."""
    file = plugins.write(
        "p.py",
        """
        @hookimpl(optionalhook=True)
        def negotiator_filter_jobs(): return []
        @hookimpl
        def negotiator_commands(): return []
        """,
    )
    assert plugins.load().plugins[0].hooks == ("negotiator_commands",)
    assert [str(problem) for problem in plugins.problems] == [
        (
            f"{file}:5: warning: plugin p, hook negotiator_filter_jobs: unknown hook"
            " (did you mean negotiator_filter_slots?)"
        )
    ]


def test_an_object_that_fails_on_inspection_is_refused(plugins):
    """A module may define ``__dir__``, which may raise."""
    file = plugins.write("p.py", "def __dir__(): raise SystemExit('no')\n")
    assert plugins.refusals() == [f"{file}:4: error: plugin p can't be loaded: SystemExit: no"]

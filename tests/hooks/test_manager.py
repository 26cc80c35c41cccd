"""The order of plugins, and the trace of calls."""

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.hooks import specs
from negotiator.hooks.manager import HOOKS, HookManager, LoadedPlugin
from negotiator.hooks.pluggy_adapter import Registry
from negotiator.hooks.settings import PluginSettings
from negotiator.plugin import hookimpl
from negotiator.testing import cycle_record, match, request, table

NAMES = ("c", "a", "d", "b")


def write_all(plugins):
    for name in NAMES:
        plugins.write(f"{name}.py", '@hookimpl\ndef negotiator_commands(): yield click.Command("x")\n')


@pytest.mark.parametrize(
    ("order", "names"), [((), "abcd"), (("d", "b"), "dbac"), (("c",), "cabd"), (("b", "d", "b"), "bdac")]
)
def test_the_bundles_order_decides_then_the_name(plugins, order, names):
    """The order of registration does not matter."""
    write_all(plugins)
    manager = plugins.load(order=order)
    assert "".join(stamped.plugin for stamped in manager.ask(specs.negotiator_commands).records) == names
    assert "".join(each.split()[0] for each in manager.plugin_set) == names
    assert "".join(info.name for info in manager.plugins) == names


class Policy:
    """A plugin that answers with one command."""

    @hookimpl
    def negotiator_commands(self):
        return [click.Command("x")]


@settings(deadline=None)
@given(st.permutations(list("abcdef")), st.lists(st.sampled_from("abcdefxyz")))
def test_the_order_of_registration_does_not_change_the_order_of_calls(registered, order):
    """Plugins in the bundle's list come first, once each, then the others by name."""
    registry = Registry(HOOKS)
    for name in registered:
        registry.register(Policy(), name)
    loaded = [LoadedPlugin(name, "1", "here") for name in registered]
    manager = HookManager(registry, loaded, PluginSettings(order=tuple(order)))
    first = [name for name in dict.fromkeys(order) if name in "abcdef"]
    expected = first + sorted(set("abcdef") - set(first))
    assert [stamped.plugin for stamped in manager.ask(specs.negotiator_commands).records] == expected
    assert manager.plugin_set == tuple(f"{name} 1" for name in expected)


def test_tryfirst_has_no_effect(plugins):
    """It gives a warning, and the order stays."""
    write_all(plugins)
    plugins.write("e.py", '@hookimpl(tryfirst=True)\ndef negotiator_commands(): yield click.Command("x")\n')
    assert (
        "".join(stamped.plugin for stamped in plugins.load().ask(specs.negotiator_commands).records)
        == "abcde"
    )
    assert [str(problem) for problem in plugins.problems] == [
        (
            f"{plugins.folder / 'e.py'}:4: notice: plugin e, hook negotiator_commands:"
            " tryfirst and trylast have no effect (the bundle decides: plugins: order:)"
        )
    ]


def test_an_argument_with_a_default_is_passed(plugins):
    """If it were omitted, the plugin would silently use its default."""
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_constraints(*, settings="none"):
            raise ValueError(settings)
        """,
    )
    (failure,) = plugins.load().ask(specs.negotiator_constraints, settings={"a": "mine"}).failures
    assert failure.message == "ValueError: mine"


def test_a_function_may_have_another_name(plugins):
    """``specname`` is the name of its hook."""
    plugins.write(
        "a.py",
        """
        @hookimpl(specname="negotiator_constraints")
        def under_another_name(settings): raise ValueError(settings)
        """,
    )
    (failure,) = plugins.load().ask(specs.negotiator_constraints, settings={"a": 4}).failures
    assert (failure.hook, failure.message) == ("negotiator_constraints", "ValueError: 4")


TRACED = """
@hookimpl
def negotiator_filter_slots(request, slots, settings, cycle):
    yield Filter(rule="own", allow=slots.strings("Secret") == "hush", code="c", text="hush")
@hookimpl
def negotiator_matches_made(matches):
    raise ValueError(matches[0].job_ad.string("Owner"))
@hookimpl
def negotiator_gate_ads(kind, ads):
    return []
@hookimpl
def negotiator_job_attributes():
    return ["Owner"]
"""


def test_the_trace_has_every_call_and_no_value_of_an_ad(plugins):
    """Plugin, hook, sizes, rules and milliseconds; of an error only its type, since its text might quote an ad."""
    plugins.write("p.py", TRACED)
    lines = []
    manager = plugins.load(tracer=lines.append, takes=[0.25, 0.5, 0.125], max_failures=1)
    secret = table('Secret = "hush"\n\nSecret = "hush"\n\nOther = 1')
    manager.ask(
        specs.negotiator_filter_slots,
        request=request('Secret = "hush"', count=12),
        slots=secret,
        cycle=cycle_record(number=7),
        settings={"p": 3},
    )
    for _ in range(2):
        manager.ask(
            specs.negotiator_matches_made,
            matches=(match('Owner = "hush"'),),
            cycle=cycle_record(),
            settings={},
        )
    manager.ask(specs.negotiator_gate_ads, kind="startd", ads=secret, cycle=cycle_record(), settings={})
    manager.job_attributes({})
    version = manager.plugins[0].version
    assert lines == [
        (
            f"negotiator_filter_slots p {version}: request=12 jobs slots=3 rows settings=int cycle=7"
            " -> 1 record: own (1 not allowed) in 250.000 ms"
        ),
        f"negotiator_matches_made p {version}: matches=1 items -> failed: ValueError in 500.000 ms",
        f"negotiator_gate_ads p {version}: kind=str ads=3 rows -> 0 records in 125.000 ms",
        f"negotiator_job_attributes p {version}: () -> 1 record: owner in 0.000 ms",
    ]
    assert "hush" not in "".join(lines)

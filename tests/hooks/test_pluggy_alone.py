"""Plugins in a plain manager of pluggy; and what the example plugins and their tests import."""

import ast
import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest

from negotiator.hooks import specs
from negotiator.hooks.hook import hooks_of
from negotiator.plugin import hookimpl, plugin_manager
from negotiator.testing import call, cycle_record, queues, request, table

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(
    path
    for folder in ("maintenance", "csv-matches")
    for path in (EXAMPLES / folder).rglob("*.py")
    if "build" not in path.parts
)


def maintenance():
    path = EXAMPLES / "maintenance" / "maintenance.py"
    spec = importlib.util.spec_from_file_location("maintenance_alone", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_plain_manager_calls_an_example_plugin_as_the_program_does(tmp_path):
    plugin, calendar = maintenance(), tmp_path / "calendar.yaml"
    calendar.write_text("- machine: a\n  from: 2026-11-23T08:00\n  to: 2026-11-23T12:00\n  why: new fans\n")
    manager = plugin_manager()
    manager.register(plugin)
    (section,) = manager.hook.negotiator_section()
    settings = section.schema(maintenance_calendar=calendar)
    given = {
        "slots": table('Name = "s@a"\nMachine = "a"'),
        "settings": settings,
        "cycle": cycle_record(now=datetime(2026, 11, 23, 9, tzinfo=UTC).timestamp()),
    }
    (calendar_of_pool,) = manager.hook.negotiator_policy(settings=settings, queues=queues())
    policy = calendar_of_pool.begin_cycle(given["slots"], given["cycle"])
    answers = manager.hook.negotiator_filter_slots(request=request(), policy=policy, **given)
    (found,) = (each for answer in answers for each in answer)
    (expected,) = call(plugin, "negotiator_filter_slots", **given)
    assert (found.rule, found.text, found.allow.tolist()) == (expected.rule, expected.text, [False])
    assert expected.allow.tolist() == [False]


def test_a_plain_manager_has_every_hook_and_refuses_an_argument_that_a_hook_does_not_have():
    manager = plugin_manager()
    assert {name for name in hooks_of(*specs.CONTRACT) if not hasattr(manager.hook, name)} == set()
    with pytest.raises(Exception, match="slotz"):
        manager.register(_Misspelled())


class _Misspelled:
    @hookimpl
    def negotiator_filter_slots(self, slotz):  # noqa: ARG002 - it is misspelled
        yield from ()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_example_plugins_and_their_tests_import_the_door_and_the_test_kit_only(path):
    imported = {
        node.module
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "negotiator"
    }
    assert imported <= {"negotiator.plugin", "negotiator.testing"}
    assert "negotiator.hooks" not in path.read_text()

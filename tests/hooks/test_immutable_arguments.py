"""Arguments of hooks, and masks that plugins returned, cannot be changed."""

from types import MappingProxyType

import numpy as np
import pytest

from negotiator.hooks import specs
from negotiator.plugin import (
    Application,
)
from negotiator.testing import cycle_record, queues, request, table

SLOTS = 'Name = "slot1@a"\nMachine = "a"\n\nName = "slot1@b"\nMachine = "b"'


@pytest.mark.parametrize("getter", ["numbers('Cpus')", "column('Cpus').kinds", "column('Cpus').data[4]"])
def test_a_plugin_cannot_change_the_table_for_the_next(plugins, getter):
    """The next plugin gets the ads unchanged."""
    plugins.write(
        "a.py",
        f"""
        @hookimpl
        def negotiator_filter_slots(slots):
            slots.{getter}[...] = 0
            return []
        """,
    )
    slots = table("Cpus = 8\n\nCpus = 4")
    slots.numbers("Cpus")
    plugins.load().ask(
        specs.negotiator_filter_slots, request=request(), slots=slots, cycle=cycle_record(), settings={}
    )
    assert slots.numbers("Cpus").tolist() == [8.0, 4.0]
    assert slots.column("Cpus").value(1) == 4


@pytest.mark.parametrize(
    "change",
    [
        "request.resources['vcore'] = 0",
        "request.resources.clear()",
        "request.applications[0] = 'mine'",
        "request.groups += ('admin',)",
        "request.unknown.add('vcore')",
        "queues.get('root.a').config.max['vcore'] = 0",
        "queues.create('root.b', 0.0)",
        "settings['limit'] = 0",
    ],
)
def test_a_plugin_cannot_change_its_arguments(plugins, change):
    """Otherwise a plugin could silently lift a limit."""
    body = f"@hookimpl\ndef negotiator_charges(request, queues, settings):\n    {change}\n    return []\n"
    plugins.write("a.py", body)
    given = {
        "request": request(resources={"vcore": 5}),
        "slots": table(SLOTS),
        "queues": queues({"root.a": ""}),
    }
    settings = {"a": MappingProxyType({"limit": 1})}  # as a bundle makes them
    answers = plugins.load().ask(specs.negotiator_charges, **given, settings=settings, cycle=cycle_record())
    assert [failure.message.partition(":")[0] for failure in answers.failures] in (
        ["TypeError"],
        ["AttributeError"],
        ["FrozenInstanceError"],
    )
    assert given["request"].resources == {"vcore": 5}


def test_the_tags_of_an_application_cannot_be_changed():
    """Placement rules get them."""
    with pytest.raises(TypeError, match="does not support item assignment"):
        Application("bob", tags={"project": "a"}).tags["project"] = "b"


def test_a_mask_is_copied_and_read_only(plugins):
    """A plugin cannot change its answer later, and its readers cannot either."""
    plugins.write(
        "a.py",
        """
        mask = np.array([True, False])
        @hookimpl
        def negotiator_filter_slots():
            yield Filter(rule="r", allow=mask, code="c", text="t")
        @hookimpl
        def negotiator_matches_made():
            mask[:] = False
        """,
    )
    manager = plugins.load()
    allow = (
        manager.ask(
            specs.negotiator_filter_slots,
            request=request(),
            slots=table(SLOTS),
            cycle=cycle_record(),
            settings={},
        )
        .records[0]
        .record.allow
    )
    assert (
        manager.ask(specs.negotiator_matches_made, matches=(), cycle=cycle_record(), settings={}).failures
        == ()
    )
    assert allow.tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        allow[0] = False
    assert allow.dtype == np.bool_

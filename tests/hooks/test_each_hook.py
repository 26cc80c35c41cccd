"""Each hook by itself, through the manager: what goes in, what comes out. ``test_contract`` wants one of each here."""

import click
import numpy as np
import pytest

from negotiator.classad import parse
from negotiator.hooks import AdKind, Constraint, ConstraintSide
from negotiator.hooks.manager import Stamped
from negotiator.hooks.testkit import cycle, match, request, table
from negotiator.records import Mode, Verdict

SLOTS = 'Name = "slot1@a"\nMachine = "a"\n\nName = "slot1@b"\nMachine = "b"'


def test_negotiator_section_is_stamped_with_the_plugin(plugins):
    """A section comes back with the name and the version of the plugin that the guard knows it by."""
    plugins.write(
        "night.py",
        """
        __version__ = "2.5"
        @attrs.frozen
        class Night:
            night_begins: int = 22
        @hookimpl
        def negotiator_section():
            return Section(schema=Night)
        """,
    )
    answers = plugins.load().sections()
    (stamped,) = answers.records
    assert stamped.plugin == "night"
    assert stamped.version.startswith("2.5+sha256:")
    assert stamped.record.schema().night_begins == 22
    assert answers.failures == ()


def test_negotiator_commands_of_all_plugins_come_in_order(plugins):
    """Commands of every plugin are collected, by plugin name."""
    for name in ("b", "a"):
        plugins.write(
            f"{name}.py",
            f"""
            @hookimpl
            def negotiator_commands():
                yield click.Command("show-{name}")
            """,
        )
    answers = plugins.load().commands()
    assert [stamped.record.name for stamped in answers.records] == ["show-a", "show-b"]
    assert all(isinstance(stamped.record, click.Command) for stamped in answers.records)


def test_negotiator_constraints_gets_the_plugins_own_settings(plugins):
    """Each plugin is passed its own part of the bundle, and None where it has none."""
    for name in ("a", "b"):
        plugins.write(
            f"{name}.py",
            """
            @hookimpl
            def negotiator_constraints(settings):
                yield Constraint(rule="r", side=ConstraintSide.JOB, expression=parse("TARGET.Memory > 1"),
                                 text=f"settings: {settings}")
            """,
        )
    answers = plugins.load().constraints({"a": "those of a"})
    assert answers.records[0] == Stamped(
        Constraint(
            rule="r",
            side=ConstraintSide.JOB,
            expression=parse("TARGET.Memory > 1"),
            text="settings: those of a",
        ),
        "a",
        answers.records[0].version,
    )
    assert [stamped.record.text for stamped in answers.records] == [
        "settings: those of a",
        "settings: None",
    ]


def test_negotiator_job_attributes_are_joined_in_lower_case(plugins):
    """What all plugins read is one set; the case of a name does not matter."""
    for name, attributes in (("a", ["Owner", "JobUniverse"]), ("b", ["OWNER", "Queue"])):
        plugins.write(f"{name}.py", f"@hookimpl\ndef negotiator_job_attributes(): return {attributes}\n")
    assert plugins.load().job_attributes({}) == (frozenset({"owner", "jobuniverse", "queue"}), ())


def test_negotiator_job_attributes_are_unknown_where_a_filter_does_not_tell(plugins):
    """One plugin that filters slots without naming what it reads switches the grouping of jobs off."""
    plugins.write("a.py", "@hookimpl\ndef negotiator_job_attributes(): return ['Owner']\n")
    plugins.write("b.py", "@hookimpl\ndef negotiator_filter_slots(): return []\n")
    assert plugins.load().job_attributes({}) == (None, ())


def test_negotiator_job_attributes_are_known_where_every_filter_tells(plugins):
    """A filter that reads no attribute says so with an empty list."""
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_job_attributes(): return []
        @hookimpl
        def negotiator_filter_slots(): return []
        """,
    )
    assert plugins.load().job_attributes({}) == (frozenset(), ())


def test_negotiator_gate_ads_is_asked_with_kind_table_and_cycle(plugins):
    """A gate sees all ads of a kind at once and answers with a mask over them."""
    plugins.write(
        "stale.py",
        """
        @hookimpl
        def negotiator_gate_ads(kind, ads, cycle):
            if kind is AdKind.STARTD:
                stale = cycle.now - ads.numbers("LastHeardFrom", default=0) > 900
                yield Gate(rule="stale", discard=stale, code="stale", text="not heard from")
        """,
    )
    manager = plugins.load()
    ads = table("LastHeardFrom = 5000\n\nLastHeardFrom = 100\n\nMachine = 1")
    answers = manager.gate_ads(AdKind.STARTD, ads, cycle(now=5010.0), {})
    assert answers.records[0].record.discard.tolist() == [False, True, True]
    assert answers.records[0].record.verdict is Verdict.DENIED
    assert answers.records[0].record.mode is Mode.ENFORCE
    assert manager.gate_ads(AdKind.JOB, ads, cycle(now=5010.0), {}).records == ()


def test_negotiator_filter_slots_is_asked_with_request_slots_and_cycle(plugins):
    """A filter sees one request and all slots."""
    plugins.write(
        "owner.py",
        """
        @hookimpl
        def negotiator_filter_slots(request, slots, settings, cycle):
            owner = request.ad.string("Owner")
            yield Filter(rule="own", allow=slots.strings("Machine") == owner, code="own",
                         text=f"{settings} in cycle {cycle.number}")
        """,
    )
    answers = plugins.load().filter_slots(
        request('Owner = "b"'), table(SLOTS), cycle(number=4), {"owner": "s"}
    )
    (stamped,) = answers.records
    assert stamped.record.allow.tolist() == [False, True]
    assert stamped.record.text == "s in cycle 4"


def test_negotiator_matches_made_is_told_of_the_matches_as_a_tuple(plugins):
    """An observer gets the matches in a form that it can't change for the next one."""
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_matches_made(matches):
            matches.clear()
        """,
    )
    told = plugins.write(
        "b.py",
        """
        from pathlib import Path
        @hookimpl
        def negotiator_matches_made(matches, cycle):
            Path(__file__).with_suffix(".txt").write_text(f"{cycle.number}: {[m.job for m in matches]}")
        """,
    ).with_suffix(".txt")
    made = [match(ordinal=1), match(ordinal=2)]
    failures = plugins.load().matches_made(made, cycle(number=3), {})
    assert [str(failure) for failure in failures] == [
        (
            f"plugin a {failures[0].version}, hook negotiator_matches_made:"
            " AttributeError: 'tuple' object has no attribute 'clear'"
        )
    ]
    assert told.read_text() == "3: ['1.0', '2.0']"
    assert len(made) == 2


@pytest.mark.parametrize("getter", ["numbers('Cpus')", "column('Cpus').kinds", "column('Cpus').data[4]"])
def test_a_plugin_cannot_change_the_table_for_the_next(plugins, getter):
    """Whatever a plugin does to the arrays of a table, the next plugin sees the ads as they are."""
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
    plugins.load().filter_slots(request(), slots, cycle(), {})
    assert slots.numbers("Cpus").tolist() == [8.0, 4.0]
    assert slots.column("Cpus").value(1) == 4


def test_a_mask_is_copied_and_read_only(plugins):
    """A plugin that keeps its mask can't change its answer later; nor can whoever reads it."""
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
    allow = manager.filter_slots(request(), table(SLOTS), cycle(), {}).records[0].record.allow
    assert manager.matches_made([], cycle(), {}) == ()
    assert allow.tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        allow[0] = False
    assert allow.dtype == np.bool_

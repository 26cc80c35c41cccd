"""Each hook by itself, through the manager: what goes in, what comes out. ``test_contract`` wants one of each here."""

from types import MappingProxyType

import click
import numpy as np
import pytest

from negotiator.classad import parse
from negotiator.hooks import specs
from negotiator.hooks.hook import per_plugin
from negotiator.hooks.manager import Attributed
from negotiator.plugin import (
    AccessDecision,
    AccessKind,
    AccessQuestion,
    AdKind,
    Application,
    Constraint,
    ConstraintSide,
    CounterUsage,
    PlacedApplication,
    QueueNotice,
    QueueTarget,
    Quota,
)
from negotiator.records import Mode, Source, Verdict
from negotiator.testing import cycle_record, match, queues, request, rule, summary, table

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
    answers = plugins.load().ask(specs.negotiator_section)
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
    answers = plugins.load().ask(specs.negotiator_commands)
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
    answers = plugins.load().ask(specs.negotiator_constraints, settings={"a": "those of a"})
    assert answers.records[0] == Attributed(
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


@pytest.mark.parametrize("hook", ["filter_slots", "charges"])
def test_negotiator_job_attributes_are_unknown_where_a_plugin_does_not_tell(plugins, hook):
    """One plugin that filters or charges without naming what it reads switches the grouping of jobs off."""
    plugins.write("a.py", "@hookimpl\ndef negotiator_job_attributes(): return ['Owner']\n")
    plugins.write("b.py", f"@hookimpl\ndef negotiator_{hook}(): return []\n")
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


def test_negotiator_placement_rules_of_all_plugins_come_in_order_in_lower_case(plugins):
    """The functions of a rule are the plugin's own; its name is one whatever its case."""
    plugins.write(
        "b.py",
        """
        def by_project(application, rule):
            return QueueTarget.given(application.tags["project"] + rule.value)
        @hookimpl
        def negotiator_placement_rules():
            yield PlacementRule(name="Project_2", target=by_project, tags=lambda value: [value], fixed=True)
        """,
    )
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_placement_rules():
            return [PlacementRule(name="none", target=lambda application, rule: None, absent="no", needs_value=True)]
        """,
    )
    answers = plugins.load().ask(specs.negotiator_placement_rules)
    assert answers.failures == ()
    none, project = (stamped.record for stamped in answers.records)
    assert [stamped.plugin for stamped in answers.records] == ["a", "b"]
    assert (none.name, none.absent, none.needs_value, none.fixed) == ("none", "no", True, False)
    assert (project.name, project.needs_value, project.fixed) == ("project_2", False, True)
    assert none.target(Application("alice"), rule()) is None
    given = project.target(Application("alice", tags={"project": "root.a"}), rule("b"))
    assert given == QueueTarget("root.ab", qualified=True)
    assert (list(none.tags("x")), list(project.tags("x"))) == ([], ["x"])


def test_negotiator_access_is_asked_with_all_questions_and_the_queues(plugins):
    """A policy sees who asks for what, the queues with their lists, and its own settings."""
    plugins.write(
        "acl.py",
        """
        @hookimpl
        def negotiator_access(questions, queues, settings):
            for asked in questions:
                queue = queues.get(asked.queue)
                whom = queue.config.submit.allows(asked.user, asked.groups) if queue else ""
                yield Access(AccessDecision.GRANT if whom else AccessDecision.ABSTAIN, f"{settings} {asked.act}", whom,
                             Source("queues.yaml", 3))
        """,
    )
    asked = [AccessQuestion(user, ("dev",), AccessKind.SUBMIT, "root.a") for user in ("bob", "eve")]
    asked.append(AccessQuestion("eve", (), AccessKind.CONFIGURE))
    manager = plugins.load()
    answers, failures = manager.access(asked, queues({"root.a": "bob"}), {"acl": "mine"})
    assert failures == ()
    assert [(each.record.decision, each.record.rule, each.record.text) for each in answers] == [
        (AccessDecision.GRANT, "mine submit", "user bob"),
        (AccessDecision.ABSTAIN, "mine submit", ""),
        (AccessDecision.ABSTAIN, "mine configure", ""),
    ]
    assert {(each.plugin, each.version) for each in answers} == {("acl", manager.plugins[0].version)}
    assert answers[0].record.source == Source("queues.yaml", 3)


def knows(**groups):
    """A plugin that knows these users."""
    return f"""
        @hookimpl
        def negotiator_user_groups():
            for user, groups in {groups}.items():
                yield UserGroups(user, groups)
        """


def test_negotiator_application_groups_come_from_the_first_plugin_that_names_one(plugins):
    """One for each application, in the bundle's order of plugins; empty if none names a group."""
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_application_groups(applications, queues, settings):
            assert type(applications) is tuple
            for each in applications:
                yield settings + each.queue if each.user == "bob" and len(queues) else ""
        """,
    )
    plugins.write(
        "b.py",
        """
        @hookimpl
        def negotiator_application_groups(applications):
            return [each.groups[0] if each.groups else "" for each in applications]
        """,
    )
    placed = [
        PlacedApplication("bob", ("staff",), "root.a"),
        PlacedApplication("ann", ("staff",), "root.a"),
        PlacedApplication("eve", (), "root.b"),
    ]
    groups, failures = plugins.load().application_groups(placed, queues(), {"a": "in "})
    assert (groups, failures) == (("in root.a", "staff", ""), ())


@pytest.mark.parametrize("answer", ["['a']", "['a', 7]", "['a', '\\n']", "None"])
def test_negotiator_application_groups_fails_on_an_invalid_answer(plugins, answer):
    """Too few groups, a number, a name that is not printable, no answer."""
    plugins.write("p.py", f"@hookimpl\ndef negotiator_application_groups(): return {answer}\n")
    placed = [PlacedApplication("bob", (), "root.a"), PlacedApplication("ann", (), "root.a")]
    groups, failures = plugins.load().application_groups(placed, queues(), {})
    assert groups == ("", "")
    assert [failure.plugin for failure in failures] == ["p"]


def test_negotiator_user_groups_is_asked_with_users_settings_and_time(plugins):
    """A plugin sees all users at once and answers for those that it knows; a list will do for a tuple."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_user_groups(users, settings, now):
            assert type(users) is tuple
            return [UserGroups(user, [user + "s", settings, str(now)]) for user in users if user != "eve"]
        """,
    )
    found, failures = plugins.load().user_groups(["bob", "eve", "ann"], 5.0, {"p": "mine"})
    assert failures == ()
    assert list(found.items()) == [("bob", ("bobs", "mine", "5.0")), ("ann", ("anns", "mine", "5.0"))]


def test_negotiator_user_groups_come_from_the_first_plugin_that_knows_a_user(plugins):
    """In the bundle's order; a user without groups is known as well, and who was not asked about is passed over."""
    plugins.write("a.py", knows(bob=("a",), ann=()))
    plugins.write("b.py", knows(bob=("b",), ann=("b",), eve=("b", "b2"), zoe=("b",)))
    users = ["eve", "bob", "ann", "nobody"]
    expected = {"eve": ("b", "b2"), "bob": ("a",), "ann": ()}
    assert plugins.load().user_groups(users, 0.0, {}) == (expected, ())
    turned, _ = plugins.load(order=("b",)).user_groups(users, 0.0, {})
    assert turned == {"eve": ("b", "b2"), "bob": ("b",), "ann": ("b",)}


def test_negotiator_user_groups_takes_the_first_record_of_a_user(plugins):
    """As with two plugins: the first that says something is believed."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_user_groups():
            return [UserGroups("bob", ("first",)), UserGroups("bob", ("second",))]
        """,
    )
    assert plugins.load().user_groups(["bob"], 0.0, {}) == ({"bob": ("first",)}, ())


def test_negotiator_user_groups_after_a_plugin_that_failed_are_not_believed(plugins):
    """It might have known the user, and with other groups; what plugins before it know stands."""
    plugins.write("a.py", knows(bob=("a",)))
    plugins.write("b.py", "@hookimpl\ndef negotiator_user_groups(): raise OSError('no server')\n")
    plugins.write("c.py", knows(bob=("c",), eve=("c",)))
    found, failures = plugins.load().user_groups(["bob", "eve"], 0.0, {})
    assert found == {"bob": ("a",)}
    assert [(failure.plugin, failure.message) for failure in failures] == [("b", "OSError: no server")]
    later, failures = plugins.load(order=("a", "c")).user_groups(["bob", "eve"], 0.0, {})
    assert later == {"bob": ("a",), "eve": ("c",)}
    assert [failure.plugin for failure in failures] == ["b"]


def test_negotiator_user_groups_has_room_for_all_users_that_are_asked_about(plugins):
    """As many records as there are users, and no fewer than an answer may have otherwise."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_user_groups(users, settings):
            for number in range(settings):
                yield UserGroups(f"user{number}", ("staff",))
        """,
    )
    manager = plugins.load()
    users = [f"user{number}" for number in range(20_001)]
    found, failures = manager.user_groups(users, 0.0, {"p": len(users)})
    assert (len(found), failures) == (20_001, ())
    assert manager.user_groups(users[:1], 0.0, {"p": 10_000}) == ({"user0": ("staff",)}, ())
    for asked, records in ((1, 10_001), (20_001, 20_002)):
        found, (failure,) = manager.user_groups(users[:asked], 0.0, {"p": records})
        assert (found, failure.message) == (
            {},
            f"wrong answer: expected at most {max(asked, 10_000)} records, got more",
        )


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
    answers = manager.ask(
        specs.negotiator_gate_ads, kind=AdKind.STARTD, ads=ads, cycle=cycle_record(now=5010.0), settings={}
    )
    assert answers.records[0].record.discard.tolist() == [False, True, True]
    assert answers.records[0].record.verdict is Verdict.DENIED
    assert answers.records[0].record.mode is Mode.ENFORCE
    assert (
        manager.ask(
            specs.negotiator_gate_ads, kind=AdKind.JOB, ads=ads, cycle=cycle_record(now=5010.0), settings={}
        ).records
        == ()
    )


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
    answers = plugins.load().ask(
        specs.negotiator_filter_slots,
        request=request('Owner = "b"'),
        slots=table(SLOTS),
        cycle=cycle_record(number=4),
        settings={"owner": "s"},
    )
    (stamped,) = answers.records
    assert stamped.record.allow.tolist() == [False, True]
    assert stamped.record.text == "s in cycle 4"


def test_negotiator_charges_is_asked_with_request_slots_queues_and_cycle(plugins):
    """A policy sees who asks for how much, the slots, and what the queues say; its charges come back as they are."""
    plugins.write(
        "quota.py",
        """
        @hookimpl
        def negotiator_charges(request, slots, queues, settings, cycle):
            label = Quota(rule=f"{settings} {cycle.number}", text=request.user, resource="memory", scale=1024)
            yield Charge(("memory", request.group), request.resources["memory"], len(slots), label)
            yield KeyCharge((queues.get(request.queue).path,), request.applications, None, label)
        """,
    )
    asked = request(count=2, first_job="7.0", queue="root.a", group="dev", resources={"memory": 5})
    manager = plugins.load()
    answers = manager.ask(
        specs.negotiator_charges,
        request=asked,
        slots=table(SLOTS),
        queues=queues({"root.a": ""}),
        cycle=cycle_record(number=4),
        settings={"quota": "mine"},
    )
    assert answers.failures == ()
    charge, key_charge = (stamped.record for stamped in answers.records)
    assert (charge.counter, charge.amount, charge.limit) == (("memory", "dev"), 5, 2)
    assert (key_charge.counter, key_charge.limit) == (("root.a",), None)
    assert key_charge.keys == ("schedd@example.org#7",) * 2
    assert charge.label == Quota(rule="mine 4", text="alice", resource="memory", scale=1024)
    assert (charge.label.code, charge.label.mode) == ("quota", Mode.ENFORCE)
    assert {(each.plugin, each.version) for each in answers.records} == {
        ("quota", manager.plugins[0].version)
    }


def test_negotiator_usage_gives_each_plugin_what_is_counted_on_its_own_counters(plugins):
    """With the report's name, the queues and its settings; a plugin that fails is in nobody's way."""
    source = """
        @hookimpl
        def negotiator_usage(report, used, queues, settings):
            for key, amount in used.sums.items():
                yield {"of": key[0], "used": amount, "more": [report, len(queues), settings]}
        """
    for name in ("a", "c"):
        plugins.write(f"{name}.py", source)
    plugins.write("b.py", "@hookimpl\ndef negotiator_usage(): raise ValueError('no')\n")
    counted = {
        "a": CounterUsage({("x",): 1}, {}, {}),
        "b": CounterUsage({}, {}, {}),
        "c": CounterUsage({("y",): 2}, {}, {}),
    }
    answers = plugins.load().ask(
        specs.negotiator_usage,
        report="users",
        used=per_plugin(counted.get),
        queues=queues(),
        settings={"c": "mine"},
    )
    assert [(stamped.plugin, stamped.record) for stamped in answers.records] == [
        ("a", {"of": "x", "used": 1, "more": ["users", 1, None]}),
        ("c", {"of": "y", "used": 2, "more": ["users", 1, "mine"]}),
    ]
    assert [(failure.plugin, failure.message) for failure in answers.failures] == [("b", "ValueError: no")]


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
    failures = (
        plugins.load()
        .ask(specs.negotiator_matches_made, matches=tuple(made), cycle=cycle_record(number=3), settings={})
        .failures
    )
    assert [(failure.plugin, failure.message) for failure in failures] == [
        ("a", "AttributeError: 'tuple' object has no attribute 'clear'")
    ]
    assert told.read_text() == "3: ['1.0', '2.0']"
    assert len(made) == 2


def test_negotiator_cycle_ended_is_given_the_summary(plugins):
    """The whole result of the cycle, which an observer can't change for the next one."""
    plugins.write("a.py", "@hookimpl\ndef negotiator_cycle_ended(summary): summary.seconds['match'] = 0\n")
    told = plugins.write(
        "b.py",
        """
        from pathlib import Path
        @hookimpl
        def negotiator_cycle_ended(summary, settings, cycle):
            Path(__file__).with_suffix(".txt").write_text(f"{settings} {cycle.number} {summary.pairs} {summary.denials}")
        """,
    ).with_suffix(".txt")
    given = {"summary": summary([match()]), "cycle": cycle_record(number=3), "settings": {"b": "mine"}}
    (failure,) = plugins.load().ask(specs.negotiator_cycle_ended, **given).failures
    assert failure.message == "TypeError: 'mappingproxy' object does not support item assignment"
    assert told.read_text() == "mine 3 (('1.0', 'slot1@a'),) ()"


def test_negotiator_queues_changed_is_told_of_the_changes_as_a_tuple(plugins):
    """Each observer is told of all changes; one that fails is in nobody's way."""
    plugins.write("a.py", "@hookimpl\ndef negotiator_queues_changed(changes): changes.clear()\n")
    told = plugins.write(
        "b.py",
        """
        from pathlib import Path
        @hookimpl
        def negotiator_queues_changed(changes, settings, cycle):
            lines = [f"{settings} {cycle.number} {each.queue} {each.change} {each.owners}" for each in changes]
            Path(__file__).with_suffix(".txt").write_text("\\n".join(lines))
        """,
    ).with_suffix(".txt")
    changes = [QueueNotice("root.a", "draining", 3.0, ("bob",)), QueueNotice("root.b", "created", 4.0)]
    (failure,) = (
        plugins.load()
        .ask(
            specs.negotiator_queues_changed,
            changes=tuple(changes),
            cycle=cycle_record(number=3),
            settings={"b": "mine"},
        )
        .failures
    )
    assert (failure.plugin, failure.hook) == ("a", "negotiator_queues_changed")
    assert failure.message == "AttributeError: 'tuple' object has no attribute 'clear'"
    assert told.read_text() == "mine 3 root.a draining ('bob',)\nmine 3 root.b created ()"
    assert len(changes) == 2


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
def test_a_plugin_cannot_change_what_it_is_given(plugins, change):
    """Else a plugin would lift a limit silently."""
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
    """A placement rule is given them."""
    with pytest.raises(TypeError, match="does not support item assignment"):
        Application("bob", tags={"project": "a"}).tags["project"] = "b"


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

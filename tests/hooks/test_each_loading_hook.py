"""Each hook that is called when a bundle is loaded: its arguments and its records."""

import attrs
import click
import pytest

from negotiator.classad import parse
from negotiator.hooks import specs
from negotiator.hooks.manager import Attributed
from negotiator.plugin import (
    AdKind,
    Allowance,
    Application,
    Constraint,
    ConstraintSide,
    Payers,
    QueueTarget,
    StartingQuestion,
)
from negotiator.testing import cycle_record, queues, request, rule, table


def test_negotiator_section_has_the_name_and_version_of_the_plugin(plugins):
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
    """Commands of all plugins are collected, sorted by plugin name."""
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
    """Each plugin gets its own section of the bundle, None without one."""
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
    """The attributes of all plugins are one set; names ignore case."""
    for name, attributes in (("a", ["Owner", "JobUniverse"]), ("b", ["OWNER", "Queue"])):
        plugins.write(f"{name}.py", f"@hookimpl\ndef negotiator_job_attributes(): return {attributes}\n")
    assert plugins.load().job_attributes({}) == (frozenset({"owner", "jobuniverse", "queue"}), ())


@pytest.mark.parametrize("hook", ["filter_slots", "charges"])
def test_negotiator_job_attributes_are_unknown_if_a_plugin_does_not_declare_them(plugins, hook):
    """One plugin that filters or charges without declaring attributes switches the grouping of jobs off."""
    plugins.write("a.py", "@hookimpl\ndef negotiator_job_attributes(): return ['Owner']\n")
    plugins.write("b.py", f"@hookimpl\ndef negotiator_{hook}(): return []\n")
    assert plugins.load().job_attributes({}) == (None, ())


def test_negotiator_job_attributes_are_known_if_every_filter_declares_them(plugins):
    """A filter without attributes declares an empty list."""
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


def test_negotiator_gate_attributes_of_all_plugins_are_known_in_lower_case(plugins):
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_gate_attributes(): return ["Project"]
        """,
    )
    plugins.write(
        "b.py",
        """
        @hookimpl
        def negotiator_gate_attributes(): return [7]
        """,
    )
    answers = plugins.load().ask(specs.negotiator_gate_attributes, settings={})
    assert [each.record for each in answers.records] == ["project"]
    assert [failure.plugin for failure in answers.failures] == ["b"]


def test_negotiator_orders_of_all_plugins_come_with_their_functions(plugins):
    plugins.write(
        "a.py",
        """
        from negotiator.plugin import RequestOrderType
        @hookimpl
        def negotiator_orders():
            yield RequestOrderType(name="youngest", make=lambda context: context, in_queue_order=True)
        """,
    )
    plugins.write(
        "b.py",
        """
        from negotiator.plugin import RequestOrderType
        @hookimpl
        def negotiator_orders():
            return [RequestOrderType(name="not a name", make=print)]
        """,
    )
    answers = plugins.load().ask(specs.negotiator_orders)
    (order,) = answers.records
    assert (order.plugin, order.record.name, order.record.in_queue_order) == ("a", "youngest", True)
    assert order.record.make("context") == "context"
    (failure,) = answers.failures
    assert "expected letters, digits and _ as name of a RequestOrderType" in str(failure)


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        ("3", "expected SharedRows or None as sharing of a RequestOrderType"),
        ("SharedRows(is_shared=bool, begin=max, rebase=7, join=max)", "expected functions in SharedRows"),
    ],
)
def test_negotiator_orders_have_functions_by_which_rows_are_shared(plugins, sharing, expected):
    plugins.write(
        "a.py",
        f"""
        from negotiator.plugin import RequestOrderType, SharedRows
        @hookimpl
        def negotiator_orders():
            yield RequestOrderType(name="youngest", make=print, sharing={sharing})
        """,
    )
    (failure,) = plugins.load().ask(specs.negotiator_orders).failures
    assert expected in str(failure)


def test_negotiator_pool_sources_of_all_plugins_come_with_their_functions(plugins):
    plugins.write(
        "a.py",
        """
        from negotiator.plugin import PoolSource
        @hookimpl
        def negotiator_pool_sources():
            yield PoolSource(name="spool", open=lambda settings, control: settings)
        """,
    )
    plugins.write(
        "b.py",
        """
        from negotiator.plugin import PoolSource
        @hookimpl
        def negotiator_pool_sources():
            return [PoolSource(name="tape", open="a path")]
        """,
    )
    answers = plugins.load().ask(specs.negotiator_pool_sources)
    (source,) = answers.records
    assert (source.plugin, source.record.name, source.record.open("settings", None)) == (
        "a",
        "spool",
        "settings",
    )
    (failure,) = answers.failures
    assert "expected a function as open of a PoolSource" in str(failure)


def test_negotiator_placement_rules_of_all_plugins_come_in_order_in_lower_case(plugins):
    """The functions of a rule are the plugin's own; names of rules ignore case."""
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


def test_negotiator_starting_bundles_come_with_their_functions_and_questions(plugins):
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_starting_bundles():
            yield StartingBundle(name="slurm", description="of\\nSlurm", make=len,
                                 questions=(StartingQuestion("size", "Slots", "1", ("1", "2")),))
        """,
    )
    (found,) = plugins.load().ask(specs.negotiator_starting_bundles).records
    assert (found.plugin, found.record.name, found.record.make) == ("a", "slurm", len)
    assert found.record.description.isprintable()
    assert found.record.questions == (StartingQuestion("size", "Slots", "1", ("1", "2")),)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("name='No Name'", "expected lower-case letters, digits and hyphens as name of a StartingBundle"),
        ("description=3", "expected a string as description of a StartingBundle"),
        ("make=None", "expected a function as make of a StartingBundle, got None"),
        ("own_files=None", "expected a string as own_files of a StartingBundle"),
        ("recognizes='a'", "expected a function or None as recognizes of a StartingBundle, got str"),
        ("questions=[]", "expected a tuple of StartingQuestions as questions of a StartingBundle, got list"),
        ("questions=('size',)", "expected a StartingQuestion, got str"),
        ("questions=(StartingQuestion('A', 'a'),)", "hyphens as name of a StartingQuestion, got 'A'"),
        (
            "questions=(StartingQuestion('a', 'a', '3', ('1', '2')),)",
            "expected one of the choices as default of a, got '3'",
        ),
    ],
)
def test_negotiator_starting_bundles_of_another_form_are_refused(plugins, wrong, message):
    given = f"dict(name='slurm', description='of Slurm', make=len) | dict({wrong})"
    plugins.write(
        "a.py", f"@hookimpl\ndef negotiator_starting_bundles(): yield StartingBundle(**({given}))\n"
    )
    answers = plugins.load().ask(specs.negotiator_starting_bundles)
    assert answers.records == ()
    assert message in str(answers.failures[0])


REPORT = """
        @attrs.frozen
        class Row:
            host: str
        @hookimpl
        def negotiator_reports(settings):
            yield Report(name={name!r}, summary=f"of {{settings}}", row={row}, collect={collect}, rows=lambda *_: ())
        """


def test_negotiator_reports_get_the_plugins_own_settings(plugins):
    plugins.write("a.py", REPORT.format(name="hosts", row="Row", collect="len"))
    (found,) = plugins.load().ask(specs.negotiator_reports, settings={"a": "those of a"}).records
    assert (found.plugin, found.record.name, found.record.summary) == ("a", "hosts", "of those of a")
    assert found.record.row.__name__ == "Row"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "No Path"}, "expected lower-case letters, digits and hyphens as name of a Report"),
        ({"row": "dict"}, "expected an attrs class as row of a Report, got type"),
        ({"collect": "5"}, "expected functions in a Report, got int"),
    ],
)
def test_negotiator_reports_that_cannot_be_served_are_refused(plugins, wrong, message):
    plugins.write("a.py", REPORT.format(**{"name": "hosts", "row": "Row", "collect": "len", **wrong}))
    answers = plugins.load().ask(specs.negotiator_reports, settings={})
    assert answers.records == ()
    assert message in str(answers.failures[0])


IDLE = """
@hookimpl
def negotiator_job_attributes(): return []
@hookimpl
def negotiator_filter_slots(): raise ValueError("filter")
@hookimpl
def negotiator_charges(): raise ValueError("charges")
@hookimpl
def negotiator_unused_hooks(queues, settings): return {hooks}
"""


def ask_both(manager, ask="ask"):
    """Return the hooks that were called, by the messages of their failures."""
    asked = getattr(manager, ask)
    given = {"request": request(), "slots": table(""), "cycle": cycle_record(), "settings": {}}
    failures = asked(specs.negotiator_filter_slots, **given).failures
    failures += asked(specs.negotiator_charges, **given, queues=queues(), order="names").failures
    return [failure.message.removeprefix("ValueError: ") for failure in failures]


@pytest.mark.parametrize(
    ("hooks", "called"),
    [
        ([], ["filter", "charges"]),
        (["negotiator_filter_slots"], ["charges"]),
        (["negotiator_charges", "negotiator_filter_slots"], []),
    ],
)
def test_negotiator_unused_hooks_are_called_no_more(plugins, hooks, called):
    """All are called for queues that are not those of the bundle, and are still listed."""
    plugins.write("a.py", IDLE.format(hooks=hooks))
    manager = plugins.load()
    assert ask_both(manager) == ["filter", "charges"]
    assert manager.leave_out_unused(queues(), {}) == ()
    assert ask_both(manager) == called
    assert ask_both(manager, "ask_all") == ["filter", "charges"]
    assert manager.plugins[0].hooks[-2:] == ("negotiator_filter_slots", "negotiator_charges")


def test_negotiator_unused_hooks_are_those_of_the_plugin_only(plugins):
    """The same hook of another plugin is called."""
    plugins.write("a.py", IDLE.format(hooks=["negotiator_charges"]))
    plugins.write("b.py", IDLE.format(hooks=["negotiator_filter_slots"]))
    manager = plugins.load()
    manager.leave_out_unused(queues(), {})
    assert ask_both(manager) == ["filter", "charges"]


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        (["negotiator_gate_ads"], "got 'negotiator_gate_ads'"),
        (["negotiator_unused_hooks"], "got 'negotiator_unused_hooks'"),
        (["negotiator_charge"], "got 'negotiator_charge'"),
        ([7], "expected a string as name of a hook, got int"),
        ("negotiator_charges", "expected an iterable of hook names, got str"),
    ],
)
def test_negotiator_unused_hooks_refuses_other_names(plugins, hooks, message):
    """A hook of another kind, an unknown one, and one that the plugin does not implement are failures, and all hooks are called."""
    plugins.write("a.py", IDLE.format(hooks=repr(hooks)))
    manager = plugins.load()
    (failure,) = manager.leave_out_unused(queues(), {})
    assert (failure.plugin, failure.hook) == ("a", "negotiator_unused_hooks")
    assert message in failure.message
    assert ask_both(manager) == ["filter", "charges"]


def test_negotiator_unused_hooks_refuses_a_hook_that_the_plugin_does_not_implement(plugins):
    plugins.write("a.py", "@hookimpl\ndef negotiator_unused_hooks(): return ['negotiator_charges']\n")
    (failure,) = plugins.load().leave_out_unused(queues(), {})
    assert failure.message == "expected names of own hooks (), got 'negotiator_charges'"


POLICY = """
calls = []

class Hosts:
    def __init__(self, queues, settings):
        self.text = f"{settings} with {queues.get('root').path}"

    def begin_cycle(self, slots, cycle):
        calls.append((len(slots), cycle.number, cycle.payers and (cycle.payers.other, cycle.payers.rows(None).steps)))
        if cycle.number == 13:
            raise RuntimeError("thirteen")
        return self.text, slots.strings("Machine") == "a"

@hookimpl
def negotiator_job_attributes(): return []
@hookimpl
def negotiator_policy(queues, settings): return Hosts(queues, settings)
@hookimpl
def negotiator_filter_slots(policy):
    yield Filter(rule="a", allow=policy[1], code="a", text=f"{policy[0]}, {len(calls)} calls: {calls[-1]}")
@hookimpl
def negotiator_gate_ads(policy, ads):
    yield Gate(rule="g", discard=np.zeros(len(ads), bool), code="g", text=policy.text)
"""
HOSTS = 'Machine = "a"\n\nMachine = "b"'


def filters(manager, slots, cycle):
    return manager.ask(
        specs.negotiator_filter_slots, request=request(), slots=slots, cycle=cycle, settings={}
    )


def test_negotiator_policy_makes_the_object_of_the_other_hooks(plugins):
    """It is made once, and asked once for the slots of each cycle, at no expense of the owner of a job."""
    plugins.write("a.py", POLICY)
    manager = plugins.load()
    assert manager.make_policies(queues(), {"a": "settings"}) == ()
    slots, others = table(HOSTS), table('Machine = "a"')
    paid = attrs.evolve(cycle_record(number=7), payers=Payers(lambda _: Allowance(5), Allowance(1)))
    texts = [filters(manager, each, paid).records[0].record.text for each in (slots, slots, others, slots)]
    assert texts == [
        *["settings with root, 1 calls: (2, 7, (None, 5))"] * 2,
        *["settings with root, 2 calls: (1, 7, (None, 5))"] * 2,
    ]
    (found,) = filters(manager, slots, cycle_record(number=8)).records
    assert found.record.text.endswith("3 calls: (2, 8, None)")
    assert found.record.allow.tolist() == [True, False]
    answer = manager.ask(
        specs.negotiator_gate_ads, kind=AdKind.JOB, ads=slots, cycle=cycle_record(), settings={}
    )
    assert answer.records[0].record.text == "settings with root"


def test_begin_cycle_fails_once_for_each_hook_that_needs_it(plugins):
    plugins.write("a.py", POLICY)
    manager = plugins.load()
    manager.make_policies(queues(), {})
    slots = table(HOSTS)
    failures = [filters(manager, slots, cycle_record(number=13)).failures for _ in range(3)]
    assert [(each.hook, each.message) for (each,) in failures] == [
        ("negotiator_filter_slots", "RuntimeError: thirteen")
    ] * 3
    assert len({str(each.source) for (each,) in failures}) == 1
    (found,) = filters(manager, slots, cycle_record(number=14)).records
    assert "2 calls" in found.record.text


def test_a_plugin_without_negotiator_policy_is_passed_none(plugins):
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_filter_slots(slots, policy):
            yield Filter(rule="a", allow=np.ones(len(slots), bool), code="a", text=str(policy))
        """,
    )
    manager = plugins.load()
    manager.make_policies(queues(), {})
    assert filters(manager, table(HOSTS), cycle_record()).records[0].record.text == "None"


def test_a_failure_of_negotiator_policy_is_reported(plugins):
    plugins.write("a.py", "@hookimpl\ndef negotiator_policy(): raise ValueError('no object')")
    (failure,) = plugins.load().make_policies(queues(), {})
    assert (failure.hook, failure.message) == ("negotiator_policy", "ValueError: no object")

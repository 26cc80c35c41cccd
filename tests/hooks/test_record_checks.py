"""Wrong answers of plugins are failures: wrong types, wrong fields, wrong lengths."""

import attrs
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from failing_plugins import GOOD, RECORD, SLOTS, failure_of
from negotiator.hooks import specs
from negotiator.plugin import AccessKind, AccessQuestion, AdKind, Filter, hookimpl
from negotiator.records import Mode, Source, Verdict
from negotiator.testing import PluginFailedError, call, cycle_record, queues, table


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return None", "expected an iterable of Filter, got None; return [] or yield nothing"),
        ("return 'abc'", "expected an iterable of Filter, got str"),
        ("return True", "expected an iterable of Filter, got bool"),
        ("return [True]", "expected a Filter, got bool"),
        ("yield None", "expected a Filter, got None"),
        ("yield Gate(rule='r', discard=np.ones(3, bool), code='c', text='t')", "expected a Filter, got Gate"),
        (
            "yield type('Mine', (Filter,), {})(rule='r', allow=np.ones(3, bool), code='c', text='t')",
            "got Mine",
        ),
        (
            "while True: yield Filter(rule='r', allow=np.ones(3, bool), code='c', text='t')",
            "at most 10000 records",
        ),
    ],
)
def test_an_answer_of_another_type_is_a_failure(plugins, body, expected):
    """The failure has the expected and the actual type."""
    message = failure_of(plugins, body).message
    assert message.startswith("wrong answer: expected ")
    assert expected in message


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("allow", "[True, True, True]", "a NumPy array of bool as allow of a Filter, got list"),
        ("allow", "None", "a NumPy array of bool as allow of a Filter, got None"),
        ("allow", "np.ones(3)", "a 1-d NumPy array of bool as allow of a Filter, got a 1-d array of float64"),
        (
            "allow",
            "np.ones((3, 1), bool)",
            "a 1-d NumPy array of bool as allow of a Filter, got a 2-d array of bool",
        ),
        ("allow", "np.ones(2, bool)", "3 elements (one a row of the table) as allow of a Filter, got 2"),
        (
            "allow",
            "np.ma.masked_array(np.ones(3, bool))",
            "a NumPy array of bool as allow of a Filter, got MaskedArray",
        ),
        ("rule", "3", "a string as rule of a Filter, got int"),
        ("rule", "''", "a rule of a Filter, got an empty string"),
        ("code", "None", "a string as code of a Filter, got None"),
        ("text", "b't'", "a string as text of a Filter, got bytes"),
        ("verdict", "'denied'", "a Verdict as verdict of a Filter, got str"),
        ("mode", "'enforce'", "a Mode as mode of a Filter, got str"),
        ("source", "'pool.yaml:1'", "a Source or None as source of a Filter, got str"),
        ("source", "Source(3)", "a string as file in the source of a Filter, got int"),
        ("source", "Source('a', '1')", "numbers as line and column in the source of a Filter, got str"),
    ],
)
def test_every_field_of_a_record_is_checked(plugins, field, value, expected):
    """Fields of other types would fail later, without the name of the plugin."""
    body = RECORD.format(field=repr(field), value=value).replace("{{", "{").replace("}}", "}")
    assert failure_of(plugins, body).message == f"wrong answer: expected {expected}"


NOTHING = " for an empty answer"


def a_rule_with(field):
    """Return an answer with one placement rule, with one field changed."""
    return "placement_rules", f"[PlacementRule(**(dict(name='r', target=print) | dict({field})))]"


@pytest.mark.parametrize(
    ("hook", "answer", "expected"),
    [
        ("section", "3", "a Section, got int"),
        ("section", "Section(schema=int)", "an attrs class as schema of a Section, got type"),
        (
            "section",
            "Section(schema=attrs.make_class('S', []), check=3)",
            "a function as check of a Section, got int",
        ),
        ("commands", "[print]", "a click.Command, got builtin_function_or_method"),
        ("commands", "[click.Command(None)]", "a string as name of a command, got None"),
        ("constraints", "[3]", "a Constraint, got int"),
        (
            "constraints",
            "[Constraint(rule='r', side='job', expression=parse('1'), text='t')]",
            "a ConstraintSide as side of a Constraint, got str",
        ),
        (
            "constraints",
            "[Constraint(rule='r', side=ConstraintSide.JOB, expression='1', text='t')]",
            "an expression (negotiator.plugin.parse) in a Constraint, got str",
        ),
        ("job_attributes", "'Owner'", "an iterable of attribute names, got str"),
        ("job_attributes", "['My.Owner']", "the name of an attribute, got 'My.Owner'"),
        ("job_attributes", "[3]", "the name of an attribute, got int"),
        ("matches_made", "[]", "None, got list"),
        ("queues_changed", "[]", "None, got list"),
        (
            "placement_rules",
            "None",
            "an iterable of PlacementRule, got None; return [] or yield nothing" + NOTHING,
        ),
        ("placement_rules", "[3]", "a PlacementRule, got int"),
        (
            "placement_rules",
            "[type('Mine', (PlacementRule,), {})(name='r', target=print)]",
            "a PlacementRule, got Mine",
        ),
        (*a_rule_with("name=3"), "a string as name of a PlacementRule, got int"),
        (*a_rule_with("name=''"), "a name of a PlacementRule, got an empty string"),
        (*a_rule_with("name='a' * 201"), "at most 200 characters as name of a PlacementRule, got 201"),
        (
            *a_rule_with("name='by project'"),
            "letters, digits and _ as name of a PlacementRule, got 'by project'",
        ),
        (*a_rule_with("name='1st'"), "letters, digits and _ as name of a PlacementRule, got '1st'"),
        (*a_rule_with("name='größe'"), "letters, digits and _ as name of a PlacementRule, got 'größe'"),
        (*a_rule_with("name='a\\n'"), "printable characters only as name of a PlacementRule"),
        (*a_rule_with("target=None"), "functions in a PlacementRule, got None"),
        (*a_rule_with("target='root.a'"), "functions in a PlacementRule, got str"),
        (*a_rule_with("tags=['project']"), "functions in a PlacementRule, got list"),
        (
            *a_rule_with("needs_value=1"),
            "True or False as needs_value, takes_value and fixed of a PlacementRule, got int",
        ),
        (
            *a_rule_with("takes_value=[]"),
            "True or False as needs_value, takes_value and fixed of a PlacementRule, got list",
        ),
        (
            *a_rule_with("fixed=None"),
            "True or False as needs_value, takes_value and fixed of a PlacementRule, got None",
        ),
        (*a_rule_with("absent=None"), "a string as absent of a PlacementRule, got None"),
        ("access", "None", "an iterable of Access, got None; return [] or yield nothing" + NOTHING),
        ("access", "'yes'", "an iterable of Access, got str"),
        ("access", "[True]", "an Access, got bool"),
        ("access", "[AccessDecision.GRANT]", "an Access, got AccessDecision"),
        ("access", "[type('Mine', (Access,), {})(AccessDecision.GRANT, 'r', 't')]", "an Access, got Mine"),
        ("access", "[Access('grant', 'r', 't')]", "an AccessDecision in an Access, got str"),
        ("access", "[Access(True, 'r', 't')]", "an AccessDecision in an Access, got bool"),
        ("access", "[Access(AccessDecision.GRANT, '', 't')]", "a rule of an Access, got an empty string"),
        ("access", "[Access(AccessDecision.GRANT, None, 't')]", "a string as rule of an Access, got None"),
        ("access", "[Access(AccessDecision.GRANT, 'r', 3)]", "a string as text of an Access, got int"),
        (
            "access",
            "[Access(AccessDecision.GRANT, 'r', 't', 'a:3')]",
            "a Source or None as source of an Access, got str",
        ),
        ("access", "[]", "1 records of Access, one a question, got 0"),
        ("user_groups", "{'bob': ['staff']}", "UserGroups, got str"),
        ("user_groups", "[('bob', ['staff'])]", "UserGroups, got tuple"),
        ("user_groups", "[UserGroups('bob', 'staff')]", "a tuple of groups in UserGroups, got str"),
        ("user_groups", "[UserGroups('bob', {'staff'})]", "a tuple of groups in UserGroups, got set"),
        (
            "user_groups",
            "[UserGroups('bob', type('T', (tuple,), {})())]",
            "a tuple of groups in UserGroups, got T",
        ),
        (
            "user_groups",
            "[UserGroups('bob', ('g',) * 10001)]",
            "at most 10000 groups in UserGroups, got 10001",
        ),
        ("user_groups", "[UserGroups('bob', (b'g',))]", "a string as group in UserGroups, got bytes"),
        ("user_groups", "[UserGroups('bob', (5,))]", "a string as group in UserGroups, got int"),
        ("user_groups", "[UserGroups('bob', ('',))]", "a group in UserGroups, got an empty string"),
        ("user_groups", "[UserGroups(None, ())]", "a string as user in UserGroups, got None"),
        ("user_groups", "[UserGroups('b\\0b', ())]", "printable characters only as user in UserGroups"),
    ],
)
def test_the_answer_of_every_hook_is_checked(plugins, hook, answer, expected):
    """Each hook has its own record type."""
    plugins.write("bad.py", f"@hookimpl\ndef negotiator_{hook}(): return {answer}\n")
    manager = plugins.load()
    failures = {
        "section": lambda: manager.ask(specs.negotiator_section).failures,
        "commands": lambda: manager.ask(specs.negotiator_commands).failures,
        "constraints": lambda: manager.ask(specs.negotiator_constraints, settings={}).failures,
        "job_attributes": lambda: manager.job_attributes({})[1],
        "matches_made": lambda: (
            manager.ask(specs.negotiator_matches_made, matches=(), cycle=cycle_record(), settings={}).failures
        ),
        "queues_changed": lambda: (
            manager.ask(
                specs.negotiator_queues_changed, changes=(), cycle=cycle_record(), settings={}
            ).failures
        ),
        "placement_rules": lambda: manager.ask(specs.negotiator_placement_rules).failures,
        "access": lambda: manager.access([AccessQuestion("bob", (), AccessKind.CONFIGURE)], queues(), {})[1],
        "user_groups": lambda: manager.user_groups(["bob"], 0.0, {})[1],
    }[hook]()
    assert [failure.message for failure in failures] == [f"wrong answer: expected {expected}"]


def test_job_attributes_are_unknown_if_a_plugin_fails_to_declare_them(plugins):
    """A partial answer must not group jobs that a filter distinguishes."""
    plugins.write("bad.py", "@hookimpl\ndef negotiator_job_attributes(): return 1 / 0\n")
    plugins.write("good.py", GOOD)
    attributes, failures = plugins.load().job_attributes({})
    assert attributes is None
    assert [failure.plugin for failure in failures] == ["bad"]


def test_a_gate_is_checked_against_the_rows_of_its_own_table(plugins):
    """The length of its mask is that of the ads of the call."""
    plugins.write(
        "bad.py",
        """
        @hookimpl
        def negotiator_gate_ads():
            yield Gate(rule="r", discard=np.zeros(3, bool), code="c", text="t")
        """,
    )
    manager = plugins.load()
    assert (
        manager.ask(
            specs.negotiator_gate_ads, kind=AdKind.JOB, ads=SLOTS, cycle=cycle_record(), settings={}
        ).failures
        == ()
    )
    (failure,) = manager.ask(
        specs.negotiator_gate_ads, kind=AdKind.JOB, ads=table("A = 1"), cycle=cycle_record(), settings={}
    ).failures
    assert failure.message == (
        "wrong answer: expected 1 elements (one a row of the table) as discard of a Gate, got 3"
    )


def answer_of(policy):
    """Return the records that pass the guard, or the text of the failure."""
    try:
        return call(policy, "negotiator_filter_slots", slots=SLOTS)
    except PluginFailedError as error:
        return str(error)


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.sampled_from([*Mode, *Verdict]),
    st.sampled_from(
        [np.ones(3, bool), np.ones(2, bool), np.ones(3), np.array(True), np.array(["a", "b", "c"])]
    ),
    st.lists(st.booleans(), max_size=3),
    st.builds(Source, st.text(max_size=3), st.integers()),
)

FIELDS = [field.name for field in attrs.fields(Filter)]


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
@example({"rule": Mode.ENFORCE, "code": Verdict.DENIED, "text": Mode.WARN})
def test_a_record_with_any_values_is_valid_or_a_failure(fields):
    """No field of another type passes, and no value makes the guard itself fail."""
    record = Filter(**({"rule": "r", "allow": np.ones(3, bool), "code": "c", "text": "t"} | fields))

    class Policy:
        @hookimpl
        def negotiator_filter_slots(self):
            return [record]

    answer = answer_of(Policy())
    if isinstance(answer, str):
        assert "wrong answer: expected " in answer
    else:
        (record_returned,) = answer
        types = {name: type(getattr(record_returned, name)) for name in FIELDS}
        assert types.pop("source") in {Source, type(None)}
        assert list(types.values()) == [str, np.ndarray, str, str, Verdict, Mode]
        assert (record_returned.allow.dtype, record_returned.allow.shape) == (np.bool_, (3,))
        assert (record_returned.rule + record_returned.code + record_returned.text).isprintable()


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("overruns='vacate'", "an OverrunAction or None as overruns of a Gate"),
        ("overrun_grace=-1", "seconds, 0 or more, or None as overrun_grace of a Gate"),
        ("overrun_grace=float('nan')", "seconds, 0 or more, or None as overrun_grace of a Gate"),
        ("overrun_grace=True", "seconds, 0 or more, or None as overrun_grace of a Gate"),
    ],
)
def test_what_becomes_of_running_jobs_has_its_type(plugins, field, expected):
    gate = f"Gate(rule='r', discard=np.zeros(len(ads), bool), code='c', text='t', {field})"
    plugins.write("bad.py", f"@hookimpl\ndef negotiator_gate_ads(ads):\n    yield {gate}\n")
    answers = plugins.load().ask(
        specs.negotiator_gate_ads, kind=AdKind.JOB, ads=SLOTS, cycle=cycle_record(), settings={}
    )
    assert expected in answers.failures[0].message

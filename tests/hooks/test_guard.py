"""What becomes of a plugin that raises, answers wrongly, or is slow: named, counted, and never in another's way."""

import logging

import attrs
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from negotiator.hooks import specs
from negotiator.hooks.manager import PluginStatus
from negotiator.plugin import AccessKind, AccessQuestion, AdKind, Filter, hookimpl
from negotiator.records import Mode, Source, Verdict
from negotiator.testing import PluginFailedError, call, cycle_record, queues, request, table

SLOTS = table("Cpus = 1\n\nCpus = 2\n\nCpus = 3")

GOOD = """
@hookimpl
def negotiator_filter_slots(slots):
    yield Filter(rule="good", allow=slots.numbers("Cpus") > 1, code="c", text="t")
@hookimpl
def negotiator_job_attributes():
    return []
"""

FILTER = """
@hookimpl
def negotiator_filter_slots(request, slots):
    {body}
"""

RECORD = (
    'yield Filter(**{{"rule": "r", "allow": np.ones(3, bool), "code": "c", "text": "t", {field}: {value}}})'
)


def filter_slots(manager):
    return manager.ask(
        specs.negotiator_filter_slots, request=request(), slots=SLOTS, cycle=cycle_record(), settings={}
    )


def failure_of(plugins, body, **loading):
    """The one failure of a plugin ``bad`` that stands beside a good one, whose answer must come through."""
    plugins.write("bad.py", FILTER.format(body=body))
    plugins.write("good.py", GOOD)
    answers = filter_slots(plugins.load(**loading))
    assert [stamped.plugin for stamped in answers.records] == ["good"]
    assert answers.records[0].record.allow.tolist() == [False, True, True]
    (failure,) = answers.failures
    assert (failure.plugin, failure.hook) == ("bad", "negotiator_filter_slots")
    return failure


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('no such calendar')", "ValueError: no such calendar"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise BaseException('x')", "BaseException: x"),
        (
            "return negotiator_filter_slots(request, slots)",
            "RecursionError: maximum recursion depth exceeded",
        ),
        (
            "yield Filter(rule='first', allow=np.ones(3, bool), code='c', text='t'); 1 / 0",
            "ZeroDivisionError",
        ),
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('two\\nlines \\x1b[2J')", "ValueError: two lines \N{REPLACEMENT CHARACTER}[2J"),
    ],
)
def test_what_is_raised_is_a_failure_of_that_plugin_alone(plugins, body, message):
    """Whatever a plugin raises, even to end the program, names it and leaves the others' answers alone."""
    assert failure_of(plugins, body).message.startswith(message)


def test_a_failure_names_plugin_version_and_hook(plugins):
    """As one line for people."""
    failure = failure_of(plugins, "raise ValueError('no')")
    told = f"plugin bad {failure.version}, hook negotiator_filter_slots: ValueError: no"
    assert str(failure) == f"{told} ({failure.source})"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return helper()", 9),  # deeper than the hook, above the core's code that it calls
        ("yield helper()", 9),
        ("return 3", 5),  # found after the function returned: its first line
        ("return [Quota(rule='', text='t')]", 7),
    ],
)
def test_a_failure_names_the_innermost_line_of_the_plugins_own_code(plugins, body, line):
    """Neither a line of the core nor of a library that the plugin called."""
    own = f"""
        @hookimpl
        def negotiator_filter_slots():
            {body}
        def helper():
            return parse("1 +")
        """
    file = plugins.write("bad.py", own)
    (failure,) = filter_slots(plugins.load()).failures
    assert failure.source == Source(str(file), line)


def test_names_of_rules_are_made_printable_and_shortened(plugins):
    """They may contain the names of users' queues."""
    rule = RECORD.format(field="'rule'", value="'a\\x1b' + 'x' * 300").replace("{{", "{").replace("}}", "}")
    plugins.write("p.py", FILTER.format(body=rule))
    (answer,) = filter_slots(plugins.load()).records
    assert answer.record.rule == "a\N{REPLACEMENT CHARACTER}" + "x" * 198


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a\\x1b[2J'", "a\N{REPLACEMENT CHARACTER}[2J"),
        ("'two\\nlines'", "two lines"),
        ("'t' * 3000", "t" * 2000),
    ],
)
def test_texts_are_made_printable_and_shortened(plugins, text, expected):
    """So that no plugin has to."""
    plugins.write(
        "p.py",
        FILTER.format(body=RECORD.format(field="'text'", value=text).replace("{{", "{").replace("}}", "}")),
    )
    (answer,) = filter_slots(plugins.load()).records
    assert answer.record.text == expected


def test_keyboard_interrupt_ends_the_program(plugins):
    """A person who presses Ctrl-C is not a failure of a plugin."""
    plugins.write("bad.py", FILTER.format(body="raise KeyboardInterrupt"))
    manager = plugins.load()
    with pytest.raises(KeyboardInterrupt):
        filter_slots(manager)


def test_the_text_of_an_error_is_bounded_and_may_fail_itself(plugins):
    """Neither a huge text nor one that can't be had gets through."""
    assert len(failure_of(plugins, "raise ValueError('x' * 10**6)").message) < 400
    body = "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})"
    assert failure_of(plugins, body).message == "Odd: its text can't be read"


def test_the_traceback_goes_to_the_log(plugins, caplog):
    """Records hold one line; who debugs a plugin finds the rest in the log."""
    with caplog.at_level(logging.DEBUG, "negotiator.hooks"):
        failure = failure_of(plugins, "raise ValueError('no')")
    assert "Traceback" in caplog.text
    assert "bad.py" in caplog.text
    assert "Traceback" not in failure.message


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
    """The failure says what was expected and what came."""
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
    """A record whose fields are of other types would fail later and elsewhere, where nobody knows whose it is."""
    body = RECORD.format(field=repr(field), value=value).replace("{{", "{").replace("}}", "}")
    assert failure_of(plugins, body).message == f"wrong answer: expected {expected}"


NOTHING = " where there is nothing to say"


def a_rule_with(field):
    """An answer with one placement rule that has one field otherwise than it should be."""
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
        (*a_rule_with("needs_value=1"), "True or False as needs_value and fixed of a PlacementRule, got int"),
        (*a_rule_with("fixed=None"), "True or False as needs_value and fixed of a PlacementRule, got None"),
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
    """Each hook has its own kind of record."""
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


def test_job_attributes_are_unknown_where_a_plugin_fails_to_name_them(plugins):
    """Half an answer must not group jobs that a filter tells apart."""
    plugins.write("bad.py", "@hookimpl\ndef negotiator_job_attributes(): return 1 / 0\n")
    plugins.write("good.py", GOOD)
    attributes, failures = plugins.load().job_attributes({})
    assert attributes is None
    assert [failure.plugin for failure in failures] == ["bad"]


def test_a_gate_is_checked_against_the_rows_of_its_own_table(plugins):
    """The length of a mask is that of the ads the gate was asked about."""
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


def test_a_policy_that_keeps_failing_is_asked_each_time_and_denies_what_it_was_asked_about(plugins):
    """What the jobs of one user make it raise must not deny everybody."""
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
    """Nothing depends on it, so it is silent from then on; the other hooks of the plugin go on."""
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
    """A plugin that recovers starts anew."""
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
    ("hook", "status"), [("filter_slots", PluginStatus.DENYING), ("matches_made", PluginStatus.OFF)]
)
def test_slow_calls_have_an_effect_only_when_the_cycle_ends(plugins, hook, status):
    """Inside a cycle the clock changes nothing; afterwards a slow policy denies and a slow observer is off."""
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
    assert len(failures()) == (hook == "filter_slots")
    assert (manager.plugins[0].calls, manager.plugins[0].seconds) == (4, 4.5)


def test_slow_calls_that_are_not_in_a_row_have_no_effect(plugins):
    """One slow call now and then is reported and forgiven."""
    plugins.write("slow.py", "@hookimpl\ndef negotiator_filter_slots(): return []\n")
    manager = plugins.load(slow_seconds=1.0, max_failures=2, takes=[1.5, 0.1, 1.5, 0.1])
    for _ in range(4):
        assert filter_slots(manager).failures == ()
        manager.end_cycle()
    assert (manager.plugins[0].slow_calls, manager.plugins[0].status) == (2, PluginStatus.OK)


def test_slow_calls_are_named_at_the_end_of_their_cycle(plugins):
    """Once, and with how long they took; nothing is decided by it."""
    plugins.write("slow.py", "@hookimpl\ndef negotiator_filter_slots(): return []\n")
    manager = plugins.load(slow_seconds=1.0, max_failures=9, takes=[1.5, 0.1, 2.5, 0.5, 3.0])
    for _ in range(3):
        assert filter_slots(manager).failures == ()
    (slow,) = manager.end_cycle()
    named = f"plugin {manager.plugin_set[0]}, hook negotiator_filter_slots"
    assert str(slow) == f"{named}: 2 slow calls, the slowest took 2.5 s"
    filter_slots(manager)
    assert manager.end_cycle() == ()
    filter_slots(manager)
    assert [str(each) for each in manager.end_cycle()] == [f"{named}: slow call: it took 3 s"]


def answer_of(policy):
    """What comes through the guard: the records, or the text of the failure."""
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
def test_whatever_stands_in_a_record_it_is_whole_or_a_failure(fields):
    """No value of any field gets through as another type, and none makes the guard itself fail."""
    record = Filter(**({"rule": "r", "allow": np.ones(3, bool), "code": "c", "text": "t"} | fields))

    class Policy:
        @hookimpl
        def negotiator_filter_slots(self):
            return [record]

    answer = answer_of(Policy())
    if isinstance(answer, str):
        assert "wrong answer: expected " in answer
    else:
        (kept,) = answer
        types = {name: type(getattr(kept, name)) for name in FIELDS}
        assert types.pop("source") in {Source, type(None)}
        assert list(types.values()) == [str, np.ndarray, str, str, Verdict, Mode]
        assert (kept.allow.dtype, kept.allow.shape) == (np.bool_, (3,))
        assert (kept.rule + kept.code + kept.text).isprintable()


SOURCES = """
class Name(str):
    def __str__(self): raise ValueError("not for the core")
WHERE = Source(Name("a\x1b[2J" + "x" * 5000), 3, 4)

@hookimpl
def negotiator_filter_slots(slots):
    yield Filter(rule="r", allow=np.ones(3, bool), code="c", text="t", source=WHERE)
@hookimpl
def negotiator_job_attributes(): return []
@hookimpl
def negotiator_access(questions):
    return [Access(AccessDecision.GRANT, "r", "t", WHERE) for _ in questions]
@hookimpl
def negotiator_charges():
    yield Charge(("c",), 1, 2, Quota(rule="r", text="t", source=WHERE))
@hookimpl
def negotiator_constraints():
    yield Constraint(rule="r", side=ConstraintSide.JOB, expression=parse("true"), text="t", source=WHERE)
"""


def test_the_file_of_a_source_is_made_printable_and_shortened(plugins):
    """It is copied: it ends up in terminals and in the audit log, whatever class of strings a plugin uses."""
    plugins.write("p.py", SOURCES)
    manager = plugins.load()
    given = {
        "request": request(),
        "slots": SLOTS,
        "queues": queues(),
        "cycle": cycle_record(),
        "settings": {},
    }
    asked = [AccessQuestion("sue", (), AccessKind.CONFIGURE)]
    records = [
        manager.ask(hook, **arguments).records[0].record
        for hook, arguments in (
            (specs.negotiator_filter_slots, {n: v for n, v in given.items() if n != "queues"}),
            (specs.negotiator_access, {"questions": asked, "queues": queues(), "settings": {}}),
            (specs.negotiator_charges, given),
            (specs.negotiator_constraints, {"settings": {}}),
        )
    ]
    for source in (getattr(record, "label", record).source for record in records):
        assert (source.line, source.column, type(source.file)) == (3, 4, str)
        assert len(source.file) == 2000
        assert source.file.isprintable()

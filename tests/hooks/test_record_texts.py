"""Texts of plugins' records are made printable and shortened."""

import pytest

from failing_plugins import FILTER, RECORD, SLOTS, filter_slots
from negotiator.hooks import specs
from negotiator.plugin import AccessKind, AccessQuestion
from negotiator.testing import cycle_record, queues, request


def test_names_of_rules_are_made_printable_and_shortened(plugins):
    """They may contain names of users' queues."""
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
    """Plugins need not do it."""
    plugins.write(
        "p.py",
        FILTER.format(body=RECORD.format(field="'text'", value=text).replace("{{", "{").replace("}}", "}")),
    )
    (answer,) = filter_slots(plugins.load()).records
    assert answer.record.text == expected


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
    """It is printed on terminals and in the audit log, and copied from whatever subclass of str a plugin uses."""
    plugins.write("p.py", SOURCES)
    manager = plugins.load()
    given = {
        "request": request(),
        "slots": SLOTS,
        "queues": queues(),
        "cycle": cycle_record(),
        "settings": {},
    }
    questions = [AccessQuestion("sue", (), AccessKind.CONFIGURE)]
    records = [
        manager.ask(hook, **arguments).records[0].record
        for hook, arguments in (
            (specs.negotiator_filter_slots, {n: v for n, v in given.items() if n != "queues"}),
            (specs.negotiator_access, {"questions": questions, "queues": queues(), "settings": {}}),
            (specs.negotiator_charges, given),
            (specs.negotiator_constraints, {"settings": {}}),
        )
    ]
    for source in (getattr(record, "label", record).source for record in records):
        assert (source.line, source.column, type(source.file)) == (3, 4, str)
        assert len(source.file) == 2000
        assert source.file.isprintable()
